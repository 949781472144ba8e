/** Tells the services of the configuration what happens in a run. Loaded only where one is configured. */
import type { Loaded } from '../../config/index.ts';
import { type AgentId, parentOf, ROOT } from '../../domain/ids.ts';
import { fold, type RunState } from '../../events/index.ts';
import type { Run } from '../../engine/run/index.ts';
import { type Notice, type Notifier, openNotifier, type Target } from '../../integrations/index.ts';
import { world } from '../process/index.ts';
import { agentName, type NoticeEvent, noticeEventOf, runSpending } from '../views/index.ts';

/** Where notices go; empty if nothing is configured, or an administrator forbids it. */
function notificationTargets({ preferences, secrets, rules }: NotificationConfig): readonly Target[] {
  const { webhook, ntfy } = preferences.notifications ?? {};
  if (rules.notifications?.value === 'deny') return [];
  const named = [
    ['webhook', webhook],
    ['ntfy', ntfy],
  ] as const;
  return named.flatMap(([is, said]) => {
    if (said?.url === undefined) return [];
    const secret = secrets.find(({ name }) => name === said.secretEnv)?.value ?? null;
    return [{ is, url: said.url, events: said.events, secret }];
  });
}

export type NotificationConfig = Pick<Loaded, 'preferences' | 'secrets' | 'rules'>;

/** Follows the run to its end. Resolves with a sentence for each notice that could not be delivered. */
export async function notifyOf(run: Run, config: NotificationConfig, project: string): Promise<readonly string[]> {
  const problems = new Set<string>();
  const { quietHours } = config.preferences.notifications ?? {};
  const targets = notificationTargets(config);
  const notifier = openNotifier({ targets, world, quietHours, failed: (text) => problems.add(text) });
  const follow = async (): Promise<void> => {
    let before = run.view.state();
    for await (const event of run.controls.events(before.seq)) {
      const after = fold(before, event);
      const happened = noticeEventOf(event, before, after);
      if (event.type === 'plan.approved') notifier.withdraw(({ is }) => is === 'plan');
      if (event.type === 'approval.answered') withdrawQuestions(notifier, after);
      if (happened !== null) notifier.notify(noticeOf(happened, after, project, event.time));
      before = after;
    }
  };
  await Promise.race([follow(), run.result.catch(() => null)]);
  await notifier.close();
  return [...problems];
}

/** Questions of agents that have no open one any more. */
function withdrawQuestions(notifier: Notifier, state: RunState): void {
  const asking = new Set(state.approvals.map(({ agent }) => pathOf(state, agent).join('/')));
  notifier.withdraw(({ is, agent }) => is === 'asks' && !asking.has(agent.join('/')));
}

function noticeOf({ is, who, words, agent }: NoticeEvent, state: RunState, project: string, time: string): Notice {
  return {
    is,
    session: state.session ?? '',
    project,
    agent: agent === null ? [] : pathOf(state, agent),
    role: agent === null ? null : (state.agents.get(agent)?.role ?? null),
    text: `${who} ${words}`,
    cost: runSpending(state).cost,
    time,
  };
}

function pathOf(state: RunState, agent: AgentId): readonly string[] {
  const parent = agent === ROOT ? null : parentOf(agent);
  return [...(parent === null ? [] : pathOf(state, parent)), agentName(state, agent)];
}
