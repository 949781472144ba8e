/** Two kinds of task whose answers are lists: open notes and declared dependencies. */
import { captured, distinct, escaped, grouped, listed, plural } from '../../domain/lists.ts';
import PATTERNS from '../data/patterns.json' with { type: 'json' };
import { matchesGlob } from '../../domain/text/glob.ts';
import MANIFESTS from '../data/manifests.json' with { type: 'json' };
import { behind, claim, place, report, sentences } from '../evidence.ts';
import { anyOf, type Hit, isComment, isInComment, languageOf } from '../languages.ts';
import { inventory, isAside, isForeign, isSource, isTest, rankOf } from '../project.ts';
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
  const them = other === 1 ? 'is' : 'are';
  return report(
    sentences(
      notes.length === 0
        ? `No comment in ${project.called} holds ${listed(NOTE_WORDS, 'or')} ${behind(look)}.`
        : `${least}${plural(notes.length, 'open note is', 'open notes are')} in comments of ${plural(files, 'file')}: ${listed(kinds)}${inTests} ${behind(look)}.`,
      other === 0 ? '' : `${plural(other, 'more line')} with these words ${them} in no comment of code.`,
    ),
    ['Open notes', shortened(notes, MOST_NOTES, (hit) => `- ${claim(hit)}${nextText(hit)}`)],
  );
}

// Declared dependencies, each with the line that names it, and the lines that use it. What can't be told from a line is left out.

const MOST_MANIFESTS = 12;
const MOST_NAMED = 6;
const MOST_ASKED = 120;
const MANIFEST_LINES = 400;

export function* dependencies({ task }: Brief): Work {
  const { path } = yield* inventory(task);
  const where = { glob: `{${GLOBS.join(',')}}`, path, about: `manifests of ${GLOBS.length} kinds` };
  const [manifests] = yield { todo: 0, say: 'I look for manifests.', asks: [tools.list(200, where)] };
  const own = tools.filesOf(manifests).filter((file) => !isForeign(file) && !isTest(file));
  const paths = own.toSorted(byDepth).slice(0, MOST_MANIFESTS);
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

/**
 * How one kind of manifest is read. `opens`: the line that opens a section, its first group is the kind; null where the whole file is
 * one. `closes`: the line that closes it; null where the line that opens it holds the names itself. `name`: a name in a line.
 */
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
/**
 * How uses in a language look. `NAME` in a pattern is what the dependency is imported as. `names`: how its name becomes that: what is
 * replaced in it, one after the other, by what.
 */
const USES = new Map(Object.entries(MANIFESTS.uses));

function usePattern(name: string, kind: string | null) {
  const use = USES.get(kind ?? '');
  if (use === undefined) return null;
  const changed = (text: string, [from = '', to = '']: readonly string[]): string =>
    text.replaceAll(new RegExp(from, 'g'), to);
  const own = IMPORTED_AS.get(name.toLowerCase()) ?? use.names.reduce(changed, escaped(name));
  return { pattern: use.pattern.replaceAll('NAME', () => own), glob: use.files };
}
