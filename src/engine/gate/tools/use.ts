/**
 * Using tools: find, read the input, get a permit (permit.ts), record, act, record. Every call that was asked for gets
 * a result, and each is counted. Nothing is done without a permit for exactly this.
 */
import { z } from 'zod';
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import type { AgentId } from '../../../domain/ids.ts';
import { fail, ok, type Result } from '../../../domain/result.ts';
import type { ToolCall, ToolResult, Turn } from '../../../domain/turn.ts';
import { Permit } from '../../../policy/permit.ts';
import type { ToolContext, ToolOutput } from '../../../ports/tool.ts';
import { VERDICT_TOOL, withNote } from '../../agents/closing-words.ts';
import { closingBytes } from '../budget/closing-reserve.ts';
import type { TimeFor } from '../budget/limits.ts';
import { contextOf, type ContextParts, counted, oneAtATime, runsTogether, whenHeld } from './context.ts';
import { actionOf, permitted, type Use } from './permit.ts';
import { resultRoom } from '../model/context-budget.ts';
import { type StepParts, stepSignal } from '../model/call-scope.ts';
import { childAgain, type MarkedParts, roomy, withMarked } from './text-use.ts';
import { begunBefore } from './interrupted-call.ts';
import { UNREAD, unreadIn } from '../text-protocol/read-reply.ts';
import { madeGood, recordNotDone } from '../../agents/unanswered.ts';

/** What tools are used with. */
export interface ToolParts extends StepParts, ContextParts, MarkedParts {
  /** A text for a model without the known keys. */
  readonly hide: (text: string) => string;
  /** Ends a child whose parent may not go on with the call that made it. */
  readonly abandon: (child: AgentId, why: string) => void;
}

export type ResultsTurn = Extract<Turn, { readonly by: 'tools' }>;

/** More calls in one reply than this are refused. */
const MOST_CALLS = 16;

/** Results in the order asked; what runs side by side is said in context.ts. What a person typed isn't asked again. */
export async function useTools(
  parts: ToolParts,
  order: WorkOrder,
  calls: readonly ToolCall[],
  signal: AbortSignal,
  by: 'agent' | 'person' = 'agent',
): Promise<readonly ToolResult[]> {
  const results = new Map<string, ToolResult>();
  const give = (call: ToolCall, { ok, text }: ToolOutput): void =>
    void results.set(call.id, { call: call.id, ok, text });
  const beside = (call: ToolCall): boolean =>
    parts.tools.tools.some((tool) => tool.name === call.tool && runsTogether(tool));
  // Those beyond the limit are answered first: a run that is cut off in between then knows them as refused.
  for (const call of calls.slice(MOST_CALLS))
    give(call, refused(parts, { order, call }, `At most ${MOST_CALLS} calls in one reply: this one was not run.`));
  const inTurn = oneAtATime();
  const many = Math.min(calls.length, MOST_CALLS);
  const room = Math.min(resultRoom(parts.budgets, order, many), closingBytes(parts.budgets, order, many));
  const one = async (call: ToolCall): Promise<void> =>
    give(call, await useOne(parts, order, { call, room, said: by === 'person', inTurn }, signal));
  let together: Promise<void>[] = [];
  for (const call of calls.slice(0, MOST_CALLS)) {
    if (beside(call)) {
      together.push(one(call));
      continue;
    }
    await Promise.all(together);
    together = [];
    await one(call);
  }
  await Promise.all(together);
  return calls.flatMap((call) => results.get(call.id) ?? []);
}

/** Of an agent that was stopped first. Not in the log: a call without an answer is asked for again when it goes on. */
const NOT_BEGUN: ToolOutput = { ok: false, text: 'Not run: stopped' };

interface Using {
  readonly call: ToolCall;
  readonly room: number;
  readonly said: boolean;
  /** Of the calls of one reply: what changes something is asked for one after the other, also where it runs side by side. */
  readonly inTurn: ReturnType<typeof oneAtATime>;
}

/** A verdict may use the time that is kept back for the last turn: it is what that turn of a reviewer is for. */
const timeOf = ({ tool }: ToolCall, said: boolean): TimeFor =>
  said || tool === VERDICT_TOOL ? 'whole' : 'closing kept';

async function useOne(
  parts: ToolParts,
  order: WorkOrder,
  { call, room, said, inTurn }: Using,
  signal: AbortSignal,
): Promise<ToolOutput> {
  if (signal.aborted) return NOT_BEGUN;
  const begun = begunBefore(parts, order.agent, call.id);
  const no = (text: string): ToolOutput => refused(parts, { order, call, begun }, text);
  const read = readCall(parts, { order, call, begun });
  if (!read.ok) return no(read.fault);
  const { tool } = read.value;
  const step = stepSignal(parts, order, signal, timeOf(call, said));
  try {
    const context = { ...(await contextOf(parts, order, { call: call.id, tool }, step.signal)), room };
    const use = { order, call, ...read.value, said: said || begun !== null, begun };
    const passed = await whenHeld(parts, use, step.signal, (said) =>
      tool.repeat === 'safe'
        ? permitted(parts, { ...use, said }, context)
        : inTurn(() => permitted(parts, { ...use, said }, context)),
    );
    if (signal.aborted) return NOT_BEGUN;
    if (step.signal.aborted) return no('Not run: a message or the end of the time came first.');
    if (!passed.ok) return no(passed.text);
    const { permit, tree, box, rule } = passed;
    const within = box === undefined ? context : { ...context, box, reads: true as const };
    return await act(parts, use, tree === null ? within : { ...within, tree }, { permit, rule });
  } finally {
    step.end();
  }
}

/** The tool and its input, or what is wrong with the call, in words for the model. */
function readCall(
  parts: ToolParts,
  { order, call, begun = null }: Pick<Use, 'order' | 'call' | 'begun'>,
): Result<Pick<Use, 'tool' | 'input'>, string> {
  const unread = unreadIn(call);
  if (unread !== null) return fail(UNREAD[unread]);
  const asked = childAgain(parts, order, { call, begun }) ?? call;
  const tool = order.tools.includes(asked.tool) ? parts.tools.tools.find(({ name }) => name === asked.tool) : undefined;
  if (!tool) return fail(`Tool not found: ${call.tool}`);
  const input = tool.input.safeParse(asked.input);
  return input.success
    ? ok({ tool, input: input.data })
    : fail(`The input of ${tool.name} is not right:\n${z.prettifyError(input.error)}`);
}

async function act(
  parts: ToolParts,
  use: Use,
  context: ToolContext & { readonly room: number },
  { permit, rule }: { readonly permit: Permit; readonly rule: string | undefined },
): Promise<ToolOutput> {
  const { recorder, world } = parts;
  const { order, call, tool, input } = use;
  const { agent } = order;
  const action = actionOf(use, context.tree ?? null);
  const spent = Permit.spend(permit, {
    agent,
    action,
    policyHash: parts.rules().policyHash,
    box: context.reads === true ? 'read-only' : undefined,
  });
  if (!spent.ok) return refused(parts, use, `Not run: ${spent.fault}.`);
  const label = tool.label(input);
  if (!use.begun)
    recorder.record({
      type: 'tool.started',
      agent,
      call: call.id,
      tool: tool.name,
      label,
      input: call.input,
      repeat: tool.repeat,
      ...(rule === undefined ? {} : { rule }),
    });
  const began = world.elapsed();
  const printed = await counted(parts, use, () => tool.run(input, roomy(use, context)));
  const { open, unboxed, ...whole } = await withMarked(parts, use, context, printed);
  const output = { ...whole, text: parts.hide(whole.text) };
  if (open === true) return output;
  const ms = Math.round(world.elapsed() - began);
  const { saw } = output;
  const seen = saw === undefined ? {} : { saw };
  const end = { agent, call: call.id, tool: call.tool, ok: output.ok, output: output.text, ms, ...seen } as const;
  recorder.record({ type: 'tool.finished', ...end }, ...(output.ok ? madeGood(recorder, use) : []));
  if (unboxed === true) recordNotDone(recorder, use, 'no sandbox');
  return output;
}

/** Answers `calls` without carrying out any of them. */
export const refuseTools = (
  parts: ToolParts,
  order: WorkOrder,
  calls: readonly ToolCall[],
  text: string,
): readonly ToolResult[] => calls.map((call) => ({ call: call.id, ...refused(parts, { order, call }, text) }));

/** Puts `text` at the end of the last result, in the log as well: a resumed agent reads the same. */
export function noteResults({ recorder }: ToolParts, { agent }: WorkOrder, turn: ResultsTurn, text: string): Turn {
  const last = turn.results.at(-1);
  if (last === undefined) return turn;
  recorder.record({ type: 'tool.noted', agent, call: last.call, text });
  return { by: 'tools', results: withNote(turn.results, text) };
}

/** An error result for the model, recorded like any call. The child of one that had begun before ends with it. */
function refused(
  parts: ToolParts,
  { order, call, begun }: Pick<Use, 'order' | 'call' | 'begun'>,
  text: string,
): ToolOutput {
  const { agent } = order;
  const label = unreadIn(call) ?? call.tool;
  if (begun?.child) parts.abandon(begun.child, 'its parent may not go on with the call that made it');
  const end = { type: 'tool.finished', agent, call: call.id, tool: call.tool, ok: false, output: text, ms: 0 } as const;
  const began = { agent, call: call.id, tool: call.tool, label, input: call.input, repeat: 'safe' } as const;
  parts.recorder.record(...(begun ? [] : [{ type: 'tool.started', ...began } as const]), end);
  return { ok: false, text };
}
