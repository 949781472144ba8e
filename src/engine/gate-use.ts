/**
 * Using tools: find, read the input, decide, ask a person where policy says so, decide again (the world has moved),
 * record, act, record. Every call that was asked for gets a result, and each is counted (CONTRACT D20).
 */
import { z } from 'zod';
import type { WorkOrder } from '../domain/agent.ts';
import type { Reason } from '../domain/reason.ts';
import { reasonText } from '../domain/reason.ts';
import type { ToolCall, ToolResult } from '../domain/turn.ts';
import type { ApprovalRequest } from '../events/event.ts';
import { depthOf } from '../domain/ids.ts';
import { decide } from '../policy/decide.ts';
import type { Decision } from '../policy/rules.ts';
import type { Tool, ToolContext, ToolOutput } from '../ports/tool.ts';
import { cutResult, resultRoom } from './gate-room.ts';
import { stepSignal } from './gate-step.ts';
import type { GateParts } from './gate.ts';

/** More calls in one reply than this are refused (SECURITY 2.6). */
const MOST_CALLS = 16;

/** Results in the order asked: reading calls run together, others one after the other. */
export async function useTools(
  parts: GateParts,
  order: WorkOrder,
  calls: readonly ToolCall[],
  signal: AbortSignal,
): Promise<readonly ToolResult[]> {
  const results = new Map<string, ToolResult>();
  const give = (call: ToolCall, { ok, text }: ToolOutput): void =>
    void results.set(call.id, { call: call.id, ok, text });
  const quiet = (call: ToolCall): boolean =>
    parts.tools.tools.find(({ name }) => name === call.tool)?.repeat === 'safe';
  // Those beyond the limit are answered first: a run that is cut off in between then knows them as refused.
  for (const call of calls.slice(MOST_CALLS))
    give(call, refused(parts, order, call, `At most ${MOST_CALLS} calls in one reply: this one was not run.`));
  const room = resultRoom(parts, order, Math.min(calls.length, MOST_CALLS));
  const one = async (call: ToolCall): Promise<void> => give(call, await useOne(parts, order, { call, room }, signal));
  let together: Promise<void>[] = [];
  for (const call of calls.slice(0, MOST_CALLS)) {
    if (quiet(call)) {
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

async function useOne(
  parts: GateParts,
  order: WorkOrder,
  { call, room }: { readonly call: ToolCall; readonly room: number },
  signal: AbortSignal,
): Promise<ToolOutput> {
  if (signal.aborted) return NOT_BEGUN;
  const tool = order.tools.includes(call.tool) ? parts.tools.tools.find(({ name }) => name === call.tool) : undefined;
  if (!tool) return refused(parts, order, call, `Tool not found: ${call.tool}`);
  const input = tool.input.safeParse(call.input);
  if (!input.success)
    return refused(parts, order, call, `The input of ${tool.name} is not right:\n${z.prettifyError(input.error)}`);
  const step = stepSignal(parts, order, signal);
  const context = { ...contextOf(parts, order, step.signal), room };
  try {
    const permit = await permitted(parts, { order, call, tool, input: input.data }, context);
    if (signal.aborted) return NOT_BEGUN;
    if (step.signal.aborted)
      return refused(parts, order, call, 'Not run: a message or the end of the time came first.');
    if (!permit.ok) return refused(parts, order, call, permit.text);
    return await act(parts, { order, call, tool, input: input.data }, context);
  } finally {
    step.end();
  }
}

interface Use {
  readonly order: WorkOrder;
  readonly call: ToolCall;
  readonly tool: Tool;
  readonly input: unknown;
}

/** Decides; asks the person where it must; decides again after the answer. */
async function permitted(
  parts: GateParts,
  use: Use,
  context: ToolContext,
): Promise<{ readonly ok: true } | { readonly ok: false; readonly text: string }> {
  const decision = judge(parts, use, context, false);
  if (decision.verdict === 'allow') return { ok: true };
  if (decision.verdict === 'deny') return { ok: false, text: denied(parts, use, decision.because) };
  const request = await requestOf(parts, use, decision.because, context);
  if (request === null) return { ok: false, text: 'Not run: stopped' };
  const answer = parts.approvals.granted(request)
    ? { is: 'allowed' as const, text: '' }
    : await parts.approvals.ask(use.order, use.call.id, request, context.signal);
  if (answer.is === 'withdrawn') return { ok: false, text: 'Not run: the question was withdrawn.' };
  if (answer.is === 'denied') {
    return {
      ok: false,
      text: `The person denied this${answer.text === '' ? '.' : `: ${answer.text}`} Do not try it in another way.`,
    };
  }
  const again = judge(parts, use, context, true);
  return again.verdict === 'allow' ? { ok: true } : { ok: false, text: denied(parts, use, again.because) };
}

function judge(
  { recorder, rules, person }: GateParts,
  { order, tool, input }: Use,
  context: ToolContext,
  answered: boolean,
): Decision {
  const state = recorder.state();
  const circumstances = {
    mode: state.mode,
    interactive: person,
    sandbox: context.box,
    capabilities: order.capabilities,
    granted: false,
    answered,
  };
  if (tool.capability === 'spawn') {
    const agents = state.agents.size - 1;
    return decide({ is: 'spawn', depth: depthOf(order.agent) + 1, agents }, rules, circumstances);
  }
  const command = tool.capability === 'shell' ? { command: tool.label(input) } : {};
  return decide({ is: 'tool', tool: tool.name, capability: tool.capability, ...command }, rules, circumstances);
}

/** What the person is shown: exactly what would happen. Null when the agent was stopped while it was made. */
async function requestOf(
  { tools }: GateParts,
  { tool, input, order }: Use,
  because: Reason,
  context: ToolContext,
): Promise<ApprovalRequest | null> {
  const exact = tool.preview ? await tool.preview(input, context) : tool.label(input);
  if (context.signal.aborted || tool.capability === null) return null;
  return {
    action: tool.capability,
    title: `${order.role}: ${tool.label(input)}`,
    exact,
    options: [],
    unsandboxed: tool.capability === 'shell' && tools.sandbox.is === 'none',
    because: reasonText(because),
  };
}

async function act(
  { recorder, world }: GateParts,
  { order, call, tool, input }: Use,
  context: ToolContext & { readonly room: number },
): Promise<ToolOutput> {
  const { agent } = order;
  const label = tool.label(input);
  recorder.record({
    type: 'tool.started',
    agent,
    call: call.id,
    tool: tool.name,
    label,
    input: call.input,
    repeat: tool.repeat,
  });
  const began = world.elapsed();
  const { ok, text } = await tool.run(input, context);
  const output = { ok, text: cutResult(text, context.room) };
  const ms = Math.round(world.elapsed() - began);
  recorder.record({
    type: 'tool.finished',
    agent,
    call: call.id,
    tool: tool.name,
    ok: output.ok,
    output: output.text,
    ms,
  });
  return output;
}

/** An error result for the model, recorded like any call. */
function refused({ recorder }: GateParts, order: WorkOrder, call: ToolCall, text: string): ToolOutput {
  const { agent } = order;
  recorder.record(
    {
      type: 'tool.started',
      agent,
      call: call.id,
      tool: call.tool,
      label: call.tool,
      input: call.input,
      repeat: 'safe',
    },
    { type: 'tool.finished', agent, call: call.id, tool: call.tool, ok: false, output: text, ms: 0 },
  );
  return { ok: false, text };
}

function denied({ recorder, rules }: GateParts, { order, tool, call }: Use, because: Reason): string {
  recorder.record({
    type: 'policy.decided',
    agent: order.agent,
    subject: `${tool.name}${call.tool === tool.name ? '' : ` (${call.tool})`}`,
    action: tool.capability ?? 'own',
    decision: 'deny',
    ...because,
    policyHash: rules.policyHash,
  });
  return `Denied: ${reasonText(because)}`;
}

function contextOf(parts: GateParts, order: WorkOrder, signal: AbortSignal): ToolContext {
  return {
    agent: order.agent,
    signal,
    box: boxFor(parts, order),
    desk: parts.desk(order, signal),
    onOutput: (delta) => parts.tick({ agent: order.agent, is: 'output', delta }),
  };
}

/** A role that can't write gets a box that can't be written: then read-only is a fact and no request. */
function boxFor({ tools }: GateParts, { capabilities }: WorkOrder): ToolContext['box'] {
  if (tools.sandbox.is === 'none') return 'none';
  return capabilities.includes('write') ? 'read-write' : 'read-only';
}
