/**
 * The kinds of looks a plan can be made of: which role takes each, which other looks it builds upon, what it is told, and
 * what it costs the analyst. Data for planning.ts, which picks and orders them.
 */
import type { RepositoryFacts } from '../../domain/repository.ts';
import { listed, plural } from './words.ts';
import type { Term, Wish } from './words.ts';

export type SlotName = 'state' | 'places' | 'papers' | 'risks' | 'security' | 'tests' | 'shape' | 'links';

/** What a description is made from. */
export interface Subject {
  readonly facts: RepositoryFacts;
  readonly terms: readonly Term[];
  readonly wishes: readonly Wish[];
}

export interface Slot {
  readonly name: SlotName;
  /** In order of preference: the first that may be planned takes it. */
  readonly roles: readonly string[];
  /** Looks whose findings this one really uses, where they are part of the plan. */
  readonly needs: readonly SlotName[];
  /** Input and output of the analyst together, as measured on a repository of 400 files. */
  readonly tokens: number;
  describe(subject: Subject): string;
}

/** In the order in which a plan lists them. */
export const SLOTS: readonly Slot[] = [
  {
    name: 'state',
    roles: ['rush'],
    needs: [],
    tokens: 6000,
    describe: ({ facts }) =>
      facts.isGit
        ? `Tell the state of ${facts.name}: uncommitted changes, the latest commits, what changed most.`
        : `Tell the size of ${facts.name}: its folders and kinds of files (it is not a git repository).`,
  },
  {
    name: 'places',
    roles: ['finder', 'explore', 'Explore'],
    needs: [],
    tokens: 7000,
    describe: (subject) =>
      subject.terms.length > 0
        ? `Find where ${named(subject)} ${subject.terms.length > 1 ? 'are' : 'is'} defined and used in ${ground(subject)}.`
        : `Find the entry points and the parts that matter most in ${ground(subject)}.`,
  },
  {
    name: 'papers',
    roles: ['librarian'],
    needs: [],
    tokens: 4000,
    describe: ({ facts }) => `Read ${papers(facts)} and count how the dependencies are really used.`,
  },
  {
    name: 'risks',
    roles: ['reviewer', 'security'],
    needs: ['places'],
    tokens: 8000,
    describe: (subject) => {
      const fast = subject.wishes.includes('performance');
      const kind = fast ? 'patterns that cost time' : 'risky patterns (security, errors, leftovers)';
      return `Go through ${ground(subject)} for ${kind}${first(subject)}, and check each hit in its place.`;
    },
  },
  {
    name: 'security',
    roles: ['security', 'reviewer'],
    needs: ['places'],
    tokens: 5000,
    describe: (subject) =>
      `Go through ${ground(subject)} for security risks (injection, secrets, unsafe calls)${first(subject)}, and check each hit in its place.`,
  },
  {
    name: 'tests',
    roles: ['tester'],
    needs: ['places'],
    tokens: 11_000,
    describe: (subject) =>
      `Find the test command and the modules that no test imports${first(subject)} (${plural(subject.facts.tests.count, 'test file')} seen). Runs nothing.`,
  },
  {
    name: 'shape',
    roles: ['refactoring'],
    needs: ['places'],
    tokens: 18_000,
    describe: (subject) =>
      `Measure what could be simpler in ${ground(subject)}: long files and functions, repeated blocks, unused exports${first(subject)}. Edits nothing.`,
  },
  {
    name: 'links',
    roles: ['oracle', 'plan', 'Plan'],
    needs: ['state', 'places', 'papers', 'risks', 'security', 'tests', 'shape'],
    tokens: 16_000,
    describe: (subject) =>
      subject.terms.length > 0
        ? `Draw the import graph of ${ground(subject)} and, with what the others found, name the likely places for ${named(subject)} and why.`
        : `Draw the import graph of ${ground(subject)}: central modules, cycles, and what the other findings have in common.`,
  },
];

/** Which looks a wish calls for. */
export const LOOKS: Readonly<Record<Wish, readonly SlotName[]>> = {
  find: ['places'],
  explain: ['places', 'papers', 'links'],
  review: ['places', 'risks', 'tests', 'links'],
  security: ['places', 'security', 'papers', 'links'],
  performance: ['places', 'risks', 'links'],
  test: ['places', 'tests'],
  refactor: ['places', 'shape', 'links'],
  document: ['places', 'papers', 'links'],
  dependency: ['papers'],
  status: ['state'],
  debug: ['places', 'state', 'links'],
  change: ['places', 'papers', 'tests', 'links'],
};

/** For a task whose words name no wish: a first look at everything. */
export const ALL_ROUND: readonly SlotName[] = ['state', 'places', 'papers', 'risks', 'tests', 'links'];

/** What is dropped last when a plan may have few tasks only. */
export const WORTH: readonly SlotName[] = ['places', 'links', 'risks', 'security', 'tests', 'shape', 'papers', 'state'];

const named = ({ terms }: Subject): string => listed(terms.slice(0, 4).map(({ text }) => `\`${text}\``));
const first = (subject: Subject): string => (subject.terms.length > 0 ? `, files about ${named(subject)} first` : '');

const NOT_SOURCE =
  /^(?:\.|node_modules\/|dist\/|build\/|out\/|target\/|vendor\/|coverage\/|docs?\/|assets\/|public\/|images?\/)/;

/** Where to look, in words: folders that are there, and what they mostly hold. */
function ground({ facts, terms }: Subject): string {
  const folders = facts.top.filter((name) => name.endsWith('/') && !NOT_SOURCE.test(name));
  const asked = folders.filter((folder) =>
    terms.some(({ is, text }) => is === 'path' && `${text}/`.startsWith(folder)),
  );
  const known = folders.filter((folder) =>
    /^(?:src|lib|libs|app|apps|packages|cmd|internal|pkg|core|server|client|bin|test|tests)\/$/.test(folder),
  );
  const some = [asked, known, folders].find((names) => names.length > 0)?.slice(0, 3) ?? [];
  const files = facts.more ? `more than ${facts.files} files` : plural(facts.files, 'file');
  return some.length === 0 ? `the ${files} of ${facts.name}` : `${listed(some)} (${files} in all)`;
}

function papers(facts: RepositoryFacts): string {
  const names = facts.manifests.slice(0, 3).map(({ path }) => path);
  const readme = facts.top.find((name) => /^readme/i.test(name));
  const all = [...names, ...(readme === undefined ? [] : [readme])];
  return all.length === 0 ? 'manifests and documents, if there are any,' : listed(all);
}
