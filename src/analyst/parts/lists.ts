/** Three kinds of task whose answers are lists: open notes, recent changes, declared dependencies. */
import { captured, distinct, escaped, grouped, listed, plural, sentence } from '../../domain/lists.ts';
import PATTERNS from '../data/patterns.json' with { type: 'json' };
import SUBJECTS from '../data/subjects.json' with { type: 'json' };
import { matchesGlob } from '../../domain/text/glob.ts';
import MANIFESTS from '../data/manifests.json' with { type: 'json' };
import { behind, claim, excerpt, place, report, sentences } from '../evidence.ts';
import { anyOf, type Hit, isComment, isInComment, languageOf } from '../languages.ts';
import { foldersOf, inventory, isAside, isForeign, isSource, isTest, rankOf } from '../project.ts';
import * as tools from '../tools.ts';
import type { Brief, Work } from '../turns.ts';
import { byDepth, byPlace, code, shortened } from '../words.ts';

const NOTE_WORDS = ['TODO', 'FIXME', 'XXX', 'HACK'];
const NOTES = listed(NOTE_WORDS);
const NOTE = new RegExp(String.raw`\b(?:${NOTE_WORDS.join('|')})\b`);
const QUOTED_NOTE = new RegExp(`["'\`](?:${NOTE_WORDS.join('|')})["'\`]`);
/** Beside code, files in which a comment is told by its sign. */
const COMMENTED = new RegExp(PATTERNS.commented);
const MOST_NOTES = 60;

/** The comments of code that hold one of the words, by file. */
export function* todos({ task }: Brief): Work {
  const project = yield* inventory(task);
  const ask = tools.search(NOTE.source, { path: project.path, limit: 1000, context: 1, about: NOTES });
  const [look] = yield { todo: 0, say: `I search for ${NOTES}.`, asks: [ask] };
  const next = new Map(tools.hitsWithNext(look).map(([hit, lines]) => [place(hit), lines[0]?.trim() ?? '']));
  /** A note without words is about the line behind it. */
  const nextText = (hit: Hit): string => {
    const line = /\w/.test(hit.text.replace(NOTE, '')) ? '' : (next.get(place(hit)) ?? '');
    return line === '' ? '' : `, above ${claim({ ...hit, line: hit.line + 1, text: line })}`;
  };
  const hits = tools.hitsOf(look).toSorted((a, b) => rankOf(a.path) - rankOf(b.path) || byPlace(a, b));
  const isNote = (hit: Hit): boolean =>
    (languageOf(hit.path) !== undefined || COMMENTED.test(hit.path)) &&
    !isForeign(hit.path) &&
    !QUOTED_NOTE.test(hit.text) &&
    isInComment(hit, NOTE.exec(hit.text)?.index ?? 0);
  const notes = hits.filter(isNote);
  const other = hits.length - notes.length;
  const files = grouped(notes, ({ path }) => path).length;
  const kinds = grouped(notes, ({ text }) => NOTE.exec(text)?.[0] ?? '').map(([kind, all]) => `${all.length} ${kind}`);
  const tests = notes.filter(({ path }) => isTest(path)).length;
  const least = tools.isCut(look) ? 'At least ' : '';
  const inTests = tests === 0 ? '' : `, ${tests} of them in tests`;
  return report(
    sentences(
      notes.length === 0
        ? `No comment in ${project.called} holds ${listed(NOTE_WORDS, 'or')} ${behind(look)}.`
        : `${least}${plural(notes.length, 'open note is', 'open notes are')} in comments of ${plural(files, 'file')}: ${listed(kinds)}${inTests} ${behind(look)}.`,
      other === 0 ? '' : `${plural(other, 'line holds', 'lines hold')} these words outside comments.`,
    ),
    ['Open notes', shortened(notes, MOST_NOTES, (hit) => `- ${claim(hit)}${nextText(hit)}`)],
  );
}

// Recent changes: how much changed since when, where, of which kinds and by whom; the latest commits; the newest entry of the change log.

const CHANGE_LOGS = '{CHANGE*,Change*,change*,HISTORY*,History*,NEWS*,News*,RELEASE*,Release*}';
const CHANGE_LOG = /(?:^|\/)[\w-]+(?:\.(?:md|rst|txt|adoc|markdown))?$/;
const MOST_COMMITS = 30;
const MOST_ROWS = 12;
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
    `${changesText(commits, path, log)} ${begins}`,
    ['Uncommitted changes', statusRows(status)],
    [commits.length < 2 ? 'Folders in that commit' : 'Changed folders', areaRows(commits)],
    ['Authors', commits.length < 2 ? [] : authorRows(commits)],
    ['Latest commits', commits.length < 2 ? [] : shortened(commits, MOST_ROWS, commitRow)],
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

function changesText(commits: readonly Commit[], path: string | undefined, log: tools.Seen | undefined): string {
  const [latest, base] = [commits[0], commits.at(-1)];
  if (latest === undefined || base === undefined) return `No commit could be read ${behind(log)}.`;
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
  return shortened(foldersOf(files, MOST_ROWS), MOST_ROWS, ([area, own]) => {
    const label = `${area}: ${least}${plural(own.length, 'file')}`;
    const some = all.filter((commit) => commit.files.some((file) => own.includes(file)));
    return commits.length < 2 ? `- ${label}` : countRow(`${label} in`, some);
  });
}

function authorRows(commits: readonly Commit[]): readonly string[] {
  const authors = grouped(later(commits), ({ author }) => author);
  return shortened(authors, MOST_ROWS, ([author, own]) => countRow(`${author}:`, own));
}

const commitRow = ({ hash, date, author, subject, files }: Commit): string =>
  `- ${hash} ${date} ${subject} (${author}, ${plural(files.length, 'file')})`;

function statusRows(status: tools.Seen | undefined): readonly string[] {
  const lines = (status?.ok === true ? status.text : '').split('\n');
  const rows = lines.filter((line) => /^[ MADRCU?!]{2} /.test(line));
  return shortened(rows, MOST_ROWS, (row) => `- ${row.trim()}`, ' (git status)');
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

const MOST_NAMED = 6;
const MOST_ASKED = 120;
const MANIFEST_LINES = 400;

export function* dependencies({ task }: Brief): Work {
  const { path } = yield* inventory(task);
  const where = { glob: `{${GLOBS.join(',')}}`, path, about: `manifests of ${GLOBS.length} kinds` };
  const [manifests] = yield { todo: 0, say: 'I look for manifests.', asks: [tools.list(200, where)] };
  const own = tools.filesOf(manifests).filter((file) => !isForeign(file) && !isTest(file));
  const paths = own.toSorted(byDepth).slice(0, MOST_ROWS);
  if (paths.length === 0) return `No manifest of a known kind was found ${behind(manifests)}.`;
  const asks = paths.map((file) => tools.read(file, 1, MANIFEST_LINES));
  const texts = yield { todo: 0, say: `I read ${listed(paths)}.`, asks };
  const found = texts.flatMap((seen, at) => declaredIn(paths[at] ?? '', tools.linesOf(seen)));
  const counted = yield* countedOf(distinct(found, ({ name, kind, hit }) => `${name} ${kind} ${hit.path}`));
  if (counted.length === 0)
    return `${listed(paths)} ${paths.length === 1 ? 'declares' : 'declare'} no dependency in a known form ${behind(manifests)}.`;
  const rows = (is: Counted['is']): readonly string[] =>
    counted
      .filter((one) => one.is === is)
      .toSorted((a, b) => filesOf(b) - filesOf(a))
      .map((one) => `- ${one.name}${one.kind === '' ? '' : ` (${one.kind})`}: ${textOf(one)}`);
  return report(
    headText(counted),
    ['Neither imported nor named in settings or scripts', rows('lost')],
    ['Not imported, but named in settings or scripts', rows('named')],
    ['Imported', rows('imported')],
    ['Use unknown', rows('unknown')],
  );
}

const filesOf = ({ uses }: Counted): number => new Set(uses.map(({ path }) => path)).size;

function textOf(one: Counted): string {
  const { hit, mention, looks } = one;
  const [first] = one.uses;
  if (first !== undefined) {
    const least = tools.isCut(looks[0]) ? 'at least ' : '';
    return `${least}${plural(filesOf(one), 'file')}${isTest(first.path) ? ', all of them tests' : ''}, for example ${claim(first)}`;
  }
  if (mention !== undefined) return `${place(hit)}, named at ${claim(mention)}`;
  return `${claim(hit)}${one.is === 'unknown' ? ` ${behind(...looks)}` : ''}`;
}

function* countedOf(found: readonly Dependency[]): tools.Looking<readonly Counted[]> {
  const asked = found.filter(({ use }) => use !== null).slice(0, MOST_ASKED);
  const looks = yield {
    todo: 1,
    say: 'I search for the imports of each dependency.',
    asks: asked.map(({ name, use }) =>
      tools.search(use?.pattern ?? '', { glob: use?.glob ?? '*', limit: 100, about: `imports of ${code(name)}` }),
    ),
  };
  const lookFor = (one: Dependency): Look => looks[asked.indexOf(one)];
  const idle = asked.filter((one) => lookFor(one)?.ok === true && usesIn(one, lookFor(one)).length === 0);
  const asks = idle.map(({ name }) => {
    const where = { limit: 100, ignore_case: true, about: `mentions of ${code(name)}` };
    return tools.search(`(?:^|[^\\w@-])${anyOf(calledAs(name))}(?:[^\\w-]|$)`, where);
  });
  const named = yield { todo: 2, say: 'I search for other lines that name those without an import.', asks };
  const declared = new Set(found.map(({ hit }) => place(hit)));
  return found.map((one) => countedAs(one, [lookFor(one), named[idle.indexOf(one)]], declared));
}

/** A dependency with what the searches for it showed. `unknown`: a search was not made, or not whole. */
type Counted = ReturnType<typeof countedAs>;

function countedAs(one: Dependency, looks: readonly [Look, Look], declared: ReadonlySet<string>) {
  const uses = usesIn(one, looks[0]);
  const isMention = (hit: Hit): boolean => !declared.has(place(hit)) && isSetting(hit) && isNamedBy(one, hit);
  const mention = tools.hitsOf(looks[1]).find(isMention);
  const isWhole = looks[1]?.ok === true && !tools.isCut(looks[1]);
  const is = uses.length > 0 ? 'imported' : mention !== undefined ? 'named' : isWhole ? 'lost' : 'unknown';
  return { ...one, is, uses, mention, looks } as const;
}

type Look = tools.Seen | undefined;

const usesIn = (one: Dependency, look: Look): readonly Hit[] =>
  tools
    .hitsOf(look)
    .filter((hit) => !isComment(hit) && !hit.path.includes('node_modules/') && hit.path !== one.hit.path)
    .toSorted((a, b) => rankOf(a.path) - rankOf(b.path));

const PLUGIN = new RegExp(PATTERNS.plugin);

/** A plugin is also named by what is behind its prefix, a PHP package by what is behind its vendor, a tool by its command. */
const calledAs = (name: string): readonly string[] => {
  const all = [name, name.replace(PLUGIN, ''), name.replace(/^(?!@).*\//, ''), ...(COMMANDS.get(name) ?? [])];
  return [...new Set(all)].map((one) => escaped(one).replaceAll('-', '[-_]'));
};

/** The short name of a plugin counts only beside the name of what it belongs to. */
const isNamedBy = ({ name }: Dependency, { path, text }: Hit): boolean =>
  !PLUGIN.test(name) || text.includes(name) || `${path} ${text}`.includes(/^[a-z]+/.exec(name)?.[0] ?? name);

/** A line of settings or scripts, where tools and plugins are named; prose, comments, locks and the program are none. */
const isSetting = (hit: Hit): boolean =>
  (isAside(hit.path) || !isSource(hit.path)) && !NO_SETTING.test(hit.path) && !isForeign(hit.path) && !isComment(hit);
const NO_SETTING = new RegExp(PATTERNS.noSetting, 'i');
const IS = { imported: 'imported', named: 'only named in settings or scripts', unknown: 'unknown', lost: 'none found' };

function headText(counted: readonly Counted[]): string {
  const files = listed([...new Set(counted.map(({ hit }) => hit.path))]);
  const all = plural(counted.length, 'dependency', 'dependencies');
  const lost = counted.filter(({ is }) => is === 'lost').map(({ name }) => name);
  const used = grouped(counted, ({ is }) => IS[is]).map(([text, own]) => `${text} ${own.length}`);
  const more = lost.length > MOST_NAMED ? ' …' : '';
  return sentences(
    lost.length === 0
      ? `Nothing unused was found among ${all} in ${files}.`
      : `${lost.length} of ${all} in ${files} ${lost.length === 1 ? 'is' : 'are'} neither imported nor named in settings or scripts: ${listed(lost.slice(0, MOST_NAMED))}${more} (two searches for each).`,
    `By use: ${used.join(', ')}.`,
    lost.length === 0 ? '' : 'A tool or plugin may be loaded under another name: check before you remove one.',
  );
}

/** `kind`: as its section is called; empty where the whole file is one. `use`: null when no use can be told from the name. */
type Dependency = ReturnType<typeof declaredIn>[number];

/** How one kind of manifest is read. `opens`: the line that opens a section, its first group is the kind; null where the whole file is
 * one. `closes`: the line that closes it; null where the line that opens it holds the names itself. `name`: a name in a line. */
type Reader = (typeof MANIFESTS.manifests)[number];

const GLOBS = [...new Set(MANIFESTS.manifests.map(({ file }) => file))];

const readersOf = (name: string): readonly Reader[] =>
  MANIFESTS.manifests.filter(({ file }) => matchesGlob([file], name));

/** Whether a file of this name (without its folder) is a manifest. */
export const isManifest = (name: string): boolean => readersOf(name).length > 0;

function declaredIn(path: string, lines: readonly Hit[]) {
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
const COMMANDS = new Map(Object.entries(MANIFESTS.commands));
const IMPORTED_AS = new Map(Object.entries(MANIFESTS.importedAs));
/** How uses in a language look. `NAME` in a pattern is what the dependency is imported as. `names`: how its name becomes that: what is
 * replaced in it, one after the other, by what. */
const USES = new Map(Object.entries(MANIFESTS.uses));

function usePattern(name: string, kind: string | null) {
  const use = USES.get(kind ?? '');
  if (use === undefined) return null;
  const changed = (text: string, [from = '', to = '']: readonly string[]): string =>
    text.replaceAll(new RegExp(from, 'g'), to);
  const own = IMPORTED_AS.get(name.toLowerCase()) ?? use.names.reduce(changed, escaped(name));
  return { pattern: use.pattern.replaceAll('NAME', () => own), glob: use.files };
}
