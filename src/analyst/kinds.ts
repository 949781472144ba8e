/**
 * The eight kinds of task that the analyst knows, one row of `data/kinds.json` each: by which words a request is recognised, who does
 * it, what the task of its agent says. A request of no kind gets an agent that says which kinds there are.
 */
import ROWS from './data/kinds.json' with { type: 'json' };
import { deadExports } from './parts/dead-exports.ts';
import { dependencies } from './parts/dependencies.ts';
import { find } from './parts/find.ts';
import { changes, NOTE_WORDS, todos } from './parts/lists.ts';
import { overview } from './parts/overview.ts';
import { review } from './parts/review.ts';
import { untested } from './parts/untested.ts';
import type { Brief, Part, Work } from './turns.ts';
import { isFilePath, listed, oneLine, termsIn } from './words.ts';

/** In the order in which a plan has them. */
const PARTS = { where: find, review, untested, todos, dependencies, changes, 'dead exports': deadExports, overview };

export interface Kind {
  readonly name: string;
  /** The first that may be planned does it. */
  readonly roles: readonly string[];
  /** Input and output together, on a repository of 400 files. */
  readonly tokens: number;
  /** The task of its agent. Where this is a whole task, it is of this kind alone. */
  readonly task: string;
  /** What a request of this kind says. */
  readonly words: RegExp;
  /** For a person. */
  readonly answers: string;
  readonly part: Part;
}

const filled = (text: string): string =>
  text.replace('{notes}', listed(NOTE_WORDS)).replace('{note}', NOTE_WORDS[0] ?? '');

export const KINDS: readonly Kind[] = Object.entries(PARTS).flatMap(([name, part]) =>
  ROWS.filter((row) => row.name === name).map((row) => ({
    name,
    roles: row.roles.split(' '),
    tokens: row.tokens,
    task: filled(row.task),
    words: new RegExp(row.words, 'i'),
    answers: filled(row.answers),
    part,
  })),
);

/** Words of a request that name something to look for. */
export const wordsIn = (task: string): readonly string[] =>
  termsIn(task)
    .flatMap(({ is, text }) => (is === 'path' && !isFilePath(text) ? [] : [text]))
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
      : !overviewWords && ASKED_WHERE.test(text) && wordsIn(text).length > 0;
  return KINDS.filter((kind) => (kind.name === 'where' ? where : others.includes(kind)));
}

/** What an agent does: the kinds that its task names; where it names none, the kind of its role. */
export function partFor({ task, role }: Brief): Part {
  const named = kindsIn(task);
  const own = KINDS.find(({ roles }) => roles.includes(role));
  const isOwn = own !== undefined && (own.name !== 'where' || wordsIn(task).length > 0);
  const kinds = named.length > 0 || !isOwn ? named : [own];
  const [only, more] = kinds;
  if (only === undefined) return unknown;
  return more === undefined ? only.part : together(kinds.map(({ part }) => part));
}

/** Several kinds by one agent: one after the other. */
const together = (parts: readonly Part[]): Part => ({
  todos: parts.flatMap(({ todos: own }) => own),
  *work(brief): Work {
    const reports: string[] = [];
    let before = 0;
    for (const part of parts) {
      const work = part.work(brief);
      let at = work.next([]);
      while (at.done !== true) at = work.next(yield { ...at.value, todo: at.value.todo + before });
      reports.push(at.value);
      before += part.todos.length;
    }
    return reports.join('\n\n');
  },
});

const unknown: Part = {
  todos: [],
  // oxlint-disable-next-line require-yield -- It looks at nothing: there is nothing to look for.
  *work({ task }): Work {
    return [
      `"${oneLine(task, 120)}" is none of the kinds of task that the built-in analyst knows, so nothing was looked at.`,
      '',
      '## What it can answer',
      '',
      ...KINDS.map(({ answers }) => `- ${answers}`),
      '',
      'For anything else set up a language model: `mimir doctor` tells how.',
    ].join('\n');
  },
};
