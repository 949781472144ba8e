/**
 * Commands of the text protocol that begin with a marker (CONTRACT H001 to H009): run like any other, and what they print is the
 * task of a child, which is let in as one of the tool Task would be. What its child ends with is what the command gives.
 */
import type { WorkOrder } from '../domain/agent.ts';
import { RoleName } from '../domain/ids.ts';
import { headOf } from '../domain/text.ts';
import type { ToolCall } from '../domain/turn.ts';
import { Permit } from '../policy/permit.ts';
import type { Tool, ToolContext, ToolOutput } from '../ports/tool.ts';
import type { Use } from './gate-permit.ts';
import { actionOf, permitted } from './gate-permit.ts';
import { cutResult } from './gate-room.ts';
import type { GateParts } from './gate.ts';
import { asksFor, isOwn, mayMark } from './text-protocol.ts';
import type { Marked } from './text-protocol-markers.ts';

/** By which the agent's children are let in; undefined where it may not have any. */
export const taskToolOf = ({ tools }: Pick<GateParts, 'tools'>, order: WorkOrder): Tool | undefined =>
  tools.tools.find(({ name, capability }) => capability === 'spawn' && order.tools.includes(name));

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
  { tools, recorder }: GateParts,
  order: WorkOrder,
  { call, begun }: Pick<Use, 'call' | 'begun'>,
): Pick<ToolCall, 'tool' | 'input'> | null {
  const child = isOwn(call) && begun?.child ? recorder.state().agents.get(begun.child) : undefined;
  const tool = child === undefined ? undefined : taskToolOf({ tools }, order);
  if (child === undefined || tool === undefined) return null;
  const { name, task, role } = child;
  return { tool: tool.name, input: { description: name, prompt: task, subagent_type: role } };
}

/** What the call gives its agent, cut to its room: the output, or what became of the child that its command asked for. */
export async function withChild(parts: GateParts, use: Use, context: Roomy, output: ToolOutput): Promise<ToolOutput> {
  const asked = use.begun?.child ? null : asksFor(use.call, output);
  if (asked?.is === 'final') return output;
  const given = asked === null ? output : await spawned(parts, use, context, asked);
  return { ...given, text: cutResult(given.text, context.room) };
}

function spawned(parts: GateParts, use: Use, context: Roomy, { name, task }: Spawn): Promise<ToolOutput> {
  if (task === '') return Promise.resolve(no('below the marker stands no task'));
  const description = name ?? headOf(task.split('\n')[0] ?? '', 60);
  return spawn(parts, use, context, { description, prompt: task, role: roleOf(parts, name) });
}

type Spawn = Extract<Marked, { readonly is: 'spawn' }>;

interface Wanted {
  readonly description: string;
  readonly prompt: string;
  readonly role: string;
}

async function spawn(parts: GateParts, use: Use, context: ToolContext, wanted: Wanted): Promise<ToolOutput> {
  const { order, call } = use;
  const tool = taskToolOf(parts, order);
  if (tool === undefined) return no(`role ${order.role} may not have children here`);
  const { description, prompt, role } = wanted;
  const input = { description, prompt, subagent_type: role };
  const read = tool.input.safeParse(input);
  if (!read.success) return no(read.error.issues[0]?.message ?? 'it is not right');
  const asTask: Use = { ...use, tool, input: read.data, call: { id: call.id, tool: tool.name, input } };
  const passed = await permitted(parts, asTask, context);
  if (!passed.ok) return { ok: false, text: passed.text };
  const { agent } = order;
  const action = actionOf(asTask, null);
  const spent = Permit.spend(passed.permit, { agent, action, policyHash: parts.rules.policyHash });
  if (!spent.ok) return no(spent.fault);
  return context.desk.spawn({ ...wanted, protocol: 'text' });
}

/** A name that is a role's is both; any other child writes code. */
function roleOf(parts: GateParts, name: string | null): string {
  const role = RoleName.safeParse(name);
  return role.success && parts.modelsOf(role.data).length > 0 ? role.data : 'code';
}

const no = (why: string): ToolOutput => ({ ok: false, text: `No child was made: ${why}.` });
