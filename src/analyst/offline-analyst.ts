/** The offline analyst as a provider of models: always usable, free, calls nothing. It takes turns like a language model and is none.
 * The one entrance of this folder; how requests are understood is in `kinds.ts`, what each kind does in a file of `parts`. */
import type { Finding } from '../domain/agents/agent.ts';
import { NO_USAGE, type Usage } from '../domain/budget.ts';
import { CallId, type ModelId, OFFLINE } from '../domain/ids.ts';
import type { ModelOption } from '../domain/plan/plan.ts';
import type { RepositoryFacts } from '../domain/repository.ts';
import { fail, ok, unreachable } from '../domain/result.ts';
import { bytesIn, firstLine, headOf, paragraphs, plainLine } from '../domain/text/text.ts';
import { bytesOfTurn, type ModelReply, tokensIn, type ToolCall } from '../domain/turn.ts';
import { listed, plural } from '../domain/lists.ts';
import type { ModelPort, ModelRequest, Purpose } from '../ports/model.ts';
import type { World } from '../ports/world.ts';
import { type Kind, KINDS, kindsIn, partsFor, soughtIn } from './kinds.ts';
import { FOCUS } from './parts/review.ts';
import { nextTurn, type NextTurn } from './turns.ts';
import { code, isFilePath, termsIn } from './words.ts';

/** How fast it speaks: at a rate that can be read along on a screen, or at once where nobody watches. */
export type Pace = { readonly is: 'none' } | { readonly is: 'readable'; readonly world: Pick<World, 'sleep'> };

/** The analyst as the only model of the provider `offline`; `aliases`: its short names are those that stand for it. */
export function offlineAnalyst(aliases: ReadonlyMap<string, ModelId>, pace: Pace) {
  const names = [...aliases].filter(([, id]) => id === OFFLINE).map(([alias]) => alias);
  const option: ModelOption = {
    id: OFFLINE,
    label: names[0] ?? 'offline',
    aliases: names,
    window: 1_000_000,
    outputLimit: 8192,
    price: { input: 0, output: 0 },
    speed: 400,
    usable: { yes: true },
  };
  const aborted = { is: 'aborted', message: 'stopped' } as const;
  const call: ModelPort['call'] = async (request, signal, onDelta) => {
    if (signal.aborted) return fail(aborted);
    const turn = fitted(turnFor(request), request.maxOutputTokens);
    await speak(turn.text, pace, signal, (text) => onDelta({ is: 'text', text }));
    return signal.aborted ? fail(aborted) : ok(replyOf(request, turn));
  };
  return { name: 'offline' as const, models: (): readonly ModelOption[] => [option], call };
}

function turnFor(request: ModelRequest): NextTurn {
  const { purpose, turns } = request;
  switch (purpose.is) {
    case 'plan':
      return { text: planText(purpose), asks: [] };
    case 'compact':
      return { text: 'The conversation is long; what it found is in the turns that follow.', asks: [] };
    case 'draft':
      return { text: 'The built-in analyst cannot write drafts.', asks: [] };
    case 'merge':
      return { text: mergeText(purpose), asks: [] };
    case 'work': {
      const tools = new Set(request.tools.map(({ name }) => name));
      const brief = { task: purpose.task, role: purpose.role, tools };
      const turn = nextTurn(partsFor, brief, turns);
      if (turn.asks.length > 0 && request.toolChoice === 'none')
        return { text: signed(`It was stopped before it had checked everything. ${turn.text}`.trim()), asks: [] };
      return turn.asks.length > 0 ? turn : { ...turn, text: signed(turn.text) };
    }
    default:
      return unreachable(purpose);
  }
}

/** An answer that doesn't fit is made shorter, and says so. Calls are small and stay. */
const fitted = (turn: NextTurn, tokens: number): NextTurn =>
  turn.asks.length > 0
    ? turn
    : { text: headOf(turn.text, tokens * 4, '(cut: the budget does not allow a longer answer)'), asks: [] };

function replyOf(request: ModelRequest, { text, asks }: NextTurn): ModelReply {
  const calls = asks.map((ask, index): ToolCall => ({ id: CallId.parse(`${request.call}.${index + 1}`), ...ask }));
  const stopReason = calls.length > 0 ? 'tool use' : 'end';
  return { text, calls, stopReason, usage: usageOf(request, text, calls), model: request.model };
}

/** It reads only what is new since its last reply, and counts that; nothing is cached. */
function usageOf({ system, turns }: ModelRequest, text: string, calls: readonly ToolCall[]): Usage {
  const last = turns.findLastIndex(({ by }) => by === 'model');
  const read = turns.slice(last + 1).reduce((sum, turn) => sum + bytesOfTurn(turn), last === -1 ? bytesIn(system) : 0);
  return { ...NO_USAGE, input: tokensIn(read), output: tokensIn(bytesOfTurn({ by: 'model', text, calls })) };
}

/** Milliseconds before the first word: long enough to see whose turn it is; between groups of words; and their number at most. */
const [BREATH, BETWEEN, MOST_GROUPS] = [600, 40, 60] as const;
const WORDS_PER_GROUP = 3;

/** Gives `text` to `onText` in groups of words. Returns at once when `signal` is aborted. */
async function speak(text: string, pace: Pace, signal: AbortSignal, onText: (delta: string) => void): Promise<void> {
  if (pace.is === 'none') return text === '' ? undefined : onText(text);
  await pace.world.sleep(BREATH, signal);
  const words = text.match(/\s*\S+\s*/g) ?? [];
  const group = Math.max(WORDS_PER_GROUP, Math.ceil(words.length / MOST_GROUPS));
  for (let at = 0; at < words.length && !signal.aborted; at += group) {
    onText(words.slice(at, at + group).join(''));
    await pace.world.sleep(BETWEEN, signal);
  }
}

// What the analyst's answers have in common: they say that no model was used; and the report that is made of all of them.

const NOTE =
  '_No language model was used: the built-in offline analyst reads, searches and counts, and does not understand. Check what matters._';

/** The first paragraph stays first, since lists show it alone. */
function signed(answer: string): string {
  const [head = '', ...rest] = answer.split('\n');
  return paragraphs([head, [NOTE, ...rest].join('\n')]);
}

const unsigned = (answer: string): string => answer.replace(`\n\n${NOTE}`, '').trim();
type Merging = Extract<Purpose, { is: 'merge' }>;

/** Lines of all agents' reports together; each gets its share of them. */
const MOST_LINES = 240;

/** The report as Markdown: what each agent said first, then each report. Says nothing that no agent said. */
function mergeText({ task, results }: Merging): string {
  const plain = results.map((result) => ({ ...result, summary: unsigned(result.summary) }));
  const done = plain.filter(({ summary }) => summary !== '');
  const others = plain.filter((one) => !isDone(one));
  const share = Math.max(30, Math.floor(MOST_LINES / Math.max(1, done.length)));
  return [
    NOTE,
    '',
    `# ${plainLine(task, 90)}`,
    '',
    '## In short',
    '',
    ...done.map((one) => `- ${firstLine(one.summary)} (${one.role}${isDone(one) ? '' : `, ${one.outcome}`})`),
    ...others.map((one) => `- ${one.role} (${one.outcome}): ${plainLine(one.description, 300)}`),
    ...done.flatMap((result) => agentPart(result, share)),
  ].join('\n');
}

const isDone = ({ outcome }: Finding): boolean => outcome === 'completed';

function agentPart({ role, description, summary }: Finding, share: number): readonly string[] {
  const [first = '', ...rest] = summary.split('\n');
  const lines = rest.join('\n').trim().replaceAll(/^## /gm, '### ').split('\n');
  const more = lines.length > share ? [`- ${lines.length - share} more lines are in the report of this agent`] : [];
  const shown = lines.join('') === '' ? [first] : [...lines.slice(0, share), ...more];
  return ['', `## ${role}: ${plainLine(description, 300)}`, '', ...shown];
}

type Planning = Extract<Purpose, { is: 'plan' }>;
type Cast = { readonly kind: Kind | null; readonly role: string };
const BUILT_IN = new Set(KINDS.flatMap(({ roles }) => roles).concat('code', 'general-purpose', 'main'));
const NO_TASK = 'Say which kinds of task the built-in analyst knows.';

/** The plan as JSON text in the planner's form. */
function planText(purpose: Planning): string {
  const { facts, hint } = purpose;
  const task = `${purpose.task}\n${hint}`.trim();
  const cast = casting(purpose, wanted(purpose, kindsIn(task)), task);
  const tasks = cast.map(({ kind, role }, index) => ({
    id: `task-${index + 1}`,
    description: kind === null ? task.slice(0, 4000) || NO_TASK : descriptionOf(kind, task, facts),
    recommendedRole: role,
    estimatedTokens: tokensFor(kind?.tokens ?? 0, facts),
    writes: [],
    dependencies: kind?.name === 'overview' ? cast.slice(0, index).map((_, before) => `task-${before + 1}`) : [],
  }));
  return JSON.stringify({ reason: reasonFor(cast), tasks }, null, 2);
}

function descriptionOf(kind: Kind, task: string, facts: RepositoryFacts): string {
  // Plain words stay plain: what is between backticks is looked for as it is written.
  const names = soughtIn(withoutNoise(task, facts)).map(({ is, text }) => (is === 'word' ? text : code(text)));
  const focus = FOCUS.flatMap(({ words, called }) => (words.test(task) ? [called] : []));
  return kind.task
    .replace('{names}', () => `${listed(names)} ${names.length > 1 ? 'are' : 'is'}`)
    .replace('{focus}', () => (focus.length === 0 ? 'risky patterns' : listed(focus)))
    .replace('{where}', () => whereIn(task, facts));
}

/** Where a person wants several tasks in any case, an overview and the dependencies are looked at beside the rest. */
const wanted = ({ split }: Planning, kinds: readonly Kind[]): readonly Kind[] =>
  split !== 'always' || kinds.length > 1
    ? kinds
    : KINDS.filter((kind) => kinds.includes(kind) || kind.name === 'overview' || kind.name === 'dependencies');

function casting({ roles, maxTasks }: Planning, kinds: readonly Kind[], task: string): readonly Cast[] {
  const most = Math.max(1, Math.min(maxTasks, KINDS.length));
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

/** Tokens of an agent that finds nothing to read: its prompt and its answer. */
const LEAST_TOKENS = 3500;

/** `base` is measured on 400 files; what is read grows with the files up to the bounds of the tools, at about 800. */
const tokensFor = (base: number, { files }: RepositoryFacts): number =>
  LEAST_TOKENS + Math.round((base * Math.min(2, files / 400)) / 500) * 500;

function reasonFor(cast: readonly Cast[]): string {
  const kinds = cast.flatMap(({ kind }) => (kind === null ? [] : [kind.name]));
  const heard =
    kinds.length === 0
      ? `The task is none of the eight kinds that the built-in analyst knows (${KINDS.map(({ name }) => name).join(', ')}).`
      : `Recognised: ${listed(kinds)}; one agent ${kinds.length === 1 ? 'does it' : 'for each'}. It reads and counts, changes nothing and runs no tests.`;
  return `${heard} Made by the offline analyst from the words of the task, without a language model.`;
}
