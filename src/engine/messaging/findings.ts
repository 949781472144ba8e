/** The tool `read_finding`: what a finished task of this run has answered, whole, part by part. */
import type { Finding, WorkOrder } from '../../domain/agents/agent.ts';
import { FINDING_LIMIT, findingText, freeTag, partOf, textsIn } from '../../domain/agents/brief.ts';
import { ROOT } from '../../domain/ids.ts';
import { bytesIn, withinBytes } from '../../domain/text/text.ts';
import type { AgentState } from '../../events/state.ts';
import type { Desk, ToolOutput } from '../gate/gate.ts';
import type { Recorder } from '../run/recorder.ts';

/** `task`: a number (`2`, `#2`), the id of a task, or the id or name of an agent. `room`: bytes that the result may have. */
export function readFinding(
  { recorder }: { readonly recorder: Recorder },
  { agent }: WorkOrder,
  { task, from, room }: Parameters<Desk['readFinding']>[0],
): ToolOutput {
  const known = readable([...recorder.state().agents.values()], agent);
  const wanted = task.trim().toLowerCase().replace(/^#/, '');
  const found = known.filter((one) => namesOf(one).includes(wanted));
  const [one, another] = found;
  if (one === undefined || another !== undefined) return refused(whichOne(task, found, known));
  const label = `${one.name} (${one.id})`;
  if (one.outcome === null) return refused(`${label} has not ended: there is no finding of it yet.`);
  if (from > 0 && from >= one.summary.length)
    return refused(`The finding of ${label} has ${one.summary.length} characters: nothing is left from ${from} on.`);
  return { ok: true, text: textFrom(one, from, room) };
}

/** Tasks of the plan and the reader's own children, but not the reader; what judges work is no task. */
const readable = (agents: readonly AgentState[], reader: AgentState['id']): readonly AgentState[] =>
  agents.filter(
    ({ id, taskId, owner, forced }) => id !== reader && forced === null && (taskId !== null || owner === reader),
  );

function namesOf({ id, taskId, name }: AgentState): readonly string[] {
  const number = id.startsWith(`${ROOT}::S`) ? id.slice(`${ROOT}::S`.length) : '';
  return [id, taskId ?? '', name, number].filter((one) => one !== '').map((one) => one.toLowerCase());
}

function whichOne(task: string, found: readonly AgentState[], known: readonly AgentState[]): string {
  const all = (found.length > 0 ? found : known).map(({ id, name, status }) => `${id} (${name}, ${status})`).join(', ');
  if (found.length > 0) return `Several tasks are named "${task}": give the id of one. ${all}`;
  return `This run has no task "${task}" whose finding you can read. ${all === '' ? 'It has no other tasks.' : `Tasks: ${all}`}`;
}

/** As much from `from` on as fits into `room` bytes, with where the rest begins. */
function textFrom(one: AgentState, from: number, room: number): string {
  const all = one.summary.length;
  const asked = partOf(one.summary, from, FINDING_LIMIT);
  const of = (summary: string): Finding => ({
    agent: one.id,
    task: one.taskId,
    role: one.role,
    description: partOf(one.task, 0, 300),
    outcome: one.outcome ?? 'completed',
    ...(one.outcome !== 'completed' && one.error !== null ? { because: partOf(one.error, 0, 300) } : {}),
    summary,
    ...(from > 0 || summary.length < all ? { cut: { from, to: from + summary.length, all } } : {}),
  });
  const tag = freeTag(textsIn([of(asked)]));
  const frame = bytesIn(findingText(of(''), tag)) + FRAME_SPARE;
  return findingText(of(withinBytes(asked, Math.max(room - frame, 200))), tag);
}
/** Bytes that the numbers in a frame may have beyond those of an empty one. */
const FRAME_SPARE = 40;

const refused = (text: string): ToolOutput => ({ ok: false, text });
