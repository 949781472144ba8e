/**
 * How a call of a model ends in the log: with its reply, or broken. What it really used takes the place of what had been promised,
 * and is never more than that.
 */
import type { Usage } from '../../../domain/budget.ts';
import { limitTokens } from '../../../domain/budget.ts';
import type { ModelOption } from '../../../domain/plan/plan.ts';
import type { ModelReply } from '../../../domain/turn.ts';
import type { ModelFault, ModelRequest } from '../../../ports/model.ts';
import { settleDay } from '../budget/daily-budget.ts';
import { settle } from '../budget/reserve.ts';
import { warn } from './call-scope.ts';
import type { GateParts } from '../gate.ts';

/** A call that was asked, with what had been promised for it. */
export interface Asked {
  readonly parts: GateParts;
  readonly request: ModelRequest;
  readonly model: ModelOption;
  readonly reserved: { readonly tokens: number; readonly cost: number };
}

/** Another model than the one that was asked: paid for, and nothing of it is used. `why`: what forbids it, or what allows it. */
export const mismatch = ({ id }: ModelOption, { model, usage }: ModelReply, why: string): ModelFault => ({
  is: 'mismatch',
  message: `asked ${id}, but ${model} answered${why}; nothing of the answer was used`,
  spent: usage,
});

/** The end of a call without a reply: what had been promised is free again but for what was spent. */
export function broken({ parts, request, model, reserved: promised }: Asked, fault: ModelFault): void {
  const { recorder } = parts;
  const { agent, call } = request;
  const settled =
    fault.spent === undefined ? null : settle(model, withinBound(fault.spent, request, promised), promised);
  recorder.record({
    type: 'model.failed',
    agent,
    call,
    model: model.id,
    cause: fault.is,
    message: fault.message,
    ...(settled === null ? {} : { usage: settled.usage, cost: settled.cost, priced: settled.priced }),
  });
  settleDay(parts, { call, tokens: settled === null ? 0 : limitTokens(settled.usage), cost: settled?.cost ?? 0 });
  if (settled !== null) warn(parts, agent);
}

/** Adapters bound the input by bytes; the gate knows better how much of it was counted before. */
function withinBound(spent: Usage, request: ModelRequest, promised: Asked['reserved']): Usage {
  const most = promised.tokens - request.maxOutputTokens;
  return spent.cacheRead + spent.cacheWrite > 0 ? spent : { ...spent, input: Math.min(spent.input, most) };
}

/** The reply, when its true price stands in place of what had been promised. */
export function finished(
  { parts, request, model, reserved: promised }: Asked,
  reply: ModelReply,
  ms: number,
): ModelReply {
  const { recorder, prefixes } = parts;
  const { agent, call } = request;
  const settled = settle(model, reply.usage, promised);
  recorder.record(
    {
      type: 'model.finished',
      agent,
      call,
      model: reply.model,
      usage: settled.usage,
      cost: settled.cost,
      priced: settled.priced,
      ...(settled.bounded ? { bounded: true } : {}),
      ...(reply.estimated === true && !settled.bounded ? { estimated: true } : {}),
      stopReason: reply.stopReason,
      ms,
      calls: reply.calls,
      ...(reply.opaque === undefined ? {} : { opaque: reply.opaque }),
      ...(reply.withoutEffort === undefined ? {} : { withoutEffort: true }),
    },
    ...(reply.text === '' ? [] : [{ type: 'agent.message' as const, agent, call, text: reply.text }]),
  );
  settleDay(parts, { call, tokens: limitTokens(settled.usage), cost: settled.cost });
  warn(parts, agent);
  if (request.purpose.is !== 'compact') prefixes.learn(agent, model.id, request.turns.length, settled.usage);
  return reply;
}
