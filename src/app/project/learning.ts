/** Listens to a run and says at its end what its agents really used against their estimates. Keeps a few figures, no text. */
import type { AgentId, ModelId, TaskId } from '../../domain/ids.ts';
import type { PlanTask, SoundPlan } from '../../domain/plan/plan.ts';
import type { EventBody, MimirEvent } from '../../events/event.ts';
import type { Controls } from '../../ports/controls.ts';
import { LogFault } from '../../ports/log.ts';
import type { Lesson } from '../../store/estimate-history.ts';

/**
 * Resolves when the run has ended; never rejects for a log that can't be read. An agent teaches when it completed a task of the
 * plan on the model that it was planned for: of one that was stopped, cut off or moved nobody knows what the whole had cost.
 */
export async function lessonsFrom({
  session,
  events,
}: Pick<Controls, 'session' | 'events'>): Promise<readonly Lesson[]> {
  const heard: Heard = { plan: null, tasks: new Map(), models: new Map(), unpriced: new Set(), lessons: [] };
  try {
    for await (const event of events(0)) hear(heard, event, session);
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
  }
  return heard.lessons;
}

interface Heard {
  plan: SoundPlan | null;
  readonly tasks: Map<AgentId, TaskId>;
  /** Models that were called. */
  readonly models: Map<AgentId, Set<ModelId>>;
  readonly unpriced: Set<AgentId>;
  readonly lessons: Lesson[];
}

function hear(heard: Heard, event: MimirEvent, run: string): void {
  switch (event.type) {
    case 'plan.proposed':
    case 'plan.edited':
    case 'plan.amended':
      heard.plan = event.plan;
      break;
    case 'agent.created':
      if (event.taskId !== null) heard.tasks.set(event.agent, event.taskId);
      break;
    case 'model.finished':
      if (!event.priced) heard.unpriced.add(event.agent);
      heard.models.set(event.agent, (heard.models.get(event.agent) ?? new Set()).add(event.model));
      break;
    case 'agent.finished':
      heard.lessons.push(...lessonOf(heard, event, run));
      break;
    default:
  }
}

function lessonOf(heard: Heard, { agent, outcome, metrics }: Finished, run: string): readonly Lesson[] {
  const task = outcome === 'completed' ? taughtBy(heard, agent) : undefined;
  if (task === undefined || metrics.tokensUsed <= 0) return [];
  return [
    {
      run,
      agent,
      role: task.role,
      model: task.model.used,
      tokens: metrics.tokensUsed / task.estimatedTokens,
      seconds: Math.max(1, metrics.duration) / 1000 / task.estimatedSeconds,
      cost: heard.unpriced.has(agent) ? null : costShare(task, metrics.cost),
    },
  ];
}

/** The task that it had, if it was estimated and carried out on the model that it was planned for alone. */
function taughtBy({ plan, tasks, models }: Heard, agent: AgentId): PlanTask | undefined {
  const task = plan?.tasks.find(({ id }) => id === tasks.get(agent));
  const [model, other] = models.get(agent) ?? [];
  const fits = other === undefined && model === task?.model.used && (task?.estimatedTokens ?? 0) > 0;
  return fits ? task : undefined;
}

type Finished = Extract<EventBody, { readonly type: 'agent.finished' }>;

const costShare = ({ estimatedCost }: PlanTask, cost: number): number | null =>
  estimatedCost === null || estimatedCost <= 0 || cost <= 0 ? null : cost / estimatedCost;
