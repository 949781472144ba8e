/**
 * The words of a conversation that was summarised: the summary turn and what it carries on word for word, an outline for
 * when no model can write one, and a shortened transcript for the request that asks for it. Pure.
 */
import { fairShare, headOf } from '../../domain/text/text.ts';
import type { Json, ToolCall, Turn } from '../../domain/turn.ts';
import { finalOutput } from '../gate/text-protocol/read-reply.ts';

const HEAD =
  '(Mimir: this conversation came near the limit of the context. What was said and done before is summarised here; go on from it.)';
const MESSAGES = '## Messages you were sent, word for word';
const ANSWERS = '## Answers you have given, handed over already';
const BETWEEN = '\n\n---\n\n';
const [MESSAGE_BYTES, MESSAGES_BYTES, ANSWERS_BYTES] = [4000, 16_000, 24_000];
const PLACES = 60;

/** What must outlive a summary word for word: what people and agents sent, and answers that were handed over. */
export interface Carried {
  readonly messages: readonly string[];
  readonly answers: readonly string[];
}

/** The user turn that takes the place of what was left out. */
export function summaryTurn({ text, messages, answers }: Carried & { readonly text: string }): string {
  const section = (title: string, parts: readonly string[]): string =>
    parts.length === 0 ? '' : `\n\n${title}\n\n${parts.join(BETWEEN)}`;
  return `${HEAD}\n\n${text}${section(MESSAGES, messages)}${section(ANSWERS, answers)}`;
}

export const isSummary = ({ text }: { readonly text: string }): boolean => text.startsWith(HEAD);

/** The answers that a summary turn carries on; none for any other turn. */
export const answersCarried = (turn: Turn): readonly string[] =>
  turn.by === 'user' && isSummary(turn) ? sectionOf(turn.text, ANSWERS) : [];

/** What turns that are left out hand on, of an earlier summary too; `next` is the turn that follows them. */
export function carriedOn(dropped: readonly Turn[], next: Turn | undefined): Carried {
  const messages = dropped.flatMap((turn) => {
    if (turn.by !== 'user') return [];
    return isSummary(turn) ? sectionOf(turn.text, MESSAGES) : [headOf(turn.text, MESSAGE_BYTES)];
  });
  const answers = dropped.flatMap((turn, at) => {
    if (turn.by !== 'model') return answersCarried(turn);
    const after = dropped[at + 1] ?? next;
    if (turn.calls.length > 0) return [finalOutput(turn, after) ?? ''];
    return wasCut(after) ? [] : [turn.text.trim()];
  });
  return {
    messages: lastOf(
      messages.filter((text) => text !== CUT_OFF),
      MESSAGES_BYTES,
    ),
    answers: lastOf(
      answers.filter((text) => text !== ''),
      ANSWERS_BYTES,
    ),
  };
}

/** Told to a model whose reply was cut at the output limit. */
export const CUT_OFF =
  'Your last reply was cut off at the output limit. Nothing of it was executed. Go on in smaller steps.';
export const wasCut = (next: Turn | undefined): boolean => next?.by === 'user' && next.text === CUT_OFF;

function lastOf(parts: readonly string[], bytes: number): readonly string[] {
  let left = bytes;
  const from = parts.findLastIndex((part) => (left -= Buffer.byteLength(part)) < 0);
  return from === parts.length - 1 && from >= 0 ? [headOf(parts[from] ?? '', bytes)] : parts.slice(from + 1);
}

function sectionOf(text: string, title: string): readonly string[] {
  const at = text.lastIndexOf(`\n\n${title}\n\n`);
  if (at === -1) return [];
  const rest = text.slice(at + title.length + 4);
  const end = title === MESSAGES ? rest.lastIndexOf(`\n\n${ANSWERS}\n\n`) : -1;
  return (end === -1 ? rest : rest.slice(0, end)).split(BETWEEN);
}

/** What was done, from the turns alone: todos, files, commands, the last words. For when no model can say it. */
export function outline(dropped: readonly Turn[]): string {
  const calls = dropped.flatMap((turn) => (turn.by === 'model' ? turn.calls : []));
  const before = dropped.findLast((turn) => turn.by === 'user' && isSummary(turn));
  const said = dropped.flatMap((turn) => (turn.by === 'model' && turn.text.trim() !== '' ? [turn.text.trim()] : []));
  return [
    'No summary could be written. This is what was done so far:',
    before?.by === 'user' ? headOf(bodyOf(before.text), 6000) : '',
    list('Todos', todosIn(calls)),
    list('Files looked at or changed', namesIn(calls, 'path')),
    list('Commands', namesIn(calls, 'command')),
    list('Searches', namesIn(calls, 'pattern')),
    said.length === 0 ? '' : `Last words:\n${headOf(said.slice(-3).join('\n\n'), 4000)}`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** The summary itself, without its head and what it carries on. */
function bodyOf(text: string): string {
  const ends = [MESSAGES, ANSWERS].map((title) => text.lastIndexOf(`\n\n${title}\n\n`)).filter((at) => at !== -1);
  return text.slice(HEAD.length, ends.length === 0 ? undefined : Math.min(...ends)).trim();
}

const list = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : `${title}:\n${lines.map((line) => `- ${line}`).join('\n')}`;

/** What the calls name as `key`, each once, the last ones. */
function namesIn(calls: readonly ToolCall[], key: string): readonly string[] {
  const names = calls.flatMap(({ tool, input }) => {
    const value = field(input, key);
    return typeof value === 'string' ? [`${tool}: ${value.slice(0, 200).toWellFormed()}`] : [];
  });
  return [...new Set(names)].slice(-PLACES);
}

function todosIn(calls: readonly ToolCall[]): readonly string[] {
  const last = calls.findLast(({ tool }) => tool === 'update_todos');
  const todos = last === undefined ? null : field(last.input, 'todos');
  if (!Array.isArray(todos)) return [];
  const each: readonly Json[] = todos;
  return each.slice(0, PLACES).map((todo) => `[${word(field(todo, 'status'))}] ${word(field(todo, 'description'))}`);
}

const word = (value: Json | undefined): string =>
  typeof value === 'string' ? value.slice(0, 200).toWellFormed() : '?';

const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const field = (value: Json, key: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/**
 * The conversation as one text of at most about `bytes`, long parts by their heads: for the request that asks for a
 * summary of what the window does not hold any more.
 */
export function transcript(turns: readonly Turn[], bytes: number): string {
  const parts = turns.flatMap(partsOf);
  const share = fairShare(
    parts.map(({ text }) => Buffer.byteLength(text)),
    Math.max(0, bytes - parts.reduce((sum, { who }) => sum + who.length + 4, 0)),
  );
  const lines = parts.map(({ who, text }) => `${who}: ${continued(headOf(text, Math.max(share, 40)))}`);
  return `# The conversation so far, shortened\n\n${headOf(lines.join('\n\n'), bytes)}`;
}

/** Further lines of one part are set in: no text can begin another part, and so speak for somebody else. */
const continued = (text: string): string => text.replaceAll(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/g, '\n  ');

interface Part {
  readonly who: string;
  readonly text: string;
}

function partsOf(turn: Turn): readonly Part[] {
  if (turn.by === 'user') return [{ who: 'told', text: turn.text }];
  if (turn.by === 'tools') return turn.results.map(({ ok, text }) => ({ who: ok ? 'result' : 'error', text }));
  const calls = turn.calls.map(({ tool, input }) => ({ who: `you called ${tool}`, text: JSON.stringify(input) }));
  return turn.text === '' ? calls : [{ who: 'you', text: turn.text }, ...calls];
}
