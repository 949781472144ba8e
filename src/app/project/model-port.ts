/** The models of a configuration as one port. Loaded when one is needed: the built-in analyst comes with it. */
import { offlineAnalyst } from '../../analyst/index.ts';
import type { Loaded } from '../../config/settings/load.ts';
import type { ModelId } from '../../domain/ids.ts';
import type { OpenModels } from '../../models/open.ts';
import { openModels } from '../../models/open.ts';
import type { PublishedModels } from '../../models/catalogue/published-prices.ts';
import { ALIASES } from '../../policy/aliases.ts';
import { world } from '../process/world.ts';

/** One port over the offline analyst and all providers. */
export const portOf = (config: Loaded, published: PublishedModels, pace: 'readable' | 'none'): OpenModels =>
  openModels({
    aliases: aliasesWith(config.models),
    analyst: offlineAnalyst(ALIASES, pace === 'none' ? { is: 'none' } : { is: 'readable', world }),
    world,
    providers: config.providers,
    published,
  });

const aliasesWith = (own: Loaded['models']): ReadonlyMap<string, ModelId> =>
  new Map([...ALIASES, ...own.flatMap(({ id, aliases }) => aliases.map((alias) => [alias, id] as const))]);
