/** Opens the agents of a run: supervisor, slots, schedule, conversations. */
import { type NewAgent, withEnvironment, type WorkPlace } from './agent-spec.ts';
import { type Schedule, schedule, type Scheduling } from './scheduler.ts';
import type { AgentId } from '../../domain/ids.ts';
import { type Conversations, AgentSupervisor, type Execute, openConversations } from './supervisor.ts';
import { type YieldedSlots, openYieldedSlots, openSlots, type Slots } from './slots.ts';
import type { AgentSetup, Gate, OpenGate, RunContext } from '../gate/index.ts';
import { runAgent } from './agent-loop.ts';
import { isFinal } from '../../events/index.ts';

export interface CurrentSchedule {
  /** Null before the first agent of a plan begins. */
  now(): Scheduling<AgentId> | null;
  begin(plan: Schedule<AgentId>): Scheduling<AgentId>;
}

export interface Agents {
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

export interface AgentsNeed {
  readonly options: AgentSetup;
  readonly gate: Pick<OpenGate, keyof Gate | 'inbox' | 'hook'>;
  readonly place: WorkPlace;
  readonly root: NewAgent;
}

export function openAgents(context: RunContext, { options, gate, place, root }: AgentsNeed): Agents {
  const { recorder } = context;
  const conversations = openConversations(recorder);
  const slots = openSlots(context.rules().maxParallelAgents.value);
  const execute: Execute = async (order, signal) =>
    runAgent(await withEnvironment({ ...context, options, place }, order, signal), gate, signal);
  const supervisor = new AgentSupervisor({ ...context, inbox: gate.inbox, slots, conversations, execute });
  const yieldedSlots = openYieldedSlots((agent) => supervisor.yieldSlot(agent));
  gate.hook({
    waits: (agent) => yieldedSlots.waits(agent),
    rests: (agent) => supervisor.rests(agent),
    abandon(child, why) {
      const one = recorder.state().agents.get(child);
      if (one && !isFinal(one)) recorder.record(supervisor.finished(child, 'abandoned', one.summary, why));
    },
  });
  return { supervisor, conversations, slots, yieldedSlots, schedule: openSchedule(), root, execute };
}

function openSchedule(): CurrentSchedule {
  let now: Scheduling<AgentId> | null = null;
  return {
    now: () => now,
    begin: (plan) => (now = schedule(plan)),
  };
}
