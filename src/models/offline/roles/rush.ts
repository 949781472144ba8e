/** Rush: the state of the repository in few looks. Git state, recent changes, sizes; without git, what the files tell. */
import { changesIn, commitsIn } from '../history.ts';
import { filesOf, git, list } from '../looking.ts';
import type { Brief, Part, Seen, Work } from '../step.ts';
import { captured, listed, plural } from '../words.ts';
import { faults, section, upper } from './parts.ts';

const MOST_NAMES = 400;
const COMMITS = 20;

export const rush: Part = {
  todos: () => ['Ask git for the state, and list the files', 'Count what changed lately'],
  work: state,
};

function* state({ task }: Brief): Work {
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
  return answer(status, all, [log, changes, branch, people], !/changed lately/.test(task));
}

function answer(
  status: Seen | undefined,
  all: Seen | undefined,
  asked: readonly (Seen | undefined)[],
  whole: boolean,
): string {
  const { names, count } = filesOf(all);
  const files = upper(plural(count, 'file'));
  const size = section(count > names.length ? `Size, of the first ${names.length} files listed` : 'Size', sizes(names));
  if (status?.ok !== true) {
    const why = status?.text.split('\n')[0] ?? 'no such tool';
    return [`${files}. Git tells nothing here (${why}).`, ...size, ...faults([all])].join('\n');
  }
  const [log, changes, branch, people] = asked;
  return [
    lately(changes, log, stateText(status), whole),
    ...section('Latest commits', commits(log)),
    ...section('Changed most in these commits', mostChanged(changes)),
    ...section('Where these changes lie', whereChanged(changes)),
    ...section('Uncommitted', changed(status)),
    ...section('Branches', several(branch)),
    ...section('Commits by author', several(people)),
    ...(whole ? size : []),
    ...faults([all, ...asked]),
  ].join('\n');
}

const lines = (seen: Seen | undefined): readonly string[] =>
  seen?.ok === true ? seen.text.split('\n').filter((line) => line.trim() !== '') : [];

/** The first words: what was worked on lately, then what is open. */
function lately(changes: Seen | undefined, log: Seen | undefined, open: string, whole: boolean): string {
  const rows = lines(log);
  const at = rows.findIndex((line) => HEAD.test(line));
  const subject = quiet(rows[at + 1] ?? '');
  const count = commitsIn(changes);
  const top = changesIn(changes)
    .slice(0, 3)
    .map(({ path, times }) => (count > 1 ? `${path} (${times} times)` : path));
  const latest =
    at === -1 || subject === ''
      ? ''
      : ` The latest commit says "${subject}" (${HEAD.exec(rows[at] ?? '')?.[2] ?? ''}).`;
  const most =
    count === 0
      ? ''
      : count === 1
        ? ' There is only one commit to look at.'
        : ` The last ${count} commits changed most often ${listed(top)}.`;
  return whole ? `${open}${latest}${most}` : `${latest}${most} ${open}`.trim();
}

const HEAD = /^([0-9a-f]{7,40}) (\d{4}-\d{2}-\d{2})\S* (.*)$/;

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
      const head = HEAD.exec(line);
      return head === null ? [] : [`- ${head[1] ?? ''} ${head[2] ?? ''} ${quiet(rows[index + 1] ?? '')}`];
    })
    .slice(0, 8);
}

const mostChanged = (log: Seen | undefined): readonly string[] =>
  changesIn(log)
    .slice(0, 8)
    .map(({ path, times, lines: size }) => `- ${path}: ${plural(size, 'line')} in ${plural(times, 'commit')}`);

/** Lines changed, by the first two folders of a path. */
function whereChanged(log: Seen | undefined): readonly string[] {
  const folders = Map.groupBy(changesIn(log), ({ path }) => captured(/^((?:[^/]+\/){1,2})/, path) || '(top)');
  return [...folders]
    .map(([folder, all]) => ({ folder, files: all.length, size: all.reduce((sum, one) => sum + one.lines, 0) }))
    .toSorted((a, b) => b.size - a.size || (a.folder < b.folder ? -1 : 1))
    .slice(0, 6)
    .map(({ folder, files, size }) => `- ${folder}: ${plural(size, 'line')} in ${plural(files, 'file')}`);
}

/** Lines of a list that says something only when there is more than one. */
const several = (seen: Seen | undefined): readonly string[] =>
  lines(seen).length < 2
    ? []
    : lines(seen)
        .slice(0, 5)
        .map((line) => `- ${quiet(line)}`);

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
