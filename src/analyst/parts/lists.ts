/** Two kinds of task whose answers are lists: open notes and recent changes. */
import { behind, claim, excerpt, faults, section } from '../evidence.ts';
import { languageOf } from '../languages.ts';
import { isInComment } from '../lines.ts';
import { isForeign, isTest, rankOf } from '../paths.ts';
import { inventory } from '../project.ts';
import { filesOf, git, hitsOf, isCut, linesOf, list, read, search } from '../tools.ts';
import type { Hit, Seen } from '../tools.ts';
import type { Part, Work } from '../turns.ts';
import { byPlace, grouped, listed, plural, shortened } from '../words.ts';

/** Words of open notes. Written apart, so that a search for open notes in these sources doesn't find its own words. */
export const NOTE_WORDS = ['TO-DO', 'FIX-ME', 'XXX', 'HA-CK'].map((word) => word.replace('-', ''));
const NOTES = listed(NOTE_WORDS);
const ANY_NOTE = listed(NOTE_WORDS, 'or');
const NOTE = new RegExp(String.raw`\b(?:${NOTE_WORDS.join('|')})\b`);
/** Beside code, files in which a comment is told by its sign. */
const BUILD_FILE =
  /(?:^|\/)(?:CMakeLists\.txt|Makefile[\w.]*|Dockerfile|[\w.-]+\.(?:cmake|ya?ml|toml|ini|cfg|sql|mk|am|ac))$/;
const MOST_NOTES = 60;
const MOST_OTHERS = 10;

/** Every line that holds one of the words: those in comments of code first, by file, then the others. */
export const todos: Part = { todos: ['Search for open notes'], work: noting };

function* noting({ task }: { readonly task: string }): Work {
  const project = yield* inventory(task);
  const [look] = yield {
    say: `I search for ${NOTES}.`,
    todo: 0,
    asks: [search(NOTE.source, { path: project.path, limit: 1000, about: NOTES })],
  };
  const hits = hitsOf(look).toSorted((a, b) => rankOf(a.path) - rankOf(b.path) || byPlace(a, b));
  const isNote = (hit: Hit): boolean =>
    (languageOf(hit.path) !== undefined || BUILD_FILE.test(hit.path)) &&
    !isForeign(hit.path) &&
    isInComment(hit, NOTE.exec(hit.text)?.index ?? 0);
  const { notes = [], others = [] } = Object.groupBy(hits, (hit) => (isNote(hit) ? 'notes' : 'others'));
  const least = isCut(look) ? 'At least ' : '';
  return [
    `${least}${notesText(notes, others, project.called)} ${behind(look)}.`,
    ...section('Open notes', noteRows(notes, MOST_NOTES)),
    ...section('Other lines with these words', noteRows(others, MOST_OTHERS)),
    ...faults([...project.seen, look]),
  ].join('\n');
}

function notesText(notes: readonly Hit[], others: readonly Hit[], called: string): string {
  const [note, other] = [notes[0], others[0]];
  if (note !== undefined) {
    const kinds = grouped(notes, ({ text }) => NOTE.exec(text)?.[0] ?? '').map(
      ([kind, all]) => `${all.length} ${kind}`,
    );
    const files = plural(new Set(notes.map(({ path }) => path)).size, 'file');
    const tests = notes.filter(({ path }) => isTest(path)).length;
    return `${plural(notes.length, 'open note')} in comments of ${files} (${listed(kinds)}; ${tests} of them in tests), first ${claim(note)}`;
  }
  if (other === undefined) return `No line of ${called} holds ${ANY_NOTE}`;
  const count = `${plural(others.length, 'other line')} ${others.length === 1 ? 'does' : 'do'}`;
  return `No comment in code holds ${ANY_NOTE}; ${count}, first ${claim(other)}`;
}

const noteRows = (hits: readonly Hit[], most: number): readonly string[] =>
  shortened(
    hits,
    most,
    (hit) => `- ${claim(hit)}`,
    (others) =>
      `${others.length} more of that search, in ${listed([...new Set(others.map(({ path }) => path))].slice(0, 8))}`,
  );

const CHANGE_LOGS = '{CHANGE*,Change*,change*,HISTORY*,History*,NEWS*,News*,RELEASE*,Release*}';
const LOG_LENGTH = 100;
/** Lines of a change log that are shown. */
const LOG_LINES = 24;
const MOST_COMMITS = 12;
const MOST_CHANGED = 10;

export const changes: Part = { todos: ['Ask git', 'Read the change log'], work: changing };

function* changing({ task }: { readonly task: string }): Work {
  const project = yield* inventory(task);
  const paths = project.path === undefined ? {} : { paths: [project.path] };
  const [status, log, logs] = yield {
    say: 'I ask git for the state and the latest commits, and look for a change log.',
    todo: 0,
    asks: [
      git('status'),
      git('log', { limit: LOG_LENGTH, stat: true, ...paths }),
      list(20, { glob: CHANGE_LOGS, about: 'CHANGE*, HISTORY*, NEWS*, RELEASE*' }),
    ],
  };
  const [name] = filesOf(logs)
    .filter(
      (path) => !isTest(path) && !isForeign(path) && /(?:^|\/)[\w-]+(?:\.(?:md|rst|txt|adoc|markdown))?$/.test(path),
    )
    .toSorted((a, b) => a.split('/').length - b.split('/').length);
  const [paper] = yield {
    say: name === undefined ? 'There is no change log.' : `I read the top of ${name}.`,
    todo: 1,
    asks: name === undefined ? [] : [read(name, 1, 60)],
  };
  const commits = commitsIn(log);
  const entry = firstEntry(linesOf(paper));
  return [
    changesText(
      commits,
      entry.find(({ text }) => /\w/.test(text)),
      log,
    ),
    ...section('Uncommitted', statusRows(status)),
    ...section(
      'Latest commits',
      commits
        .slice(0, MOST_COMMITS)
        .map(({ hash, date, author, subject }) => `- ${hash} ${date} ${subject} (${author})`),
    ),
    ...(commits.length < 2 ? [] : section('Files that these commits changed most', changedRows(log))),
    ...(paper === undefined
      ? section('Change log', [`- no file is called CHANGE*, HISTORY*, NEWS* or RELEASE* ${behind(logs)}`])
      : excerpt(entry)),
    ...faults([...project.seen, status, log, logs, paper]),
  ].join('\n');
}

interface Commit {
  readonly hash: string;
  readonly date: string;
  readonly author: string;
  readonly subject: string;
}

const COMMIT = /^([0-9a-f]{7,40}) (\d{4}-\d{2}-\d{2})T\S+ (.*)$/;

function commitsIn(log: Seen | undefined): readonly Commit[] {
  const lines = log?.ok === true ? log.text.split('\n') : [];
  return lines.flatMap((line, at) => {
    const [, hash = '', date = '', author = ''] = COMMIT.exec(line) ?? [];
    const subject = (lines[at + 1] ?? '').trim().replaceAll('`', "'");
    return hash === '' ? [] : [{ hash, date, author: author.replace(/ \(.*\)$/, ''), subject }];
  });
}

function changesText(commits: readonly Commit[], top: Hit | undefined, log: Seen | undefined): string {
  const [latest] = commits;
  const begins = top === undefined ? '' : ` The change log begins at ${claim(top)}.`;
  if (latest === undefined) return `Git tells of no commit ${behind(log)}.${begins}`;
  const read = `${plural(commits.length, 'commit')} ${commits.length === 1 ? 'was' : 'were'} read`;
  return `The latest commit is ${latest.hash} of ${latest.date}, "${latest.subject}" by ${latest.author}; ${read} (git log, at most ${LOG_LENGTH}).${begins}`;
}

function statusRows(status: Seen | undefined): readonly string[] {
  if (status?.ok !== true) return [];
  const rows = status.text.split('\n').filter((line) => /^[ MADRCU?!]{2} /.test(line));
  if (rows.length === 0) return ['- nothing (git status)'];
  return shortened(
    rows,
    MOST_COMMITS,
    (row) => `- ${row.trim()}`,
    (others) => `${others.length} more (git status)`,
  );
}

/** Shortened paths are left out: they name no file. */
function changedRows(log: Seen | undefined): readonly string[] {
  const rows = (log?.text.split('\n') ?? []).flatMap((line) => {
    const [, path = '', size = '0'] = /^ (\S.*?)\s+\|\s+(\d+) [+-]*$/.exec(line) ?? [];
    return path === '' || path.startsWith('...') || path.includes(' => ') ? [] : [{ path, size: Number(size) }];
  });
  return [...Map.groupBy(rows, ({ path }) => path)]
    .map(([path, all]) => ({ path, times: all.length, size: all.reduce((sum, one) => sum + one.size, 0) }))
    .toSorted((a, b) => b.times - a.times || b.size - a.size || byPlace(a, b))
    .slice(0, MOST_CHANGED)
    .map(({ path, times, size }) => `- ${path}: ${plural(times, 'commit')}, ${plural(size, 'line')} (git log)`);
}

/** The first entry of a change log: from its first heading with a version or a date to the next. */
function firstEntry(lines: readonly Hit[]): readonly Hit[] {
  const isHead = ({ text }: Hit): boolean =>
    /^(?:#+\s*|={2,}\s*|\*+\s*)?(?:\[?[vV]?(?:ersion|elease)?\s*\d+\.\d|unreleased|[\w*]+\s+v?\d+\.\d)/i.test(text);
  const from = Math.max(0, lines.findIndex(isHead));
  const end = isHead(lines[from] ?? { path: '', line: 0, text: '' }) ? lines.slice(from + 1).findIndex(isHead) : -1;
  return lines.slice(from, Math.min(from + LOG_LINES, end === -1 ? lines.length : from + 1 + end));
}
