/** What agents of the bench are answered: reads one after the other, then a word; for the screen long texts. */
import type { Rule, Script } from '../support/double/script.ts';
import { planOf, READABLE } from './place.ts';

/** So many reads, one a reply, and then the end; everybody who has no tools gets a word as well. */
export const reading = (reads: number, latencyMs = 0): Script => ({
  latencyMs,
  rules: [...readRules(reads), { answer: { text: 'done' } }],
});

/** A planner that splits into `agents` tasks, and agents that read once and then talk at `rate` tokens a second for long. */
export const talking = ({ agents, rate, seconds }: Talk): Script => ({
  rules: [
    { when: { system: PLANNER }, answer: { text: planOf(agents) } },
    ...readRules(1),
    { answer: { text: prose(rate * seconds), rate } },
  ],
});

export interface Talk {
  readonly agents: number;
  /** Tokens a second of each. */
  readonly rate: number;
  readonly seconds: number;
}

/** In the system prompt of the planner alone. */
const PLANNER = 'You plan a task';

const readRules = (reads: number): readonly Rule[] =>
  Array.from({ length: reads }, (_, index) => ({ when: { turn: index + 1 }, answer: { calls: [readCall(index)] } }));

export const readCall = (index: number): { tool: string; input: { path: string } } => ({
  tool: 'read_file',
  input: { path: READABLE[index % READABLE.length] ?? '' },
});

/** So many tokens of plain words in lines, four letters each; no capital letter, nothing that a screen would show on its own. */
export function prose(tokens: number): string {
  const words = 'the cache keeps what was read until a write makes it stale and then it asks again for the rest'.split(
    ' ',
  );
  const text = Array.from({ length: tokens }, (_, index) => words[(index * 7) % words.length]);
  return text
    .map((word, index) => `${word}${index % 14 === 13 ? '\n' : ' '}`)
    .join('')
    .slice(0, tokens * 4);
}
