/** Runs one check of a task: decided, recorded and run like a command of the task's agent, in the same sandbox. It may run again after a
 * crash, because the person approved it with the plan as a command to be run any number of times. */
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import { factsOf } from '../../../domain/agents/tool-facts.ts';
import { type AgentId, CallId, type TaskId } from '../../../domain/ids.ts';
import { type Check, type CheckEnd, checkEndText, type CheckFailure } from '../../../domain/plan/task-checks.ts';
import { isTestPath } from '../../../domain/repository.ts';
import { defined } from '../../../domain/result.ts';
import { coversAll } from '../../../domain/text/glob.ts';
import { workspaceOf } from '../../../events/index.ts';
import { Permit } from '../../../policy/index.ts';
import type { Tool, ToolContext, ToolOutput, ToolPort } from '../../../ports/tool.ts';
import type { GateParts } from '../budget/parts.ts';
import { stepSignal } from '../model/call-scope.ts';
import { sandboxOf } from '../text-protocol.ts';
import { actionOf, afterDrain, obtainCheckPermit, type PermitResult, type Use } from './permit.ts';

/** One run of a check. `attempt` counts the rounds of its task; `last`: run again at the end of the run. */
export interface CheckCall {
  /** Absent outside of the plan. */
  readonly task?: TaskId;
  readonly attempt: number;
  readonly check: Check;
  readonly last?: true;
  /** Before the plan is approved: no agent has changed what it writes. */
  readonly first?: true;
  /** It was not approved with the plan: it is asked about like a command of the agent. */
  readonly asks?: true;
}

const SHELL = 'bash';
/** Of the end of its output: what people and the agent read. */
const [LINES, CHARACTERS] = [40, 4000];

/** How the check ended; null when it was stopped first. Nothing but its exit code makes it pass. */
export async function runCheck(
  parts: GateParts,
  order: WorkOrder,
  call: CheckCall,
  signal: AbortSignal,
): Promise<CheckEnd | null> {
  const tool = parts.tools.tools.find(({ name }) => name === SHELL);
  if (tool === undefined)
    return recordUnrun(parts, order, call, { is: 'not run', text: 'commands cannot be run here' });
  const step = stepSignal(parts, order, signal, 'whole');
  try {
    const use = useOf(parts, order, tool, call.check);
    const context = contextOf(parts, use, call, step.signal);
    const permitted = await afterDrain(parts, use, step.signal, (now) =>
      permitWithTree(parts, now, context, call.asks !== true),
    );
    if (step.signal.aborted) return ended(parts, order, call, step.why());
    if (!permitted.ok) return recordUnrun(parts, order, call, { is: 'denied', text: permitted.text });
    const end = await carryOut(parts, use, context, { permitted, call });
    return end ?? ended(parts, order, call, step.why());
  } finally {
    step.end();
  }
}

/** The command has a shell even where the agent has none: it is Mimir that runs it. */
function useOf({ world }: GateParts, order: WorkOrder, tool: Tool, { run, timeout }: Check): Use {
  const capabilities = [...new Set([...order.capabilities, 'shell' as const])];
  const input = { command: run, timeout: timeout / 1000 };
  const call = { id: CallId.parse(`check-${world.name(8)}`), tool: SHELL, input };
  return { order: { ...order, capabilities }, call, tool, input, approved: false };
}

/** Without a socket: a check asks nothing of the run. */
function contextOf(parts: GateParts, { order, call }: Use, { last }: CheckCall, signal: AbortSignal): ToolContext {
  const { writes, workingDir } = order;
  // At the end of the run a tree of the agent's own is part of the project.
  const workspace = last === true ? undefined : workspaceOf(parts.recorder.state(), order.agent);
  return {
    agent: order.agent,
    signal,
    sandbox: sandboxOf(parts.tools, order),
    toolHost: parts.hooks.toolHost(order, call.id, null, signal),
    ...defined({ writes: writes !== undefined && coversAll(writes) ? undefined : writes, workingDir, workspace }),
    onOutput: (delta) => parts.tick({ agent: order.agent, is: 'output', delta }),
  };
}

/** With the tree as it is right before the permit, after which nothing may be waited for; one that a person was asked for took too long. */
async function permitWithTree(
  parts: GateParts,
  use: Use,
  context: ToolContext,
  planned: boolean,
): Promise<PermitResult> {
  const tree = await treeOf(parts.tools, context);
  const permitted = await obtainCheckPermit(parts, use, context, planned);
  if (!permitted.ok) return permitted;
  return permitted.answered === use.approved
    ? { ...permitted, tree }
    : permitWithTree(parts, { ...use, approved: true }, context, planned);
}

interface Permitted {
  readonly permitted: Extract<PermitResult, { readonly ok: true }>;
  readonly call: CheckCall;
}

async function carryOut(
  parts: GateParts,
  use: Use,
  context: ToolContext,
  { permitted: { permit: allowed, sandbox, tree }, call }: Permitted,
): Promise<CheckEnd | null> {
  const { recorder, world, tools } = parts;
  const { agent } = use.order;
  const binding = { agent, action: actionOf(use, null), policyHash: parts.rules().policyHash, sandbox };
  const spent = Permit.spend(allowed, binding);
  if (!spent.ok) return recordUnrun(parts, use.order, call, { is: 'denied', text: `Not run: ${spent.fault}.` });
  const run = call.check.run;
  const of = eventOf(use.order, call);
  recorder.record({ type: 'check.started', ...of, check: call.check, tree, ...(call.last && { last: true }) });
  const began = world.elapsed();
  const doneHere = parts.drain.begin(`${run} (${agent})`);
  const output = await use.tool.run(use.input, boxed(context, sandbox)).finally(doneHere);
  // A stopped check has no result: it is run again.
  if (context.signal.aborted) return null;
  const end: CheckEnd = {
    ...outcomeOf(output, call.check),
    lines: parts.hide(lastLines(output.command?.printed ?? output.text)),
    ms: Math.round(world.elapsed() - began),
    tree: await treeOf(tools, context),
    ...(await changesOf(parts, use, output)),
  };
  const changes = call.first === true ? undefined : output.changed;
  recorder.record({ type: 'check.finished', ...of, run, ...end, ...defined({ changes }) });
  return end;
}

const boxed = (context: ToolContext, sandbox: 'read-only' | undefined): ToolContext =>
  sandbox === undefined ? context : { ...context, sandbox, reads: true };

/** Files that the check changed, and files that decide it and that its agent changed. */
async function changesOf(
  parts: GateParts,
  { tool, input, order }: Use,
  { changed }: ToolOutput,
): Promise<Pick<CheckEnd, 'changed' | 'judged'>> {
  const workspace = workspaceOf(parts.recorder.state(), order.agent);
  const inputs = (await tool.inputs?.(input, defined({ workingDir: order.workingDir, workspace }))) ?? [];
  const known = new Set(inputs.map(({ path }) => path));
  const judged = judgedFiles(changedBy(parts, order.agent), tool.label(input), known);
  const files = changed?.files.map(({ path }) => path) ?? [];
  return { ...(files.length > 0 && { changed: files }), ...(judged.length > 0 && { judged }) };
}

/** Of a tree of the agent's own there is none: the check runs again in the project, when it is merged. */
const treeOf = (tools: ToolPort, { workspace, signal }: ToolContext): Promise<string | null> =>
  workspace === undefined ? treeNow(tools, signal) : Promise.resolve(null);

/** Digest of the project; null where it cannot be told. */
export async function treeNow(tools: ToolPort, signal: AbortSignal): Promise<string | null> {
  const tree = await tools.snapshot?.(signal);
  return tree?.ok === true ? tree.value : null;
}

function outcomeOf({ command, text }: ToolOutput, check: Check): Pick<CheckEnd, 'passed' | 'exit' | 'failure'> {
  const failed = (is: CheckFailure['is'], why: string) => ({ passed: false, exit: null, failure: { is, text: why } });
  if (command === undefined) return failed('not run', text.split('\n')[0] ?? '');
  const { is, exit } = command;
  if (is === 'exited' && exit !== null) return { passed: exit === check.expect, exit };
  if (is !== 'time limit') return failed('signal', text.split('\n')[0] ?? '');
  return failed(is, checkEndText({ exit, failure: { is, text: '' } }, check));
}

/** Of a check that was stopped: by the time of the run, which is a result, or by what ends or calls its agent, which is none. */
function ended(parts: GateParts, order: WorkOrder, call: CheckCall, why: 'message' | 'time' | null): CheckEnd | null {
  if (why === 'time')
    return recordUnrun(parts, order, call, { is: 'budget', text: 'stopped: the time limit of the run was reached' });
  // One of the first that has begun is not run again by itself.
  return call.first === true && isOpen(parts, order, call)
    ? recordUnrun(parts, order, call, { is: 'not run', text: 'stopped' })
    : null;
}

const eventOf = ({ agent }: WorkOrder, { task, attempt, first }: CheckCall) =>
  ({ agent, attempt, ...defined({ task, first }) }) as const;

function isOpen({ recorder }: GateParts, { agent }: WorkOrder, { check, first }: CheckCall): boolean {
  const { agents, firstChecks } = recorder.state();
  const runs = first === true ? firstChecks : agents.get(agent)?.checks;
  return runs?.some(({ run, end }) => run === check.run && end === null) === true;
}

/** A failed check in words, of which nothing ran. */
function recordUnrun(parts: GateParts, order: WorkOrder, call: CheckCall, failure: CheckFailure): CheckEnd {
  const { check } = call;
  const end: CheckEnd = { passed: false, exit: null, failure, lines: '', ms: 0, tree: null };
  const of = eventOf(order, call);
  const begins = isOpen(parts, order, call) ? [] : [{ type: 'check.started', ...of, check, tree: null } as const];
  parts.recorder.record(...begins, { type: 'check.finished', ...of, run: check.run, ...end });
  return end;
}

function lastLines(text: string): string {
  const lines = text.trimEnd().split('\n').slice(-LINES).join('\n');
  return lines.length <= CHARACTERS ? lines : `… ${lines.slice(-CHARACTERS).toWellFormed()}`;
}

// Whether an agent changed what it is judged by.

function changedBy({ recorder }: GateParts, agent: AgentId): readonly string[] {
  const files = new Set<string>();
  for (const event of recorder.each(0, { agents: [agent], types: ['tool.finished'] })) {
    if (event.type !== 'tool.finished') continue;
    if (event.ok && event.saw !== undefined && factsOf(event.tool).writes === true) files.add(event.saw.file);
    for (const { path } of event.changed?.files ?? []) files.add(path);
  }
  return [...files];
}

const RUNS_TESTS = /test|spec|check|verify|jest|mocha|ava|tox|nox|\bci\b/i;
const MOST_JUDGED = 20;

/** Those of `changed` that the command names, that decide what it does, or that are tests of a command that runs tests. */
function judgedFiles(changed: readonly string[], run: string, inputs: ReadonlySet<string>): readonly string[] {
  const words = run.split(/[\s;|&()<>'"=]+/).map((word) => word.replace(/^\.\//, '').replace(/\/$/, ''));
  const isNamed = (file: string): boolean =>
    words.some((word) => word !== '' && (file === word || file.startsWith(`${word}/`)));
  const runsTests = RUNS_TESTS.test(run);
  return changed
    .filter((file) => inputs.has(file) || isNamed(file) || (runsTests && isTestPath(file)))
    .toSorted()
    .slice(0, MOST_JUDGED);
}
