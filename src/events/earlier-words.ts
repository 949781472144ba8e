/** Converts reasons that earlier versions recorded only as sentences into the present fields. The log is read through this module, so that
 * no other code knows those sentences. */
import type { AgentOutcome, AgentStatus } from '../domain/agents/agent.ts';
import type { EndedBy, EventBody, WaitingFor } from './event.ts';

/** The event with the fields that its sentences imply; the same object when nothing has to be added. */
export function withReasons<T extends EventBody>(event: T): T;
export function withReasons(event: EventBody): EventBody {
  switch (event.type) {
    case 'agent.status': {
      if (event.status === 'interrupted') return withEnd(event, INTERRUPTED[event.reason] ?? limitIn(event.reason));
      const waitingFor = event.waitingFor ?? waitIn(event.status, event.reason);
      return waitingFor === null || waitingFor === event.waitingFor ? event : { ...event, waitingFor };
    }
    case 'agent.finished':
      return withEnd(event, endIn(event.outcome, event.error ?? ''));
    case 'session.finished':
      return withEnd(event, event.status === 'stopped' && event.summary === 'handed over' ? HAND_OVER : undefined);
    case 'message.sent':
      return withKill(event);
    case 'approval.requested':
      return withFacts(event);
    default:
      return event;
  }
}

function withKill(sent: EventBody & { readonly type: 'message.sent' }): EventBody {
  const { notice, content } = sent;
  return notice?.is === 'error' && KILLED_CHILD.test(content) ? { ...sent, notice: { ...notice, killed: true } } : sent;
}

const KILLED_CHILD = /^Child [^:\n]{1,80} (?:was killed by|failed: it was killed by) /;

/** Facts of a question, from the words of its reason and options. */
function withFacts(asked: EventBody & { readonly type: 'approval.requested' }): EventBody {
  const { request } = asked;
  const [, destroys] = /^always asked: (.*?)(?: \(default\))?$/s.exec(request.because) ?? [];
  if (destroys !== undefined) return { ...asked, request: { destroys, ...request } };
  const adds = request.action === 'budget' ? request.options.findIndex((option) => /^add\b/i.test(option)) : -1;
  return adds < 0 ? asked : { ...asked, request: { adds, ...request } };
}

const withEnd = <T extends { readonly endedBy?: EndedBy }>(event: T, endedBy: EndedBy | undefined): T =>
  endedBy === undefined || event.endedBy !== undefined ? event : { ...event, endedBy };

const HAND_OVER: EndedBy = { is: 'hand-over' };

const INTERRUPTED: Readonly<Record<string, EndedBy>> = {
  'interrupted by you': { is: 'person' },
  'the run was stopped': { is: 'run' },
};

const ENDED: Readonly<Record<string, EndedBy>> = {
  'killed: killed by you': { is: 'person' },
  'killed: killed with its parent': { is: 'parent' },
  'abandoned: its parent stopped': { is: 'parent' },
  'abandoned: the run was stopped': { is: 'run' },
  'skipped: skipped by you': { is: 'person' },
  'skipped: taken out of the plan': { is: 'plan' },
};

function endIn(outcome: AgentOutcome, error: string): EndedBy | undefined {
  const known = ENDED[`${outcome}: ${error}`] ?? limitIn(error);
  if (known !== undefined || outcome !== 'killed') return known;
  const [, name] = /^killed by (.*)$/s.exec(error) ?? [];
  return name === undefined ? undefined : { is: 'agent', name };
}

const limitIn = (reason: string): EndedBy | undefined =>
  reason.startsWith('Budget exceeded') ? { is: 'limit' } : undefined;

/** Without a sentence, the wait may be for a person, a child or a slot; that is unknown. */
function waitIn(status: AgentStatus, reason: string): WaitingFor | null {
  if (status === 'pending' && reason.startsWith('blocked by #')) return { is: 'task' };
  if (status !== 'waiting' || reason === '') return null;
  if (reason === 'idle') return { is: 'message' };
  if (reason === 'waits for its children') return { is: 'children' };
  if (reason === 'its work is judged' || reason === 'its commit is judged') return { is: 'review' };
  return reason.startsWith('waits for the answer about ') ? { is: 'limit' } : providerWait(reason);
}

/** Parses `anthropic is rate limited; next try in 12 s (2 of 5)`. All other waits were for providers. */
function providerWait(reason: string): WaitingFor {
  const [, why = reason, when = ''] = /^(.*?)(;[^;]*\bnext try\b.*)?$/is.exec(reason) ?? [];
  const [, seconds] = /\bin (\d+(?:\.\d+)?) ?s\b/.exec(when) ?? [];
  const [, attempt, attempts] = / \((?:try )?(\d+)(?: of (\d+))?\)$/.exec(when) ?? [];
  return {
    is: 'provider',
    why: why.trim(),
    wait: seconds === undefined ? null : Number(seconds) * 1000,
    ...(attempt === undefined ? {} : { attempt: Number(attempt) }),
    ...(attempts === undefined ? {} : { attempts: Number(attempts) }),
  };
}
