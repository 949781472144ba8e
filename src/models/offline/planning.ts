/**
 * Makes a plan from the words of a task and the facts of a repository: which looks, by whom, in what order, and why, in
 * words that are true. Answers in the planner's JSON form (INTERFACE, "Plans"); models are left to the roles' own.
 */
import type { RepositoryFacts } from '../../domain/repository.ts';
import type { Purpose } from '../../ports/model.ts';
import { ALL_ROUND, LOOKS, SLOTS, WORTH } from './plan-slots.ts';
import type { Slot, SlotName, Subject } from './plan-slots.ts';
import { topicOf } from './topic.ts';
import { listed, plural, wishesIn } from './words.ts';
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
  const subject: Subject = { facts: purpose.facts, topic: topicOf(words, purpose.facts), wishes: wishesIn(words) };
  const cast = casting(purpose, subject, words);
  return JSON.stringify({ reason: reasonFor(purpose, subject, cast), tasks: drafts(cast, subject) }, null, 2);
}

/** Who takes which look. At least one: a plan without a task is none. */
function casting(purpose: Planning, subject: Subject, words: string): readonly Cast[] {
  const most = purpose.split === 'never' ? 1 : Math.max(1, Math.min(purpose.maxTasks, MOST_TASKS));
  const custom = purpose.roles
    .filter((role) => !BUILT_IN.has(role) && names(words, role))
    .map((role): Cast => ({ slot: null, role }));
  const all = [...castOf(wanted(purpose, subject), purpose.roles), ...custom];
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

/** Looks that the words and facts call for; what the facts rule out is left out. */
function wanted({ split, facts, roles }: Planning, { wishes, topic }: Subject): readonly SlotName[] {
  if (facts.files === 0) return ['state'];
  const named = topic.words.length > 0;
  const asked = wishes.length === 0 ? (named ? LOOKS.explain : ALL_ROUND) : wishes.flatMap((wish) => LOOKS[wish]);
  const focused = withoutExtras([...new Set(asked)], wishes, named);
  if (split !== 'always' || castOf(focused, roles).length > 1) return focused;
  return [...new Set<SlotName>([...focused, 'entries', 'papers', 'links'])];
}

/** A look for places needs words; without them, whoever explains or builds wants to know where the code begins. */
function withoutExtras(looks: readonly SlotName[], wishes: readonly Wish[], named: boolean): readonly SlotName[] {
  const begins = wishes.some((wish) => BEGINNING.has(wish)) || wishes.every((wish) => wish === 'find');
  const some = named
    ? looks
    : looks.flatMap((look): readonly SlotName[] => (look !== 'places' ? [look] : begins ? ['entries'] : []));
  const covered = new Set<SlotName>([
    // A task that is about one file, or about security alone, is no review of everything.
    ...(wishes.includes('riskiest') ? (['risks', 'security', 'tests'] as const) : []),
    ...(wishes.includes('security') && wishes.includes('review') ? (['tests'] as const) : []),
  ]);
  const asked = new Set(wishes.flatMap((wish) => (wish === 'review' ? [] : LOOKS[wish])));
  return [...new Set(some)].filter((look) => !covered.has(look) || (look === 'tests' && asked.has('tests')));
}

const BEGINNING: ReadonlySet<Wish> = new Set(['explain', 'document', 'change', 'entries']);

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

function oneLine({ topic, facts }: Subject): string {
  const about = listed(topic.words.map(({ text }) => `\`${text}\``));
  return about === ''
    ? `look through ${facts.name} for what the task asks.`
    : `look through ${facts.name} for ${about}.`;
}

function reasonFor(purpose: Planning, { wishes, topic }: Subject, cast: readonly Cast[]): string {
  const named = listed(topic.words.map(({ text }) => `\`${text}\``));
  const places = listed([...topic.folders, ...topic.files]);
  const heard = [
    wishes.length > 0
      ? `You ask to ${listed(wishes.filter((wish) => wish !== 'find' || wishes.length === 1).map((wish) => WISH_NAMES[wish]))}`
      : 'Your words name no kind of work that I know, so I look around',
    ...(named === '' ? [] : [`about ${named}`]),
    ...(places === '' ? [] : [`in ${places}`]),
  ].join(' ');
  return [`${heard}.`, shapeOf(purpose, cast), ...caveats(purpose, wishes), OWN_WORDS].join(' ');
}

const OWN_WORDS = 'Made by the offline analyst from words and file counts, without a language model.';

function shapeOf({ split }: Planning, cast: readonly Cast[]): string {
  if (cast.length === 1) {
    return split === 'never'
      ? 'One agent, since splitting is switched off.'
      : 'One kind of look answers that, so it is not split.';
  }
  const present = cast.flatMap(({ slot }) => (slot === null ? [] : [slot.name]));
  const free = cast.filter(({ slot }) => slot === null || !slot.needs.some((name) => present.includes(name)));
  const at = `${plural(cast.length, 'task')}: ${who(free)} can begin at once`;
  const rest = cast.length - free.length;
  return rest === 0
    ? `${at}, since none needs another.`
    : `${at}, the ${rest === 1 ? 'other builds' : `other ${rest} build`} on what they find.`;
}

/** Roles, those that come twice with their number. */
const who = (cast: readonly Cast[]): string =>
  listed(
    [...Map.groupBy(cast, ({ role }) => role)].map(([role, all]) =>
      all.length === 1 ? role : `${all.length} ${role}s`,
    ),
  );

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
  entries: 'find where it begins',
  explain: 'explain how it works',
  review: 'review',
  riskiest: 'name the riskiest file',
  security: 'look at security',
  performance: 'look at speed',
  test: 'look at tests',
  refactor: 'simplify',
  document: 'document',
  dependency: 'look at dependencies',
  status: 'tell the state',
  debug: 'look for a fault',
  changes: 'tell what changed',
  change: 'change something',
};

const names = (words: string, role: string): boolean => new RegExp(`(?:^|[^\\w-])${role}(?![\\w-])`, 'i').test(words);
