/**
 * Opens the models of a run: one port over several providers. A provider more is one entry more in `openModels`;
 * nothing else changes. Which model an agent gets is policy's to say.
 */
import { fail } from '../domain/result.ts';
import type { ModelPort } from '../ports/model.ts';
import { knownModels } from './catalogue.ts';
import type { Aliases } from './catalogue.ts';
import { offlineAnalyst } from './offline/analyst.ts';
import type { Pace } from './offline/pace.ts';
import type { Provider } from './provider.ts';

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
    count: async (request, signal) => (await routes.get(request.model)?.provider.count?.(request, signal)) ?? null,
  };
}

export interface ModelOptions {
  /** Alias -> canonical id, as policy has them. */
  readonly aliases: Aliases;
  /** How fast the offline analyst speaks. */
  readonly pace: Pace;
  /** Plays some or all models, for tests and bug reports; it wins over the others. */
  readonly script?: Provider;
}

/** The models of this version: a script if there is one, the offline analyst, and the known ones with why they can't be called. */
export const openModels = ({ aliases, pace, script }: ModelOptions): ModelPort =>
  routeModels([...(script === undefined ? [] : [script]), offlineAnalyst(aliases, pace), knownModels(aliases)]);
