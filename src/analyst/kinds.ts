/**
 * The eight kinds of task that the analyst knows, one row each: by which words a request is recognised, who does it, what the task of its
 * agent says; and the plan that follows. A request of no kind gets an agent that says which kinds there are.
 */
import type { RepositoryFacts } from '../domain/repository.ts';
import type { Purpose } from '../ports/model.ts';
import { dependencies } from './dependencies.ts';
import { deadExports } from './exports.ts';
import { find } from './find.ts';
import { changes, todos } from './lists.ts';
import { overview } from './overview.ts';
import { review } from './review.ts';
import type { Brief, Part, Work } from './turns.ts';
import { untested } from './untested.ts';
import { code, listed, plural, termsIn } from './words.ts';

type KindName = 'where' | 'review' | 'untested' | 'todos' | 'dependencies' | 'changes' | 'dead exports' | 'overview';

interface Kind {
  readonly name: KindName;
  readonly roles: readonly string[];
  readonly words: RegExp;
  readonly begins: RegExp;
  /** Input and output together. */
  readonly tokens: number;
  readonly part: Part;
  readonly task: string;
  readonly answers: string;
}

interface Subject {
  readonly task: string;
  readonly where: string;
}

const FOCUS: readonly (readonly [RegExp, string])[] = [
  [/\bsecur|\binjection|\bsecrets?\b|\bvulnerab/i, 'security risks'],
  [/\berrors?\b|\bexceptions?\b|\bswallow|\bignored\b/i, 'swallowed and ignored errors'],
];

const PARTS: Readonly<Record<KindName, Part>> = {
  where: find,
  review,
  untested,
  todos,
  dependencies,
  changes,
  'dead exports': deadExports,
  overview,
};

/**
 * In the order in which a plan has them: name, roles (the first that may be planned does it), tokens on a repository of 400 files, task
 * of its agent (where this is the whole task, it is of this kind alone), words of a request, and for a person what it answers.
 */
const ROWS = String.raw`
where        ;; finder explore Explore ;; 9000  ;; Find where {names} defined and used in {where}. ;; \bwhere\b|\bdefin(?:ed|es|itions?|ing)\b|\blocate\b|\bwho (?:calls|uses|imports)\b|\bcallers of\b|\bhow (?:[\w-]+ ){0,4}(?:works?|is|are|does)\b|\bwhat does\b|\bexplain\b|\bwhich files?\b ;; where a name is defined and used ("where is parseConfig defined?")
review       ;; reviewer security      ;; 12000 ;; Review {where} for {focus}. ;; \breview\w*|\baudit\w*|\brisk(?:s|y|iest)?\b|\bvulnerab\w+|\bsecur\w+|\bbugs?\b|\bsmells?\b|\bunsafe\b|\bdangerous\b|\bswallow\w*|\bignored errors\b|\berror handling\b|\bproblems\b|\bcode quality\b ;; risky patterns, with swallowed and ignored errors ("review src/ for risky patterns")
untested     ;; tester                 ;; 14000 ;; Find the modules of {where} without tests. ;; \buntested\b|\bnot tested\b|\bcoverage\b|\btests?\b(?! (?:command|for it))|\btested\b|\btesting\b ;; modules without a test ("which modules lack tests?")
todos        ;; finder explore Explore ;; 4000  ;; List the TODO, FIXME, XXX and HACK notes of {where}. ;; \bto-?dos?\b|\bfix-?mes?\b|\bXXX\b|\bHACKs?\b|\bopen notes\b|\bleft ?overs?\b ;; TODO, FIXME, XXX and HACK notes ("list all TODO comments")
dependencies ;; librarian              ;; 6000  ;; Count how the dependencies of {where} are used. ;; \bdependenc\w+|\bpackages\b|\blibrar(?:y|ies)\b|\bthird[- ]party\b|\boutdated\b|\brequirements\b ;; declared dependencies and their use ("which dependencies are not used?")
changes      ;; rush                   ;; 5000  ;; Tell what changed lately in {where}. ;; \brecent(?:ly)?\b|\blately\b|\bchanged\b|\bchanges\b|\bcommits?\b|\bhistory\b|\bchange ?log\b|\brelease notes\b|\buncommitted\b|\bgit (?:status|log|state)\b|\bwhat happened\b ;; recent changes ("what changed lately?")
dead exports ;; refactoring            ;; 16000 ;; Find dead exports of {where}. ;; \bdead\b|\bunused (?:code|exports?|functions?|classes|methods|files)\b|\bunreferenced\b|\bnever (?:used|called|imported)\b|\b(?:nobody|no one|nothing) (?:uses|calls|imports)\b|\bexports?\b ;; exported names that no other file uses ("find dead code")
overview     ;; oracle plan Plan       ;; 16000 ;; Give an overview of {where}: entry points, central files, import cycles. ;; \boverview\b|\barchitecture\b|\bstructure\b|\bentry[- ]?points?\b|\btour\b|\bsummar\w+|\b(?:import )?cycles?\b|\bcircular\b|\bwhere (?:do i|to|should i) (?:start|begin|read)\w*|\bwhat (?:is|does) (?:this|the) (?:project|repo\w*|code\w*|program)\b|\b(?:explain|describe|understand) (?:this|the) (?:project|repo\w*|code\w*|program)\b|\blook around\b|\bhow (?:is|does) (?:this|the) (?:project|repo\w*|code\w*|program)\b ;; an overview: entry points, central files, import cycles ("give me an overview")
`;

const NAMES: readonly KindName[] = [
  'where',
  'review',
  'untested',
  'todos',
  'dependencies',
  'changes',
  'dead exports',
  'overview',
];

const KINDS: readonly Kind[] = ROWS.trim()
  .split('\n')
  .flatMap((row) => {
    const [title = '', roles = '', tokens = '', task = '', words = '', answers = ''] = row
      .split(' ;; ')
      .map((cell) => cell.trim());
    const name = NAMES.find((one) => one === title);
    if (name === undefined) return [];
    const begins = new RegExp(`^${task.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '.+')}$`);
    return [
      {
        name,
        roles: roles.split(' '),
        tokens: Number(tokens),
        task,
        words: new RegExp(words, 'i'),
        begins,
        answers,
        part: PARTS[name],
      },
    ];
  });

/** The task of an agent of this kind. */
function describe({ task }: Kind, subject: Subject): string {
  const names = wordsIn(subject.task);
  const focus = FOCUS.filter(([words]) => words.test(subject.task)).map(([, name]) => name);
  return task
    .replace('{names}', () => `${listed(names.map(code))} ${names.length > 1 ? 'are' : 'is'}`)
    .replace('{focus}', () => (focus.length === 0 ? 'risky patterns' : listed(focus)))
    .replace('{where}', () => subject.where);
}

/** Words of a request that name something to look for. */
const wordsIn = (task: string): readonly string[] =>
  termsIn(task)
    .flatMap(({ is, text }) => (is === 'path' && !/\.\w{1,5}$/.test(text) ? [] : [text]))
    .slice(0, 4);

/** Kinds whose words overlap with those of "where": they win over it unless it is asked for in so many words. */
const ASKED_WHERE =
  /\bwhere (?:is|are|does|do|in|the|`|\w+[A-Z_])|\bwhere (?:\S+ ){1,3}(?:is|are)\b|\bwho (?:calls|uses|imports)\b|\bdefined\b|\bhow (?:[\w.-]+ ){1,4}works?\b/i;

/** The kinds that a text asks for, in the order of a plan; none where it names none. */
function kindsIn(text: string): readonly Kind[] {
  const exact = KINDS.filter(({ begins }) => begins.test(text));
  if (exact.length > 0) return exact;
  const plain = text.replaceAll(/`[^`\n]*`|"[^"\n]*"/g, ' NAME ');
  const found = KINDS.filter(({ words }) => words.test(plain));
  const terms = termsIn(plain.replaceAll('NAME', ' '));
  const names = termsIn(text).filter(({ is }) => is !== 'word');
  const others = found.filter(({ name }) => name !== 'where');
  const overviewWords =
    found.some(({ name }) => name === 'overview') && names.length === 0 && !/\bwhere (?!to|do i|should)/i.test(plain);
  const named = names.some(({ is, text: own }) => is === 'identifier' || /\.\w{1,5}$/.test(own));
  const asked = found.some(({ name }) => name === 'where') || /\b(?:find|search|look for|show|explain)\b/i.test(plain);
  const where =
    others.length === 0
      ? named || (asked && terms.length > 0)
      : !overviewWords && ASKED_WHERE.test(text) && wordsIn(text).length > 0;
  return KINDS.filter((kind) => (kind.name === 'where' ? where : others.includes(kind)));
}

const BY_ROLE: ReadonlyMap<string, KindName> = new Map(
  KINDS.flatMap(({ roles, name }) => (name === 'todos' ? [] : roles.map((role) => [role, name] as const))),
);

/** What an agent does: the kinds that its task names; where it names none, the kind of its role. */
export function partFor({ task, role }: Brief): Part {
  const named = kindsIn(task);
  const own = KINDS.filter(({ name }) => name === BY_ROLE.get(role) && (name !== 'where' || wordsIn(task).length > 0));
  const kinds = named.length > 0 ? named : own;
  const [only, more] = kinds;
  if (only === undefined) return unknown;
  return more === undefined ? only.part : together(kinds.map(({ part }) => part));
}

/** Several kinds by one agent: one after the other. */
const together = (parts: readonly Part[]): Part => ({
  todos: parts.flatMap(({ todos: own }) => own),
  *work(brief): Work {
    const reports: string[] = [];
    let before = 0;
    for (const part of parts) {
      const work = part.work(brief);
      let at = work.next([]);
      while (at.done !== true) at = work.next(yield { ...at.value, todo: at.value.todo + before });
      reports.push(at.value);
      before += part.todos.length;
    }
    return reports.join('\n\n');
  },
});

const unknown: Part = {
  todos: [],
  // oxlint-disable-next-line require-yield -- It looks at nothing: there is nothing to look for.
  *work({ task }): Work {
    return [
      `"${task.replaceAll(/\s+/g, ' ').trim().slice(0, 120).toWellFormed()}" is none of the kinds of task that the built-in analyst knows, so nothing was looked at.`,
      '',
      '## What it can answer',
      '',
      ...KINDS.map(({ answers }) => `- ${answers}`),
      '',
      'For anything else set up a language model: `mimir doctor` tells how.',
    ].join('\n');
  },
};

type Planning = Extract<Purpose, { is: 'plan' }>;

interface Cast {
  readonly kind: Kind | null;
  readonly role: string;
}

const BUILT_IN = new Set(KINDS.flatMap(({ roles }) => roles).concat('code', 'general-purpose', 'main'));

/** The plan as JSON text in the planner's form. `hint` is what a person added when asking for another plan. */
export function planText(purpose: Planning, hint = ''): string {
  const task = `${purpose.task}\n${hint}`;
  const kinds = wanted(purpose, kindsIn(task.trim()));
  const cast = casting(purpose, kinds, task);
  const subject: Subject = { task: withoutNoise(task, purpose.facts), where: whereIn(task, purpose.facts) };
  const tasks = cast.map(({ kind, role }, index) => ({
    id: `task-${index + 1}`,
    description:
      (kind === null ? null : describe(kind, subject)) ??
      (task.trim().slice(0, 4000) || 'Say which kinds of task the built-in analyst knows.'),
    recommendedRole: role,
    estimatedTokens: tokensFor(kind?.tokens ?? 500, purpose.facts),
    dependencies: kind?.name === 'overview' ? cast.slice(0, index).map((_, before) => `task-${before + 1}`) : [],
  }));
  return JSON.stringify({ reason: reasonFor(cast), tasks }, null, 2);
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

/** The folder that a task names, where it is at the top of the project. */
function whereIn(task: string, { top, files }: RepositoryFacts): string {
  const paths = termsIn(task, 16).map(({ text }) => text.replace(/\/$/, ''));
  const plain = task.split(/[^\w./-]+/);
  const place = [...paths, ...plain].find(
    (one) => top.includes(`${one.split('/')[0] ?? ''}/`) && !/\.\w{1,5}$/.test(one),
  );
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
