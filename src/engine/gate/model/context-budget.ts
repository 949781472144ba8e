/** How much of a model's context window a conversation fills, from the provider's count of the last request and an
 * estimate of what followed; how long tool results may be; the record of a compaction. */
import { z } from 'zod';
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import type { ModelOption } from '../../../domain/plan/plan.ts';
import { headAndTail } from '../../../domain/text/text.ts';
import type { Json, Turn } from '../../../domain/turn.ts';
import { modelNow } from '../../../events/index.ts';
import type { ToolSpec } from '../../../ports/model.ts';
import type { Tool } from '../../../ports/tool.ts';
import { type Budgets, bytesOf } from '../budget/budgets.ts';
import { optionFor } from '../budget/reserve.ts';
import type { GateParts } from '../budget/parts.ts';

/** Part of the window, without the space for the reply, above which the conversation is compacted. */
const FULL_AT = 0.75;
const MOST_OUTPUT = 16_384;
/** Bytes per token, a safe estimate: code has between three and four. */
const BYTES_A_TOKEN = 3;

/** Both in tokens: what a request fills, and the size above which it should be compacted. */
export interface ContextBudget {
  readonly tokens: number;
  readonly limit: number;
}

export interface Compaction {
  readonly summary: string;
  readonly kept: number;
  readonly before: number;
  readonly turns: readonly Turn[];
}

type Order = Pick<WorkOrder, 'agent' | 'model' | 'system' | 'tools'>;
type Parts = Budgets & { readonly tools: Pick<GateParts['tools'], 'tools'> };

const modelOf = ({ recorder, models }: Budgets, order: Order): ModelOption | undefined =>
  optionFor(models.models(), modelNow(recorder.state(), order));

export function contextBudgetOf(parts: Parts, order: Order, turns: readonly Turn[]): ContextBudget {
  const model = modelOf(parts, order);
  if (model === undefined) return { tokens: 0, limit: 1 };
  const reserve = Math.min(model.outputLimit, MOST_OUTPUT, model.window / 2);
  const limit = Math.floor((model.window - reserve) * FULL_AT);
  const estimate = (bytes: number): number => Math.ceil(bytes / BYTES_A_TOKEN);
  const prefix = parts.prefixes.of(order.agent, model.id, turns);
  if (prefix !== undefined) return { tokens: prefix.tokens + estimate(bytesOf(turns.slice(prefix.turns))), limit };
  const specs = order.tools.flatMap((name) => specOf(parts.tools.tools, name));
  return { tokens: estimate(bytesOf(order.system) + bytesOf(specs) + bytesOf(turns)), limit };
}

export function recordCompaction(
  parts: GateParts,
  order: WorkOrder,
  { summary, kept, before, turns }: Compaction,
): void {
  const { agent } = order;
  parts.prefixes.forget(agent);
  const tokens = { before, after: contextBudgetOf(parts, order, turns).tokens };
  parts.recorder.record({ type: 'context.compacted', agent, summary, kept, tokens });
}

/** Longest results for a paid model, because every later turn pays for them again. */
const PAID_BYTES = 16_000;
const PAID_TURN_BYTES = 96_000;
const FREE_BYTES = 65_536;

/** Bytes that one of `calls` results of the same turn may have: what fits the context window and is worth its price. At least 2000. */
export function resultBytes(budgets: Budgets, order: Order, calls: number): number {
  const model = modelOf(budgets, order);
  const free = model?.price?.input === 0 && model.price.output === 0;
  const window = model?.window ?? Infinity;
  const turn = free ? window : Math.min(PAID_TURN_BYTES, window);
  const one = Math.min(free ? FREE_BYTES : PAID_BYTES, Math.max(4000, window * 0.08));
  return Math.max(2000, Math.floor(Math.min(one, turn / Math.max(1, calls))));
}

/** Cuts a result to `room` bytes. The note names what was left out and how to get it. */
export const cutResult = (text: string, room: number): string =>
  headAndTail(
    text,
    room,
    (left) => `[… ${left} bytes left out: ask for that part by itself, more narrowly, or with fewer calls at once …]`,
  );

// Tool descriptions for models, as JSON Schema from the zod schema that checks the input.

const specs = new WeakMap<Tool, ToolSpec>();

/** The tool named `name` as a list of one; empty when there is no such tool. */
export function specOf(tools: readonly Tool[], name: string): readonly ToolSpec[] {
  const tool = tools.find((one) => one.name === name);
  if (!tool) return [];
  const known = specs.get(tool);
  if (known) return [known];
  const spec: ToolSpec = { name: tool.name, description: tool.description, schema: jsonSchemaOf(tool.input) };
  specs.set(tool, spec);
  return [spec];
}

/** JSON Schema of the accepted input (fields with defaults are optional), as both SDKs take it. */
export function jsonSchemaOf(schema: z.ZodType): Json {
  const schemaJson: unknown = z.toJSONSchema(schema, { io: 'input' });
  if (!isJson(schemaJson)) throw new Error('a form that has no JSON Schema');
  return schemaJson;
}

/** Written by hand because a zod schema of all JSON takes longer to prepare than all tools together. */
function isJson(value: unknown): value is Json {
  if (Array.isArray(value)) return value.every(isJson);
  if (typeof value === 'object' && value !== null) return Object.values(value).every(isJson);
  return value === null || ['boolean', 'number', 'string'].includes(typeof value);
}
