/** Resolves model names in the configuration to canonical ids. An unknown name is a fault, since a typo must neither widen nor
 * empty a list; lists that allow no model are a fault too. */
import { type Budget, withoutAbsent } from '../../domain/budget.ts';
import { ModelId } from '../../domain/ids.ts';
import type { ModelOption } from '../../domain/plan/plan.ts';
import { placeText } from '../../domain/reason.ts';
import { suggestion } from '../../domain/text/text.ts';
import type { ModelEntry, Rule } from '../../policy/index.ts';
import { ALIASES, entryAllows, entryHolds, foldName, resolveModel, spokenModel } from '../../policy/index.ts';
import { tightestBudgets } from '../../policy/index.ts';
import type { ConfigFault } from '../files/read-text.ts';
import type { Layer } from '../files/layer.ts';
import type { Path, Settings } from '../schema/schema.ts';

export type NamedModel = Pick<ModelOption, 'id' | 'aliases'>;

export interface ModelLists {
  readonly allowed: readonly (readonly ModelEntry[])[];
  readonly denied: readonly ModelEntry[];
  /** One per model or family, by name; of several daily limits the tightest. */
  readonly budgets: readonly { readonly model: ModelEntry; readonly budget: Rule<Budget> }[];
  readonly faults: readonly ConfigFault[];
}

/** The models of a person's own providers: `local/qwen3-coder`, also as `qwen3-coder` if that name is unique. */
export function ownModels(providers: Settings['providers']): readonly NamedModel[] {
  const named = Object.entries(providers ?? {}).flatMap(([provider, { models = [] }]) =>
    [...new Set(models)].map((name) => ({ provider, name })),
  );
  const shared = (name: string): boolean =>
    named.filter((other) => foldName(other.name) === foldName(name)).length > 1 || resolveModel(name, []) !== null;
  return named.flatMap(({ provider, name }) => {
    const id = ModelId.safeParse(`${provider}/${name}`);
    return id.success ? [{ id: id.data, aliases: shared(name) ? [] : [name] }] : [];
  });
}

/** The lists of all layers, in their order. */
export function modelLists(layers: readonly Layer[], own: readonly NamedModel[]): ModelLists {
  const faults: ConfigFault[] = [];
  const entryOf = (layer: Layer, key: string, written: string, path: Path): readonly ModelEntry[] => {
    const pattern = patternOf(written, own);
    if (pattern !== null) return [{ written, pattern, from: layer.reason(path) }];
    const problem = `${key} names "${written}", which is not a known model`;
    faults.push(layer.fault(path, problem, suggestion(written, modelNames(own))));
    return [];
  };
  const entriesOf = (layer: Layer, key: 'allowedModels' | 'deniedModels'): readonly ModelEntry[] =>
    (layer.settings.enforcement?.[key] ?? []).flatMap((written, index) =>
      entryOf(layer, key, written, ['enforcement', key, index]),
    );
  const naming = layers.filter(({ settings }) => settings.enforcement?.allowedModels !== undefined);
  const allowed = naming.map((layer) => entriesOf(layer, 'allowedModels'));
  const denied = layers.flatMap((layer) => entriesOf(layer, 'deniedModels'));
  const empty = faults.length > 0 ? [] : [...closed(layers), ...nothingLeft(naming, allowed, denied, own)];
  const budgets = layers.flatMap((layer) =>
    Object.entries(layer.settings.budgets?.model ?? {}).flatMap(([written, { maxCost, maxTokens }]) =>
      entryOf(layer, 'budgets.model', written, ['budgets', 'model', written]).map((model) => ({
        model,
        budget: { value: withoutAbsent({ maxTokens, maxCost }), from: model.from },
      })),
    ),
  );
  return {
    allowed,
    denied,
    budgets: tightestBudgets(budgets.filter(({ budget }) => Object.keys(budget.value).length > 0)),
    faults: [...faults, ...empty],
  };
}

/** Faults of unknown models outside lists: defaults of roles and of children. */
export function modelNameFaults(layer: Layer, own: readonly NamedModel[]): readonly ConfigFault[] {
  const roles = Object.entries(layer.settings.agentOrchestration?.roles ?? {});
  const children = layer.settings.childAgents?.defaultModel;
  const named = roles.flatMap(([role, { defaultModel, fallbackModels = [] }]) => {
    const path = ['agentOrchestration', 'roles', role];
    return [
      ...(defaultModel === undefined ? [] : [{ name: defaultModel, at: [...path, 'defaultModel'] }]),
      ...fallbackModels.map((name, index) => ({ name, at: [...path, 'fallbackModels', index] })),
    ];
  });
  return [
    ...named,
    ...(children === undefined ? [] : [{ name: spokenModel(children), at: ['childAgents', 'defaultModel'] }]),
  ]
    .filter(({ name }) => resolveModel(name, own) === null)
    .map(({ name, at }) => layer.fault(at, `"${name}" is not a known model`, suggestion(name, modelNames(own))));
}

/** Short names for suggestions. */
export const modelNames = (own: readonly NamedModel[]): readonly string[] => [
  ...ALIASES.keys(),
  ...own.flatMap(({ id, aliases }) => (aliases.length > 0 ? aliases : [id])),
];

const knownIds = (own: readonly NamedModel[]): readonly string[] => [...ALIASES.values(), ...own.map(({ id }) => id)];

/** A canonical id, or a family as written if a known model belongs to it; null for an unknown name. */
function patternOf(written: string, own: readonly NamedModel[]): string | null {
  const folded = foldName(written);
  // A built-in name keeps its meaning, even if a person's own provider uses it.
  if (!folded.endsWith('@*')) return resolveModel(written, []) ?? resolveModel(written, own);
  return knownIds(own).some((id) => entryAllows({ pattern: folded }, id)) ? folded : null;
}

/** Faults of `modelsDefault: deny` without a managed list, which allows no model: no lower layer can add one. */
const closed = (layers: readonly Layer[]): readonly ConfigFault[] =>
  layers.some(({ name, settings }) => name === 'managed' && settings.enforcement?.allowedModels !== undefined)
    ? []
    : layers
        .filter(({ settings }) => settings.enforcement?.modelsDefault === 'deny')
        .map((layer) => {
          const problem = 'modelsDefault is deny and no managed file has allowedModels, so no model may be used';
          const remedy = 'name at least one under enforcement.allowedModels';
          return layer.fault(['enforcement', 'modelsDefault'], problem, remedy);
        });

/** Faults of an empty list, and of lists without a common model: never replaced by a built-in default. */
function nothingLeft(
  naming: readonly Layer[],
  allowed: ModelLists['allowed'],
  denied: readonly ModelEntry[],
  own: readonly NamedModel[],
): readonly ConfigFault[] {
  const path = ['enforcement', 'allowedModels'];
  const empty = naming.filter((_, index) => allowed[index]?.length === 0);
  if (empty.length > 0)
    return empty.map((layer) =>
      layer.fault(path, 'allowedModels is empty, so no model may be used', 'name at least one, or remove the key'),
    );
  const left = knownIds(own).filter(
    (id) =>
      allowed.every((list) => list.some((entry) => entryAllows(entry, id))) &&
      !denied.some((entry) => entryHolds(entry, id)),
  );
  const [last] = naming.slice(-1);
  if (left.length > 0 || last === undefined) return [];
  const against = [...naming.slice(0, -1).map((layer) => layer.reason(path)), ...denied.map(({ from }) => from)].map(
    (from) => `${from.rule} in ${placeText(from)}`,
  );
  const problem = `allowedModels has no model in common with ${[...new Set(against)].join(' and ')}`;
  return [last.fault(path, problem, 'allow at least one model in all of these lists')];
}
