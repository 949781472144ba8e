/** Three kinds of task whose answers are lists: open notes, recent changes, declared dependencies. */
import { captured, escaped, grouped, listed, plural, sentence } from '../../domain/lists.ts';
import MANIFESTS from '../data/manifests.json' with { type: 'json' };
import { behind, claim, excerpt, place, report, type Section } from '../evidence.ts';
import { anyOf, type Hit, isComment, isInComment, languageOf } from '../languages.ts';
import { FOREIGN, inventory, isForeign, isTest, rankOf } from '../project.ts';
import * as tools from '../tools.ts';
import type { Brief, Work } from '../turns.ts';
import { byDepth, byPlace, code, shortened } from '../words.ts';

/** Words of open notes. */
const NOTE_WORDS = ['TODO', 'FIXME', 'XXX', 'HACK'];
const NOTES = listed(NOTE_WORDS);
const ANY_NOTE = listed(NOTE_WORDS, 'or');
const NOTE = new RegExp(String.raw`\b(?:${NOTE_WORDS.join('|')})\b`);
const QUOTED_NOTE = new RegExp(`["'\`](?:${NOTE_WORDS.join('|')})["'\`]`);
/** Beside code, files in which a comment is told by its sign. */
const COMMENTED =
  /(?:^|\/)(?:CMakeLists\.txt|Makefile[\w.]*|Dockerfile|[\w.-]+\.(?:y|l|cmake|ya?ml|toml|ini|cfg|sql|mk|am|ac))$/;
const MOST_NOTES = 60;
const MOST_OTHERS = 10;

/** Every line that holds one of the words: those in comments of code first, by file, then the others. */
export function* todos({ task }: Brief): Work {
  const project = yield* inventory(task);
  const ask = tools.search(NOTE.source, { path: project.path, limit: 1000, about: NOTES });
  const [look] = yield { todo: 0, say: `I search for ${NOTES}.`, asks: [ask] };
  const hits = tools.hitsOf(look).toSorted((a, b) => rankOf(a.path) - rankOf(b.path) || byPlace(a, b));
  const isNote = (hit: Hit): boolean =>
    (languageOf(hit.path) !== undefined || COMMENTED.test(hit.path)) &&
    !isForeign(hit.path) &&
    !QUOTED_NOTE.test(hit.text) &&
    isInComment(hit, NOTE.exec(hit.text)?.index ?? 0);
  const { notes = [], others = [] } = Object.groupBy(hits, (hit) => (isNote(hit) ? 'notes' : 'others'));
  return report(
    `${tools.isCut(look) ? 'At least ' : ''}${notesText(notes, others, project.called)} ${behind(look)}.`,
    ['Open notes', noteRows(notes, MOST_NOTES)],
    ['Other lines with these words', noteRows(others, MOST_OTHERS)],
  );
}

function notesText(notes: readonly Hit[], others: readonly Hit[], called: string): string {
  const [note, other] = [notes[0], others[0]];
  if (note !== undefined) {
    const words = grouped(notes, ({ text }) => NOTE.exec(text)?.[0] ?? '');
    const kinds = words.map(([kind, all]) => `${all.length} ${kind}`);
    const files = plural(new Set(notes.map(({ path }) => path)).size, 'file');
    const tests = notes.filter(({ path }) => isTest(path)).length;
    return `${plural(notes.length, 'open note')} in comments of ${files} (${listed(kinds)}; ${tests} of them in tests), first ${claim(note)}`;
  }
  if (other === undefined) return `No line of ${called} contains ${ANY_NOTE}`;
  const count = `${plural(others.length, 'other line')} ${others.length === 1 ? 'does' : 'do'}`;
  return `No comment in code contains ${ANY_NOTE}; ${count}, first ${claim(other)}`;
}

const noteRows = (hits: readonly Hit[], most: number): readonly string[] =>
  shortened(hits, most, (hit) => `- ${claim(hit)}`, ' of that search');

const CHANGE_LOGS = '{CHANGE*,Change*,change*,HISTORY*,History*,NEWS*,News*,RELEASE*,Release*}';
const CHANGE_LOG = /(?:^|\/)[\w-]+(?:\.(?:md|rst|txt|adoc|markdown))?$/;
const LOG_LENGTH = 100;
/** Lines of a change log that are shown. */
const LOG_LINES = 24;
const MOST_COMMITS = 12;

export function* changes({ task }: Brief): Work {
  const project = yield* inventory(task);
  const paths = project.path === undefined ? {} : { paths: [project.path] };
  const [status, log, logs] = yield {
    todo: 0,
    say: 'I ask git for the state and the latest commits, and look for a change log.',
    asks: [
      tools.git('status'),
      tools.git('log', { limit: LOG_LENGTH, ...paths }),
      tools.list(20, { glob: CHANGE_LOGS, about: 'CHANGE*, HISTORY*, NEWS*, RELEASE*' }),
    ],
  };
  const papers = tools.filesOf(logs).filter((path) => !isTest(path) && !isForeign(path) && CHANGE_LOG.test(path));
  const [top, ...others] = papers.toSorted(byDepth);
  const say = top === undefined ? 'There is no change log.' : `I read the top of ${top}.`;
  const [paper] = yield { todo: 1, say, asks: top === undefined ? [] : [tools.read(top)] };
  const commits = commitsIn(log);
  const entry = firstEntry(tools.linesOf(paper));
  const rows = commits.map(({ hash, date, author, subject }) => `- ${hash} ${date} ${subject} (${author})`);
  return report(
    changesText(commits, entry, log),
    ['Uncommitted', statusRows(status)],
    ['Latest commits', rows.slice(0, MOST_COMMITS)],
    paper === undefined
      ? [
          'Change log',
          [
            `- no plain text outside tests and ${FOREIGN} code is called CHANGE*, HISTORY*, NEWS* or RELEASE* ${behind(logs)}`,
          ],
        ]
      : excerpt(entry),
    ['Other change logs', others.slice(0, MOST_OTHERS).map((path) => `- ${path}`)],
  );
}

type Commit = ReturnType<typeof commitsIn>[number];

const COMMIT = /^([0-9a-f]{7,40}) (\d{4}-\d{2}-\d{2})T\S+ (.*)$/;

function commitsIn(log: tools.Seen | undefined) {
  const lines = log?.ok === true ? log.text.split('\n') : [];
  return lines.flatMap((line, at) => {
    const [, hash = '', date = '', author = ''] = COMMIT.exec(line) ?? [];
    const subject = (lines[at + 1] ?? '').trim().replaceAll('`', "'");
    return hash === '' ? [] : [{ hash, date, author: author.replace(/ \(.*\)$/, ''), subject }];
  });
}

function changesText(commits: readonly Commit[], entry: readonly Hit[], log: tools.Seen | undefined): string {
  const [latest] = commits;
  const top = entry.find(({ text }) => /\w/.test(text));
  const begins = top === undefined ? '' : ` ${sentence(`The change log begins at ${claim(top)}`)}`;
  if (latest === undefined) return `No commit could be read ${behind(log)}.${begins}`;
  const read = `${plural(commits.length, 'commit')} ${commits.length === 1 ? 'was' : 'were'} read`;
  return `The latest commit is ${latest.hash} of ${latest.date}, "${latest.subject}" by ${latest.author}; ${read} (git log, at most ${LOG_LENGTH}).${begins}`;
}

function statusRows(status: tools.Seen | undefined): readonly string[] {
  if (status?.ok !== true) return [];
  const rows = status.text.split('\n').filter((line) => /^[ MADRCU?!]{2} /.test(line));
  if (rows.length === 0) return ['- nothing (git status)'];
  return shortened(rows, MOST_COMMITS, (row) => `- ${row.trim()}`, ' (git status)');
}

/** The first entry of a change log: from its first heading with a version or a date to the next. */
function firstEntry(lines: readonly Hit[]): readonly Hit[] {
  const isHead = ({ text }: Hit): boolean =>
    /^(?:#+\s*|={2,}\s*|\*+\s*)?(?:\[?[vV]?(?:ersion|elease)?\s*\d+\.\d|unreleased|[\w*]+\s+v?\d+\.\d)/i.test(text);
  const from = Math.max(0, lines.findIndex(isHead));
  const end = isHead(lines[from] ?? { path: '', line: 0, text: '' }) ? lines.slice(from + 1).findIndex(isHead) : -1;
  return lines.slice(from, Math.min(from + LOG_LINES, end === -1 ? lines.length : from + 1 + end));
}

// Declared dependencies, each with the line that names it, and the lines that use it. What can't be told from a line is left out.

const MOST_MANIFESTS = 12;
const MOST_ASKED = 120;
const MANIFEST_LINES = 400;

/** A dependency with what the searches for it showed, and a sentence of it. `unknown`: a search was not made, or not whole. */
interface Counted extends Dependency {
  readonly is: 'imported' | 'mentioned' | 'lost' | 'unknown';
  readonly text: string;
}

export function* dependencies({ task }: Brief): Work {
  const { path } = yield* inventory(task);
  const where = { glob: `{${GLOBS.join(',')}}`, path, about: `manifests of ${GLOBS.length} kinds` };
  const [manifests] = yield { todo: 0, say: 'I look for manifests.', asks: [tools.list(200, where)] };
  const own = tools.filesOf(manifests).filter((file) => !isForeign(file) && !isTest(file));
  const paths = own.toSorted(byDepth).slice(0, MOST_MANIFESTS);
  if (paths.length === 0) return `No manifest of a known kind was found ${behind(manifests)}.`;
  const asks = paths.map((file) => tools.read(file, 1, MANIFEST_LINES));
  const texts = yield { todo: 0, say: `I read ${listed(paths)}.`, asks };
  const counted = yield* countedOf(texts.flatMap((seen, at) => declaredIn(paths[at] ?? '', tools.linesOf(seen))));
  const kinds = Map.groupBy(counted, ({ hit, kind }) => (kind === '' ? hit.path : `${hit.path}, ${kind}`));
  return report(
    headText(counted, paths, manifests),
    ...[...kinds].map(([heading, all]): Section => {
      return [heading, all.map(({ name, hit, text }) => `- ${name}: declared at ${claim(hit)}; ${text}`)];
    }),
  );
}

/** Searches for imports of each, then for any mention of those that have none. */
function* countedOf(found: readonly Dependency[]): tools.Looking<readonly Counted[]> {
  const asked = found.filter(({ use }) => use !== null).slice(0, MOST_ASKED);
  const looks = yield {
    todo: 1,
    say: 'I search for the imports of each dependency.',
    asks: asked.map(({ name, use }) =>
      tools.search(use?.pattern ?? '', { glob: use?.glob ?? '*', limit: 100, about: `imports of ${code(name)}` }),
    ),
  };
  const lookFor = (one: Dependency): tools.Seen | undefined => looks[asked.indexOf(one)];
  const idle = asked.filter((one) => lookFor(one)?.ok === true && usesIn(one, lookFor(one)).length === 0);
  // Of `vendor/name` the second half alone is a mention, too.
  const asks = idle.map(({ name }) => {
    const own = anyOf([...new Set([name, name.split('/').at(-1) ?? ''])].map(escaped));
    const where = { limit: 40, ignore_case: true, about: code(name) };
    return tools.search(`(?:^|[^\\w@-])${own}(?:[^\\w-]|$)`, where);
  });
  const named = yield { todo: 2, say: 'I search for other lines that name those without an import.', asks };
  return found.map((one) => ({ ...one, ...countedAs(one, lookFor(one), named[idle.indexOf(one)]) }));
}

type Look = tools.Seen | undefined;

const usesIn = (one: Dependency, look: tools.Seen | undefined): readonly Hit[] =>
  tools
    .hitsOf(look)
    .filter((hit) => !isComment(hit) && !hit.path.includes('node_modules/') && hit.path !== one.hit.path)
    .toSorted((a, b) => rankOf(a.path) - rankOf(b.path));

function countedAs(one: Dependency, useLook: Look, nameLook: Look): Pick<Counted, 'is' | 'text'> {
  if (useLook === undefined) return { is: 'unknown', text: 'its use cannot be told from its name' };
  const uses = usesIn(one, useLook);
  const [first] = uses;
  if (first !== undefined) {
    const files = `${tools.isCut(useLook) ? 'at least ' : ''}${plural(new Set(uses.map(({ path }) => path)).size, 'file')}`;
    const tests = isTest(first.path) ? ', all of them tests' : '';
    return { is: 'imported', text: `imported in ${files}${tests}, for example ${claim(first)}` };
  }
  const none = `no import by its name was found ${behind(useLook)}`;
  const mention = mentionIn(nameLook, one);
  if (mention !== undefined) return { is: 'mentioned', text: `${none}, but ${claim(mention)} names it` };
  if (nameLook?.ok !== true || tools.isCut(nameLook)) return { is: 'unknown', text: none };
  return { is: 'lost', text: `${none}, and no other line names it ${behind(nameLook)}` };
}

/** Another line that names it: of its own manifest first, then of other files but locks. */
function mentionIn(look: tools.Seen | undefined, { hit }: Dependency): Hit | undefined {
  const others = tools.hitsOf(look).filter((one) => place(one) !== place(hit) && !/lock|\.sum$/.test(one.path));
  // Of a long line the name may be in the part that is not shown.
  const rank = ({ path, text }: Hit): number =>
    (path === hit.path ? -1 : rankOf(path)) + (tools.LONG_LINE.test(text) ? 10 : 0);
  return others.toSorted((a, b) => rank(a) - rank(b))[0];
}

function headText(counted: readonly Counted[], paths: readonly string[], manifests: tools.Seen | undefined): string {
  const [first] = counted;
  if (first === undefined)
    return `${listed(paths)} ${paths.length === 1 ? 'declares' : 'declare'} no dependency in a known form ${behind(manifests)}.`;
  const files = listed([...new Set(counted.map(({ hit }) => hit.path))]);
  const count = plural(counted.length, 'dependency is', 'dependencies are');
  const names = (is: Counted['is']): readonly string[] =>
    counted.filter((one) => one.is === is).map(({ name }) => name);
  const [lost, named] = [names('lost'), names('mentioned')];
  const them = named.length === 1 ? 'it' : 'them';
  return [
    sentence(`${count} declared in ${files}, the first at ${claim(first.hit)}`),
    ...(lost.length === 0 ? [] : [`No import and no other mention was found of ${listed(lost)}.`]),
    ...(named.length === 0 ? [] : [`No import was found of ${listed(named)}, but other lines name ${them}.`]),
  ].join(' ');
}

// How manifests are read: the rows of `data/manifests.json`, and what a manifest declares by them.

interface Dependency {
  readonly name: string;
  /** As its section is called; empty where the whole file is one. */
  readonly kind: string;
  readonly hit: Hit;
  /** How a use of it looks, and in which files; null when no use can be told from its name. */
  readonly use: { readonly pattern: string; readonly glob: string } | null;
}

/**
 * How one kind of manifest is read. `opens`: the line that opens a section, its first group is the kind; null where the whole file is
 * one. `closes`: the line that closes it; null where the line that opens it holds the names itself. `name`: a name in a line.
 */
type Reader = (typeof MANIFESTS.manifests)[number];

const GLOBS = [...new Set(MANIFESTS.manifests.map(({ file }) => file))];

const readersOf = (name: string): readonly Reader[] =>
  MANIFESTS.manifests.filter(({ file }) =>
    new RegExp(`^${file.replaceAll('.', '\\.').replaceAll('*', '.*')}$`).test(name),
  );

/** Whether a file of this name (without its folder) is a manifest. */
export const isManifest = (name: string): boolean => readersOf(name).length > 0;

/** What the lines of a manifest declare. */
function declaredIn(path: string, lines: readonly Hit[]): readonly Dependency[] {
  const name = path.split('/').at(-1) ?? '';
  const own = lines.filter(({ text }) => !/^\s*(?:#|\/\/|dnl\b|-[a-z-])/.test(text));
  return readersOf(name).flatMap((reader) =>
    within(own, reader).flatMap(([kind, hit]) =>
      namesIn(hit.text, reader).map((one) => ({ name: one, kind, hit, use: usePattern(one, reader.use) })),
    ),
  );
}

const namesIn = (text: string, { opens, closes, name }: Reader): readonly string[] => {
  const list = opens !== null && closes === null ? text.replace(/^[^[]*\[/, '') : text;
  return [...list.matchAll(new RegExp(name, 'g'))].map(([, one = '']) => one).filter((one) => one !== 'python');
};

/** Lines between one that opens a section and one that closes it, each with the kind of the section. */
function within(lines: readonly Hit[], { opens, closes }: Reader): readonly (readonly [kind: string, hit: Hit])[] {
  if (opens === null) return lines.map((hit) => ['', hit]);
  const found: (readonly [string, Hit])[] = [];
  let current = '';
  for (const hit of lines) {
    const opened = captured(new RegExp(opens), hit.text);
    if (closes === null) found.push(...(opened === '' ? [] : [[opened, hit] as const]));
    else if (opened !== '') current = opened;
    else if (new RegExp(closes).test(hit.text)) current = '';
    else if (current !== '') found.push([current, hit]);
  }
  return found;
}

/** Names under which libraries are imported where they differ. */
const IMPORTED_AS = new Map(Object.entries(MANIFESTS.importedAs));
/**
 * How uses in a language look. `NAME` in a pattern is what the dependency is imported as. `names`: how its name becomes that: what is
 * replaced in it, one after the other, by what.
 */
const USES = new Map(Object.entries(MANIFESTS.uses));

function usePattern(name: string, kind: string | null): Dependency['use'] {
  const use = USES.get(kind ?? '');
  if (use === undefined) return null;
  const changed = (text: string, [from = '', to = '']: readonly string[]): string =>
    text.replaceAll(new RegExp(from, 'g'), to);
  const own = IMPORTED_AS.get(name.toLowerCase()) ?? use.names.reduce(changed, escaped(name));
  return { pattern: use.pattern.replaceAll('NAME', () => own), glob: use.files };
}
