/** Rush: the state of the repository in few looks. Git state, recent changes, sizes; without git, what the files tell. */
import { filesOf, git, list } from '../looking.ts';
import type { Part, Seen, Work } from '../step.ts';
import { captured, plural } from '../words.ts';
import { faults, section, upper } from './parts.ts';

const MOST_NAMES = 400;
const COMMITS = 12;

export const rush: Part = {
  todos: () => ['Ask git for the state, and list the files', 'Count what changed lately'],
  work: state,
};

function* state(): Work {
  const [status, log, branch, all] = yield {
    say: 'Three questions to git at once (state, branches, latest commits) and a list of the files.',
    todo: 0,
    asks: [git('status'), git('log', { limit: COMMITS }), git('branch'), list(MOST_NAMES)],
  };
  const [changes, people] = yield {
    say: 'Which files changed most lately, and by whom: the last commits with their sizes.',
    todo: 1,
    asks: status?.ok === true ? [git('log', { limit: COMMITS, stat: true }), git('shortlog', { refs: ['HEAD'] })] : [],
  };
  return answer(status, all, [log, changes, branch, people]);
}

function answer(status: Seen | undefined, all: Seen | undefined, asked: readonly (Seen | undefined)[]): string {
  const { names, count } = filesOf(all);
  const files = upper(plural(count, 'file'));
  const size = section(count > names.length ? `Size, of the first ${names.length} files listed` : 'Size', sizes(names));
  if (status?.ok !== true) {
    const why = status?.text.split('\n')[0] ?? 'no such tool';
    return [`${files}. Git tells nothing here (${why}).`, ...size, ...faults([all])].join('\n');
  }
  const [log, changes, branch, people] = asked;
  return [
    `${files}. ${stateText(status)}`,
    ...section('Uncommitted', changed(status)),
    ...section('Latest commits', commits(log)),
    ...section('Changed most in these commits', mostChanged(changes)),
    ...section(
      'Branches',
      lines(branch)
        .slice(0, 6)
        .map((line) => `- ${quiet(line)}`),
    ),
    ...section(
      'Commits by author',
      lines(people)
        .slice(0, 5)
        .map((line) => `- ${quiet(line)}`),
    ),
    ...size,
    ...faults([all, ...asked]),
  ].join('\n');
}

const lines = (seen: Seen | undefined): readonly string[] =>
  seen?.ok === true ? seen.text.split('\n').filter((line) => line.trim() !== '') : [];

/** Text of people, on one line and without what would format it. */
const quiet = (text: string): string =>
  text
    .replaceAll(/[`*_<>#|]/g, '')
    .trim()
    .replaceAll(/\s+/g, ' ')
    .slice(0, 120)
    .toWellFormed();

function stateText(status: Seen): string {
  const [head = '', ...rest] = lines(status);
  const on = captured(/^## (?:No commits yet on )?([^\s.]+(?:\.[^\s.]+)*)/, head);
  const where = on === '' ? 'Git is there' : `On branch ${on}`;
  const open = rest.filter((line) => /^[ MADRCU?!]{2} /.test(line)).length;
  return open === 0 ? `${where}, nothing uncommitted.` : `${where}, ${plural(open, 'uncommitted change')}.`;
}

const MEANS: Readonly<Record<string, string>> = {
  M: 'modified',
  A: 'added',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
  U: 'in conflict',
  '?': 'untracked',
  '!': 'ignored',
};

function changed(status: Seen): readonly string[] {
  const rows = lines(status).filter((line) => /^[ MADRCU?!]{2} /.test(line));
  const shown = rows
    .slice(0, 10)
    .map((line) => `- ${MEANS[line.slice(0, 2).trim().charAt(0)] ?? 'changed'}: ${line.slice(3)}`);
  return rows.length > 10 ? [...shown, `- and ${rows.length - 10} more`] : shown;
}

/** Two lines a commit: hash, date and author; then the subject. */
function commits(log: Seen | undefined): readonly string[] {
  const rows = lines(log);
  return rows
    .flatMap((line, index) => {
      const head = /^([0-9a-f]{7,40}) (\d{4}-\d{2}-\d{2})\S* (.*)$/.exec(line);
      return head === null ? [] : [`- ${head[1] ?? ''} ${head[2] ?? ''} ${quiet(rows[index + 1] ?? '')}`];
    })
    .slice(0, 8);
}

function mostChanged(changes: Seen | undefined): readonly string[] {
  const counts = new Map<string, { times: number; lines: number }>();
  for (const line of lines(changes)) {
    const row = /^ (\S.*?)\s+\|\s+(\d+) [+-]*$/.exec(line);
    if (row === null) continue;
    const [, path = '', size = '0'] = row;
    const before = counts.get(path) ?? { times: 0, lines: 0 };
    counts.set(path, { times: before.times + 1, lines: before.lines + Number(size) });
  }
  return [...counts]
    .toSorted(([a, one], [b, two]) => two.times - one.times || two.lines - one.lines || (a < b ? -1 : 1))
    .slice(0, 6)
    .map(([path, { times, lines: size }]) => `- ${path}: ${plural(size, 'line')} in ${plural(times, 'commit')}`);
}

function sizes(names: readonly string[]): readonly string[] {
  const tally = (key: (name: string) => string): string =>
    [...Map.groupBy(names, key)]
      .map(([name, group]) => [name, group.length] as const)
      .toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
      .slice(0, 8)
      .map(([name, files]) => `${name} ${files}`)
      .join(', ');
  if (names.length === 0) return [];
  return [
    `- by folder: ${tally((name) => (name.includes('/') ? name.slice(0, name.indexOf('/') + 1) : '(top)'))}`,
    `- by kind: ${tally((name) => captured(/(\.\w+)$/, name) || '(none)')}`,
  ];
}
