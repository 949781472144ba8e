/**
 * The reply that a finished stream is. Fails closed: it is one only when its end was told, and calls are given only when it says that it
 * stopped for them and each of them is whole.
 */
import { CallId, ModelId } from '../../domain/ids.ts';
import { fail, ok } from '../../domain/result.ts';
import type { Result } from '../../domain/result.ts';
import type { Json, ModelReply, StopReason, ToolCall } from '../../domain/turn.ts';
import type { ModelRequest } from '../../ports/model.ts';
import { BETWEEN, packed } from './opaque.ts';
import type { Part } from './opaque.ts';
import type { Block, Progress } from './reply.ts';
import { FORM_TOOL } from './wire.ts';
import { toolCallId } from '../provider.ts';
import { parseArguments } from '../http/strict-json.ts';

/** Why a stream is no reply: it ended too early, or it can't be understood. */
export interface NoReply {
  readonly is: 'cut' | 'malformed';
  readonly why: string;
}

const STOPS: ReadonlyMap<string, StopReason> = new Map([
  ['end_turn', 'end'],
  ['stop_sequence', 'end'],
  ['tool_use', 'tool use'],
  ['max_tokens', 'output limit'],
  ['model_context_window_exceeded', 'output limit'],
  // Not finished, to be gone on with; only tools of the provider's own cause it, and none are asked for.
  ['pause_turn', 'output limit'],
  ['refusal', 'refused'],
]);

/** Characters kept of arguments that are no JSON: enough for the model to see what it wrote. */
const LONGEST_RAW = 4000;

/** `provider`: for the canonical id of the model that answered. `formed`: the reply is the input of the tool for it. */
export function replyOf(
  progress: Progress,
  request: ModelRequest,
  { provider, formed }: { readonly provider: string; readonly formed: boolean },
): Result<ModelReply, NoReply> {
  const stopped = stopOf(progress);
  if (!stopped.ok) return stopped;
  const model = ModelId.safeParse(`${provider}/${progress.model ?? ''}`);
  if (!model.success) return malformed('it does not say which model answered');
  const blocks = progress.blocks.map(({ block }) => block);
  const form = formed && stopped.value === 'tool use' ? blocks.find(isForm) : undefined;
  if (form !== undefined)
    return ok({ text: form.json, calls: [], stopReason: 'end', usage: progress.usage, model: model.data });
  const why = againstCalls(progress, stopped.value);
  if (why !== null) return malformed(why);
  return ok({ ...contentOf(blocks, stopped.value, progress, request), usage: progress.usage, model: model.data });
}

function contentOf(
  blocks: readonly Block[],
  stopReason: StopReason,
  { explanation }: Progress,
  request: ModelRequest,
): Pick<ModelReply, 'text' | 'calls' | 'stopReason' | 'opaque'> {
  const text = textOf(blocks);
  const calls = stopReason === 'tool use' ? blocks.filter(isCall) : [];
  const whole = stopReason === 'tool use' || stopReason === 'end';
  const opaque = whole ? packed(request.model, request.turns, partsOf(blocks)) : undefined;
  return {
    text: text === '' && stopReason === 'refused' ? explanation : text,
    calls: calls.map((call, at) => callOf(call, request, at)),
    stopReason,
    ...(opaque === undefined ? {} : { opaque }),
  };
}

function stopOf({ model, stop, complete, blocks }: Progress): Result<StopReason, NoReply> {
  if (model === null || (stop === null && !complete))
    return fail({ is: 'cut', why: 'it ended before its end was told' });
  const stopped = STOPS.get(stop ?? '');
  if (stopped === undefined) return malformed(`it stopped for a reason that is not known: ${stop ?? 'none'}`);
  if (stopped !== 'tool use') return ok(stopped);
  if (!blocks.some(({ block }) => isCall(block))) return malformed('it stopped for tools, but calls none');
  if (blocks.some(({ ended }) => !ended)) return fail({ is: 'cut', why: 'a tool call in it has no end' });
  return ok(stopped);
}

/** Why no call of a whole reply may be carried out: what it is made of is not understood, or it is not what the provider sends. */
function againstCalls({ blocks, disorder, usage }: Progress, stopped: StopReason): string | null {
  if (stopped === 'end' && blocks.some(({ block }) => isCall(block)))
    return 'it calls tools, but did not stop for them';
  if (stopped !== 'tool use') return null;
  if (blocks.some(({ block }) => block.type === 'other'))
    return 'beside its tool calls stands a block of an unknown kind';
  if (disorder) return 'its blocks came out of order';
  return Number.isNaN(usage.input) || Number.isNaN(usage.output)
    ? 'it calls tools, but does not say what it used'
    : null;
}

const malformed = (why: string): { readonly ok: false; readonly fault: NoReply } => fail({ is: 'malformed', why });

type CallBlock = Extract<Block, { type: 'tool_use' }>;
const isCall = (block: Block): block is CallBlock => block.type === 'tool_use';
const isForm = (block: Block): block is CallBlock => isCall(block) && block.name === FORM_TOOL;

const textOf = (blocks: readonly Block[]): string =>
  blocks.flatMap((block) => (block.type === 'text' && block.text.trim() !== '' ? [block.text] : [])).join(BETWEEN);

function callOf({ id, name, json, input }: CallBlock, request: ModelRequest, at: number): ToolCall {
  const given = CallId.safeParse(id);
  return { id: given.success ? given.data : toolCallId(request, at), tool: name, input: inputOf(json, input) };
}

/** Arguments stream after the block began; a server that does not stream them sends them with it. */
function inputOf(json: string, input: Json): Json {
  const text = json === '' ? JSON.stringify(input) : json;
  const parsed = parseArguments(text);
  // As it came: no tool takes a text for its input, so the model is told that this is none.
  return parsed.ok ? parsed.value : text.slice(0, LONGEST_RAW);
}

/** What the reply is made of, in order; nothing when there is nothing in it but reasoning. */
function partsOf(blocks: readonly Block[]): readonly Part[] {
  const parts = blocks.flatMap((block): readonly Part[] => {
    switch (block.type) {
      case 'text':
        return block.text.trim() === '' ? [] : [{ type: 'text', length: block.text.length }];
      case 'tool_use':
        return [{ type: 'call' }];
      case 'thinking':
        // Without its seal it would be refused.
        return block.signature === '' ? [] : [block];
      case 'redacted_thinking':
        return [block];
      default:
        return [];
    }
  });
  return parts.some(({ type }) => type === 'text' || type === 'call') ? parts : [];
}
