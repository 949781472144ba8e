/** Which events of a run are worth a notification, and in which words. */
import { type AgentId, ROOT } from '../../domain/ids.ts';
import type { MimirEvent, RunState } from '../../events/index.ts';
import { runShare, runSpending } from './spending/spending.ts';
import { firstLineOf, formatCost, formatShare, plural } from './text/format.ts';

/** An event that is worth a notification. */
export interface NoticeEvent {
  readonly is: 'asks' | 'failed' | 'ended' | 'budget' | 'plan';
  readonly who: string;
  /** Null: the whole run. */
  readonly agent: AgentId | null;
  readonly words: string;
}

const NEARLY_SPENT = 0.8;

/** The notification of an event, or null; `before` and `after` are the states around it. */
export function noticeEventOf(event: MimirEvent, before: RunState, after: RunState): NoticeEvent | null {
  switch (event.type) {
    case 'approval.requested':
      return {
        is: 'asks',
        who: agentName(after, event.agent),
        agent: event.agent,
        words: `asks: ${questionOf(event.request, after.agents.get(event.agent)?.role)}`,
      };
    case 'agent.finished':
      if (event.agent === ROOT || event.outcome !== 'failed') return null;
      return {
        is: 'failed',
        who: agentName(after, event.agent),
        agent: event.agent,
        words: `failed: ${firstLineOf(event.error ?? event.summary)}`,
      };
    case 'session.finished':
      // The run continues in another process.
      if (event.endedBy?.is === 'hand-over') return null;
      return {
        is: 'ended',
        who: 'the run',
        agent: null,
        words: `${ENDED[event.status]} with ${plural(event.totals.agents, 'agent')}`,
      };
    case 'plan.proposed':
      return {
        is: 'plan',
        who: 'the plan',
        agent: null,
        words: `is ready: ${plural(event.plan.tasks.length, 'task')} to approve`,
      };
    case 'model.finished':
    case 'model.started':
      return nearlySpent(before, after);
    default:
      return null;
  }
}

const ENDED: Readonly<Record<Extract<MimirEvent, { type: 'session.finished' }>['status'], string>> = {
  completed: 'is done',
  failed: 'failed',
  rejected: 'was not approved',
  stopped: 'was stopped',
};

function nearlySpent(before: RunState, after: RunState): NoticeEvent | null {
  const [was, is] = [before, after].map((state) => {
    const share = runShare(state);
    return share === null ? null : share.spent + share.reserved;
  });
  if (was == null || is == null || was >= NEARLY_SPENT || is < NEARLY_SPENT) return null;
  return { is: 'budget', who: 'the run', agent: null, words: `has used or reserved ${formatShare(is)} of its budget` };
}

/** `may I run npm test?`, or the question itself, without the role in front, since the agent is named already. */
function questionOf(
  { action, title }: Extract<MimirEvent, { type: 'approval.requested' }>['request'],
  role: string | undefined,
): string {
  const line = firstLineOf(title);
  const what = role !== undefined && line.startsWith(`${role}: `) ? line.slice(role.length + 2) : line;
  if (action === 'shell') return `may I run ${what}?`;
  return action === 'question' || what.endsWith('?') ? what : `${what}?`;
}

/** Its id if it is not known. */
export const agentName = ({ agents }: RunState, agent: AgentId): string => agents.get(agent)?.name ?? agent;

/** One text for several events, with the cost of the run. */
export function noticeText(happenings: readonly NoticeEvent[], state: RunState): string {
  const cost = formatCost(runSpending(state).cost);
  const [only] = happenings;
  if (only === undefined) return cost;
  if (happenings.length === 1) return `${only.who} ${only.words} · ${cost}`;
  // The end of the run replaces the events before it.
  const end = happenings.find(({ is }) => is === 'ended');
  if (end !== undefined) return `${end.who} ${end.words} · ${cost}`;
  const names = [...new Set(happenings.map(({ who }) => who))].slice(0, MOST_NAMES).join(', ');
  return `${summaryOf(happenings)}: ${names} · ${cost}`;
}

const MOST_NAMES = 4;

function summaryOf(happenings: readonly NoticeEvent[]): string {
  const many = happenings.length;
  if (happenings.every(({ is }) => is === 'asks')) return `${many} agents need you`;
  return happenings.every(({ is }) => is === 'failed') ? `${many} agents failed` : `${many} things need you`;
}
