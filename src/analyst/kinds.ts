/** The eight kinds of task that the analyst knows, one row of `data/kinds.json` each: by which words a request is recognised, who does
 * it, what the task of its agent says. A request of no kind gets an agent that says which kinds there are. */
import { plainLine } from '../domain/text/text.ts';
import ROWS from './data/kinds.json' with { type: 'json' };
import { report } from './evidence.ts';
import { find } from './parts/find.ts';
import { changes, dependencies, todos } from './parts/lists.ts';
import { overview } from './parts/overview.ts';
import { review } from './parts/review.ts';
import { deadExports, untested } from './parts/untested.ts';
import type { Brief, Part, Work } from './turns.ts';
import { isFilePath, type Term, termsIn } from './words.ts';

/** In the order in which a plan has them. */
const WORKS = { where: find, review, untested, todos, dependencies, changes, 'dead exports': deadExports, overview };

/** `roles`: the first that may be planned does it. `tokens`: input and output together, on a repository of 400 files. `task`: the task of
 * its agent; where this is a whole task, it is of this kind alone. `words`: what a request of this kind says. `answers`: for a person.
 * `todos`: the steps of the work, as its list of todos has them. */
export const KINDS = Object.entries(WORKS).flatMap(([name, work]) =>
  ROWS.filter((row) => row.name === name).map((row) => ({
    ...row,
    roles: row.roles.split(' '),
    words: new RegExp(row.words, 'i'),
    part: { todos: row.todos, work },
  })),
);
export type Kind = (typeof KINDS)[number];

/** What a request names to look for. */
export const soughtIn = (task: string): readonly Term[] =>
  termsIn(task)
    .filter(({ is, text }) => is !== 'path' || isFilePath(text))
    .slice(0, 4);

/** Kinds whose words overlap with those of "where": they win over it unless it is asked for in so many words. */
const ASKED_WHERE =
  /\bwhere (?:is|are|does|do|in|the|`|\w+[A-Z_])|\bwhere (?:\S+ ){1,3}(?:is|are)\b|\bwho (?:calls|uses|imports)\b|\bdefined\b|\bhow (?:[\w.-]+ ){1,4}works?\b/i;

/** The kinds that a text asks for, in the order of a plan; none where it names none. */
export function kindsIn(text: string): readonly Kind[] {
  const exact = KINDS.filter(({ task }) =>
    new RegExp(`^${task.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '.+')}$`).test(text),
  );
  if (exact.length > 0) return exact;
  const plain = text.replaceAll(/`[^`\n]*`|"[^"\n]*"/g, ' NAME ');
  const found = KINDS.filter(({ words }) => words.test(plain));
  const terms = termsIn(plain.replaceAll('NAME', ' '));
  const names = termsIn(text).filter(({ is }) => is !== 'word');
  const others = found.filter(({ name }) => name !== 'where');
  const overviewWords =
    found.some(({ name }) => name === 'overview') && names.length === 0 && !/\bwhere (?!to|do i|should)/i.test(plain);
  const named = names.some(({ is, text: own }) => is === 'identifier' || isFilePath(own));
  const asked = found.some(({ name }) => name === 'where') || /\b(?:find|search|look for|show|explain)\b/i.test(plain);
  const where =
    others.length === 0
      ? named || (asked && terms.length > 0)
      : !overviewWords && ASKED_WHERE.test(text) && soughtIn(text).length > 0;
  return KINDS.filter((kind) => (kind.name === 'where' ? where : others.includes(kind)));
}

/** What an agent does: the kinds that its task names, one after the other; where it names none, the kind of its role. */
export function partsFor({ task, role }: Brief): readonly Part[] {
  const named = kindsIn(task);
  if (named.length > 0) return named.map(({ part }) => part);
  const own = KINDS.find(({ roles }) => roles.includes(role));
  const isOwn = own !== undefined && (own.name !== 'where' || soughtIn(task).length > 0);
  return [isOwn ? own.part : unknown];
}

const unknown: Part = {
  todos: [],
  // oxlint-disable-next-line require-yield -- It looks at nothing: there is nothing to look for.
  *work({ task }): Work {
    const head = `"${plainLine(task, 120)}" is not a kind of task that the built-in analyst knows, so nothing was checked.`;
    const rows = KINDS.map(({ answers }) => `- ${answers}`);
    return report(head, [
      'What it can answer',
      [...rows, '- anything else needs a language model: run `mimir doctor`'],
    ]);
  },
};
