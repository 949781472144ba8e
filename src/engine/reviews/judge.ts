/**
 * One forced agent carried through: created, run to its end, its verdict read. It has its role's reading tools and
 * `give_verdict`, its own model without a stand-in where a rule pins it, and no words of the project in its prompt.
 */
import type { WorkOrder } from '../../domain/agents/agent.ts';
import { tightest } from '../../domain/budget.ts';
import type { ForcedNode, Trigger } from '../../domain/agents/mandatory-review.ts';
import type { AgentId } from '../../domain/ids.ts';
import { childOf, ROOT } from '../../domain/ids.ts';
import type { Role } from '../../domain/agents/role.ts';
import type { GivenVerdict } from '../../events/decisions.ts';
import type { AgentState, RunState } from '../../events/state.ts';
import { OFFLINE } from '../../policy/models.ts';
import { roleNamed } from '../../policy/roles.ts';
import type { World } from '../../ports/world.ts';
import { budgetOf } from '../planning/model-selection.ts';
import type { Crew } from '../agents/supervisor.ts';
import { reviewAgain } from './repeat.ts';
import type { Judging } from './brief.ts';
import { judgingText, judgingTitle, REVIEW_RULES } from './brief.ts';
import { verdictOf } from './record.ts';
import { createdEvent, orderOf } from '../agents/agent-spec.ts';
import type { Recorder } from '../run/recorder.ts';
import type { RunOptions } from '../run/run-options.ts';

export interface JudgeParts {
  readonly options: RunOptions;
  readonly recorder: Recorder;
  readonly world: World;
  /** The crew is made after the gate, which needs what is here. */
  readonly crew: () => Pick<Crew, 'run' | 'lend'>;
}

export interface Judged {
  readonly pass: boolean;
  readonly why: string;
}

/** The verdict of an agent of `node` on `tree`; null when the run was stopped first. Anything but a pass is none. */
export async function judge(
  parts: JudgeParts,
  node: ForcedNode,
  what: Omit<Judging, 'fence'> & { readonly tree: string; readonly from?: string },
  signal?: AbortSignal,
): Promise<Judged | null> {
  const { options, recorder, crew, world } = parts;
  const role = roleNamed(node.role, options.roles);
  if (role === null) return { pass: false, why: `there is no role ${node.role} any more` };
  const forced = judgedIn(what);
  const again = reviewAgain(parts, node, forced);
  const agent = again?.agent ?? nextOf(recorder.state());
  const one = { ...newAgent(parts, node, role), agent, task: judgingTitle(what) };
  const tools = reviewTools(options, role);
  if (again === null) recorder.record({ ...createdEvent(options, one), tools, forced });
  const order: WorkOrder = {
    ...orderOf(options, { ...one, task: judgingText({ ...what, fence: world.name(16) }) }, []),
    system: `${options.prompts.common}\n\n${role.prompt}\n\n${REVIEW_RULES}`,
    tools,
    ...(isPinned(options, node) ? { fallbacks: [] } : {}),
    ...again?.standing,
  };
  const outcome = await crew().run(order, signal);
  return outcome === null ? null : read(recorder.state().agents.get(agent), verdictOf(recorder.state(), agent));
}

const nextOf = ({ agents }: RunState): AgentId => childOf(ROOT, (agents.get(ROOT)?.children.length ?? 0) + 1);

const judgedIn = ({ trigger, tree, from }: Parameters<typeof judge>[2]): NonNullable<AgentState['forced']> =>
  from === undefined ? { trigger, tree } : { trigger, tree, from };

function newAgent(
  { options, recorder }: JudgeParts,
  node: ForcedNode,
  role: Role,
): Omit<Parameters<typeof orderOf>[1], 'agent' | 'task'> {
  const before = [...recorder.state().agents.values()].filter((one) => one.forced && one.role === role.name).length;
  return {
    parent: ROOT,
    role,
    name: `${role.name} review ${before + 1}`,
    taskId: null,
    model: node.model,
    capabilities: readingOnly(role),
    budget: tightest(node.budget, budgetOf(options, role.name)),
    dependsOn: [],
  };
}

/** Whoever judges changes nothing: a shell without `write` runs in a read-only box or not at all. */
const readingOnly = ({ capabilities }: Role): Role['capabilities'] =>
  capabilities.filter((one) => one === 'read' || one === 'git-read' || one === 'shell');

/** Neither questions nor messages: what it reads may try to make it talk. */
const reviewTools = (options: RunOptions, role: Role): readonly string[] => [
  ...options.toolsOf(readingOnly(role)).filter((tool) => tool !== 'send_message' && tool !== 'ask_user'),
  'give_verdict',
];

const isPinned = ({ rules }: RunOptions, { role }: ForcedNode): boolean =>
  (rules.forcedAgents ?? []).some(({ name, model }) => name === role && model !== null);

/** What its end means for the gate. */
function read(agent: AgentState | undefined, verdict: GivenVerdict | null): Judged {
  if (verdict !== null) return judged(verdict);
  if (agent?.model.used === OFFLINE)
    return { pass: false, why: 'no language model is configured, and the offline analyst judges nothing' };
  if (agent?.outcome === 'completed')
    return { pass: false, why: 'it ended without a verdict, also after a reminder: words are none' };
  return {
    pass: false,
    why: `it did not come to its end (${agent?.outcome ?? 'lost'}: ${agent?.error ?? 'no reason'})`,
  };
}

/** A verdict in the words of a gate. */
export const judged = ({ pass, summary }: GivenVerdict): Judged => ({
  pass,
  why: `${pass ? 'passed' : 'did not pass'}: ${summary}`,
});

/** Whose work is judged, as the screens call it. */
export const nameOf = ({ recorder }: JudgeParts, agent: AgentId): string | null =>
  agent === ROOT ? null : (recorder.state().agents.get(agent)?.name ?? agent);

/** Records whether what waited for `node` may go on. */
export function decide(
  { recorder }: Pick<JudgeParts, 'recorder'>,
  { role, onFailure }: ForcedNode,
  trigger: Trigger,
  agent: AgentId,
  tree: string,
  { pass, why }: Judged,
): 'open' | 'closed' {
  recorder.record({ type: 'forced.gate', agent, role, trigger, tree, open: pass, onFailure, why });
  return pass || onFailure === 'warn' ? 'open' : 'closed';
}
