/** Plans whose tasks work in trees of their own, and the models that carry them out. */
import type { Rule } from './double/script.ts';

/** A task that writes below `src` in a tree of its own. */
export const ownTask = (id: string, description: string): object => ({
  id,
  description,
  role: 'code',
  writes: ['src/**'],
  tree: 'own',
});

/** Runs this command first where the task begins like that. */
export const runsFirst = (first: string, command: string): Rule => ({
  when: { first, turn: 1 },
  answer: { calls: [{ tool: 'bash', input: { command } }] },
});

/** For every other turn. */
export const saysDone: Rule = { answer: { text: 'Done.' } };

/** Two tasks that write the same folder. */
export const TWO = { reason: '', tasks: [ownTask('one', 'Name the cache'), ownTask('two', 'Log the cache')] };

/** Changes a line that both of them may change. */
export const namesCache = (word: string): string => `sed -i 's/^const cache .*/const ${word} = 1;/' src/cache.js`;
