/**
 * The kinds of looks a plan can be made of: which role takes each, which other looks it builds upon, what it is told, and
 * what it costs the analyst. Data for planning.ts, which picks and orders them.
 */
import type { RepositoryFacts } from '../../domain/repository.ts';
import { listed, plural, wishesIn } from './words.ts';
import type { Topic } from './topic.ts';
import type { Wish } from './words.ts';

export type SlotName =
  | 'state'
  | 'entries'
  | 'places'
  | 'papers'
  | 'risks'
  | 'security'
  | 'riskiest'
  | 'tests'
  | 'shape'
  | 'links';

/** What a description is made from. */
export interface Subject {
  readonly facts: RepositoryFacts;
  readonly topic: Topic;
  readonly wishes: readonly Wish[];
}

export interface Slot {
  readonly name: SlotName;
  /** How its descriptions begin. */
  readonly begins: RegExp;
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
    begins: /^Tell (?:the (?:size|state)|what changed)/,
    roles: ['rush'],
    needs: [],
    tokens: 6000,
    describe: ({ facts, wishes }) => {
      if (!facts.isGit)
        return `Tell the size of this repository: its folders and kinds of files (it is not a git repository).`;
      return wishes.includes('status')
        ? `Tell the state of this repository: what is uncommitted, the latest commits, what changed most, sizes.`
        : `Tell what changed lately in this repository: the latest commits, the files they changed most, what is uncommitted.`;
    },
  },
  {
    name: 'entries',
    begins: /^Find the entry points/,
    roles: ['finder', 'explore', 'Explore'],
    needs: [],
    tokens: 6000,
    describe: (subject) => `Find the entry points of ${ground(subject)}: where it starts, and why each is one.`,
  },
  {
    name: 'places',
    begins: /^Find where/,
    roles: ['finder', 'explore', 'Explore'],
    needs: [],
    tokens: 7000,
    describe: (subject) =>
      `Find where ${named(subject)} ${subject.topic.words.length > 1 ? 'are' : 'is'} defined and used in ${ground(subject)}.`,
  },
  {
    name: 'papers',
    begins: /^(?:Read|Count how the dependencies)/,
    roles: ['librarian'],
    needs: [],
    tokens: 4000,
    describe: (subject) => {
      const { facts, wishes } = subject;
      if (subject.topic.words.length > 0 && !wishes.includes('dependency'))
        return `Read ${papers(facts)}, and what documents say of ${named(subject)}.`;
      return wishes.includes('dependency')
        ? `Count how the dependencies that ${declares(facts)} are really used, and name those that nobody imports.`
        : `Read ${papers(facts)}: what the project says it is, and how its dependencies are used.`;
    },
  },
  {
    name: 'riskiest',
    begins: /^Find the riskiest/,
    roles: ['reviewer', 'security'],
    needs: [],
    tokens: 28_000,
    describe: (subject) =>
      `Find the riskiest file of ${ground(subject)} by risky lines, size, importers, tests and recent changes, and go through it.`,
  },
  {
    name: 'risks',
    begins: /^Go through/,
    roles: ['reviewer', 'security'],
    needs: ['places'],
    tokens: 8000,
    describe: (subject) =>
      `Go through ${ground(subject)} for ${kinds(subject)}${first(subject)}, check each place, and name the riskiest file.`,
  },
  {
    name: 'security',
    begins: /^Go through .* for security risks/,
    roles: ['security', 'reviewer'],
    needs: ['places'],
    tokens: 5000,
    describe: (subject) =>
      `Go through ${ground(subject)} for security risks (injection, secrets, unsafe calls)${first(subject)}, and check each place.`,
  },
  {
    name: 'tests',
    begins: /^Find (?:the test command|what .* offers to run tests)/,
    roles: ['tester'],
    needs: ['places'],
    tokens: 11_000,
    describe: (subject) =>
      subject.facts.tests.count === 0
        ? `Find what ${ground(subject)} offers to run tests with, and which modules to test first. Runs nothing.`
        : `Find the test command and the modules of ${ground(subject)} that no test imports${first(subject)} (${plural(subject.facts.tests.count, 'test file')} seen). Runs nothing.`,
  },
  {
    name: 'shape',
    begins: /^Measure what could be simpler/,
    roles: ['refactoring'],
    needs: ['places'],
    tokens: 18_000,
    describe: (subject) =>
      `Measure what could be simpler in ${ground(subject)}: long files and functions, repeated blocks, unused exports${first(subject)}. Edits nothing.`,
  },
  {
    name: 'links',
    begins: /^Draw the import graph/,
    roles: ['oracle', 'plan', 'Plan'],
    needs: ['state', 'entries', 'places', 'papers', 'risks', 'security', 'riskiest', 'tests', 'shape'],
    tokens: 16_000,
    describe: (subject) => `Draw the import graph of ${ground(subject)} and ${purposeOf(subject)}.`,
  },
];

/** What the import graph is drawn for. */
function purposeOf({ topic, wishes }: Subject): string {
  const words = listed(topic.words.map(({ text }) => `\`${text}\``));
  if (words !== '') return `name the likely places for ${words} and why, with what the others found`;
  if (wishes.includes('riskiest')) return 'trace how the entry points lead to the riskiest file';
  if (wishes.includes('changes')) return 'tell what hangs on the files that changed lately';
  if (wishes.includes('review') || wishes.includes('security')) return 'tell how much hangs on the risky files';
  if (wishes.includes('test')) return 'tell how much hangs on the modules without a test';
  return 'say what to read first: central files, layers, circles';
}

/** Which looks a wish calls for. */
export const LOOKS: Readonly<Record<Wish, readonly SlotName[]>> = {
  find: ['places'],
  entries: ['entries'],
  explain: ['places', 'papers', 'links'],
  review: ['places', 'risks', 'security', 'tests', 'links'],
  riskiest: ['riskiest', 'links'],
  security: ['places', 'security', 'links'],
  performance: ['places', 'risks', 'links'],
  test: ['places', 'tests', 'links'],
  refactor: ['places', 'shape', 'links'],
  document: ['places', 'papers', 'links'],
  dependency: ['papers'],
  status: ['state'],
  changes: ['state', 'links'],
  debug: ['places', 'state', 'links'],
  change: ['places', 'papers', 'tests', 'links'],
};

/** For a task whose words name no wish: a first look at everything. */
export const ALL_ROUND: readonly SlotName[] = ['state', 'entries', 'papers', 'risks', 'security', 'tests', 'links'];

/**
 * The role whose look answers a task that one agent has alone, whatever that agent's role is: by the analyst's own words where the task
 * is one of its plans, else by what a person's words wish for. Null where they ask for work that the analyst can't do, or for nothing it knows.
 */
export function roleForAlone(task: string): string | null {
  const own = SLOTS.find(({ begins }) => begins.test(task));
  const [wish] = wishesIn(task);
  const looks = wish === undefined || wish === 'change' ? [] : LOOKS[wish];
  const asked = looks.find((look) => look !== 'places') ?? looks[0];
  return (own ?? SLOTS.find(({ name }) => name === asked))?.roles[0] ?? null;
}

/** What is dropped last when a plan may have few tasks only. */
export const WORTH: readonly SlotName[] = [
  'places',
  'riskiest',
  'entries',
  'links',
  'risks',
  'security',
  'tests',
  'shape',
  'papers',
  'state',
];

const named = ({ topic }: Subject): string => listed(topic.words.map(({ text }) => `\`${text}\``));
const first = (subject: Subject): string =>
  subject.topic.words.length > 0 ? `, files about ${named(subject)} first` : '';

/** Where to look, in words: the places of the task, else the whole with its size. */
function ground({ facts, topic }: Subject): string {
  const places = [...topic.folders, ...topic.files];
  if (places.length > 0) return listed(places);
  return `this repository (${facts.more ? `more than ${facts.files} files` : plural(facts.files, 'file')})`;
}

/** What a review looks for: security is another look's wherever there is one. */
function kinds({ wishes }: Subject): string {
  if (wishes.includes('performance') && !wishes.includes('review')) return 'what costs time, and error handling';
  if (wishes.includes('security')) return 'error handling';
  return 'error handling, speed and leftovers';
}

/** Manifests that are known to declare dependencies. */
function declares({ manifests }: RepositoryFacts): string {
  const names = manifests.slice(0, 3).flatMap(({ path }) => (/tsconfig/.test(path) ? [] : [path]));
  return names.length === 0
    ? 'the manifests declare'
    : `${listed(names)} ${names.length === 1 ? 'declares' : 'declare'}`;
}

function papers(facts: RepositoryFacts): string {
  const names = facts.manifests.slice(0, 3).flatMap(({ path }) => (/tsconfig/.test(path) ? [] : [path]));
  const readme = facts.top.find((name) => /^readme/i.test(name));
  const all = [...names, ...(readme === undefined ? [] : [readme])];
  return all.length === 0 ? 'manifests and documents' : listed(all);
}
