/**
 * Opens the models of a run: one port over several providers. Providers come from how they were set up (providers.ts).
 * Which model an agent gets is policy's to say.
 */
import type { ModelId } from '../domain/ids.ts';
import type { ProviderSetup } from '../domain/models/provider.ts';
import { fail } from '../domain/result.ts';
import type { ModelPort } from '../ports/model.ts';
import type { World } from '../ports/world.ts';
import { knownModels, providerOf } from './catalogue/catalogue.ts';
import type { Aliases } from './catalogue/catalogue.ts';
import type { PublishedModels } from './catalogue/published-prices.ts';
import type { Provider } from './provider.ts';
import { servedBy } from './providers.ts';

/**
 * One port over `providers`. A model belongs to the first provider that lists it as usable, else to the first that lists
 * it at all; a call of a model that is unknown or not usable is the fault `refused` with the reason.
 */
export function routeModels(providers: readonly Provider[]): ModelPort {
  const listed = providers.flatMap((provider) => provider.models().map((option) => ({ provider, option })));
  const ids = [...new Set(listed.map(({ option }) => option.id))];
  const routes = new Map(
    ids.flatMap((id) => {
      const all = listed.filter(({ option }) => option.id === id);
      const route = all.find(({ option }) => option.usable.yes) ?? all[0];
      return route === undefined ? [] : [[id, route] as const];
    }),
  );
  const options = [...routes.values()].map(({ option }) => option);

  return {
    models: () => options,
    async call(request, signal, onDelta) {
      const route = routes.get(request.model);
      if (route === undefined) return fail({ is: 'refused', message: `no provider knows the model ${request.model}` });
      const { provider, option } = route;
      if (!option.usable.yes) return fail({ is: 'refused', message: `${option.label}: ${option.usable.because}` });
      return provider.call(request, signal, onDelta);
    },
    termsOf: (model) => routes.get(model)?.provider.termsOf?.(model) ?? null,
    count: async (request, signal) => (await routes.get(request.model)?.provider.count?.(request, signal)) ?? null,
  };
}

export interface ModelOptions {
  /** Alias -> canonical id, as policy has them, with those of the person's own models. */
  readonly aliases: Aliases;
  /** The built-in analyst, which is always usable. */
  readonly analyst?: Provider;
  readonly world: World;
  /** Every provider that is known here, usable or not; they come in this order. */
  readonly providers: readonly ProviderSetup[];
  /** What is published of the person's own models (published-prices.ts); nothing when it is left out. */
  readonly published?: PublishedModels;
  /** Plays some or all models, for tests and bug reports; it wins over the others. */
  readonly script?: Provider;
}

export interface OpenModels extends ModelPort {
  /** Begins to load the client that calls this model, if any; returns at once. */
  warm(model: ModelId): void;
}

/** The models of a run: a script if there is one, the offline analyst, those of the providers, and the rest of the catalogue. */
export function openModels(options: ModelOptions): OpenModels {
  const { aliases, analyst, world, providers, published = new Map(), script } = options;
  const served = providers.map((setup) => servedBy(setup, { aliases, world, published }));
  const port = routeModels([
    ...(script === undefined ? [] : [script]),
    ...(analyst === undefined ? [] : [analyst]),
    ...served,
    knownModels(
      aliases,
      providers.map(({ name }) => name),
    ),
  ]);
  return { ...port, warm: (model) => served.find(({ name }) => name === providerOf(model))?.warm() };
}
