/**
 * The offline analyst as a provider of models: always usable, free, calls nothing. It takes turns like a language model and is none.
 * The one entrance of this folder; how requests are understood is in `kinds.ts`, what each kind does in a file of `parts`.
 */
import { NO_USAGE } from '../domain/budget.ts';
import type { Usage } from '../domain/budget.ts';
import { CallId, ModelId } from '../domain/ids.ts';
import type { ModelOption } from '../domain/plan/plan.ts';
import { fail, ok, unreachable } from '../domain/result.ts';
import type { ModelReply, ToolCall, Turn } from '../domain/turn.ts';
import type { ModelFault, ModelPort, ModelRequest } from '../ports/model.ts';
import type { World } from '../ports/world.ts';
import { partFor } from './kinds.ts';
import { planText } from './plan.ts';
import { mergeText, signed } from './report.ts';
import { nextTurn } from './turns.ts';
import type { NextTurn } from './turns.ts';

export const OFFLINE = ModelId.parse('offline/analyst');

/** How fast it speaks: at a rate that can be read along on a screen, or at once where nobody watches. */
export type Pace = { readonly is: 'none' } | { readonly is: 'readable'; readonly world: Pick<World, 'sleep'> };

/** A source of models as the router takes it. */
interface Analyst {
  readonly name: 'offline';
  models(): readonly ModelOption[];
  readonly call: ModelPort['call'];
}

const ABORTED: ModelFault = { is: 'aborted', message: 'stopped' };

/** The analyst as the only model of the provider `offline`; `aliases`: its short names are those that stand for it. */
export function offlineAnalyst(aliases: ReadonlyMap<string, ModelId>, pace: Pace): Analyst {
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
  return {
    name: 'offline',
    models: () => [option],
    async call(request, signal, onDelta) {
      if (signal.aborted) return fail(ABORTED);
      const turn = fitted(turnFor(request), request.maxOutputTokens);
      await speak(turn.text, pace, signal, (text) => onDelta({ is: 'text', text }));
      return signal.aborted ? fail(ABORTED) : ok(replyOf(request, turn));
    },
  };
}

function turnFor(request: ModelRequest): NextTurn {
  const { purpose, turns } = request;
  switch (purpose.is) {
    case 'plan':
      return { text: planText(purpose, hintIn(request)), asks: [] };
    case 'compact':
      return { text: 'The conversation is long; what it found is in the turns that follow.', asks: [] };
    case 'draft':
      return { text: 'The built-in analyst drafts nothing.', asks: [] };
    case 'merge':
      return { text: mergeText(purpose), asks: [] };
    case 'work': {
      const tools = new Set(request.tools.map(({ name }) => name));
      const brief = { task: purpose.task, role: purpose.role, findings: purpose.findings, tools };
      const turn = nextTurn(partFor(brief), brief, turns);
      if (turn.asks.length > 0 && request.toolChoice === 'none')
        return { text: signed(`It was ended before it had looked at everything. ${turn.text}`.trim()), asks: [] };
      return turn.asks.length > 0 ? turn : { ...turn, text: signed(turn.text) };
    }
    default:
      return unreachable(purpose);
  }
}
/** What a person added when asking for another plan, as the planner's prompt gives it. */
function hintIn({ turns }: ModelRequest): string {
  const asked = turns.flatMap((turn) => (turn.by === 'user' ? [turn.text] : []));
  const hints = asked.map((text) => /^# The person asked for another plan\n([^#]+)/m.exec(text)?.[1] ?? '');
  return hints.join(' ').trim();
}

const CUT = '\n(cut: the budget allows no longer answer)';

/** An answer that doesn't fit is made shorter, and says so. Calls are small and stay. */
function fitted(turn: NextTurn, tokens: number): NextTurn {
  const room = tokens * 4 - bytesOf(CUT);
  if (turn.asks.length > 0 || bytesOf(turn.text) <= room) return turn;
  const lines = turn.text.split('\n');
  while (lines.length > 1 && bytesOf(lines.join('\n')) > room) lines.pop();
  return { text: `${lines.join('\n')}${CUT}`, asks: [] };
}

function replyOf(request: ModelRequest, { text, asks }: NextTurn): ModelReply {
  const calls = asks.map((ask, index): ToolCall => ({ id: CallId.parse(`${request.call}.${index + 1}`), ...ask }));
  return {
    text,
    calls,
    stopReason: calls.length > 0 ? 'tool use' : 'end',
    usage: usageOf(request, text, calls),
    model: request.model,
  };
}

/** It reads only what is new since its last reply, and counts that; nothing is cached. */
function usageOf({ system, turns }: ModelRequest, text: string, calls: readonly ToolCall[]): Usage {
  const last = turns.findLastIndex(({ by }) => by === 'model');
  const read = turns.slice(last + 1).reduce((sum, turn) => sum + bytesOfTurn(turn), last === -1 ? bytesOf(system) : 0);
  return { ...NO_USAGE, input: tokensIn(read), output: tokensIn(bytesOfTurn({ by: 'model', text, calls })) };
}

const bytesOf = (text: string): number => Buffer.byteLength(text, 'utf8');

/** Bytes of what a turn says: its text, and the tools and inputs it names. */
function bytesOfTurn(turn: Turn): number {
  if (turn.by === 'user') return bytesOf(turn.text);
  if (turn.by === 'tools') return turn.results.reduce((sum, result) => sum + bytesOf(result.text), 0);
  return turn.calls.reduce(
    (sum, call) => sum + bytesOf(call.tool) + bytesOf(JSON.stringify(call.input)),
    bytesOf(turn.text),
  );
}

const tokensIn = (bytes: number): number => Math.ceil(bytes / 4);
/** Milliseconds before the first word: long enough to see whose turn it is. */
const BREATH = 600;
const MS_PER_WORD = 13;
const LONGEST = 2500;
const WORDS_PER_DELTA = 3;

/** Gives `text` to `onText` in groups of words. Returns at once when `signal` is aborted. */
async function speak(text: string, pace: Pace, signal: AbortSignal, onText: (delta: string) => void): Promise<void> {
  const words = text.match(/\s*\S+\s*/g) ?? [];
  if (pace.is === 'none') {
    if (text !== '') onText(text);
    return;
  }
  await pace.world.sleep(BREATH, signal);
  const perWord = Math.min(MS_PER_WORD, LONGEST / Math.max(1, words.length));
  // A long answer comes in larger groups rather than in sleeps too short to be kept.
  const group = Math.max(WORDS_PER_DELTA, Math.ceil(30 / perWord));
  for (let at = 0; at < words.length && !signal.aborted; at += group) {
    const some = words.slice(at, at + group);
    onText(some.join(''));
    await pace.world.sleep(perWord * some.length, signal);
  }
}
