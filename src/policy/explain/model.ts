/** Why a model is or isn't used: explained by `chooseModel` and `modelProblem`, the functions that decide it in a run. */
import type { Reason } from '../../domain/reason.ts';
import {
  type Change,
  type Explanation,
  type Outcome,
  type TookPart,
  changeRule,
  isWritten,
  putInto,
  ranked,
  takeOut,
  whatHelps,
  NO_RULE,
} from './explain.ts';
import {
  type ModelWish,
  chooseModel,
  entryAllows,
  entryHolds,
  modelProblem,
  obstacleTo,
  resolveModel,
} from '../models.ts';
import { type ModelEntry, type Rules, builtIn } from '../rules.ts';

/** `wish.asked` is the name in question. Where a rule forbids it, the rule is told before whatever else stands in the way. */
export function explainModel(wish: ModelWish & { readonly asked: string }): Explanation {
  const { asked, rules } = wish;
  const id = resolveModel(asked, wish.models);
  const chosen = chooseModel(wish);
  if (id === null) return unknown(asked, chosen.ok ? `"${asked}" is not a known model` : chosen.fault.text, rules);
  const decision = outcomeOf(wish);
  const rule = modelProblem(id, rules);
  const because = obstacleTo(id, wish) ?? grantOf(id, rules);
  return {
    subject: `model ${asked}`,
    decision,
    because,
    rules: ranked(because, partsOf(id, rules, decision), rule === null ? decision : 'deny'),
    change: decision === 'allow' ? [] : changeTexts(wish, id, rule !== null),
    resolved: [{ written: asked, id }, ...resolvedIn(rules).filter((one) => entryHolds({ pattern: one.id }, id))],
    used: chosen.ok ? chosen.value.choice.used : null,
  };
}

const unknown = (asked: string, text: string, rules: Rules): Explanation => ({
  subject: `model ${asked}`,
  decision: 'deny',
  because: builtIn(text),
  rules: ranked(builtIn(text), [], 'deny'),
  change: ['a name that is known'],
  resolved: resolvedIn(rules),
  used: null,
});

/** What stands in the way beside rules is told as it is; to change rules helps as if nothing else did. */
function changeTexts(wish: ModelWish, id: string, ruled: boolean): readonly string[] {
  const callable = !wish.offlineOnly && wish.models.some((model) => model.id === id && model.usable.yes);
  if (!ruled && callable) return ['nothing: agents use tools, and it takes none'];
  if (!ruled) return ['a provider for it that can be called: `mimir doctor` says what each one lacks'];
  const models = wish.models.map((model): typeof model => ({ ...model, usable: { yes: true } }));
  return whatHelps({ ...wish, models, offlineOnly: false }, changesFor(id, wish.rules), outcomeOf);
}

function outcomeOf(wish: ModelWish): Outcome {
  const chosen = chooseModel(wish);
  if (!chosen.ok) return 'deny';
  return chosen.value.reason === null ? 'allow' : 'substitute';
}

/** The entry that allows it, where somebody wrote a list. */
function grantOf(id: string, { allowedModels }: Rules): Reason {
  const entry = allowedModels.flat().find((each) => entryAllows(each, id));
  return entry?.from ?? NO_RULE;
}

type Part = Omit<TookPart, 'decides'>;

function partsOf(id: string, rules: Rules, decision: Outcome): readonly Part[] {
  const denied = rules.deniedModels
    .filter((entry) => entryHolds(entry, id))
    .map(({ from }): Part => ({ reason: from, says: 'deny' }));
  const allowed = rules.allowedModels.flatMap((list): readonly Part[] => {
    const entry = list.find((each) => entryAllows(each, id));
    const from = entry?.from ?? list[0]?.from;
    return from === undefined ? [] : [{ reason: from, says: entry === undefined ? 'deny' : 'allow' }];
  });
  if (decision === 'allow') return [...denied, ...allowed];
  const { from, value } = rules.modelFallback;
  return [...denied, ...allowed, { reason: from, says: value === 'deny' ? 'deny' : 'substitute' }];
}

function changesFor(id: string, rules: Rules): readonly Change<ModelWish>[] {
  const without = rules.deniedModels
    .filter((entry) => entryHolds(entry, id) && isWritten(entry.from))
    .map((entry) =>
      change(takeOut(entry.written, entry.from), (now) => ({
        ...now,
        deniedModels: now.deniedModels.filter((each) => each !== entry),
      })),
    );
  const within = rules.allowedModels.flatMap((list) => {
    const [first] = list;
    if (first === undefined || list.some((entry) => entryAllows(entry, id))) return [];
    const added: ModelEntry = { written: id, pattern: id, from: first.from };
    return [
      change(putInto(id, first.from), (now) => ({
        ...now,
        allowedModels: now.allowedModels.map((each) => (each === list ? [...each, added] : each)),
      })),
    ];
  });
  const { from } = rules.modelFallback;
  const fallback = isWritten(from)
    ? [
        change(changeRule(from, 'enforcement.modelFallback: list'), (now) => ({
          ...now,
          modelFallback: { value: 'list', from },
        })),
      ]
    : [];
  return [...without, ...within, ...fallback];
}

const change = (words: string, alter: (rules: Rules) => Rules): Change<ModelWish> => ({
  words,
  apply: (wish) => ({ ...wish, rules: alter(wish.rules) }),
});

/** What the lists of models were taken to mean. */
export const resolvedIn = ({ allowedModels, deniedModels, modelBudgets = [] }: Rules): Explanation['resolved'] =>
  [...allowedModels.flat(), ...deniedModels, ...modelBudgets.map(({ model }) => model)]
    .filter(({ written, pattern }) => written !== pattern)
    .map(({ written, pattern }) => ({ written, id: pattern }));
