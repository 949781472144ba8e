/**
 * The offline analyst as a provider of models: always usable, free, calls nothing. It takes turns like a language model and
 * is none: who plans, works and merges is in the files beside this one; here is what a call makes of it.
 */
import { NO_USAGE } from '../../domain/budget.ts';
import type { Usage } from '../../domain/budget.ts';
import { ModelId } from '../../domain/ids.ts';
import type { ModelOption } from '../../domain/plan.ts';
import { fail, ok, unreachable } from '../../domain/result.ts';
import type { ModelReply, ToolCall } from '../../domain/turn.ts';
import type { ModelRequest } from '../../ports/model.ts';
import { aliasesOf } from '../catalogue.ts';
import type { Aliases } from '../catalogue.ts';
import { ABORTED, bytesOf, bytesOfTurn, tokensIn, toolCallId } from '../provider.ts';
import type { Provider } from '../provider.ts';
import { mergeText } from './merging.ts';
import { speak } from './pace.ts';
import type { Pace } from './pace.ts';
import { planText } from './planning.ts';
import { partFor } from './roles/all.ts';
import { signed } from './signature.ts';
import type { NextTurn } from './turn-taking.ts';
import { nextTurn } from './turn-taking.ts';

export const OFFLINE = ModelId.parse('offline/analyst');

/** The analyst as the only model of the provider `offline`. */
export function offlineAnalyst(aliases: Aliases, pace: Pace): Provider {
  const names = aliasesOf(OFFLINE, aliases);
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
      return { text: 'The conversation went on for long; what it found stands in the turns that follow.', asks: [] };
    case 'draft':
      return { text: 'The built-in analyst drafts nothing.', asks: [] };
    case 'merge':
      return { text: mergeText(purpose), asks: [] };
    case 'work': {
      const tools = new Set(request.tools.map(({ name }) => name));
      const brief = { task: purpose.task, role: purpose.role, findings: purpose.findings, tools };
      const turn = nextTurn(partFor(purpose.role, purpose.task), brief, turns);
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
  const calls = asks.map((ask, index): ToolCall => ({ id: toolCallId(request, index), ...ask }));
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
