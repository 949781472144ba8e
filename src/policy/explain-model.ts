/** Why a model is or isn't used: explained by `chooseModel` and `modelProblem`, the functions that decide it in a run. */
import type { Reason } from '../domain/reason.ts';
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
} from './explain.ts';
import { type ModelWish, chooseModel, entryMatches, resolveModel } from './models.ts';
import { type ModelEntry, type Rules, builtIn } from './rules.ts';

/** `wish.asked` is the name in question. */
export function explainModel(wish: ModelWish & { readonly asked: string }): Explanation {
  const id = resolveModel(wish.asked, wish.models);
  const chosen = chooseModel(wish);
  const decision = outcomeOf(wish);
  const because = chosen.ok
    ? (chosen.value.reason ?? grantOf(id, wish.rules))
    : (chosen.fault.reasons[0] ?? builtIn(chosen.fault.text));
  const used = chosen.ok ? chosen.value.choice.used : null;
  return {
    subject: `model ${wish.asked}`,
    decision,
    because,
    rules: ranked(because, id === null ? [] : partsOf(id, wish.rules, decision), decision),
    change: whatHelps(wish, id === null ? [] : changesFor(id, wish.rules), outcomeOf),
    resolved: [...(id === null ? [] : [{ written: wish.asked, id }]), ...resolvedIn(wish.rules)],
    used,
  };
}

function outcomeOf(wish: ModelWish): Outcome {
  const chosen = chooseModel(wish);
  if (!chosen.ok) return 'deny';
  return chosen.value.reason === null ? 'allow' : 'substitute';
}

/** The entry that allows it, where somebody wrote a list. */
function grantOf(id: string | null, { allowedModels }: Rules): Reason {
  const entry = allowedModels.flat().find((each) => id !== null && entryMatches(each, id));
  return entry?.from ?? builtIn('no rule speaks against it');
}

type Part = Omit<TookPart, 'decides'>;

function partsOf(id: string, rules: Rules, decision: Outcome): readonly Part[] {
  const denied = rules.deniedModels
    .filter((entry) => entryMatches(entry, id))
    .map(({ from }): Part => ({ reason: from, says: 'deny' }));
  const allowed = rules.allowedModels.flatMap((list): readonly Part[] => {
    const entry = list.find((each) => entryMatches(each, id));
    const from = entry?.from ?? list[0]?.from;
    return from === undefined ? [] : [{ reason: from, says: entry === undefined ? 'deny' : 'allow' }];
  });
  if (decision === 'allow') return [...denied, ...allowed];
  const { from, value } = rules.modelFallback;
  return [...denied, ...allowed, { reason: from, says: value === 'deny' ? 'deny' : 'substitute' }];
}

function changesFor(id: string, rules: Rules): readonly Change<ModelWish>[] {
  const without = rules.deniedModels
    .filter((entry) => entryMatches(entry, id) && isWritten(entry.from))
    .map((entry) =>
      change(takeOut(entry.written, entry.from), (now) => ({
        ...now,
        deniedModels: now.deniedModels.filter((each) => each !== entry),
      })),
    );
  const within = rules.allowedModels.flatMap((list) => {
    const [first] = list;
    if (first === undefined || list.some((entry) => entryMatches(entry, id))) return [];
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
