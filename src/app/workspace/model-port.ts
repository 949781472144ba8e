/** Joins the offline analyst and the configured providers into one model port. Loaded on demand, because the analyst is large. */
import { offlineAnalyst } from '../../analyst/index.ts';
import type { Loaded } from '../../config/index.ts';
import type { ModelId } from '../../domain/ids.ts';
import type { ForeignModels } from '../../integrations/index.ts';
import { type OpenModels, openModels, type PublishedModels } from '../../models/index.ts';
import { ALIASES } from '../../policy/index.ts';
import { world } from '../process/index.ts';
import { foreignAgents, listedAgents } from './foreign.ts';

/** `pace`: `readable` streams the analyst's text at a rate that people can follow. `agents`: those of other programs, by default only as
 * models that can be chosen. */
export const portOf = (
  config: Loaded,
  published: PublishedModels,
  pace: 'readable' | 'none',
  agents: Pick<ForeignModels, 'name' | 'models' | 'call'> = listedAgents(foreignAgents(config)),
): OpenModels =>
  openModels({
    agents,
    aliases: aliasesWith(config.models),
    analyst: offlineAnalyst(ALIASES, pace === 'none' ? { is: 'none' } : { is: 'readable', world }),
    world,
    providers: config.providers,
    published,
  });

const aliasesWith = (own: Loaded['models']): ReadonlyMap<string, ModelId> =>
  new Map([...ALIASES, ...own.flatMap(({ id, aliases }) => aliases.map((alias) => [alias, id] as const))]);
