/** The finder: where the words of a task live. Ranks files by definitions, names and uses; else shows where to begin. */
import { claim } from '../claims.ts';
import type { Hit } from '../claims.ts';
import { definitionPattern, isComment, isDefinition, isForeign, isSource, isTest } from '../languages.ts';
import { faultOf, filesOf, hitsOf, isCut, linesOf, list, read, search, searchFor } from '../looking.ts';
import type { Brief, Part, Seen, Work } from '../step.ts';
import { entryPoints } from './entry-points.ts';
import { faults, upper } from './parts.ts';
import { listed, patternOf, plural, termsIn } from '../words.ts';
import type { Term } from '../words.ts';

const MOST_TERMS = 4;
const MOST_FILES = 8;
const MOST_DEFINITIONS = 10;
const READ_PLACES = 3;

export const finder: Part = {
  todos: ({ task }) =>
    termsIn(task, MOST_TERMS).length === 0
      ? ['See what is there', 'Look for entry points', 'Read where it begins']
      : [
          'See what is there',
          `Search for ${named(termsIn(task, MOST_TERMS))}`,
          'Rank the files',
          'Read the best places',
        ],
  work: (brief) => {
    const terms = termsIn(brief.task, MOST_TERMS);
    return terms.length === 0 ? entryPoints() : places(brief, terms);
  },
};

interface Ranked {
  readonly path: string;
  readonly score: number;
  readonly why: string;
  readonly best: Hit;
}

function* places(brief: Brief, terms: readonly Term[]): Work {
  const [all, byName] = yield {
    say: 'I list the files first, to see what kind of repository this is and whose names fit.',
    todo: 0,
    asks: [list(150), list(60, nameGlob(terms))],
  };
  const files = askedFor(terms, filesOf(byName).names);
  const seen = yield {
    say: `Now I search for ${named(terms)} itself: every line that holds ${terms.length > 1 ? 'one of them' : 'it'}.`,
    todo: 1,
    asks: [...terms.map((term) => searchFor(term)), ...files.map((path) => read(path, 1, 60))],
  };
  const uses = seen.slice(0, terms.length);
  const heads = seen.slice(terms.length).flatMap((one) => headOf(linesOf(one)) ?? []);
  const words = terms.filter((term) => term.is !== 'path');
  const [defined] = yield {
    say: 'Uses are not enough: I look for the lines that define something of that name.',
    todo: 2,
    asks:
      words.length === 0
        ? []
        : [search(definitionPattern(words), { anyCase: words.some(({ is }) => is === 'word'), limit: 60 })],
  };
  const definitions = hitsOf(defined).filter(
    (hit) => isSource(hit.path) && isDefinition(hit.text) && !isForeign(hit.path),
  );
  const ranked = rank(
    terms,
    filesOf(byName).names,
    definitions,
    uses.flatMap((one) => hitsOf(one)),
    heads,
  );
  const best = ranked.slice(0, READ_PLACES).map(({ best: hit }) => hit);
  const around = yield {
    say:
      best.length === 0
        ? 'Nothing to read.'
        : `I read around the best ${plural(best.length, 'place')}, to quote what is really there.`,
    todo: 3,
    asks: best.map((hit) => read(hit.path, Math.max(1, hit.line - 2), 14)),
  };
  if (ranked.length === 0) return nothingFound(terms, all, uses);
  return [
    `${upper(plural(ranked.length, 'file'))} ${ranked.length === 1 ? 'holds' : 'hold'} ${terms.length > 1 ? 'at least one of ' : ''}${named(terms)}${uses.some(isCut) ? ' (or more: a search stopped at its limit)' : ''}. The best place is ${claim(first(ranked))}.`,
    ...(words.length === 0 ? [] : definitionsText(definitions, terms)),
    ...filesText(ranked),
    ...readingText(around),
    ...perTerm(terms, uses, heads),
    ...faults([all, byName, defined, ...uses, ...around]),
  ].join('\n');
}

const first = (ranked: readonly Ranked[]): Hit => ranked[0]?.best ?? { path: '', line: 1, text: '' };

/** The files that the task calls by their paths. */
const askedFor = (terms: readonly Term[], names: readonly string[]): readonly string[] =>
  names.filter((name) => terms.some(({ is, text }) => is === 'path' && `/${name}`.endsWith(`/${text}`))).slice(0, 3);

/** Where a file says what it is: its first definition, else its first line with words. */
function headOf(lines: readonly Hit[]): Hit | undefined {
  const words = lines.filter(({ text }) => /\w/.test(text));
  return words.find(({ text }) => isDefinition(text)) ?? words[0];
}

/** File names that hold a word of the task, in any case of its first letter. */
function nameGlob(terms: readonly Term[]): string {
  const parts = terms
    .map(({ text, is }) => (is === 'path' ? text.replace(/\/$/, '') : text))
    .map((text) => text.replaceAll(/[^\w./-]/g, '?'));
  const cases = parts.flatMap((part) =>
    part.includes('/') ? [`**/${part}*`, `${part}/**`] : [`*${part}*`, `*${upper(part)}*`],
  );
  return `{${[...new Set(cases)].join(',')}}`;
}

/** Definitions count most, then names of files, then uses; tests and foreign code come after the code itself. */
function rank(
  terms: readonly Term[],
  byName: readonly string[],
  definitions: readonly Hit[],
  uses: readonly Hit[],
  heads: readonly Hit[],
): readonly Ranked[] {
  const paths = [...new Set([...heads, ...definitions, ...uses].map(({ path }) => path))];
  const headIn = new Map(heads.map((hit) => [hit.path, hit]));
  return paths
    .map((path): Ranked => {
      const own = definitions.filter((hit) => hit.path === path);
      const lines = uses.filter((hit) => hit.path === path);
      const inName = byName.includes(path);
      const asked = headIn.has(path) ? 40 : 0;
      const both = terms.filter((term) => lines.some(({ text }) => new RegExp(patternOf(term), 'i').test(text))).length;
      const weight =
        (isTest(path) ? 0.4 : 1) *
        (isForeign(path) ? 0.2 : 1) *
        (/(?:^|\/)examples?\//.test(path) ? 0.6 : 1) *
        (isSource(path) ? 1 : 0.5);
      const score = (own.length * 10 + asked + (inName ? 8 : 0) + Math.min(12, lines.length) + (both - 1) * 6) * weight;
      const exact = own.toSorted((a, b) => a.text.length - b.text.length)[0];
      return {
        path,
        score,
        why: whyOf(own.length, lines.length, inName, both, terms.length),
        best: [exact, headIn.get(path), ...lines].find((hit) => hit !== undefined) ?? { path, line: 1, text: '' },
      };
    })
    .toSorted((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
}

function whyOf(definitions: number, uses: number, inName: boolean, both: number, terms: number): string {
  return [
    ...(definitions > 0 ? [plural(definitions, 'definition')] : []),
    plural(uses, 'line'),
    ...(inName ? ['its name fits'] : []),
    ...(terms > 1 && both > 1 ? [`holds ${both} of the ${terms} words`] : []),
  ].join(', ');
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

function perTerm(terms: readonly Term[], uses: readonly Seen[], heads: readonly Hit[]): readonly string[] {
  const missing = terms.filter(
    ({ text }, index) =>
      uses[index]?.ok === true &&
      hitsOf(uses[index]).length === 0 &&
      !heads.some(({ path }) => `/${path}`.endsWith(`/${text}`)),
  );
  return missing.length === 0 ? [] : ['', `Not found anywhere: ${named(missing)}.`];
}

function nothingFound(terms: readonly Term[], all: Seen | undefined, uses: readonly Seen[]): string {
  const { count, names } = filesOf(all);
  const failed = [all, ...uses].flatMap((seen) => faultOf(seen) ?? []);
  if (count === 0 && failed.length === 0)
    return 'The folder holds no files that I can see, so there is nothing to find.';
  return [
    `Nothing in ${plural(count, 'file')} holds ${named(terms)}, in file names or in text.`,
    ...(names.length > 0 ? ['', `There are, for example: ${names.slice(0, 8).join(', ')}.`] : []),
    ...faults([all, ...uses]),
  ].join('\n');
}

const named = (terms: readonly Term[]): string => listed(terms.map(({ text }) => `\`${text}\``));
