/** Recent changes: how much changed since when, where, of which kinds and by whom; the latest commits; the newest entry of the change log. */
import { grouped, plural, sentence } from '../../domain/lists.ts';
import SUBJECTS from '../data/subjects.json' with { type: 'json' };
import { behind, claim, excerpt, report, sentences } from '../evidence.ts';
import type { Hit } from '../languages.ts';
import { foldersOf, inventory, isForeign, isTest } from '../project.ts';
import * as tools from '../tools.ts';
import type { Brief, Work } from '../turns.ts';
import { byDepth, code, shortened } from '../words.ts';

const CHANGE_LOGS = '{CHANGE*,Change*,change*,HISTORY*,History*,NEWS*,News*,RELEASE*,Release*}';
const CHANGE_LOG = /(?:^|\/)[\w-]+(?:\.(?:md|rst|txt|adoc|markdown))?$/;
const MOST_COMMITS = 30;
const MOST_SHOWN = 12;
const LOG_LINES = 24;

export function* changes({ task }: Brief): Work {
  const { path } = yield* inventory(task);
  const paths = path === undefined ? {} : { paths: [path] };
  const [status, log, logs] = yield {
    todo: 0,
    say: 'I ask git for the state and the latest commits, and look for a change log.',
    asks: [
      tools.git('status'),
      tools.git('log', { limit: MOST_COMMITS, stat: true, ...paths }),
      tools.list(20, { glob: CHANGE_LOGS, about: 'CHANGE*, HISTORY*, NEWS*, RELEASE*' }),
    ],
  };
  const papers = tools.filesOf(logs).filter((file) => !isTest(file) && !isForeign(file) && CHANGE_LOG.test(file));
  const [top] = papers.toSorted(byDepth);
  const asks = top === undefined ? [] : [tools.read(top)];
  const [paper] = yield { todo: 1, say: `I read the top of ${top ?? 'no change log'}.`, asks };
  const commits = commitsIn(log);
  const entry = firstEntry(tools.linesOf(paper));
  const first = entry.find(({ text }) => /\w/.test(text));
  const entryAt = first === undefined ? '' : sentence(`The newest entry of the change log is at ${claim(first)}`);
  const begins = first === undefined ? `No change log was found ${behind(logs)}.` : entryAt;
  return report(
    `${commits.length === 0 ? `No commit could be read ${behind(log)}.` : changesText(commits, path)} ${begins}`,
    ['Uncommitted changes', statusRows(status)],
    [commits.length < 2 ? 'Folders in that commit' : 'Changed folders', areaRows(commits)],
    ['Authors', commits.length < 2 ? [] : authorRows(commits)],
    ['Latest commits', commits.length < 2 ? [] : shortened(commits, MOST_SHOWN, commitRow)],
    excerpt(entry),
  );
}

type Commit = ReturnType<typeof commitsIn>[number];

const COMMIT = /^([0-9a-f]{7,40}) (\d{4}-\d{2}-\d{2})T\S+ (.*)$/;
/** A rename, `a/{b => c}/d`: an empty part takes its slash with it. */
const RENAMED = /\{.* => (?:(.+)\}|\}\/)/;
const CHANGED = /^ (.+?) +\| +(?:\d+|Bin\b)/;

function commitsIn(log: tools.Seen | undefined) {
  const lines = log?.ok === true ? log.text.split('\n') : [];
  const starts = lines.flatMap((line, at) => (COMMIT.test(line) ? [at] : []));
  return starts.map((from, at) => {
    const [, hash = '', date = '', author = ''] = COMMIT.exec(lines[from] ?? '') ?? [];
    const files = lines.slice(from + 1, starts[at + 1]).flatMap((line) => {
      const name = CHANGED.exec(line)?.[1] ?? '';
      return name === '' ? [] : [name.replace(RENAMED, '$1').replace(/^.* => /, '')];
    });
    const subject = (lines[from + 1] ?? '').trim().replaceAll('`', "'");
    // Where a name is too long for git's list, only its end is there, behind `.../`.
    return { hash, date, author: author.replace(/ \(.*\)$/, ''), subject, files };
  });
}

const titleOf = ({ hash, date, subject, author }: Commit): string => `${hash} of ${date}, "${subject}" by ${author}`;

/** The commits behind the oldest that was read: that one may be the first, which adds every file. */
const later = (commits: readonly Commit[]): readonly Commit[] => (commits.length < 2 ? commits : commits.slice(0, -1));

const kindOf = ({ subject }: Commit): string => KINDS.find(([, words]) => words.test(subject))?.[0] ?? 'others';
const KINDS = Object.entries(SUBJECTS).map(([name, words]) => [name, new RegExp(words, 'i')] as const);

function changesText(commits: readonly Commit[], path: string | undefined): string {
  const [latest, base] = [commits[0], commits.at(-1)];
  if (latest === undefined || base === undefined) return '';
  const files = new Set(later(commits).flatMap((commit) => commit.files));
  const count = `${[...files].some(isElided) ? 'at least ' : ''}${plural(files.size, 'file')}`;
  const of = path === undefined ? '' : ` of ${code(path)}`;
  if (latest === base)
    return `There is only one commit${of}, ${titleOf(base)}, with ${count}: git has nothing to compare it with (git log: 1 commit).`;
  const kinds = grouped(later(commits), kindOf).map(([kind, own]) => `${kind} ${own.length}`);
  return sentences(
    `Since ${base.hash} of ${base.date}, ${plural(commits.length - 1, 'commit changes', 'commits change')} ${count}${of}.`,
    sentence(`The latest is ${titleOf(latest)}`),
    `By their subjects: ${kinds.join(', ')} (git log, at most ${MOST_COMMITS} commits).`,
  );
}

const isElided = (file: string): boolean => file.startsWith('.../');

const countRow = (label: string, own: readonly Commit[]): string =>
  `- ${label} ${plural(own.length, 'commit')}, latest ${own[0]?.hash ?? ''} of ${own[0]?.date ?? ''}`;

function areaRows(commits: readonly Commit[]): readonly string[] {
  const all = later(commits);
  const changed = [...new Set(all.flatMap((commit) => commit.files))];
  const files = changed.filter((file) => !isElided(file));
  const least = files.length < changed.length ? 'at least ' : '';
  return shortened(foldersOf(files, MOST_SHOWN), MOST_SHOWN, ([area, own]) =>
    countRow(
      `${area}: ${least}${plural(own.length, 'file')} in`,
      all.filter((commit) => commit.files.some((file) => own.includes(file))),
    ),
  );
}

function authorRows(commits: readonly Commit[]): readonly string[] {
  const authors = grouped(later(commits), ({ author }) => author);
  return shortened(authors, MOST_SHOWN, ([author, own]) => countRow(`${author}:`, own));
}

const commitRow = ({ hash, date, author, subject, files }: Commit): string =>
  `- ${hash} ${date} ${subject} (${author}, ${plural(files.length, 'file')})`;

function statusRows(status: tools.Seen | undefined): readonly string[] {
  const lines = status?.ok === true ? status.text.split('\n') : [];
  const rows = lines.filter((line) => /^[ MADRCU?!]{2} /.test(line));
  return shortened(rows, MOST_SHOWN, (row) => `- ${row.trim()}`, ' (git status)');
}

/** The first entry of a change log: from its first heading with a version or a date to the next. */
function firstEntry(lines: readonly Hit[]): readonly Hit[] {
  const isHead = ({ text }: Hit): boolean =>
    /^(?:#+\s*|={2,}\s*|\*+\s*)?(?:\[?[vV]?(?:ersion|elease)?\s*\d+\.\d|unreleased|[\w*]+\s+v?\d+\.\d)/i.test(text);
  const from = Math.max(0, lines.findIndex(isHead));
  const end = isHead(lines[from] ?? { path: '', line: 0, text: '' }) ? lines.slice(from + 1).findIndex(isHead) : -1;
  return lines.slice(from, Math.min(from + LOG_LINES, end === -1 ? lines.length : from + 1 + end));
}
