/**
 * The environment block in the system prompt of each agent: gathered when it starts for the first time and recorded, so that its
 * prompt stays equal for its whole life, after a resume as well. Mandatory reviewers get none: file names come from the agents
 * that they judge.
 */
import type { WorkOrder } from '../../domain/agents/agent.ts';
import { environmentText } from '../../domain/agents/environment.ts';
import type { Recorder } from '../run/recorder.ts';
import type { RunOptions } from '../run/run-options.ts';

/** The same order, with the block at the end of its system prompt; there the prompts before it stay cacheable for others. */
export async function withEnvironment(
  { options, recorder }: { readonly options: RunOptions; readonly recorder: Recorder },
  order: WorkOrder,
  signal: AbortSignal,
): Promise<WorkOrder> {
  const { repository, cwd, tools, world } = options;
  const agent = recorder.state().agents.get(order.agent);
  if (agent === undefined || agent.forced !== null) return order;
  if (agent.environment === undefined && repository.environment !== undefined && !signal.aborted) {
    const facts = await repository.environment(signal);
    if (signal.aborted) return order;
    const text = environmentText(facts, { folder: cwd, now: world.now(), sandbox: tools.sandbox });
    recorder.record({ type: 'agent.environment', agent: order.agent, text });
  }
  // As it was recorded: a secret in it is taken out for the model as well.
  const text = recorder.state().agents.get(order.agent)?.environment;
  return text === undefined ? order : { ...order, system: `${order.system}\n\n${text}` };
}
