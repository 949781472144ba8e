/**
 * Commands of the text protocol that begin with a marker: run like any other. What they print is the task of a child, which is let
 * in as one of the tool Task would be, and what its child ends with is what the command gives; or they give a finding.
 */
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import { RoleName } from '../../../domain/ids.ts';
import { headOf } from '../../../domain/text/text.ts';
import type { Json, ToolCall } from '../../../domain/turn.ts';
import { Permit } from '../../../policy/permit.ts';
import type { Tool, ToolContext, ToolOutput, ToolPort } from '../../../ports/tool.ts';
import { actionOf, type PermitParts, permitted, type Use } from './permit.ts';
import type { RoleModels } from '../model/fallback.ts';
import { cutResult } from '../model/context-budget.ts';
import { asksFor, isOwn, type Marked, mayMark } from '../text-protocol/read-reply.ts';
import { findingToolOf, taskToolOf } from '../text-protocol/text-model.ts';

export type MarkedParts = PermitParts & { readonly tools: ToolPort; readonly roles: RoleModels };

/** What a command with a marker prints is a task or a result, not something to read: it is not cut before it must be. */
const MARKED_BYTES = 60_000;

type Roomy = ToolContext & { readonly room: number };

/** The context of a call, with as much room as its output may need. */
export const roomy = ({ call }: Pick<Use, 'call'>, context: Roomy): Roomy =>
  mayMark(call) ? { ...context, room: Math.max(context.room, MARKED_BYTES) } : context;

/**
 * A command that has made a child before the run was resumed is not run again: its call goes on as that of Task. Null for any
 * other call.
 */
export function childAgain(
  { tools, recorder }: MarkedParts,
  order: WorkOrder,
  { call, begun }: Pick<Use, 'call' | 'begun'>,
): Pick<ToolCall, 'tool' | 'input'> | null {
  const child = isOwn(call) && begun?.child ? recorder.state().agents.get(begun.child) : undefined;
  const tool = child === undefined ? undefined : taskToolOf(tools, order);
  if (child === undefined || tool === undefined) return null;
  const { name, task, role } = child;
  return { tool: tool.name, input: { description: name, prompt: task, subagent_type: role } };
}

/** What the call gives its agent, cut to its room: the output, or what became of what its command asked for by a marker. */
export async function withMarked(
  parts: MarkedParts,
  use: Use,
  context: Roomy,
  output: ToolOutput,
): Promise<ToolOutput> {
  const asked = use.begun?.child ? null : asksFor(use.call, output);
  if (asked?.is === 'final') return output;
  const given = asked === null ? output : await doneFor(parts, use, context, asked);
  return { ...given, text: cutResult(given.text, context.room) };
}

function doneFor(parts: MarkedParts, use: Use, context: Roomy, asked: Request): Promise<ToolOutput> {
  if (asked.is === 'finding') return found(parts, use, context, asked);
  const { name, task } = asked;
  if (task === '') return Promise.resolve(no('below the marker stands no task'));
  const description = name ?? headOf(task.split('\n')[0] ?? '', 60);
  return spawn(parts, use, context, { description, prompt: task, role: roleOf(parts, name) });
}

type Request = Exclude<Marked, { readonly is: 'final' }>;
type WantedFinding = Extract<Marked, { readonly is: 'finding' }>;

interface Wanted {
  readonly description: string;
  readonly prompt: string;
  readonly role: string;
}

async function spawn(parts: MarkedParts, use: Use, context: ToolContext, wanted: Wanted): Promise<ToolOutput> {
  const tool = taskToolOf(parts.tools, use.order);
  if (tool === undefined) return no(`role ${use.order.role} may not have children here`);
  const { description, prompt, role } = wanted;
  const refusal = await letIn(parts, use, context, { tool, input: { description, prompt, subagent_type: role }, no });
  return refusal ?? context.desk.spawn({ ...wanted, protocol: 'text' });
}

async function found(parts: MarkedParts, use: Use, context: Roomy, { task, from }: WantedFinding): Promise<ToolOutput> {
  const tool = findingToolOf(parts.tools, use.order);
  if (tool === undefined) return unread('this agent has no findings to read');
  const refusal = await letIn(parts, use, context, { tool, input: { task, from }, no: unread });
  return refusal ?? context.desk.readFinding({ task, from, room: context.room });
}

interface AsTool {
  readonly tool: Tool;
  readonly input: Json;
  readonly no: (why: string) => ToolOutput;
}

/** Decides as for a call of that tool. The refusal, as the result of the command; null where it may be done. */
async function letIn(
  parts: MarkedParts,
  use: Use,
  context: ToolContext,
  { tool, input, no }: AsTool,
): Promise<ToolOutput | null> {
  const { order, call } = use;
  const read = tool.input.safeParse(input);
  if (!read.success) return no(read.error.issues[0]?.message ?? 'it is not right');
  const asked: Use = { ...use, tool, input: read.data, call: { id: call.id, tool: tool.name, input } };
  const passed = await permitted(parts, asked, context);
  if (!passed.ok) return { ok: false, text: passed.text };
  const action = actionOf(asked, null);
  const spent = Permit.spend(passed.permit, { agent: order.agent, action, policyHash: parts.rules().policyHash });
  return spent.ok ? null : no(spent.fault);
}

/** A name that is a role's is both; any other child writes code. */
function roleOf(parts: MarkedParts, name: string | null): string {
  const role = RoleName.safeParse(name);
  return role.success && parts.roles.modelsOf(role.data).length > 0 ? role.data : 'code';
}

const no = (why: string): ToolOutput => ({ ok: false, text: `No child was made: ${why}.` });
const unread = (why: string): ToolOutput => ({ ok: false, text: `No finding was read: ${why}.` });
