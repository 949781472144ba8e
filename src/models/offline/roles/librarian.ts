/** The librarian: what manifests and documents say, and how the dependencies are really used, counted by search. */
import { claim } from '../claims.ts';
import type { Hit } from '../claims.ts';
import { faultOf, filesOf, hitsOf, isCut, linesOf, list, read, search } from '../looking.ts';
import { dependenciesIn, MANIFESTS } from '../manifests.ts';
import type { Dependency } from '../manifests.ts';
import type { Ask, Brief, Part, Seen, Step, Work } from '../step.ts';
import { topicIn } from '../topic.ts';
import { listed, patternOf, plural } from '../words.ts';
import type { Term } from '../words.ts';
import { faults, section } from './parts.ts';

const MOST_MANIFESTS = 3;
const MOST_COUNTED = 14;
const PER_TURN = 7;
const USES = 20;

const DOCUMENTS =
  '{README*,readme*,CONTRIBUTING*,CHANGELOG*,LICENSE*,LICENCE*,COPYING*,SECURITY*,ARCHITECTURE*,docs/**/*.md,doc/**/*.md}';
const LOCKS =
  '{package-lock.json,npm-shrinkwrap.json,yarn.lock,pnpm-lock.yaml,bun.lock,poetry.lock,uv.lock,Pipfile.lock,go.sum,Cargo.lock,Gemfile.lock,composer.lock,gradle.lockfile}';

const TEXTS = '*.{md,mdx,rst,adoc,txt}';

export const librarian: Part = {
  todos: () => [
    'List manifests and documents',
    'Read them',
    'Count how dependencies are used',
    'Compare what is declared with what is used',
  ],
  work: papers,
};

function* papers({ task }: Brief): Work {
  const { words } = topicIn(task);
  const [manifestList, documentList, lockList, spoken] = yield {
    say: 'I list manifests, lock files and documents, to read the project as it describes itself.',
    todo: 0,
    asks: [
      list(40, { glob: MANIFESTS, about: 'manifests' }),
      list(60, { glob: DOCUMENTS, about: 'documents' }),
      list(20, { glob: LOCKS, about: 'lock files' }),
      ...(words.length === 0 ? [] : [inDocuments(words)]),
    ],
  };
  const manifests = nearest(filesOf(manifestList).names).slice(0, MOST_MANIFESTS);
  const documents = filesOf(documentList).names;
  const readme = nearest(documents.filter((name) => /(?:^|\/)readme/i.test(name)))[0];
  const papersRead = [
    ...manifests.map((path) => read(path, 1, 160)),
    ...(readme === undefined ? [] : [read(readme, 1, 50)]),
  ];
  const texts = yield {
    say:
      papersRead.length === 0
        ? 'No manifest and no README.'
        : `I read ${listed([...manifests, ...(readme === undefined ? [] : [readme])])}.`,
    todo: 1,
    asks: papersRead,
  };
  const { declared, counted, uses } = yield* counting(manifests, texts);
  const about = readme === undefined ? [] : aboutText(linesOf(texts[manifests.length]));
  const failed = faults([manifestList, documentList, lockList, ...texts, ...uses]);
  if (manifests.length + documents.length === 0)
    return ['There is no manifest and no document that I know by its name.', ...failed].join('\n');
  return [
    [
      ...spokenHead(words, spoken),
      ...(/says it is/.test(task) ? aboutHead(about) : []),
      headLine(manifests, declared, counted, uses, filesOf(lockList).names),
    ].join(' '),
    ...section('What documents say of it', spokenText(words, spoken)),
    ...section('What it says it is', about),
    ...section('Commands it declares', manifests.flatMap((_, index) => commandsIn(linesOf(texts[index]))).slice(0, 10)),
    ...section('Dependencies, and how they are used', usesText(counted, uses, declared)),
    ...section('Papers', papersText(filesOf(manifestList), documents, filesOf(lockList).names)),
    ...failed,
  ].join('\n');
}

interface Counted {
  readonly declared: readonly Dependency[];
  readonly counted: readonly Dependency[];
  readonly uses: readonly Seen[];
}

/** What the manifests declare, and a search for the imports of each. */
function* counting(manifests: readonly string[], texts: readonly Seen[]): Generator<Step, Counted, readonly Seen[]> {
  const declared = manifests.flatMap((path, index) => dependenciesIn(path, linesOf(texts[index])));
  const counted = declared
    .toSorted((a, b) => Number(a.forDevelopment) - Number(b.forDevelopment))
    .filter(({ use }) => use !== null)
    .slice(0, MOST_COUNTED);
  const uses: Seen[] = [];
  for (let at = 0; at < counted.length; at += PER_TURN) {
    const some = counted.slice(at, at + PER_TURN);
    const asks = some.flatMap(({ name, use }) =>
      use === null
        ? []
        : [search(use.pattern, { glob: use.glob, limit: USES, about: `imports of ${name.slice(0, 60)}` })],
    );
    uses.push(
      ...(yield {
        say: `I count the imports of ${listed(some.map(({ name }) => name))}.`,
        todo: at === 0 ? 2 : 3,
        asks,
      }),
    );
  }
  return { declared, counted, uses };
}

/** Those at the top of the project come first; fixtures and examples last. */
const nearest = (names: readonly string[]): readonly string[] =>
  names.toSorted((a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1));
const rankOf = (name: string): number =>
  name.split('/').length + (/(?:^|\/)(?:test|tests|fixtures?|examples?|node_modules|vendor)\//.test(name) ? 10 : 0);

function headLine(
  manifests: readonly string[],
  declared: readonly Dependency[],
  counted: readonly Dependency[],
  uses: readonly Seen[],
  locks: readonly string[],
): string {
  if (manifests.length === 0)
    return 'There is no manifest that I know by its name: what the code needs is declared nowhere that I could read.';
  const unused = counted.filter(
    ({ forDevelopment }, index) => !forDevelopment && hitsOf(uses[index]).length === 0 && faultOf(uses[index]) === null,
  );
  const dev = declared.filter(({ forDevelopment }) => forDevelopment).length;
  const kinds =
    declared.length === 0
      ? 'no dependencies'
      : `${plural(declared.length, 'dependency', 'dependencies')}${dev > 0 ? ` (${dev} for development)` : ''}`;
  const least =
    unused.length === 0 ? '' : ` No import was found of ${listed(unused.slice(0, 5).map(({ name }) => name))}.`;
  return `${listed(manifests)} ${manifests.length === 1 ? 'declares' : 'declare'} ${kinds}; ${locks.length === 0 ? 'there is no lock file' : `locked by ${listed(nearest(locks).slice(0, 2))}`}.${least}`;
}

const inDocuments = (words: readonly Term[]): Ask =>
  search(words.map(patternOf).join('|'), { glob: TEXTS, anyCase: true, limit: 40, about: 'the words in documents' });

/** Lines of documents that hold words of the task, those with most of them first. */
function spokenText(words: readonly Term[], spoken: Seen | undefined): readonly string[] {
  const held = (text: string): number => words.filter((word) => new RegExp(patternOf(word), 'i').test(text)).length;
  return hitsOf(spoken)
    .toSorted((a, b) => held(b.text) - held(a.text))
    .slice(0, 5)
    .map((hit) => `- ${claim(hit)}`);
}

function spokenHead(words: readonly Term[], spoken: Seen | undefined): readonly string[] {
  if (words.length === 0 || spoken?.ok !== true) return [];
  const named = listed(words.map(({ text }) => `\`${text}\``));
  const [first] = spokenText(words, spoken);
  if (first === undefined) return [`No document speaks of ${named}.`];
  const hits = hitsOf(spoken);
  const files = new Set(hits.map(({ path }) => path)).size;
  return [
    `Documents speak of ${named} in ${isCut(spoken) ? 'at least ' : ''}${plural(hits.length, 'line')} of ${plural(files, 'file')}, for example ${first.replace(/^- /, '')}.`,
  ];
}

/** The first sentence of the README, before the counts. */
const aboutHead = (about: readonly string[]): readonly string[] =>
  about.slice(about.length > 1 ? 1 : 0, 2).map((text) => `It says of itself: ${text.replace(/^- /, '')}.`);

/** The title and the first sentence of a README, quoted. */
function aboutText(lines: readonly Hit[]): readonly string[] {
  const title = lines.find(
    ({ text }) => /^#+\s*\S|^\S.*\n?$/.test(text) && /\p{L}/u.test(text) && !/^\s*[<![]/.test(text),
  );
  const words = lines
    .filter(({ text, line }) => line !== title?.line && /^\p{L}/u.test(text) && text.split(' ').length > 4)
    .slice(0, 2);
  return [...(title === undefined ? [] : [title]), ...words].map((hit) => `- ${claim(hit)}`);
}

function commandsIn(lines: readonly Hit[]): readonly string[] {
  const start = lines.findIndex(({ text }) => /^\s*"scripts"\s*:\s*\{\s*$/.test(text));
  if (start === -1) return [];
  const length = lines.slice(start + 1).findIndex(({ text }) => /^\s*\}/.test(text));
  return lines.slice(start + 1, length === -1 ? undefined : start + 1 + length).map((hit) => `- ${claim(hit)}`);
}

function usesText(
  counted: readonly Dependency[],
  uses: readonly Seen[],
  declared: readonly Dependency[],
): readonly string[] {
  const rows = counted.map((dependency, index) => {
    const hits = hitsOf(uses[index]);
    const files = new Set(hits.map(({ path }) => path)).size;
    const [first] = hits;
    const use =
      first === undefined
        ? 'no import found (a tool or a configuration may use it)'
        : `imported in ${isCut(uses[index]) ? 'at least ' : ''}${plural(files, 'file')}, first ${claim(first)}`;
    return `- ${claim(dependency.hit)}: ${use}`;
  });
  const rest = declared.filter((one) => !counted.includes(one));
  const more =
    rest.length === 0
      ? []
      : [
          `- not counted: ${rest
            .slice(0, 12)
            .map(({ name }) => name)
            .join(', ')}${rest.length > 12 ? ` and ${rest.length - 12} more` : ''}`,
        ];
  return [...rows, ...more];
}

function papersText(
  manifests: { readonly names: readonly string[]; readonly count: number },
  documents: readonly string[],
  locks: readonly string[],
): readonly string[] {
  const has = (pattern: RegExp): string | undefined => nearest(documents.filter((name) => pattern.test(name)))[0];
  const known = [
    ['README', /(?:^|\/)readme/i],
    ['licence', /(?:^|\/)(?:licen[cs]e|copying)/i],
    ['guide for contributors', /(?:^|\/)contributing/i],
    ['change log', /(?:^|\/)changelog/i],
  ] as const;
  const docs = documents.filter((name) => /^docs?\//.test(name));
  return [
    ...known.map(([what, pattern]) => `- ${what}: ${has(pattern) ?? 'none seen'}`),
    ...(docs.length === 0
      ? []
      : [`- documents: ${docs.slice(0, 6).join(', ')}${docs.length > 6 ? ` and ${docs.length - 6} more` : ''}`]),
    `- manifests: ${manifests.count === 0 ? 'none seen' : nearest(manifests.names).slice(0, 8).join(', ')}${manifests.count > 8 ? ` and ${manifests.count - 8} more` : ''}`,
    `- lock files: ${locks.length === 0 ? 'none seen' : nearest(locks).slice(0, 5).join(', ')}`,
  ];
}
