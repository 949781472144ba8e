/** Opens the agents of a run: supervisor, slots, schedule, conversations. */
import { type NewAgent, withEnvironment } from './agent-spec.ts';
import { type Schedule, schedule, type Scheduling } from './scheduler.ts';
import type { AgentId } from '../../domain/ids.ts';
import { type Conversations, AgentSupervisor, type Execute, openConversations } from './supervisor.ts';
import { type YieldedSlots, openYieldedSlots, openSlots, type Slots } from './slots.ts';
import type { AgentSetup, OpenGate, RunContext } from '../gate/index.ts';
import { finishedEvent } from './agent-end.ts';
import { runAgent } from './agent-loop.ts';
import { isFinal } from '../../events/index.ts';

/** The agents of a run, with what they are built from: what every higher module works with. */
export interface AgentModules extends RunContext {
  readonly options: AgentSetup;
  readonly gate: OpenGate;
  readonly supervisor: AgentSupervisor;
  readonly conversations: Conversations;
  readonly slots: Slots;
  readonly yieldedSlots: YieldedSlots;
  readonly schedule: CurrentSchedule;
  /** `main`: plans, writes the report, and is the parent of unplanned children. */
  readonly root: NewAgent;
  /** Carries out a work order with the environment block of its agent. */
  readonly execute: Execute;
}

/** Opens the agents and gives the gate its hooks about them. */
export function openAgents<Setup extends AgentSetup>(
  parts: RunContext & { readonly options: Setup; readonly gate: OpenGate },
  root: NewAgent,
): AgentModules & { readonly options: Setup } {
  const { recorder, gate } = parts;
  const conversations = openConversations(recorder);
  const slots = openSlots(parts.rules().maxParallelAgents.value);
  const execute: Execute = async (order, signal) => runAgent(await withEnvironment(parts, order, signal), gate, signal);
  const supervisor = new AgentSupervisor({ ...parts, slots, conversations, execute });
  const yieldedSlots = openYieldedSlots((agent) => supervisor.yieldSlot(agent));
  gate.hook({
    waits: (agent) => yieldedSlots.waits(agent),
    rests: (agent) => supervisor.rests(agent),
    abandon(child, why) {
      const one = recorder.state().agents.get(child);
      if (one && !isFinal(one)) recorder.record(finishedEvent(parts, child, 'abandoned', one.summary, why));
    },
  });
  return { ...parts, supervisor, conversations, slots, yieldedSlots, schedule: openSchedule(), root, execute };
}

type CurrentSchedule = ReturnType<typeof openSchedule>;

function openSchedule() {
  let now: Scheduling<AgentId> | null = null;
  return {
    /** Null before the first agent of a plan begins. */
    now: () => now,
    begin: (plan: Schedule<AgentId>) => (now = schedule(plan)),
  };
}
