/** The finder: where the words of a task live. Ranks files by definitions, names and uses; else shows where to begin. */
import { claim } from '../claims.ts';
import type { Hit } from '../claims.ts';
import { groundOf, missingText } from '../ground.ts';
import type { Ground } from '../ground.ts';
import { definitionPattern, foreignAmong, isComment, isDefinition, isSource, isTest } from '../languages.ts';
import { faultOf, filesOf, hitsOf, isCut, linesOf, list, read, search, searchFor } from '../looking.ts';
import type { Ask, Part, Seen, Step, Work } from '../step.ts';
import { nameFits, topicIn } from '../topic.ts';
import type { Topic } from '../topic.ts';
import { ENTRY_TODOS, entryPoints } from './entry-points.ts';
import { faults, upper } from './parts.ts';
import { homeOf, onceEach, rank } from './ranking.ts';
import type { Ranked } from './ranking.ts';
import { listed, plural, stem } from '../words.ts';
import type { Term } from '../words.ts';

const MOST_FILES = 8;
const MOST_DEFINITIONS = 10;
const READ_PLACES = 3;

export const finder: Part = {
  todos: ({ task }) => {
    const { words, files } = topicIn(task);
    return words.length + files.length === 0 || asksForEntries(task)
      ? ENTRY_TODOS
      : [
          'See what is there',
          `Search for ${named(words) || listed(files)}`,
          'Tell definitions from uses',
          'Read the best places',
        ];
  },
  work: ({ task }) => {
    const topic = topicIn(task);
    return topic.words.length + topic.files.length === 0 || asksForEntries(task) ? entryPoints(topic) : places(topic);
  },
};

/** Quoted words are looked for whatever else is said. */
const asksForEntries = (task: string): boolean => /\bentry[- ]?points?\b/i.test(task) && !task.includes('`');

function* places(topic: Topic): Work {
  const terms = topic.words;
  const ground = yield* groundOf(topic, {
    say: 'I list the files first: names of files and folders often tell where something lives.',
    todo: 0,
    limit: 200,
  });
  const fitting = yield* namesLike(terms, ground);
  const found = yield* searching(topic, ground, homeOf(fitting, terms));
  const [defined] = yield {
    say: 'A use is no answer yet: I look for the lines that define something of that name.',
    todo: 2,
    asks: terms.length === 0 ? [] : [definitionsOf(terms, ground.path)],
  };
  const foreign = foreignAmong(ground.names);
  const definitions = onceEach([...hitsOf(defined), ...found.definitions]).filter(
    (hit) => ground.has(hit.path) && isSource(hit.path) && isDefinition(hit.text) && !foreign(hit.path),
  );
  const ranked = rank({ terms, byName: fitting, home: found.home, definitions, uses: found.hits, heads: found.heads });
  const best = ranked.slice(0, READ_PLACES).map(({ best: hit }) => hit);
  const around = yield {
    say:
      best.length === 0
        ? 'Nothing to read.'
        : `I read ${listed(best.map(({ path }) => path))} around the best places, to quote what is really there.`,
    todo: 3,
    asks: best.map((hit) => read(hit.path, Math.max(1, hit.line - 6), 18)),
  };
  if (ranked.length === 0) return nothingFound(terms, ground, found.uses);
  return [
    foundText(terms, ranked, found.uses.some(isCut)),
    ...missingText(ground),
    ...(terms.length === 0 ? [] : definitionsText(definitions, terms)),
    ...filesText(ranked),
    ...readingText(around),
    ...perTerm(terms, found.uses, fitting),
    ...faults([...ground.seen, defined, ...found.uses, ...around]),
  ].join('\n');
}

/** Files whose name, or whose folder's, holds a word. */
function* namesLike(terms: readonly Term[], ground: Ground): Generator<Step, readonly string[], readonly Seen[]> {
  const [byName] = yield {
    say: `Do files or folders go by ${named(terms)}?`,
    todo: 1,
    asks: terms.length === 0 ? [] : [list(120, { glob: nameGlob(terms), about: `names with ${named(terms)}` })],
  };
  return filesOf(byName).names.filter((name) => ground.has(name));
}

interface Searched {
  readonly home: string | null;
  readonly uses: readonly Seen[];
  readonly hits: readonly Hit[];
  readonly definitions: readonly Hit[];
  readonly heads: readonly Hit[];
}

/** Searches the folder that goes by a word first, since a search everywhere may stop before it comes there. */
function* searching(
  { words, files }: Topic,
  ground: Ground,
  home: string | null,
): Generator<Step, Searched, readonly Seen[]> {
  const folder = home?.replace(/\/$/, '');
  const others = home === null ? [] : words.filter((term) => nameFits(home, [term]) === 0);
  const there = others.length === 0 ? '' : ` for ${named(others)}`;
  const seen = yield {
    say:
      home === null
        ? `I search for ${named(words) || listed(files)} in the text.`
        : `${home} goes by that name: I search there first${there}, then everywhere.`,
    todo: 1,
    asks: [
      ...words.map((term) => searchFor(term, 60, ground.path)),
      ...others.map((term) => searchFor(term, 60, folder)),
      ...(home === null ? [] : [definitionsOf(others.length > 0 ? others : words, folder)]),
      ...ground.files.map((path) => read(path, 1, 60)),
    ],
  };
  const uses = seen.slice(0, words.length + others.length);
  const rest = seen.slice(uses.length + (home === null ? 0 : 1));
  return {
    home,
    uses,
    hits: onceEach(uses.flatMap((one) => hitsOf(one))).filter(({ path }) => ground.has(path)),
    definitions: home === null ? [] : hitsOf(seen[uses.length]),
    heads: rest.flatMap((one) => headOf(linesOf(one)) ?? []),
  };
}

const definitionsOf = (terms: readonly Term[], path: string | undefined): Ask =>
  search(definitionPattern(terms), {
    anyCase: terms.some(({ is }) => is === 'word'),
    limit: 80,
    path,
    about: `definitions of ${named(terms)}`,
  });

/** The first words: where to look first and why, then how widely it is spread. */
function foundText(terms: readonly Term[], ranked: readonly Ranked[], cut: boolean): string {
  const [best, second] = ranked;
  const also = second === undefined ? '' : ` Next comes ${claim(second.best)}.`;
  const what = terms.length === 0 ? 'The place that the task names' : `The best place for ${named(terms)}`;
  const spread =
    terms.length === 0
      ? ''
      : ` ${cut ? 'At least ' : ''}${plural(ranked.length, 'file')} ${ranked.length === 1 ? 'holds' : 'hold'} ${terms.length > 1 ? 'at least one of them' : 'it'}.`;
  return `${what} is ${claim(first(ranked))}${best === undefined || best.why === '' ? '' : ` (${best.why})`}.${also}${spread}`;
}

const first = (ranked: readonly Ranked[]): Hit => ranked[0]?.best ?? { path: '', line: 1, text: '' };

/** Where a file says what it is: its first definition, else its first line with words. */
function headOf(lines: readonly Hit[]): Hit | undefined {
  const words = lines.filter(({ text }) => /\w/.test(text));
  return words.find(({ text }) => isDefinition(text)) ?? words[0];
}

/** Names of files and folders that hold a word of the task, in any case of its first letter. */
function nameGlob(terms: readonly Term[]): string {
  const parts = terms.map(({ text, is }) => (is === 'word' ? stem(text) : text).replaceAll(/[^\w.-]/g, '?'));
  const cases = [...new Set(parts.flatMap((part) => [part, upper(part)]))];
  return `{${cases.flatMap((part) => [`*${part}*`, `**/*${part}*/**`]).join(',')}}`;
}

function definitionsText(definitions: readonly Hit[], terms: readonly Term[]): readonly string[] {
  const code = definitions.toSorted((a, b) => Number(isTest(a.path)) - Number(isTest(b.path)));
  if (code.length === 0) return ['', `No line defines something named like ${named(terms)}.`];
  const more = code.length > MOST_DEFINITIONS ? [`- and ${code.length - MOST_DEFINITIONS} more`] : [];
  return ['', '## Defined', '', ...code.slice(0, MOST_DEFINITIONS).map((hit) => `- ${claim(hit)}`), ...more];
}

function filesText(ranked: readonly Ranked[]): readonly string[] {
  const rows = ranked
    .slice(0, MOST_FILES)
    .map(({ path, why, best }, index) => `${index + 1}. ${path}: ${why}; ${claim(best)}`);
  return [
    '',
    '## Files, most relevant first',
    '',
    ...rows,
    ...(ranked.length > MOST_FILES ? [`   and ${ranked.length - MOST_FILES} more`] : []),
  ];
}

/** The calls and words near a place: what it is made of, quoted and not explained. */
function readingText(around: readonly Seen[]): readonly string[] {
  const notes = around.flatMap((seen) => {
    const comment = linesOf(seen).find(({ text }) => isComment(text) && text.replaceAll(/\W/g, '').length > 12);
    return comment === undefined ? [] : [`- ${claim(comment)}`];
  });
  return notes.length === 0 ? [] : ['', '## What the code says about itself there', '', ...notes];
}

function perTerm(terms: readonly Term[], uses: readonly Seen[], byName: readonly string[]): readonly string[] {
  const missing = terms.filter(
    (term, index) =>
      uses[index]?.ok === true &&
      hitsOf(uses[index]).length === 0 &&
      !byName.some((name) => nameFits(name, [term]) > 0),
  );
  return missing.length === 0 ? [] : ['', `Not found anywhere: ${named(missing)}.`];
}

function nothingFound(terms: readonly Term[], ground: Ground, uses: readonly Seen[]): string {
  const failed = [...ground.seen, ...uses].flatMap((seen) => faultOf(seen) ?? []);
  if (ground.count === 0 && failed.length === 0)
    return 'The folder holds no files that I can see, so there is nothing to find.';
  return [
    `Nothing in ${plural(ground.count, 'file')} of ${ground.called} holds ${named(terms)}, in file names or in text.`,
    ...missingText(ground),
    ...(ground.names.length > 0 ? ['', `There are, for example: ${ground.names.slice(0, 8).join(', ')}.`] : []),
    ...faults([...ground.seen, ...uses]),
  ].join('\n');
}

const named = (terms: readonly Term[]): string => listed(terms.map(({ text }) => `\`${text}\``));
