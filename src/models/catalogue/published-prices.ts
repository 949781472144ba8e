/**
 * What is published of the models of a person's own providers. The price library is loaded only where there is something to
 * look up: a model that the catalogue doesn't know, without a price set, and not on this machine, where calls cost nothing.
 */
import { type Millis, type ModelId, ModelId as Id } from '../../domain/ids.ts';
import { isLoopback, type ProviderSetup } from '../../domain/models/provider.ts';
import { KNOWN } from './catalogue.ts';
import type { Published } from './prices.ts';

/** By canonical id; only what the library knows. */
export type PublishedModels = ReadonlyMap<ModelId, Published>;

/** Prices and windows of `setups` at `now`. Nothing is asked over the network: the library brings its data. */
export async function publishedOf(setups: readonly ProviderSetup[], now: Millis): Promise<PublishedModels> {
  const wanted = setups.flatMap((setup) =>
    setup.unusable !== null || isLoopback(setup.baseUrl)
      ? []
      : setup.models
          .filter(({ price }) => price === undefined)
          .map(({ name }) => ({ id: Id.parse(`${setup.name}/${name}`), name, baseUrl: setup.baseUrl }))
          .filter(({ id }) => !KNOWN.some((known) => known.id === id)),
  );
  if (wanted.length === 0) return new Map();
  const { publishedAt } = await import('./prices.ts');
  return new Map(wanted.map(({ id, name, baseUrl }) => [id, publishedAt(baseUrl, name, now)]));
}
