/**
 * Questions to a person, of all agents in one inbox: each is recorded when asked and gets exactly one answer. An answer
 * for the session is a grant that clears equal questions at once, waiting ones included.
 */
import type { WorkOrder } from '../domain/agent.ts';
import type { CallId } from '../domain/ids.ts';
import { unreachable } from '../domain/result.ts';
import type { ApprovalRequest, EventBody } from '../events/event.ts';
import type { World } from '../ports/world.ts';
import type { Recorder } from './recorder.ts';

export interface Answer {
  readonly is: 'allowed' | 'denied' | 'withdrawn';
  readonly text: string;
}

export interface Approvals {
  /** Waits for a person. Aborting `signal` withdraws the question. The agent is `waiting` meanwhile. */
  ask(order: WorkOrder, call: CallId | null, request: ApprovalRequest, signal: AbortSignal): Promise<Answer>;
  /** False when there is no such open question (answered or withdrawn meanwhile). */
  answer(
    approval: string,
    answer: { readonly allow: boolean; readonly scope: 'once' | 'session'; readonly text: string },
  ): boolean;
  /** Was an equal question answered with yes for the session? */
  granted(request: ApprovalRequest): boolean;
}

interface Open {
  readonly id: string;
  readonly order: WorkOrder;
  readonly request: ApprovalRequest;
  readonly settle: (answer: Answer, scope: 'once' | 'session') => void;
}

export function openApprovals(recorder: Recorder, world: World): Approvals {
  const open = new Map<string, Open>();
  const grants = new Set<string>();

  return {
    ask(order, call, request, signal) {
      if (signal.aborted) return Promise.resolve({ is: 'withdrawn', text: '' });
      const id = `ask-${world.name(8)}`;
      return new Promise<Answer>((resolve, reject) => {
        recorder.record(
          { type: 'approval.requested', agent: order.agent, approval: id, call, request },
          { type: 'agent.status', agent: order.agent, status: 'waiting', reason: '' },
        );
        const withdraw = (): void => open.get(id)?.settle({ is: 'withdrawn', text: '' }, 'once');
        const settle: Open['settle'] = (answer, scope) => {
          open.delete(id);
          signal.removeEventListener('abort', withdraw);
          const more = [...open.values()].some((other) => other.order.agent === order.agent);
          // The fault of a log belongs to who asked: thrown here, in a listener, nobody could catch it.
          try {
            recorder.record(...answered(recorder, order, id, answer, scope, more));
            resolve(answer);
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        };
        open.set(id, { id, order, request, settle });
        signal.addEventListener('abort', withdraw, { once: true });
      });
    },
    answer(approval, { allow, scope, text }) {
      const asked = open.get(approval);
      if (!asked) return false;
      const key = grantKey(asked.request);
      const answer: Answer = { is: allow ? 'allowed' : 'denied', text };
      asked.settle(answer, scope);
      if (allow && scope === 'session' && key !== null) {
        grants.add(key);
        for (const other of open.values()) if (grantKey(other.request) === key) other.settle(answer, scope);
      }
      return true;
    },
    granted(request) {
      const key = grantKey(request);
      return key !== null && grants.has(key);
    },
  };
}

/** What an answer for the session covers; null for what is always asked singly, as each command outside a box is. */
function grantKey({ action, exact, unsandboxed }: ApprovalRequest): string | null {
  if (unsandboxed) return null;
  switch (action) {
    case 'write':
    case 'read':
    case 'git-read':
    case 'spawn':
      return action;
    case 'shell':
    case 'git-write':
      return `${action}:${exact}`;
    case 'question':
    case 'turn':
    case 'failure':
    case 'budget':
      return null;
    default:
      return unreachable(action);
  }
}

/** The answer, and the agent runs again unless another question of it is open or it was ended meanwhile. */
function answered(
  recorder: Recorder,
  { agent }: WorkOrder,
  approval: string,
  answer: Answer,
  scope: 'once' | 'session',
  more: boolean,
): EventBody[] {
  const by = answer.is === 'withdrawn' ? 'mimir' : 'person';
  const event: EventBody = {
    type: 'approval.answered',
    agent,
    approval,
    answer: answer.is,
    scope,
    text: answer.text,
    by,
  };
  if (more || recorder.state().agents.get(agent)?.status !== 'waiting') return [event];
  return [event, { type: 'agent.status', agent, status: 'running', reason: '' }];
}
