/**
 * How much of a model's window a conversation fills, by the provider's own count of the last request and an estimate of
 * what came since; how long a tool's result may be; the record of a conversation that was shortened.
 */
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import type { ModelOption } from '../../../domain/plan/plan.ts';
import { headAndTail } from '../../../domain/text/text.ts';
import type { Turn } from '../../../domain/turn.ts';
import type { ToolPort } from '../../../ports/tool.ts';
import type { Budgets } from '../budget/budgets.ts';
import { optionFor } from '../budget/reserve.ts';
import { specOf } from './tool-specs.ts';
import { bytesOf } from '../budget/tokens.ts';

/** Of the window without the room for the reply: above it the conversation is shortened. */
const FULL_AT = 0.75;
/** As much as a reply is asked for at most. */
const MOST_OUTPUT = 16_384;
/** Bytes of a token, for estimates on the safe side: code makes between three and four. */
const BYTES_A_TOKEN = 3;

/** Both in tokens: what a request fills, and from where on it should be shortened. */
export interface Room {
  readonly tokens: number;
  readonly limit: number;
}

export interface Compaction {
  readonly summary: string;
  readonly kept: number;
  /** Tokens of the conversation before. */
  readonly before: number;
  readonly turns: readonly Turn[];
}

const modelOf = ({ recorder, models }: Budgets, order: WorkOrder): ModelOption | undefined =>
  optionFor(models.models(), recorder.state().agents.get(order.agent)?.model.used ?? order.model.used);

export function roomOf(budgets: Budgets, { tools }: ToolPort, order: WorkOrder, turns: readonly Turn[]): Room {
  const model = modelOf(budgets, order);
  if (model === undefined) return { tokens: 0, limit: 1 };
  const reserve = Math.min(model.outputLimit, MOST_OUTPUT, model.window / 2);
  const limit = Math.floor((model.window - reserve) * FULL_AT);
  const estimate = (bytes: number): number => Math.ceil(bytes / BYTES_A_TOKEN);
  const prefix = budgets.prefixes.of(order.agent, model.id, turns);
  if (prefix !== undefined) return { tokens: prefix.tokens + estimate(bytesOf(turns.slice(prefix.turns))), limit };
  const specs = order.tools.flatMap((name) => specOf(tools, name));
  return { tokens: estimate(bytesOf(order.system) + bytesOf(specs) + bytesOf(turns)), limit };
}

export function recordCompaction(budgets: Budgets, tools: ToolPort, order: WorkOrder, to: Compaction): void {
  budgets.prefixes.forget(order.agent);
  const after = roomOf(budgets, tools, order, to.turns).tokens;
  budgets.recorder.record({
    type: 'context.compacted',
    agent: order.agent,
    summary: to.summary,
    kept: to.kept,
    tokens: { before: to.before, after },
  });
}

/** Of a model that is paid for, no result is longer: every later turn pays for it again. */
const PAID_BYTES = 16_000;
const PAID_TURN_BYTES = 96_000;
const FREE_BYTES = 65_536;

/**
 * Bytes that one of `calls` results of the same turn may have: what fits the window beside everything else, and is worth
 * its price. Never less than 2000.
 */
export function resultRoom(budgets: Budgets, order: WorkOrder, calls: number): number {
  const model = modelOf(budgets, order);
  const free = model?.price?.input === 0 && model.price.output === 0;
  const window = model?.window ?? Infinity;
  const turn = free ? window : Math.min(PAID_TURN_BYTES, window);
  const one = Math.min(free ? FREE_BYTES : PAID_BYTES, Math.max(4000, window * 0.08));
  return Math.max(2000, Math.floor(Math.min(one, turn / Math.max(1, calls))));
}

/** A result within its room: what was left out is named, with the way to it. */
export const cutResult = (text: string, room: number): string =>
  headAndTail(
    text,
    room,
    (left) => `[… ${left} bytes left out: ask for that part by itself, more narrowly, or with fewer calls at once …]`,
  );
