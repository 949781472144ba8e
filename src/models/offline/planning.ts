/**
 * Makes a plan from the words of a task and the facts of a repository: which looks, by whom, in what order, and why, in
 * words that are true. Answers in the planner's JSON form (INTERFACE, "Plans"); models are left to the roles' own.
 */
import type { RepositoryFacts } from '../../domain/repository.ts';
import type { Purpose } from '../../ports/model.ts';
import { ALL_ROUND, LOOKS, SLOTS, WORTH } from './plan-slots.ts';
import type { Slot, SlotName, Subject } from './plan-slots.ts';
import { listed, plural, termsIn, wishesIn } from './words.ts';
import type { Wish } from './words.ts';

type Planning = Extract<Purpose, { is: 'plan' }>;

/** A task in the planner's form. */
interface Draft {
  readonly id: string;
  readonly description: string;
  readonly recommendedRole: string;
  readonly estimatedTokens: number;
  readonly dependencies: readonly string[];
}

interface Cast {
  readonly slot: Slot | null;
  readonly role: string;
}

/** The most tasks of a plan of the analyst's, however many are allowed. */
const MOST_TASKS = 8;
const BUILT_IN = new Set(SLOTS.flatMap(({ roles }) => roles).concat('code', 'general-purpose', 'main'));

/** The plan as JSON text. `hint` is what a person added when asking for another plan; empty when nothing was. */
export function planText(purpose: Planning, hint = ''): string {
  const words = `${purpose.task}\n${hint}`;
  const subject: Subject = { facts: purpose.facts, terms: termsIn(words, 4), wishes: wishesIn(words) };
  const cast = casting(purpose, subject, words);
  return JSON.stringify({ reason: reasonFor(purpose, subject, cast), tasks: drafts(cast, subject) }, null, 2);
}

/** Who takes which look. At least one: a plan without a task is none. */
function casting(purpose: Planning, subject: Subject, words: string): readonly Cast[] {
  const most = purpose.split === 'never' ? 1 : Math.max(1, Math.min(purpose.maxTasks, MOST_TASKS));
  const custom = purpose.roles
    .filter((role) => !BUILT_IN.has(role) && names(words, role))
    .map((role): Cast => ({ slot: null, role }));
  const all = [...onceEach(castOf(wanted(purpose, subject), purpose.roles)), ...custom];
  if (all.length === 0) return [{ slot: null, role: purpose.roles[0] ?? 'finder' }];
  if (all.length <= most) return all;
  const worth = ({ slot }: Cast): number => (slot === null ? -1 : WORTH.indexOf(slot.name));
  const kept = new Set(all.toSorted((a, b) => worth(a) - worth(b)).slice(0, most));
  return all.filter((one) => kept.has(one));
}

function castOf(names: readonly SlotName[], roles: readonly string[]): readonly Cast[] {
  return SLOTS.filter(({ name }) => names.includes(name)).flatMap((slot): Cast[] => {
    const role = slot.roles.find((one) => roles.includes(one));
    return role === undefined ? [] : [{ slot, role }];
  });
}

/** One reviewer goes through risks and security together when it is the same role that would do both. */
const onceEach = (cast: readonly Cast[]): readonly Cast[] =>
  cast.filter(
    ({ slot, role }) =>
      slot?.name !== 'security' || !cast.some((other) => other.slot?.name === 'risks' && other.role === role),
  );

/** Looks that the words and facts call for; what the facts rule out is left out. */
function wanted({ split, facts, roles }: Planning, { wishes, terms }: Subject): readonly SlotName[] {
  if (facts.files === 0) return ['state'];
  const asked =
    wishes.length === 0 ? (terms.length > 0 ? LOOKS.explain : ALL_ROUND) : wishes.flatMap((wish) => LOOKS[wish]);
  const focused = withoutExtras([...new Set(asked)], wishes, terms.length > 0);
  if (split !== 'always' || castOf(focused, roles).length > 1) return focused;
  return [...new Set<SlotName>([...focused, 'places', 'papers', 'links'])];
}

/** One wish with one look stays one look; a look for places helps others only if there is something to look for. */
function withoutExtras(looks: readonly SlotName[], wishes: readonly Wish[], named: boolean): readonly SlotName[] {
  const narrow = wishes.length === 1 && !named;
  const others = looks.filter((look) => look !== 'places');
  if (narrow && looks.length === 2 && others.length === 1) return others;
  // With a review asked for in the name of security, one reviewer goes through it.
  return looks.includes('security') && looks.includes('risks') && !wishes.includes('review')
    ? looks.filter((look) => look !== 'risks')
    : looks;
}

function drafts(cast: readonly Cast[], subject: Subject): readonly Draft[] {
  const idOf = (name: SlotName): string | null => {
    const at = cast.findIndex(({ slot }) => slot?.name === name);
    return at === -1 ? null : `task-${at + 1}`;
  };
  return cast.map(({ slot, role }, index) => ({
    id: `task-${index + 1}`,
    description: slot?.describe(subject) ?? `As ${role}: ${oneLine(subject)}`,
    recommendedRole: role,
    estimatedTokens: tokensFor(slot?.tokens ?? 10_000, subject.facts),
    dependencies: (slot?.needs ?? []).flatMap((name) => idOf(name) ?? []),
  }));
}

/** Small repositories cost less to look at; large ones don't cost more, since what is read is bounded. */
function tokensFor(base: number, { files }: RepositoryFacts): number {
  const share = Math.min(1, 0.3 + files / 500);
  return Math.max(500, Math.round((base * share) / 500) * 500);
}

function oneLine({ terms, facts }: Subject): string {
  const about = listed(terms.map(({ text }) => `\`${text}\``));
  return about === ''
    ? `look through ${facts.name} for what the task asks.`
    : `look through ${facts.name} for ${about}.`;
}

function reasonFor(purpose: Planning, { wishes, terms }: Subject, cast: readonly Cast[]): string {
  const heard = [
    wishes.length > 0
      ? `the words ask to ${listed(wishes.map((wish) => WISH_NAMES[wish]))}`
      : 'the words name no kind of work that I know',
    ...(terms.length > 0 ? [`and name ${listed(terms.map(({ text }) => `\`${text}\``))}`] : []),
  ].join(' ');
  const who = `Made by the offline analyst from words and file counts, without a language model: ${heard}.`;
  return [who, shapeOf(purpose, cast), ...caveats(purpose, wishes)].join(' ');
}

function shapeOf({ split }: Planning, cast: readonly Cast[]): string {
  if (cast.length === 1) {
    return split === 'never'
      ? 'One agent, since splitting is switched off.'
      : 'One kind of look answers that, so it is not split.';
  }
  const present = cast.flatMap(({ slot }) => (slot === null ? [] : [slot.name]));
  const free = cast.filter(({ slot }) => slot === null || !slot.needs.some((name) => present.includes(name)));
  const at = `${plural(cast.length, 'task')}: ${listed(free.map(({ role }) => role))} can begin at once`;
  const rest = cast.length - free.length;
  return rest === 0
    ? `${at}, since none needs another.`
    : `${at}, the ${rest === 1 ? 'other builds' : `other ${rest} build`} on what they find.`;
}

function caveats({ facts }: Planning, wishes: readonly Wish[]): readonly string[] {
  const edits = wishes.some((wish) => wish === 'change' || wish === 'refactor' || wish === 'document');
  return [
    ...(facts.files === 0 ? ['The folder holds no files that could be read.'] : []),
    ...(edits || wishes.includes('debug') ? ['It reads and counts; it writes no code and changes nothing.'] : []),
    ...(wishes.includes('test') ? ['It runs no tests.'] : []),
  ];
}

const WISH_NAMES: Readonly<Record<Wish, string>> = {
  find: 'find something',
  explain: 'explain',
  review: 'review',
  security: 'look at security',
  performance: 'look at speed',
  test: 'look at tests',
  refactor: 'simplify',
  document: 'document',
  dependency: 'look at dependencies',
  status: 'tell the state',
  debug: 'look for a fault',
  change: 'change something',
};

const names = (words: string, role: string): boolean => new RegExp(`(?:^|[^\\w-])${role}(?![\\w-])`, 'i').test(words);
