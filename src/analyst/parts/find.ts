/** Where a name is: the lines that define it, exported ones in source folders first, what is said there, and who uses it. */
import { distinct, escaped, grouped, listed, plural, sentence } from '../../domain/lists.ts';
import { behind, claim, excerpt, place, report, type Section } from '../evidence.ts';
import { anyOf, definitionPatterns, exportsIn, type Hit, isComment, isDefinition, isPrototype } from '../languages.ts';
import { inventory, type Inventory, isSource, rankOf } from '../project.ts';
import { type Ask, hitsOf, isCut, linesOf, type Looking, read, search, searchEach, type Seen } from '../tools.ts';
import type { Brief, Work } from '../turns.ts';
import { byPlace, code, isFilePath, shortened, stem, termsIn } from '../words.ts';

const MOST_TERMS = 4;
const MOST_SHOWN = 10;
const BODY_LINES = 16;

/** What is looked for together: one identifier (`bar` of `Foo.bar`, with its owner, whose file or line holds the best definition), or all
 * plain words, which are looked for by their stems, within names and in any case. */
type Sought = ReturnType<typeof nameSought>;

interface Found {
  readonly sought: Sought;
  readonly definitions: readonly Hit[];
  readonly uses: readonly Hit[];
  readonly looks: readonly Seen[];
  readonly useLook: Seen | undefined;
}

export function* find({ task }: Brief): Work {
  const terms = termsIn(task, 8);
  const files = terms.flatMap(({ is, text }) => (is === 'path' && isFilePath(text) ? [text] : []));
  const named = terms.filter(({ is }) => is !== 'path').slice(0, MOST_TERMS);
  const project = yield* inventory(named.length > 0 ? withoutFiles(task) : task);
  const names = named.map(({ text }) => text);
  const all = named.some(({ is }) => is === 'word') ? [{ names, owner: '', words: true }] : names.map(nameSought);
  const found: Found[] = [];
  for (const sought of all) found.push(yield* lookFor(sought, project));
  const best = found.flatMap(({ definitions }) => definitions.slice(0, 1)).slice(0, 3);
  const say = `I read ${listed(best.map(({ path }) => path)) || 'nothing'} around the definitions.`;
  const asks = best.map((hit) => read(hit.path, Math.max(1, hit.line - 12), 12 + BODY_LINES + 4));
  const around = yield { todo: 2, say, asks };
  return report(
    [...found.map(headText), ...files.map((file) => fileText(file, project))].join(' '),
    ['Definitions', found.flatMap(definitionRows)],
    ...best.map((hit, at) => definitionText(hit, around[at])),
    ...found.map((one): Section => [`Uses of ${namesIn(one.sought)}`, useRows(one)]),
  );
}

const withoutFiles = (task: string): string =>
  task.replaceAll(/[\w@.-]+\.\w{1,5}\b(?!\/)/g, (word) => (/^\w+$/.test(word) ? word : ' '));

function nameSought(said: string) {
  const parts = said.split(/\.|::|->|#/).filter((part) => part !== '');
  return { names: [parts.at(-1) ?? said], owner: parts.at(-2) ?? '', words: false };
}

const patternsOf = ({ names, words }: Sought): readonly string[] =>
  names.map((name) => (words ? `\\w*${escaped(stem(name))}\\w*` : escaped(name)));

function searchDefinitions(sought: Sought, project: Inventory): readonly Ask[] {
  const about = `definitions of ${sought.words ? 'names with ' : ''}${namesIn(sought)}`;
  const where = { path: project.path, ignore_case: sought.words, limit: 400, about };
  return searchEach(project.languages, (language) => definitionPatterns(language, patternsOf(sought)), where);
}

/** Identifiers as they are written; one that nobody defines so is looked for within names and in any case. */
function* lookFor(sought: Sought, project: Inventory): Looking<Found> {
  const { names, words } = sought;
  const holding = words
    ? anyOf(names.map((name) => escaped(stem(name))))
    : patternsOf(sought)
        .join('')
        .replace(/^(?=\w)|(?<=\w)$/g, '\\b');
  const where = { path: project.path, ignore_case: words, limit: 600, about: namesIn(sought) };
  const [useLook, ...looks] = yield {
    todo: 1,
    say: `I search for the lines that define ${namesIn(sought)}, and for all lines that hold ${names.length > 1 ? 'them' : 'it'}.`,
    asks: [search(holding, where), ...searchDefinitions(sought, project)],
  };
  const definitions = definitionsIn(looks, sought);
  const found = { sought, definitions, uses: usesIn(useLook, definitions, sought), looks, useLook };
  if (words || definitions.length > 0) return found;
  const parts = { names, owner: '', words: true };
  const say = `No line defines ${namesIn(sought)} as it is written: I search for names that contain it, in any case.`;
  const within = yield { todo: 1, say, asks: searchDefinitions(parts, project) };
  return { ...found, definitions: definitionsIn(within, parts), looks: [...looks, ...within] };
}

function definitionsIn(looks: readonly Seen[], sought: Sought): readonly Hit[] {
  const lines = looks.flatMap((look) => hitsOf(look)).filter((hit) => isSource(hit.path) && isDefinition(hit));
  const hits = distinct(lines, place);
  const match = matching(hits, sought);
  const weights = new Map(hits.map((hit) => [hit, weightOf(hit, sought) - match(hit)]));
  return hits.toSorted((a, b) => (weights.get(a) ?? 0) - (weights.get(b) ?? 0) || byPlace(a, b));
}

/** What comes first has the smallest weight: source folders, the owner's, real definitions, those offered to others. */
function weightOf(hit: Hit, { owner, words }: Sought): number {
  const isOwners = `${hit.path} ${hit.text}`.toLowerCase().includes(owner.toLowerCase());
  const isOffered = exportsIn(hit).length > 0;
  const kind =
    (isOwners ? 0 : 5) +
    (isPrototype(hit) ? 4 : 0) +
    (isLocal(hit) ? 3 : 0) -
    (isOffered ? 1 : 0) -
    (words && hit.text.replace('pub(', '').includes('(') ? 2 : 0);
  return words ? Math.max(2, rankOf(hit.path)) * 100 + kind / 10 : rankOf(hit.path) * 10 + kind;
}

/** How well a definition fits plain words: those in its name count more than those in its path, rare ones more than common ones. */
function matching(hits: readonly Hit[], sought: Sought): (hit: Hit) => number {
  const { names, words } = sought;
  if (!words) return () => 0;
  const pattern = new RegExp(anyOf(patternsOf(sought)), 'i');
  const stems = names.map((name) => stem(name.toLowerCase()));
  const nameIn = ({ text }: Hit): string => (pattern.exec(text)?.[0] ?? '').toLowerCase();
  const rarity = stems.map((one) => 10 / Math.max(1, hits.filter((hit) => nameIn(hit).includes(one)).length));
  const sum = (text: string): number =>
    rarity.reduce((all, one, at) => all + (text.includes(stems[at] ?? '') ? one : 0), 0);
  return (hit) => 2 * sum(nameIn(hit)) + sum(hit.path.toLowerCase());
}

/** A value that is only kept under that name, or one within a function. */
const isLocal = ({ text }: Hit): boolean => /^\s+(?:const|let|var|local|readonly)\b|^\s*\w+\s*=[^=>]*$/.test(text);

/** Lines that hold it beside its definitions; of several words at least two. */
function usesIn(look: Seen | undefined, definitions: readonly Hit[], { names, words }: Sought): readonly Hit[] {
  const own = new Set(definitions.map(place));
  const held = (text: string): number => names.filter((name) => text.toLowerCase().includes(stem(name))).length;
  return hitsOf(look)
    .filter((hit) => !own.has(place(hit)))
    .filter(({ text }) => !words || held(text) >= Math.min(2, names.length))
    .toSorted((a, b) => rankOf(a.path) - rankOf(b.path));
}

const namesIn = ({ names }: Sought, last: 'and' | 'or' = 'and'): string => listed(names.map(code), last);

function headText(found: Found): string {
  const { sought, definitions, uses, looks, useLook } = found;
  const [best] = definitions;
  const [use] = uses;
  if (best !== undefined) return definedText(found, best);
  const held = `${sought.names.length > 1 ? 'two of them are' : 'it is'} on`;
  const what = sought.words ? `with ${namesIn(sought, 'or')} in its name` : `of ${namesIn(sought)}`;
  const none = `No definition ${what} was found ${behind(...looks)}`;
  if (use === undefined) return `${none}; ${held} no line ${behind(useLook)}.`;
  return `${none}; ${held} ${isCut(useLook) ? 'at least ' : ''}${plural(uses.length, 'line')}, for example ${claim(use)} ${behind(useLook)}.`;
}

function definedText(found: Found, best: Hit): string {
  const { sought, definitions, uses, useLook } = found;
  const { names, words } = sought;
  const isExact = names.length === 1 && new RegExp(`(?:^|\\W)${escaped(names.join(''))}(?:\\W|$)`).test(best.text);
  if (!isExact) return closestText(found, best);
  const same = definitions.filter((one) => isPrototype(one) === isPrototype(best)).length;
  const more = same === 1 ? '' : ` (the first of ${plural(same, 'such line')})`;
  const files = grouped(uses, ({ path }) => path).length;
  const count = `${isCut(useLook) ? 'at least ' : ''}${plural(uses.length, 'other line')} in ${plural(files, 'file')}`;
  const used = uses.length === 0 ? 'No other line holds it' : `The name is on ${count}`;
  return `${sentence(`${namesIn(sought)} is ${isPrototype(best) ? 'declared' : 'defined'} at ${claim(best)}${more}`)}${words ? '' : ` ${used} ${behind(useLook)}.`}`;
}

function closestText({ sought: all, definitions: { length }, looks }: Found, best: Hit): string {
  const held = all.names.filter((name) => best.text.toLowerCase().includes(stem(name)));
  const sought = { ...all, names: all.words && held.length > 0 ? held : all.names };
  const count = length === 1 ? 'the only definition' : `one of ${length} definitions`;
  const written = sought.words ? '' : `No line defines ${namesIn(sought)} as it is written. `;
  const words = all.names.length > 1 ? namesIn(all, 'or') : 'it';
  return `${written}The best match for ${namesIn(sought)} is ${claim(best)}, ${count} with ${words} in the name ${behind(...looks)}.`;
}

const definitionRows = ({ definitions }: Found): readonly string[] =>
  shortened(definitions, MOST_SHOWN, (hit) => `- ${claim(hit)}${isPrototype(hit) ? ' (a declaration)' : ''}`);

function useRows({ uses }: Found): readonly string[] {
  const files = grouped(uses, ({ path }) => path).toSorted(([a], [b]) => rankOf(a) - rankOf(b));
  return shortened(files, MOST_SHOWN, ([path, hits]) => {
    const best = hits.find((hit) => !isComment(hit)) ?? hits[0];
    return `- ${path}: ${plural(hits.length, 'line')}${best === undefined ? '' : `, for example ${claim(best)}`}`;
  });
}

function fileText(file: string, project: Inventory): string {
  const paths = project.names.filter((name) => `/${name}`.endsWith(`/${file}`));
  return `${paths.length === 0 ? `There is no file ${code(file)}` : `${code(file)} is ${listed(paths.slice(0, 8))}`} ${project.behind}.`;
}

/** The comment above a definition and its first lines, as they are. */
function definitionText(hit: Hit, seen: Seen | undefined): Section {
  const lines = linesOf(seen);
  const at = lines.findIndex(({ line }) => line === hit.line);
  const isAbove = (line: Hit): boolean => isComment(line) || /^\s*(?:@\w|#\[)|\*\/\s*$/.test(line.text);
  const above = lines.slice(0, at).findLastIndex((line) => !isAbove(line));
  const indent = hit.text.search(/\S/);
  const rest = at === -1 ? [] : lines.slice(at + 1);
  const end = rest.findIndex(
    ({ text }) => text.trim() !== '' && text.search(/\S/) <= indent && !/^\s*[\])({>]/.test(text),
  );
  const closing = /^\s*\}/.test(rest[end]?.text ?? '') ? 1 : 0;
  const body = rest.slice(0, end === -1 ? BODY_LINES : Math.min(BODY_LINES, end + closing));
  return excerpt([...lines.slice(above + 1, at + 1), ...body]);
}
