/** Compacts a conversation that nears the context window to its task, a summary and its last turns. Decides what is kept
 * and how the summary reads; the gate knows the sizes, and the loop decides when. */
import type { WorkOrder } from '../../domain/agents/agent.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import { fairShare, headOf, ownField, paragraphs } from '../../domain/text/text.ts';
import type { ToolCall, Turn } from '../../domain/turn.ts';
import { finalOutput, type Gate } from '../gate/index.ts';

/** Shares of the request limit: turns kept whole, and the summary. */
const [KEPT_SHARE, SUMMARY_SHARE] = [0.25, 0.15];
const LONGEST_SUMMARY = 24_000;
/** Bytes per token, a safe estimate. */
const BYTES = 3;

export type Compacted =
  | { readonly is: 'done'; readonly turns: readonly Turn[] }
  | { readonly is: 'nothing to drop' }
  | { readonly is: 'told' }
  | { readonly is: 'stopped'; readonly text: string };

/** Compacts the conversation and records it. `force`: the model itself found the request too long, so the gate's
 * estimate is not trusted. If no summary can be had, an outline of the calls replaces it. */
export async function compact(
  order: WorkOrder,
  gate: Gate,
  turns: readonly Turn[],
  signal: AbortSignal,
  { force }: { readonly force: boolean },
): Promise<Compacted> {
  const room = gate.room(order, turns);
  const limit = force ? Math.min(room.limit, room.tokens) : room.limit;
  const keep = keepFrom(turns, force ? 0.5 * limit * KEPT_SHARE : limit * KEPT_SHARE);
  const dropped = turns.slice(1, keep);
  const [first] = turns;
  // A summary that replaces only a summary would gain nothing.
  if (first === undefined || dropped.every((turn) => turn.by === 'user' && isSummary(turn)))
    return { is: 'nothing to drop' };
  const summaryText = await summaryOf(order, gate, turns, { limit, tokens: room.tokens, force }, signal);
  if (!summaryText.ok) return summaryText.fault;
  const longest = Math.min(LONGEST_SUMMARY, Math.max(1000, Math.floor(limit * SUMMARY_SHARE * BYTES)));
  const text = summaryText.value || outline(dropped);
  const summary = summaryTurn({ text: headOf(text, longest), ...carriedOver(dropped, turns[keep]) });
  const keptTurns = turns.slice(keep);
  const next: readonly Turn[] = [first, { by: 'user', text: summary }, ...keptTurns];
  gate.compacted(order, { summary, kept: keptTurns.length, before: room.tokens, turns: next });
  return { is: 'done', turns: next };
}

/** Index of the first turn that stays: as many last turns as fit `tokens`, no call without its results. 1 or less keeps all. */
function keepFrom(turns: readonly Turn[], tokens: number): number {
  let at = turns.length;
  let bytesLeft = tokens * BYTES;
  while (at > 1) {
    // Results belong to the turn before them.
    const from = turns[at - 1]?.by === 'tools' ? at - 2 : at - 1;
    bytesLeft -= Buffer.byteLength(JSON.stringify(turns.slice(from, at)));
    if (bytesLeft < 0 || from < 1) break;
    at = from;
  }
  return at;
}

type SummaryText = Result<string, Extract<Compacted, { is: 'told' | 'stopped' }>>;

/** The summary written by the model; empty if it gave none. The request follows the conversation, so that the cached part stays valid. */
async function summaryOf(
  order: WorkOrder,
  gate: Gate,
  turns: readonly Turn[],
  budget: { readonly limit: number; readonly tokens: number; readonly force: boolean },
  signal: AbortSignal,
): Promise<SummaryText> {
  if (order.compact === undefined) return ok('');
  // A conversation that does not fit the window is sent as a shortened transcript for this one request.
  const fits = !budget.force && budget.tokens <= budget.limit * 1.15;
  const shortened = `${transcript(turns, budget.limit * 0.6 * BYTES)}\n\n# What to do now\n\n${order.compact}`;
  const question = {
    order,
    turns: fits ? [...turns, { by: 'user' as const, text: order.compact }] : [{ by: 'user' as const, text: shortened }],
    purpose: { is: 'compact' as const, task: order.task },
  };
  const reply = await gate.ask(question, signal);
  if (reply.ok) return ok(reply.value.stopReason === 'refused' ? '' : reply.value.text.trim());
  // A message of a person takes precedence; any other fault is survived without the model's summary.
  const { fault } = reply;
  return fault.is === 'told' || fault.is === 'stopped' ? fail(fault) : ok('');
}

// Texts of a compacted conversation: what is carried over verbatim, an outline, a shortened transcript. Pure.

const HEAD =
  '(Mimir: this conversation came near the context limit. What was said and done before is summarised here; continue from it.)';
const MESSAGES = '## Messages that you received, word for word';
const ANSWERS = '## Answers that you have already given';
const BETWEEN = '\n\n---\n\n';
const [MESSAGE_BYTES, MESSAGES_BYTES, ANSWERS_BYTES] = [4000, 16_000, 24_000];
const PLACES = 60;

/** What is carried over verbatim: messages received, and answers handed over. */
interface Carried {
  readonly messages: readonly string[];
  readonly answers: readonly string[];
}

/** The user turn that replaces the turns left out. */
function summaryTurn({ text, messages, answers }: Carried & { readonly text: string }): string {
  const section = (title: string, parts: readonly string[]): string =>
    parts.length === 0 ? '' : `\n\n${title}\n\n${parts.join(BETWEEN)}`;
  return `${HEAD}\n\n${text}${section(MESSAGES, messages)}${section(ANSWERS, answers)}`;
}

const isSummary = ({ text }: { readonly text: string }): boolean => text.startsWith(HEAD);

/** The answers that a summary turn carries; empty for any other turn. */
const answersCarried = (turn: Turn): readonly string[] =>
  turn.by === 'user' && isSummary(turn) ? sectionOf(turn.text, ANSWERS) : [];

/** The answers of these turns, empty ones included; `after` is the turn that follows them. */
export const answersGiven = (turns: readonly Turn[], after?: Turn): readonly string[] =>
  turns.flatMap((turn, at) => {
    if (turn.by !== 'model') return answersCarried(turn);
    const next = turns[at + 1] ?? after;
    if (turn.calls.length > 0) return [finalOutput(turn, next) ?? ''];
    return wasCut(next) ? [] : [turn.text.trim()];
  });

/** What dropped turns carry over, including an earlier summary's; `next` is the turn that follows them. */
function carriedOver(dropped: readonly Turn[], next: Turn | undefined): Carried {
  const messages = dropped.flatMap((turn) => {
    if (turn.by !== 'user') return [];
    return isSummary(turn) ? sectionOf(turn.text, MESSAGES) : [headOf(turn.text, MESSAGE_BYTES)];
  });
  const kept = messages.filter((text) => text !== CUT_OFF);
  const given = answersGiven(dropped, next).filter((text) => text !== '');
  return { messages: lastOf(kept, MESSAGES_BYTES), answers: lastOf(given, ANSWERS_BYTES) };
}

/** Sent to a model whose reply was cut off at the output limit. */
export const CUT_OFF =
  'Your last reply was cut off at the output limit. Nothing of it was executed. Continue in smaller steps.';
const wasCut = (next: Turn | undefined): boolean => next?.by === 'user' && next.text === CUT_OFF;

function lastOf(parts: readonly string[], bytes: number): readonly string[] {
  let bytesLeft = bytes;
  const from = parts.findLastIndex((part) => (bytesLeft -= Buffer.byteLength(part)) < 0);
  return from === parts.length - 1 && from >= 0 ? [headOf(parts[from] ?? '', bytes)] : parts.slice(from + 1);
}

function sectionOf(text: string, title: string): readonly string[] {
  const at = text.lastIndexOf(`\n\n${title}\n\n`);
  if (at === -1) return [];
  const rest = text.slice(at + title.length + 4);
  const end = title === MESSAGES ? rest.lastIndexOf(`\n\n${ANSWERS}\n\n`) : -1;
  return (end === -1 ? rest : rest.slice(0, end)).split(BETWEEN);
}

/** What was done, from the turns alone (todos, files, commands, last texts), when no model can summarise it. */
function outline(dropped: readonly Turn[]): string {
  const calls = dropped.flatMap((turn) => (turn.by === 'model' ? turn.calls : []));
  const earlierSummary = dropped.findLast((turn) => turn.by === 'user' && isSummary(turn));
  const texts = dropped.flatMap((turn) => (turn.by === 'model' && turn.text.trim() !== '' ? [turn.text.trim()] : []));
  return paragraphs([
    'No summary could be written. This is what was done so far:',
    earlierSummary?.by === 'user' ? headOf(bodyOf(earlierSummary.text), 6000) : '',
    list('Todos', todosIn(calls)),
    list('Files looked at or changed', namesIn(calls, 'path')),
    list('Commands', namesIn(calls, 'command')),
    list('Searches', namesIn(calls, 'pattern')),
    texts.length === 0 ? '' : `Last words:\n${headOf(texts.slice(-3).join('\n\n'), 4000)}`,
  ]);
}

/** The summary itself, without its heading and what it carries over. */
function bodyOf(text: string): string {
  const ends = [MESSAGES, ANSWERS].map((title) => text.lastIndexOf(`\n\n${title}\n\n`)).filter((at) => at !== -1);
  return text.slice(HEAD.length, ends.length === 0 ? undefined : Math.min(...ends)).trim();
}

const list = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : `${title}:\n${lines.map((line) => `- ${line}`).join('\n')}`;

function namesIn(calls: readonly ToolCall[], key: string): readonly string[] {
  const names = calls.flatMap(({ tool, input }) => {
    const value = ownField(input, key);
    return typeof value === 'string' ? [`${tool}: ${value.slice(0, 200).toWellFormed()}`] : [];
  });
  return [...new Set(names)].slice(-PLACES);
}

function todosIn(calls: readonly ToolCall[]): readonly string[] {
  const last = calls.findLast(({ tool }) => tool === 'update_todos');
  const todos = ownField(last?.input, 'todos');
  if (!Array.isArray(todos)) return [];
  const each: readonly unknown[] = todos;
  return each
    .slice(0, PLACES)
    .map((todo) => `[${word(ownField(todo, 'status'))}] ${word(ownField(todo, 'description'))}`);
}

const word = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 200).toWellFormed() : '?');

/** The conversation as one text of about `bytes` at most, long parts cut, for a summary request that the window could not hold otherwise. */
export function transcript(turns: readonly Turn[], bytes: number): string {
  const parts = turns.flatMap(partsOf);
  const share = fairShare(
    parts.map(({ text }) => Buffer.byteLength(text)),
    Math.max(0, bytes - parts.reduce((sum, { who }) => sum + who.length + 4, 0)),
  );
  const lines = parts.map(({ who, text }) => `${who}: ${indented(headOf(text, Math.max(share, 40)))}`);
  return `# The conversation so far, shortened\n\n${headOf(lines.join('\n\n'), bytes)}`;
}

/** Further lines of a part are indented, so that no text can pass for the beginning of another part. */
const indented = (text: string): string => text.replaceAll(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/g, '\n  ');

function partsOf(turn: Turn): readonly { readonly who: string; readonly text: string }[] {
  if (turn.by === 'user') return [{ who: 'told', text: turn.text }];
  if (turn.by === 'tools') return turn.results.map(({ ok, text }) => ({ who: ok ? 'result' : 'error', text }));
  const calls = turn.calls.map(({ tool, input }) => ({ who: `you called ${tool}`, text: JSON.stringify(input) }));
  return turn.text === '' ? calls : [{ who: 'you', text: turn.text }, ...calls];
}
