/** The plan for a request: one agent for each kind of task that it names. */
import type { RepositoryFacts } from '../domain/repository.ts';
import type { Purpose } from '../ports/model.ts';
import { KINDS, kindsIn, wordsIn } from './kinds.ts';
import type { Kind } from './kinds.ts';
import { FOCUS } from './parts/review.ts';
import { code, isFilePath, listed, plural, termsIn } from './words.ts';

type Planning = Extract<Purpose, { is: 'plan' }>;

interface Cast {
  readonly kind: Kind | null;
  readonly role: string;
}

const BUILT_IN = new Set(KINDS.flatMap(({ roles }) => roles).concat('code', 'general-purpose', 'main'));
const NO_TASK = 'Say which kinds of task the built-in analyst knows.';

/** The plan as JSON text in the planner's form. `hint` is what a person added when asking for another plan. */
export function planText(purpose: Planning, hint = ''): string {
  const { facts } = purpose;
  const task = `${purpose.task}\n${hint}`.trim();
  const cast = casting(purpose, wanted(purpose, kindsIn(task)), task);
  const tasks = cast.map(({ kind, role }, index) => ({
    id: `task-${index + 1}`,
    description: kind === null ? task.slice(0, 4000) || NO_TASK : descriptionOf(kind, task, facts),
    recommendedRole: role,
    estimatedTokens: tokensFor(kind?.tokens ?? 500, facts),
    dependencies: kind?.name === 'overview' ? cast.slice(0, index).map((_, before) => `task-${before + 1}`) : [],
  }));
  return JSON.stringify({ reason: reasonFor(cast), tasks }, null, 2);
}

/** The task of an agent of this kind. */
function descriptionOf(kind: Kind, task: string, facts: RepositoryFacts): string {
  const names = wordsIn(withoutNoise(task, facts));
  const focus = Object.values(FOCUS).flatMap(({ words, called }) => (words.test(task) ? [called] : []));
  return kind.task
    .replace('{names}', () => `${listed(names.map(code))} ${names.length > 1 ? 'are' : 'is'}`)
    .replace('{focus}', () => (focus.length === 0 ? 'risky patterns' : listed(focus)))
    .replace('{where}', () => whereIn(task, facts));
}

/** Where a person wants several tasks in any case, an overview and the dependencies are looked at beside the rest. */
const wanted = ({ split }: Planning, kinds: readonly Kind[]): readonly Kind[] =>
  split !== 'always' || kinds.length > 1
    ? kinds
    : KINDS.filter((kind) => kinds.includes(kind) || kind.name === 'overview' || kind.name === 'dependencies');

/** Who does what: at least one task, at most as many as are allowed. */
function casting({ roles, maxTasks, split }: Planning, kinds: readonly Kind[], task: string): readonly Cast[] {
  const most = split === 'never' ? 1 : Math.max(1, Math.min(maxTasks, KINDS.length));
  const own = kinds.flatMap((kind): readonly Cast[] => {
    const role = kind.roles.find((one) => roles.some((each) => each === one));
    return role === undefined ? [] : [{ kind, role }];
  });
  const custom = roles
    .filter((role) => !BUILT_IN.has(role) && new RegExp(`(?:^|[^\\w-])${role}(?![\\w-])`, 'i').test(task))
    .map((role): Cast => ({ kind: null, role }));
  const all = [...own, ...custom].slice(0, most);
  return all.length > 0 ? all : [{ kind: null, role: roles[0] ?? 'finder' }];
}

/** Without a slash a word is a folder only behind such a word: "lack tests" says nothing of the folder `tests`. */
const BEFORE_FOLDER =
  /\b(?:in|of|under|below|within|inside|from|through|review|audit|folder|directory)\s+(?:the\s+)?([\w./-]+)/gi;

/** The folder that a task names, where it is at the top of the project. */
function whereIn(task: string, { top, files }: RepositoryFacts): string {
  const paths = termsIn(task, 16).map(({ text }) => text.replace(/\/$/, ''));
  const plain = [...task.matchAll(BEFORE_FOLDER)].map(([, word = '']) => word);
  const place = [...paths, ...plain].find((one) => top.includes(`${one.split('/')[0] ?? ''}/`) && !isFilePath(one));
  return place === undefined ? `this repository (${plural(files, 'file')})` : code(`${place.replace(/\/$/, '')}/`);
}

/** The project's own name, and names of folders at its top, are no words to look for. */
const withoutNoise = (task: string, { name, top }: RepositoryFacts): string =>
  task
    .split(/(\s+)/)
    .filter((word) => word.toLowerCase() !== name.toLowerCase() && !top.includes(`${word}/`))
    .join('');

/** Small repositories cost less to look at; large ones don't cost more, since what is read is bounded. */
const tokensFor = (base: number, { files }: RepositoryFacts): number =>
  Math.max(500, Math.round((base * Math.min(1, 0.3 + files / 500)) / 500) * 500);

function reasonFor(cast: readonly Cast[]): string {
  const kinds = cast.flatMap(({ kind }) => (kind === null ? [] : [kind.name]));
  const heard =
    kinds.length === 0
      ? `Your words name none of the eight kinds of task that the built-in analyst knows (${KINDS.map(({ name }) => name).join(', ')}).`
      : `Recognised: ${listed(kinds)}; one agent ${kinds.length === 1 ? 'does it' : 'for each'}. It reads and counts, changes nothing and runs no tests.`;
  return `${heard} Made by the offline analyst from the words of the task, without a language model.`;
}
