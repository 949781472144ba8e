/** Carries out tool calls: find the tool, parse the input, get a permit (permit.ts), record, run, record. Every call
 * gets a result and is counted. Nothing runs without a permit for exactly this call. */
import { z } from 'zod';
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import { RoleName } from '../../../domain/ids.ts';
import { defined, fail, ok, type Result } from '../../../domain/result.ts';
import { serialQueue } from '../../../domain/serial-queue.ts';
import { coversAll } from '../../../domain/text/glob.ts';
import { headOf } from '../../../domain/text/text.ts';
import { isForced, workspaceOf } from '../../../events/index.ts';
import type { Json, ToolCall, ToolResult, Turn } from '../../../domain/turn.ts';
import { Permit } from '../../../policy/index.ts';
import type { ToolHost, Tool, ToolContext, ToolOutput } from '../../../ports/tool.ts';
import { closingBytes } from '../budget/budgets.ts';
import type { TimeFor } from '../budget/limits.ts';
import { VERDICT_TOOL } from '../context.ts';
import { stepSignal } from '../model/call-scope.ts';
import { cutResult, resultBytes } from '../model/context-budget.ts';
import { modelsOf } from '../model/model.ts';
import type { GateParts } from '../budget/parts.ts';
import * as words from '../text-protocol.ts';
import { interruptedCall, resolvedActs, recordNotDone, isWaitingTool } from './interrupted-call.ts';
import { actionOf, afterDrain, obtainPermit, type Use } from './permit.ts';

export type ResultsTurn = Extract<Turn, { readonly by: 'tools' }>;
const MOST_CALLS = 16;

/** Results in the order asked. Calls that a person typed are not asked about. */
export async function useTools(
  parts: GateParts,
  order: WorkOrder,
  calls: readonly ToolCall[],
  signal: AbortSignal,
  by: 'agent' | 'person' = 'agent',
): Promise<readonly ToolResult[]> {
  const results = new Map<string, ToolResult>();
  const setResult = (call: ToolCall, { ok, text }: ToolOutput): void =>
    void results.set(call.id, { call: call.id, ok, text });
  const isParallel = (call: ToolCall): boolean =>
    parts.tools.tools.some((tool) => tool.name === call.tool && runsTogether(tool));
  // Refused first, so that they are in the log if the run is cut off in between.
  for (const call of calls.slice(MOST_CALLS))
    setResult(call, refused(parts, { order, call }, `At most ${MOST_CALLS} calls in one reply: this one was not run.`));
  const serially = serialQueue();
  const many = Math.min(calls.length, MOST_CALLS);
  const maxBytes = Math.min(resultBytes(parts, order, many), closingBytes(parts, order, many));
  const one = async (call: ToolCall): Promise<void> =>
    setResult(call, await useOne(parts, order, { call, maxBytes, approved: by === 'person', serially }, signal));
  let together: Promise<void>[] = [];
  for (const call of calls.slice(0, MOST_CALLS)) {
    if (isParallel(call)) {
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

/** The result for an agent that was stopped first. It is not logged: a resumed agent asks for the call again. */
const NOT_BEGUN: ToolOutput = { ok: false, text: 'Not run: stopped' };

interface Using {
  readonly call: ToolCall;
  readonly maxBytes: number;
  readonly approved: boolean;
  /** Runs the calls of one reply that change something one after the other, even where others run in parallel. */
  readonly serially: ReturnType<typeof serialQueue>;
}

/** A verdict may use the time reserved for the last turn, which exists for it. */
const timeOf = ({ tool }: ToolCall, approved: boolean): TimeFor =>
  approved || tool === VERDICT_TOOL ? 'whole' : 'closing reserved';

async function useOne(
  parts: GateParts,
  order: WorkOrder,
  { call, maxBytes, approved, serially }: Using,
  signal: AbortSignal,
): Promise<ToolOutput> {
  if (signal.aborted) return NOT_BEGUN;
  const interrupted = interruptedCall(parts, order.agent, call.id);
  const refuse = (text: string): ToolOutput => refused(parts, { order, call, interrupted }, text);
  const read = readCall(parts, { order, call, interrupted });
  if (!read.ok) return refuse(read.fault);
  const { tool } = read.value;
  const step = stepSignal(parts, order, signal, timeOf(call, approved));
  try {
    const use = { order, call, ...read.value, approved: approved || interrupted !== null, interrupted };
    const context = { ...(await contextOf(parts, use, step.signal)), room: maxBytes };
    const permitted = await afterDrain(parts, use, step.signal, (now) =>
      tool.repeat === 'safe' ? obtainPermit(parts, now, context) : serially(() => obtainPermit(parts, now, context)),
    );
    if (signal.aborted) return NOT_BEGUN;
    if (step.signal.aborted) return refuse('Not run: a message arrived first, or the time ran out.');
    if (!permitted.ok) return refuse(permitted.text);
    const { permit, tree, sandbox, rule } = permitted;
    const reading = sandbox === undefined ? context : { ...context, sandbox, reads: true as const };
    return await runTool(parts, use, tree === null ? reading : { ...reading, tree }, { permit, rule });
  } finally {
    step.end();
  }
}

/** The tool and its parsed input, or the fault of the call in words for the model. */
function readCall(
  parts: GateParts,
  { order, call, interrupted = null }: Pick<Use, 'order' | 'call' | 'interrupted'>,
): Result<Pick<Use, 'tool' | 'input'>, string> {
  const unread = words.unreadableReason(call);
  if (unread !== null) return fail(words.UNREADABLE[unread]);
  const asked = asTaskCall(parts, order, { call, interrupted }) ?? call;
  const tool = order.tools.includes(asked.tool) ? parts.tools.tools.find(({ name }) => name === asked.tool) : undefined;
  if (!tool) return fail(`Tool not found: ${call.tool}`);
  const input = tool.input.safeParse(asked.input);
  return input.success
    ? ok({ tool, input: input.data })
    : fail(`The input of ${tool.name} is invalid:\n${z.prettifyError(input.error)}`);
}

async function runTool(
  parts: GateParts,
  use: Use,
  context: ToolContext & { readonly room: number },
  { permit, rule }: { readonly permit: Permit; readonly rule: string | undefined },
): Promise<ToolOutput> {
  const { recorder, world } = parts;
  const { order, call, tool, input } = use;
  const { agent } = order;
  const action = actionOf(use, context.tree ?? null);
  const { policyHash } = parts.rules();
  const used = Permit.spend(permit, {
    agent,
    action,
    policyHash,
    sandbox: context.reads === true ? 'read-only' : undefined,
  });
  if (!used.ok) return refused(parts, use, `Not run: ${used.fault}.`);
  const what = { tool: tool.name, label: tool.label(input), input: call.input, repeat: tool.repeat };
  if (!use.interrupted)
    recorder.record({ type: 'tool.started', agent, call: call.id, ...what, ...(rule !== undefined && { rule }) });
  const began = world.elapsed();
  const printed = await drained(parts, use, () => tool.run(input, withMarkerBytes(use, context)));
  const { open, unsandboxedCommand, ...whole } = await applyMarker(parts, use, context, printed);
  const output = { ...whole, text: parts.hide(whole.text) };
  if (open === true) return output;
  const ms = Math.round(world.elapsed() - began);
  const { ok, text, saw, changed, unseen } = output;
  const end = { agent, call: call.id, tool: call.tool, ok, output: text, ms, ...defined({ saw, changed, unseen }) };
  recorder.record({ type: 'tool.finished', ...end }, ...(ok ? resolvedActs(recorder, use) : []));
  if (unsandboxedCommand === true) recordNotDone(recorder, use, 'no sandbox');
  return output;
}

/** Answers `calls` without carrying out any of them. */
export const refuseTools = (
  parts: GateParts,
  order: WorkOrder,
  calls: readonly ToolCall[],
  text: string,
): readonly ToolResult[] => calls.map((call) => ({ call: call.id, ...refused(parts, { order, call }, text) }));

/** Appends `text` to the last result, also in the log, so that a resumed agent reads the same. */
export function noteResults({ recorder }: GateParts, { agent }: WorkOrder, turn: ResultsTurn, text: string): Turn {
  const last = turn.results.at(-1);
  if (last === undefined) return turn;
  recorder.record({ type: 'tool.noted', agent, call: last.call, text });
  return { by: 'tools', results: withNote(turn.results, text) };
}

/** An error result for the model, recorded like any call. A child of an interrupted call ends with it. */
function refused(
  parts: GateParts,
  { order, call, interrupted }: Pick<Use, 'order' | 'call' | 'interrupted'>,
  text: string,
): ToolOutput {
  const { agent } = order;
  const tool = parts.tools.tools.find(({ name }) => name === call.tool);
  const input = tool?.input.safeParse(call.input);
  const label = words.unreadableReason(call) ?? (input?.success ? tool?.label(input.data) : null) ?? call.tool;
  if (interrupted?.child) parts.hooks.abandon(interrupted.child, 'its parent may not repeat the call that created it');
  const end = { type: 'tool.finished', agent, call: call.id, tool: call.tool, ok: false, output: text, ms: 0 } as const;
  const began = { agent, call: call.id, tool: call.tool, label, input: call.input, repeat: 'safe' } as const;
  parts.recorder.record(...(interrupted ? [] : [{ type: 'tool.started', ...began } as const]), end);
  return { ok: false, text };
}

const withNote = (results: readonly ToolResult[], text: string): readonly ToolResult[] =>
  results.map((result, at) => (at === results.length - 1 ? { ...result, text: `${result.text}\n\n${text}` } : result));

/** Whether calls of this tool run in parallel: those that change nothing, and those whose child does the work. Other
 * calls wait for all calls before them. */
const runsTogether = ({ repeat, capability }: Pick<Tool, 'repeat' | 'capability'>): boolean =>
  repeat === 'safe' || capability === 'spawn';

/** The context of one call; `signal` ends it. The agent's socket is opened for its first shell command. */
async function contextOf(
  parts: GateParts,
  { order, call, tool, interrupted }: Use,
  signal: AbortSignal,
): Promise<ToolContext> {
  // A reviewer cannot reach the run from its shell.
  const judges = isForced(parts.recorder.state(), order.agent);
  const socket = tool.capability === 'shell' && !judges ? await parts.options.agentSockets?.open(order.agent) : null;
  const { writes, workingDir } = order;
  // Paths that cover the whole project limit nothing.
  const limit = writes !== undefined && coversAll(writes) ? undefined : writes;
  return {
    agent: order.agent,
    signal,
    sandbox: words.sandboxOf(parts.tools, order),
    toolHost: parts.hooks.toolHost(order, call.id, interrupted?.child ?? null, signal),
    ...defined({ workspace: workspaceOf(parts.recorder.state(), order.agent) }),
    ...defined({ writes: limit, workingDir, judges: judges || undefined, socket: socket ?? undefined }),
    onOutput: (delta) => parts.tick({ agent: order.agent, is: 'output', delta }),
  };
}

/** Runs a tool. A hand-over waits for it, unless the tool itself waits for a child or a person. */
async function drained<T>({ drain }: GateParts, { order, tool, input }: Use, run: () => Promise<T>): Promise<T> {
  if (isWaitingTool(tool)) return run();
  const end = drain.begin(`${tool.label(input)} (${order.agent})`);
  try {
    return await run();
  } finally {
    end();
  }
}

// Commands of the text protocol that begin with a marker run like any other. Their output is the task of a child,
// permitted like a Task call, whose answer becomes the command's result; or they read a finding.

/** The output of a marked command is a task or a result, so it is cut only above this. */
const MARKED_BYTES = 60_000;

type BoundedContext = ToolContext & { readonly room: number };

const withMarkerBytes = ({ call }: Pick<Use, 'call'>, context: BoundedContext): BoundedContext =>
  words.hasMarker(call) ? { ...context, room: Math.max(context.room, MARKED_BYTES) } : context;

/** A command that spawned a child before the run was resumed is not run again: its call continues as a Task call. Null for any other call. */
function asTaskCall(
  { tools, recorder }: GateParts,
  order: WorkOrder,
  { call, interrupted }: Pick<Use, 'call' | 'interrupted'>,
): Pick<ToolCall, 'tool' | 'input'> | null {
  const child =
    words.isTextCall(call) && interrupted?.child ? recorder.state().agents.get(interrupted.child) : undefined;
  const tool = child === undefined ? undefined : words.taskToolOf(tools, order);
  if (child === undefined || tool === undefined) return null;
  const { name, task, role } = child;
  return { tool: tool.name, input: { description: name, prompt: task, subagent_type: role } };
}

/** The result for the agent, cut to its size: the output, or the answer to what its command asked for by a marker. */
async function applyMarker(
  parts: GateParts,
  use: Use,
  context: BoundedContext,
  output: ToolOutput,
): Promise<ToolOutput> {
  const asked = use.interrupted?.child ? null : words.markerRequest(use.call, output);
  if (asked?.is === 'final') return output;
  const given = asked === null ? output : await carryOut(parts, use, context, asked);
  return { ...given, text: cutResult(given.text, context.room) };
}

function carryOut(parts: GateParts, use: Use, context: BoundedContext, asked: Request): Promise<ToolOutput> {
  if (asked.is === 'finding') return readFinding(parts, use, context, asked);
  const { name, task } = asked;
  if (task === '') return Promise.resolve(noChild('there is no task below the marker'));
  const description = name ?? headOf(task.split('\n')[0] ?? '', 60);
  return spawn(parts, use, context, { description, prompt: task, role: childRole(parts, name) });
}

type Request = Exclude<words.Marked, { readonly is: 'final' }>;
type SpawnRequestOfCall = Omit<Parameters<ToolHost['spawn']>[0], 'protocol'>;
type WantedFinding = Extract<words.Marked, { readonly is: 'finding' }>;

async function spawn(
  parts: GateParts,
  use: Use,
  context: ToolContext,
  request: SpawnRequestOfCall,
): Promise<ToolOutput> {
  const tool = words.taskToolOf(parts.tools, use.order);
  if (tool === undefined) return noChild(`role ${use.order.role} cannot spawn children here`);
  const { description, prompt, role } = request;
  const refusal = await refusalFor(parts, use, context, {
    tool,
    input: { description, prompt, subagent_type: role },
    no: noChild,
  });
  return refusal ?? context.toolHost.spawn({ ...request, protocol: 'text' });
}

async function readFinding(
  parts: GateParts,
  use: Use,
  context: BoundedContext,
  { task, from }: WantedFinding,
): Promise<ToolOutput> {
  const tool = words.findingToolOf(parts.tools, use.order);
  if (tool === undefined) return noFinding('this agent has no findings to read');
  const refusal = await refusalFor(parts, use, context, { tool, input: { task, from }, no: noFinding });
  return refusal ?? context.toolHost.readFinding({ task, from, room: context.room });
}

interface ToolForMarker {
  readonly tool: Tool;
  readonly input: Json;
  readonly no: (why: string) => ToolOutput;
}

/** Decides as for a call of that tool. The refusal as the command's result, or null. */
async function refusalFor(
  parts: GateParts,
  use: Use,
  context: ToolContext,
  { tool, input, no }: ToolForMarker,
): Promise<ToolOutput | null> {
  const { order, call } = use;
  const read = tool.input.safeParse(input);
  if (!read.success) return no(read.error.issues[0]?.message ?? 'the input is invalid');
  const asked: Use = { ...use, tool, input: read.data, call: { id: call.id, tool: tool.name, input } };
  const passed = await obtainPermit(parts, asked, context);
  if (!passed.ok) return { ok: false, text: passed.text };
  const action = actionOf(asked, null);
  const spent = Permit.spend(passed.permit, { agent: order.agent, action, policyHash: parts.rules().policyHash });
  return spent.ok ? null : no(spent.fault);
}

/** A name that is a role's also selects that role; other children write code. */
function childRole(parts: GateParts, name: string | null): string {
  const role = RoleName.safeParse(name);
  return role.success && modelsOf(parts.options, role.data).length > 0 ? role.data : 'code';
}

const noChild = (why: string): ToolOutput => ({ ok: false, text: `No child was made: ${why}.` });
const noFinding = (why: string): ToolOutput => ({ ok: false, text: `No finding was read: ${why}.` });
