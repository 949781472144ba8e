/** What lines say of a run without a plan and of children: main's own words, who spawned whom, calls of Task, who waits for whom. */
import { ROOT } from '../../../domain/ids.ts';
import type { MimirEvent } from '../../../events/event.ts';
import type { AgentState, RunState } from '../../../events/state.ts';
import { restOf } from '../../../app/views/agents/wait-reason.ts';
import { isolationWords } from '../../../app/views/agents/isolation.ts';
import { childOf } from '../../../events/queries.ts';
import { firstLine, tag, workWords } from './agents.ts';
import type { Io } from '../../../app/process/io.ts';
import { harmless } from '../../../app/process/io.ts';

/** Lines of an event that is about them; null for all others. */
export function familyLines(
  event: MimirEvent,
  agent: AgentState,
  state: RunState,
  paint: Io['paint'],
): readonly string[] | null {
  switch (event.type) {
    case 'agent.message':
      return agent.id === ROOT && state.idle ? spoken(agent, event.text) : null;
    case 'agent.created':
      return agent.spawned === null
        ? null
        : [harmless(`${tag(agent)} spawned by ${spawner(agent, state)}: ${firstLine(agent.task)}`)];
    case 'agent.adopted':
      return [harmless(`${tag(agent)} ${adopter(agent, state)}: its parent ended`)];
    case 'agent.status':
      return agent.waitingFor?.is === 'children'
        ? [harmless(`${tag(agent)} ${restOf(agent, state) ?? agent.reason}`)]
        : null;
    case 'tool.started':
      return event.tool === 'Task' ? [harmless(`${tag(agent)} > ${event.label}`)] : null;
    case 'tool.finished':
      return event.tool === 'Task' ? proof(event.call, agent, state, paint) : null;
    default:
      return null;
  }
}

/** Whole: it is the answer to what the person said. */
const spoken = (agent: AgentState, text: string): readonly string[] =>
  text.trim() === ''
    ? []
    : text
        .trim()
        .split('\n')
        .map((line, at) => harmless(at === 0 ? `${tag(agent)} ${line}` : line));

function spawner({ spawned }: AgentState, { agents }: RunState): string {
  if (spawned === null || spawned.by === 'person') return 'you';
  return agents.get(spawned.by)?.name ?? spawned.by;
}

const adopter = ({ owner }: AgentState, { agents }: RunState): string =>
  owner === null ? 'nobody is told of it' : `adopted by ${agents.get(owner)?.name ?? owner}`;

/** `child used 12k tokens, parent grew by about 95 (estimated)` */
function proof(
  call: Parameters<typeof childOf>[0],
  agent: AgentState,
  state: RunState,
  paint: Io['paint'],
): readonly string[] {
  const child = childOf(call, agent, state);
  const words = child === undefined ? null : isolationWords(child, state);
  return child === undefined || words === null ? [] : [paint.dim(harmless(`${workWords(child)}: ${words}`))];
}

/** What is said when an agent begins: its task, where that has not been said when it was made, or called for. */
export const beginning = (agent: AgentState): readonly string[] =>
  agent.spawned !== null || agent.call !== null || agent.id === ROOT ? [] : [workWords(agent)];
