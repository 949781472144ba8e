/**
 * Model names in the configuration -> canonical ids. A name that nobody knows is a fault, since a typo must
 * neither widen nor empty a list; a list that leaves nothing is one too.
 */
import { type Budget, withoutAbsent } from '../../domain/budget.ts';
import { ModelId } from '../../domain/ids.ts';
import type { ModelOption } from '../../domain/plan/plan.ts';
import { suggestion } from '../../domain/text/nearest.ts';
import { ALIASES, spokenModel } from '../../policy/aliases.ts';
import { foldName } from '../../policy/model-identity.ts';
import { entryAllows, entryHolds, resolveModel } from '../../policy/models.ts';
import type { ModelEntry, Rule } from '../../policy/rules.ts';
import type { ConfigFault } from '../files/fault.ts';
import type { Layer } from '../files/layer.ts';
import type { Settings } from '../schema/schema.ts';

export type NamedModel = Pick<ModelOption, 'id' | 'aliases'>;

export interface ModelLists {
  readonly allowed: readonly (readonly ModelEntry[])[];
  readonly denied: readonly ModelEntry[];
  readonly budgets: readonly ModelBudget[];
  readonly faults: readonly ConfigFault[];
}

/** The models that a person's own providers name: `local/qwen3-coder`, also as `qwen3-coder` where that is its alone. */
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

/** Lists of all layers, in their order. */
export function modelLists(layers: readonly Layer[], own: readonly NamedModel[]): ModelLists {
  const faults: ConfigFault[] = [];
  const entriesOf = (layer: Layer, key: 'allowedModels' | 'deniedModels'): readonly ModelEntry[] =>
    (layer.settings.enforcement?.[key] ?? []).flatMap((written, index) => {
      const path = ['enforcement', key, index];
      const pattern = patternOf(written, own);
      if (pattern !== null) return [{ written, pattern, from: layer.reason(path) }];
      faults.push(
        layer.fault(
          path,
          `${key} names "${written}", which is not a known model`,
          suggestion(written, modelNames(own)),
        ),
      );
      return [];
    });
  const naming = layers.filter(({ settings }) => settings.enforcement?.allowedModels !== undefined);
  const allowed = naming.map((layer) => entriesOf(layer, 'allowedModels'));
  const denied = layers.flatMap((layer) => entriesOf(layer, 'deniedModels'));
  const budgets = modelBudgets(layers, (written) => patternOf(written, own));
  const unknown = budgets.unknown.map(({ layer, written }) =>
    layer.fault(
      ['budgets', 'model', written],
      `budgets.model names "${written}", which is not a known model`,
      suggestion(written, modelNames(own)),
    ),
  );
  const empty = faults.length > 0 ? [] : [...closed(layers), ...nothingLeft(naming, allowed, denied, own)];
  return { allowed, denied, budgets: budgets.known, faults: [...faults, ...unknown, ...empty] };
}

/** Faults for names of models outside of lists: defaults of roles and of children. */
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

/** Short names to suggest. */
export const modelNames = (own: readonly NamedModel[]): readonly string[] => [
  ...ALIASES.keys(),
  ...own.flatMap(({ id, aliases }) => (aliases.length > 0 ? aliases : [id])),
];

const knownIds = (own: readonly NamedModel[]): readonly string[] => [...ALIASES.values(), ...own.map(({ id }) => id)];

/** A canonical id, or a family as written when a known model belongs to it; null for what nobody knows. */
function patternOf(written: string, own: readonly NamedModel[]): string | null {
  const folded = foldName(written);
  // A registered name means what it always means: no catalogue of a person's own takes it.
  if (!folded.endsWith('@*')) return resolveModel(written, []) ?? resolveModel(written, own);
  return knownIds(own).some((id) => entryAllows({ pattern: folded }, id)) ? folded : null;
}

/** Without a list of its own, an organisation that says `deny` allows nothing: nobody below it can. */
const closed = (layers: readonly Layer[]): readonly ConfigFault[] =>
  layers.some(({ name, settings }) => name === 'managed' && settings.enforcement?.allowedModels !== undefined)
    ? []
    : layers
        .filter(({ settings }) => settings.enforcement?.modelsDefault === 'deny')
        .map((layer) =>
          layer.fault(
            ['enforcement', 'modelsDefault'],
            'modelsDefault is deny and no managed file has allowedModels, so no model may be used',
            'name at least one under enforcement.allowedModels',
          ),
        );

/** An empty list, or lists that have nothing in common, is refused at the start: never a built-in default. */
function nothingLeft(
  naming: readonly Layer[],
  allowed: ModelLists['allowed'],
  denied: readonly ModelEntry[],
  own: readonly NamedModel[],
): readonly ConfigFault[] {
  const path = ['enforcement', 'allowedModels'];
  const empty = naming.filter((_, index) => allowed[index]?.length === 0);
  if (empty.length > 0) {
    return empty.map((layer) =>
      layer.fault(path, 'allowedModels is empty, so no model may be used', 'name at least one, or take the key out'),
    );
  }
  const left = knownIds(own).filter(
    (id) =>
      allowed.every((list) => list.some((entry) => entryAllows(entry, id))) &&
      !denied.some((entry) => entryHolds(entry, id)),
  );
  const [last] = naming.slice(-1);
  if (left.length > 0 || last === undefined) return [];
  const against = [...naming.slice(0, -1).map((layer) => layer.reason(path)), ...denied.map(({ from }) => from)].map(
    (from) => `${from.rule} in ${from.file ?? from.layer}:${from.line ?? ''}`,
  );
  return [
    last.fault(
      path,
      `allowedModels leaves no model together with ${[...new Set(against)].join(' and ')}`,
      'let the lists have a model in common',
    ),
  ];
}

// Limits on single models by the day, of all layers: names become patterns, and of several limits the tightest holds.

interface ModelBudget {
  readonly model: ModelEntry;
  readonly budget: Rule<Budget>;
}

interface Word extends ModelBudget {
  readonly pattern: string;
}

interface ModelBudgets {
  /** One a pattern, by its name. */
  readonly known: readonly ModelBudget[];
  readonly unknown: readonly { readonly layer: Layer; readonly written: string }[];
}

/** `patternOf`: a canonical id or a family; null for what nobody knows. */
function modelBudgets(layers: readonly Layer[], patternOf: (written: string) => string | null): ModelBudgets {
  const words: Word[] = [];
  const unknown: { readonly layer: Layer; readonly written: string }[] = [];
  for (const layer of layers) {
    for (const [written, { maxCost, maxTokens }] of Object.entries(layer.settings.budgets?.model ?? {})) {
      const pattern = patternOf(written);
      if (pattern === null) {
        unknown.push({ layer, written });
        continue;
      }
      const from = layer.reason(['budgets', 'model', written]);
      words.push({
        pattern,
        model: { written, pattern, from },
        budget: { value: withoutAbsent({ maxTokens, maxCost }), from },
      });
    }
  }
  const patterns = [...new Set(words.map(({ pattern }) => pattern))].sort();
  return {
    known: patterns.flatMap((pattern) => tightestOf(words.filter((word) => word.pattern === pattern))),
    unknown,
  };
}

function tightestOf(words: readonly Word[]): readonly ModelBudget[] {
  const holding = (limit: 'maxCost' | 'maxTokens'): Word | undefined =>
    words
      .filter(({ budget }) => budget.value[limit] !== undefined)
      .reduce<Word | undefined>((best, next) => (isTighter(next, best, limit) ? next : best), undefined);
  const [cost, tokens] = [holding('maxCost'), holding('maxTokens')];
  const first = cost ?? tokens;
  if (first === undefined) return [];
  const value = withoutAbsent({ maxTokens: tokens?.budget.value.maxTokens, maxCost: cost?.budget.value.maxCost });
  return [{ model: first.model, budget: { value, from: first.budget.from } }];
}

const isTighter = (next: Word, best: Word | undefined, limit: 'maxCost' | 'maxTokens'): boolean =>
  best === undefined || (next.budget.value[limit] ?? Infinity) < (best.budget.value[limit] ?? Infinity);
