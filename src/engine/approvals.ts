/**
 * Questions to a person, of all agents in one inbox: each is recorded when asked and gets exactly one answer, of a person,
 * of a looser mode, or of the time that rules give. An answer for the session clears equal questions at once.
 */
import type { AgentId, CallId } from '../domain/ids.ts';
import type { Mode } from '../domain/mode.ts';
import type { ApprovalRequest, EventBody } from '../events/event.ts';
import type { World } from '../ports/world.ts';
import type { Recorder } from './recorder.ts';

export interface Answer {
  readonly is: 'allowed' | 'denied' | 'withdrawn';
  readonly text: string;
  /** `person`, `mode yolo`, or `mimir` where nobody answered. */
  readonly by: string;
}

/** A file whose content decides what is done: a standing yes holds for this content. */
export interface InputFile {
  readonly path: string;
  readonly digest: string;
}

/** Which mode holds for an agent. */
export type ModeOf = (agent: AgentId) => Mode;

/** What is known of a question beside its words. */
export interface Asking {
  readonly inputs?: readonly InputFile[];
  /** Would it not be asked at all if these modes held? Absent: it would be, in every mode. */
  readonly runs?: (modeOf: ModeOf) => boolean;
}

/** Who asks: of an order only its agent counts. */
export interface Asker {
  readonly agent: AgentId;
}

export interface Approvals {
  /** Waits for a person. Aborting `signal` withdraws the question. The agent is `waiting` meanwhile. */
  ask(
    order: Asker,
    call: CallId | null,
    request: ApprovalRequest,
    signal: AbortSignal,
    asking?: Asking,
  ): Promise<Answer>;
  /** False when there is no such open question (answered or withdrawn meanwhile). */
  answer(
    approval: string,
    answer: { readonly allow: boolean; readonly scope: 'once' | 'session'; readonly text: string },
  ): boolean;
  /** Was an equal question answered with yes for the session, and of the same content? `changed` names what is other now. */
  granted(
    request: ApprovalRequest,
    inputs?: readonly InputFile[],
  ): { readonly is: 'yes' | 'no' } | { readonly is: 'changed'; readonly paths: readonly string[] };
  /** How many open questions would not be asked if these modes held. */
  running(modeOf: ModeOf): number;
  /** Answers them with yes, in the name of `by`; how many there were. */
  release(modeOf: ModeOf, by: string): number;
}

interface Open {
  readonly order: Asker;
  readonly request: ApprovalRequest;
  readonly asking: Asking;
  readonly settle: (answer: Answer, scope: 'once' | 'session') => void;
}

/** In whose name a question is answered that nobody answered. */
export const NOBODY = 'mimir';

/**
 * `within`: after how many milliseconds a question is denied; read when it is asked. Undefined: it waits. `waitsOn`: does who asked
 * wait for something else as well, so that an answer alone does not let it run? `rests`: is it at no work now, so that a question
 * in its name (a process that it has left behind asks for a child) changes nothing for it?
 */
export function openApprovals(
  recorder: Recorder,
  world: World,
  within: () => number | undefined = () => undefined,
  waitsOn: (agent: AgentId) => boolean = () => false,
  rests: (agent: AgentId) => boolean = () => false,
): Approvals {
  const open = new Map<string, Open>();
  const grants = openGrants();
  const running = (modeOf: ModeOf): readonly Open[] =>
    [...open.values()].filter(({ asking }) => asking.runs?.(modeOf) === true);

  const held = (agent: AgentId): boolean =>
    waitsOn(agent) || rests(agent) || [...open.values()].some(({ order }) => order.agent === agent);

  return {
    ask(order, call, request, signal, asking = {}) {
      if (signal.aborted) return Promise.resolve({ is: 'withdrawn', text: '', by: NOBODY });
      const id = `ask-${world.name(8)}`;
      return new Promise<Answer>((resolve, reject) => {
        recorder.record(...requested(order, id, call, request, rests(order.agent)));
        const over = new AbortController();
        const withdraw = (): void => open.get(id)?.settle({ is: 'withdrawn', text: '', by: NOBODY }, 'once');
        const settle: Open['settle'] = (answer, scope) => {
          open.delete(id);
          signal.removeEventListener('abort', withdraw);
          over.abort('answered');
          const more = held(order.agent);
          // The fault of a log belongs to who asked: thrown here, in a listener, nobody could catch it.
          try {
            recorder.record(...answered(recorder, order, id, answer, scope, more));
            resolve(answer);
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        };
        open.set(id, { order, request, asking, settle });
        signal.addEventListener('abort', withdraw, { once: true });
        void denyAfter(within(), world, over.signal, (answer) => open.get(id)?.settle(answer, 'once'));
      });
    },
    answer(approval, { allow, scope, text }) {
      const asked = open.get(approval);
      if (!asked) return false;
      const answer: Answer = { is: allow ? 'allowed' : 'denied', text, by: 'person' };
      asked.settle(answer, scope);
      if (!allow || scope === 'once') return true;
      grants.add(asked.request, asked.asking.inputs);
      for (const other of open.values())
        if (grants.holds(other.request, other.asking.inputs).is === 'yes') other.settle(answer, scope);
      return true;
    },
    granted: (request, inputs) => grants.holds(request, inputs),
    running: (modeOf) => running(modeOf).length,
    release(modeOf, by) {
      const all = running(modeOf);
      for (const one of all) one.settle({ is: 'allowed', text: '', by }, 'once');
      return all.length;
    },
  };
}

/** Nobody there is no yes. */
async function denyAfter(
  limit: number | undefined,
  world: World,
  answered: AbortSignal,
  settle: (answer: Answer) => void,
): Promise<void> {
  if (limit === undefined) return;
  await world.sleep(limit, answered);
  settle({ is: 'denied', text: `nobody answered within ${durationText(limit)}`, by: NOBODY });
}

interface Grants {
  add(request: ApprovalRequest, inputs?: readonly InputFile[]): void;
  holds: Approvals['granted'];
}

/** What the person has said yes to for the session, with the content that it was said of. */
function openGrants(): Grants {
  const grants = new Map<string, readonly InputFile[]>();
  return {
    add({ same }, inputs = []) {
      if (same !== undefined) grants.set(same, inputs);
    },
    holds({ same }, inputs = []) {
      const before = same === undefined ? undefined : grants.get(same);
      if (before === undefined) return { is: 'no' };
      const paths = changedInputs(before, inputs);
      return paths.length === 0 ? { is: 'yes' } : { is: 'changed', paths };
    },
  };
}

/** Paths of files that are other now, new, or gone. */
export function changedInputs(before: readonly InputFile[], now: readonly InputFile[]): readonly string[] {
  const known = new Map(before.map(({ path, digest }) => [path, digest]));
  const changed = now.filter(({ path, digest }) => known.get(path) !== digest).map(({ path }) => path);
  const gone = before.filter(({ path }) => !now.some((one) => one.path === path)).map(({ path }) => path);
  return [...changed, ...gone];
}

function durationText(ms: number): string {
  if (ms < 60_000) return `${ms / 1000} s`;
  return ms < 3_600_000 ? `${Math.round(ms / 6000) / 10} min` : `${Math.round(ms / 360_000) / 10} h`;
}

/** The question, for which the agent waits where it is at work. */
function requested(
  { agent }: Asker,
  approval: string,
  call: CallId | null,
  request: ApprovalRequest,
  rests: boolean,
): EventBody[] {
  const event: EventBody = { type: 'approval.requested', agent, approval, call, request };
  return rests ? [event] : [event, { type: 'agent.status', agent, status: 'waiting', reason: '' }];
}

/** The answer, and the agent runs again unless it waits for more (another question, a child) or was ended meanwhile. */
function answered(
  recorder: Recorder,
  { agent }: Asker,
  approval: string,
  answer: Answer,
  scope: 'once' | 'session',
  more: boolean,
): EventBody[] {
  const event: EventBody = {
    type: 'approval.answered',
    agent,
    approval,
    answer: answer.is,
    scope,
    text: answer.text,
    by: answer.by,
  };
  if (more || recorder.state().agents.get(agent)?.status !== 'waiting') return [event];
  return [event, { type: 'agent.status', agent, status: 'running', reason: '' }];
}
