/** Chooses what a request is answered: the first rule whose conditions hold, and now and then chaos. */
import type { Read } from './asked.ts';
import type { Answer, Rule, Script, WireFault } from './script.ts';

/** What a rule can ask about. */
export type Askable = Read & { readonly nth: number };

export interface Choice {
  /** The answer of the first rule that holds; null when none does. `counts`: it is one of the times of its rule. */
  answer(asked: Askable, counts?: boolean): Answer | null;
  /** The fault that strikes now; null mostly. */
  chaos(): WireFault | null;
}

export function choiceOf({ rules, chaos }: Pick<Script, 'rules' | 'chaos'>): Choice {
  const used = new Map<Rule, number>();
  const random = sequence(chaos?.seed ?? 0);
  const tests = rules.map((rule) => ({ rule, holds: testOf(rule) }));
  return {
    answer: (asked, counts = true) => {
      const found = tests.find(
        ({ rule, holds }) => holds(asked) && (used.get(rule) ?? 0) < (rule.when?.times ?? Infinity),
      );
      if (found === undefined) return null;
      if (counts) used.set(found.rule, (used.get(found.rule) ?? 0) + 1);
      return found.rule.answer;
    },
    chaos: () => {
      if (chaos === undefined) return null;
      // Both numbers are drawn each time, so that the share can change without changing which fault strikes when.
      const [strikes, which] = [random() < chaos.share, random()];
      return strikes ? (chaos.faults[Math.floor(which * chaos.faults.length)] ?? null) : null;
    },
  };
}

function testOf({ when = {} }: Rule): (asked: Askable) => boolean {
  const matches = (source: string | undefined): ((text: string) => boolean) => {
    if (source === undefined) return () => true;
    const pattern = new RegExp(source, 's');
    return (text) => pattern.test(text);
  };
  const [system, first, last, model] = [when.system, when.first, when.last, when.model].map(matches);
  return (asked) =>
    (when.nth === undefined || when.nth === asked.nth) &&
    (when.turn === undefined || when.turn === asked.turn) &&
    [system?.(asked.system), first?.(asked.first), last?.(asked.last), model?.(asked.model)].every(
      (is) => is !== false,
    );
}

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
function sequence(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
