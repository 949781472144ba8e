/** Two kinds of task whose answers are lists: open notes and recent changes. */
import { inventory } from './imports.ts';
import { isForeign, isInComment, isTest, languageOf, rankOf } from './languages.ts';
import {
  behind,
  claim,
  excerpt,
  faults,
  filesOf,
  git,
  hitsOf,
  isCut,
  linesOf,
  list,
  read,
  search,
  section,
} from './tools.ts';
import type { Hit } from './tools.ts';
import type { Part, Seen, Work } from './turns.ts';
import { listed, plural } from './words.ts';

const NOTE = /\b(?:TODO|FIXME|XXX|HACK)\b/;
const MOST_NOTES = 60;
const MOST_OTHERS = 10;

/** Every line that holds one of the words: those in comments of code first, by file, then the others. */
export const todos: Part = { todos: ['Search for open notes'], work: noting };

function* noting({ task }: { readonly task: string }): Work {
  const project = yield* inventory(task);
  const [look] = yield {
    say: 'I search for TODO, FIXME, XXX and HACK.',
    todo: 0,
    asks: [
      search(String.raw`\b(?:TODO|FIXME|XXX|HACK)\b`, {
        path: project.path,
        limit: 1000,
        about: 'TODO, FIXME, XXX and HACK',
      }),
    ],
  };
  const hits = hitsOf(look).toSorted(
    (a, b) => rankOf(a.path) - rankOf(b.path) || (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line),
  );
  if (hits.length === 0)
    return [
      `No line of ${project.called} holds TODO, FIXME, XXX or HACK ${behind(look)}.`,
      ...faults([...project.seen, look]),
    ].join('\n');
  const isNote = (hit: Hit): boolean =>
    languageOf(hit.path) !== undefined && !isForeign(hit.path) && isInComment(hit, NOTE.exec(hit.text)?.index ?? 0);
  const notes = hits.filter(isNote);
  const others = hits.filter((hit) => !isNote(hit));
  const kinds = [...Map.groupBy(notes, ({ text }) => NOTE.exec(text)?.[0] ?? '')].map(
    ([kind, all]) => `${all.length} ${kind}`,
  );
  const own = notes.filter(({ path }) => !isTest(path));
  const least = isCut(look) ? 'At least ' : '';
  return [
    notes.length === 0
      ? `No comment in code holds TODO, FIXME, XXX or HACK; ${plural(hits.length, 'other line')} ${hits.length === 1 ? 'does' : 'do'}, first ${claim(hits[0] ?? { path: '', line: 1, text: '' })} ${behind(look)}.`
      : `${least}${plural(notes.length, 'open note')} in comments of ${plural(new Set(notes.map(({ path }) => path)).size, 'file')} (${listed(kinds)}; ${notes.length - own.length} of them in tests), first ${claim(notes[0] ?? { path: '', line: 1, text: '' })} ${behind(look)}.`,
    ...section('Open notes', shown(notes, MOST_NOTES)),
    ...section('Other lines with these words', shown(others, MOST_OTHERS)),
    ...faults([...project.seen, look]),
  ].join('\n');
}

const shown = (hits: readonly Hit[], most: number): readonly string[] => [
  ...hits.slice(0, most).map((hit) => `- ${claim(hit)}`),
  ...(hits.length > most
    ? [
        `- and ${hits.length - most} more of that search, in ${listed([...new Set(hits.slice(most).map(({ path }) => path))].slice(0, 8))}`,
      ]
    : []),
];

const CHANGE_LOGS = '{CHANGE*,Change*,change*,HISTORY*,History*,NEWS*,News*,RELEASE*,Release*}';
const LOG_LENGTH = 100;
/** Lines of a change log that are shown. */
const LOG_LINES = 24;
const COMMIT = /^([0-9a-f]{7,40}) (\d{4}-\d{2}-\d{2})T\S+ (.*)$/;

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
  const papers = filesOf(logs)
    .filter(
      (path) => !isTest(path) && !isForeign(path) && /(?:^|\/)[\w-]+(?:\.(?:md|rst|txt|adoc|markdown))?$/.test(path),
    )
    .toSorted((a, b) => a.split('/').length - b.split('/').length)
    .slice(0, 1);
  const [paper] = yield {
    say: papers.length === 0 ? 'There is no change log.' : `I read the top of ${papers.join('')}.`,
    todo: 1,
    asks: papers.map((path) => read(path, 1, 60)),
  };
  const commits = commitsIn(log);
  const [latest] = commits;
  const [top] = paperLines(paper).filter(({ text }) => /\w/.test(text));
  const begins = top === undefined ? '' : ` The change log begins at ${claim(top)}.`;
  return [
    latest === undefined
      ? `Git tells of no commit ${behind(log)}.${begins}`
      : `The latest commit is ${latest.hash} of ${latest.date}, "${latest.subject}" by ${latest.author}; ${plural(commits.length, 'commit')} ${commits.length === 1 ? 'was' : 'were'} read (git log, at most ${LOG_LENGTH}).${begins}`,
    ...section('Uncommitted', statusRows(status)),
    ...section(
      'Latest commits',
      commits.slice(0, 12).map(({ hash, date, author, subject }) => `- ${hash} ${date} ${subject} (${author})`),
    ),
    ...(commits.length < 2 ? [] : section('Files that these commits changed most', changedRows(log))),
    ...(paper === undefined
      ? section('Change log', [`- no file is called CHANGE*, HISTORY*, NEWS* or RELEASE* ${behind(logs)}`])
      : excerpt(paperLines(paper))),
    ...faults([...project.seen, status, log, logs, paper]),
  ].join('\n');
}

interface Commit {
  readonly hash: string;
  readonly date: string;
  readonly author: string;
  readonly subject: string;
}

function commitsIn(log: Seen | undefined): readonly Commit[] {
  const lines = log?.ok === true ? log.text.split('\n') : [];
  return lines.flatMap((line, at) => {
    const [, hash = '', date = '', author = ''] = COMMIT.exec(line) ?? [];
    return hash === ''
      ? []
      : [
          {
            hash,
            date,
            author: author.replace(/ \(.*\)$/, ''),
            subject: (lines[at + 1] ?? '').trim().replaceAll('`', "'"),
          },
        ];
  });
}

function statusRows(status: Seen | undefined): readonly string[] {
  const rows = (status?.ok === true ? status.text.split('\n') : []).filter((line) => /^[ MADRCU?!]{2} /.test(line));
  return status?.ok !== true
    ? []
    : rows.length === 0
      ? ['- nothing (git status)']
      : [
          ...rows.slice(0, 12).map((row) => `- ${row.trim()}`),
          ...(rows.length > 12 ? [`- and ${rows.length - 12} more (git status)`] : []),
        ];
}

/** Shortened paths are left out: they name no file. */
function changedRows(log: Seen | undefined): readonly string[] {
  const rows = (log?.text.split('\n') ?? []).flatMap((line) => {
    const [, path = '', size = '0'] = /^ (\S.*?)\s+\|\s+(\d+) [+-]*$/.exec(line) ?? [];
    return path === '' || path.startsWith('...') || path.includes(' => ') ? [] : [{ path, size: Number(size) }];
  });
  return [...Map.groupBy(rows, ({ path }) => path)]
    .map(([path, all]) => ({ path, times: all.length, size: all.reduce((sum, one) => sum + one.size, 0) }))
    .toSorted((a, b) => b.times - a.times || b.size - a.size || (a.path < b.path ? -1 : 1))
    .slice(0, 10)
    .map(({ path, times, size }) => `- ${path}: ${plural(times, 'commit')}, ${plural(size, 'line')} (git log)`);
}

/** The first entry of a change log: from its first heading with a version or a date. */
function paperLines(paper: Seen | undefined): readonly Hit[] {
  const lines = linesOf(paper);
  const isHead = ({ text }: Hit): boolean =>
    /^(?:#+\s*|={2,}\s*|\*+\s*)?(?:\[?[vV]?(?:ersion|elease)?\s*\d+\.\d|unreleased|[\w*]+\s+v?\d+\.\d)/i.test(text);
  const from = lines.findIndex(isHead);
  if (from === -1) return lines.slice(0, LOG_LINES);
  const end = lines.slice(from + 1).findIndex(isHead);
  return lines.slice(from, Math.min(from + LOG_LINES, end === -1 ? lines.length : from + 1 + end));
}
