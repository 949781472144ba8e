/**
 * Questions to a person, of all agents in one inbox: each is recorded when asked and gets exactly one answer, of a person,
 * of a looser mode, or of the time that rules give. An answer for the session clears equal questions at once.
 */
import { actOf, type AnswerScope, coveredWords, grantedWords, type GrantScope } from '../../domain/agents/grant.ts';
import type { AgentId, CallId } from '../../domain/ids.ts';
import type { Mode } from '../../domain/mode.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { Grant } from '../../events/decisions.ts';
import type { ApprovalRequest, EventBody } from '../../events/event.ts';
import type { StandingGrant } from '../../events/state.ts';
import type { World } from '../../ports/world.ts';
import type { Recorder } from '../run/recorder.ts';

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
  /** What was done, in words; a fault when there is no such open question (answered or withdrawn meanwhile). */
  answer(
    approval: string,
    answer: { readonly allow: boolean; readonly scope: AnswerScope; readonly text: string },
  ): Result<string, string>;
  /** Does a grant of the session answer it? */
  granted(agent: AgentId, request: ApprovalRequest, inputs?: readonly InputFile[]): Cover;
  /** How many open questions would not be asked if these modes held. */
  running(modeOf: ModeOf): number;
  /** Answers them with yes, in the name of `by`; how many there were. */
  release(modeOf: ModeOf, by: string): number;
}

interface Open {
  readonly order: Asker;
  readonly request: ApprovalRequest;
  readonly asking: Asking;
  readonly settle: (answer: Answer, grant?: Grant | 'other') => void;
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
  const cover = (agent: AgentId, request: ApprovalRequest, inputs: readonly InputFile[] = []): Cover =>
    coverOf(recorder.state().grants, agent, request, inputs);
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
        const withdraw = (): void => open.get(id)?.settle({ is: 'withdrawn', text: '', by: NOBODY });
        const settle: Open['settle'] = (answer, grant) => {
          open.delete(id);
          signal.removeEventListener('abort', withdraw);
          over.abort('answered');
          const more = held(order.agent);
          // The fault of a log belongs to who asked: thrown here, in a listener, nobody could catch it.
          try {
            recorder.record(...answered(recorder, order, id, { answer, grant }, more));
            resolve(answer);
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        };
        open.set(id, { order, request, asking, settle });
        signal.addEventListener('abort', withdraw, { once: true });
        void denyAfter(within(), world, over.signal, (answer) => open.get(id)?.settle(answer));
      });
    },
    answer(approval, { allow, scope, text }) {
      const asked = open.get(approval);
      if (!asked) return fail('this question was answered or withdrawn meanwhile');
      const answer: Answer = { is: allow ? 'allowed' : 'denied', text, by: 'person' };
      const grant = allow ? givenGrant(asked, scope) : null;
      asked.settle(answer, grant ?? undefined);
      if (grant === null) return ok(answeredWords(asked.request, allow));
      for (const { order, request, asking, settle } of open.values())
        if (cover(order.agent, request, asking.inputs).is === 'yes') settle(answer, 'other');
      return ok(grantedWords(grant, grant.scope));
    },
    granted: cover,
    running: (modeOf) => running(modeOf).length,
    release(modeOf, by) {
      const all = running(modeOf);
      for (const one of all) one.settle({ is: 'allowed', text: '', by });
      return all.length;
    },
  };
}

/** `allowed once: npm test`; of a question that asks for no permission, that it was answered. */
function answeredWords({ action, title }: ApprovalRequest, allow: boolean): string {
  if (ANSWERED.has(action)) return allow ? 'answered' : 'not answered';
  return `${allow ? 'allowed once' : 'denied'}: ${actOf(title)}`;
}

const ANSWERED: ReadonlySet<ApprovalRequest['action']> = new Set(['question', 'turn', 'failure', 'budget'] as const);

/** What is not offered is allowed once: less than was asked for, never more. */
const givenGrant = ({ request, asking: { inputs = [] } }: Open, scope: AnswerScope): Grant | null =>
  scope === 'once' ? null : grantOf(request, scope, inputs);

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
  return rests
    ? [event]
    : [event, { type: 'agent.status', agent, status: 'waiting', reason: '', waitingFor: { is: 'person' } }];
}

/** The answer, and the agent runs again unless it waits for more (another question, a child) or was ended meanwhile. */
function answered(
  recorder: Recorder,
  { agent }: Asker,
  approval: string,
  { answer, grant }: { readonly answer: Answer; readonly grant: Grant | 'other' | undefined },
  more: boolean,
): EventBody[] {
  const event: EventBody = {
    type: 'approval.answered',
    agent,
    approval,
    answer: answer.is,
    scope: grant === undefined ? 'once' : 'session',
    text: answer.text,
    by: answer.by,
    ...(grant === undefined || grant === 'other' ? {} : { grant }),
  };
  if (more || recorder.state().agents.get(agent)?.status !== 'waiting') return [event];
  return [event, { type: 'agent.status', agent, status: 'running', reason: '' }];
}

// Which questions the grants of a session answer. They stand in the log, so a resumed run has them; policy judges before them each time.

type Cover = { readonly is: 'yes' | 'no' } | { readonly is: 'changed'; readonly paths: readonly string[] };

/** The grant that an answer of this scope gives; null where the question offers none. */
function grantOf(request: ApprovalRequest, scope: GrantScope, inputs: readonly InputFile[]): Grant | null {
  const { action, same, programs, file, title } = request;
  if (same === undefined || coveredWords(request, scope) === null) return null;
  return {
    scope,
    action,
    same,
    ...(scope === 'program' && programs !== undefined ? { programs } : {}),
    ...(scope === 'file' && file !== undefined ? { file } : {}),
    title,
    inputs: scope === 'session' ? inputs : [],
  };
}

/** `changed`: it was allowed, but files that it reads are other now. */
function coverOf(
  grants: readonly StandingGrant[],
  agent: AgentId,
  request: ApprovalRequest,
  inputs: readonly InputFile[],
): Cover {
  if (request.same === undefined) return { is: 'no' };
  if (hasPrograms(grants, request) || grants.some((grant) => isOfFile(grant, agent, request))) return { is: 'yes' };
  const equal = grants.findLast((grant) => isEqual(grant, agent, request));
  if (equal === undefined) return { is: 'no' };
  const paths = changedInputs(equal.inputs, inputs);
  return paths.length === 0 ? { is: 'yes' } : { is: 'changed', paths };
}

/** Is each of its programs allowed, by whichever answers? */
function hasPrograms(grants: readonly StandingGrant[], { programs }: ApprovalRequest): boolean {
  if (programs === undefined) return false;
  const allowed = new Set(grants.flatMap((grant) => grant.programs ?? []).map((words) => JSON.stringify(words)));
  return programs.every((words) => allowed.has(JSON.stringify(words)));
}

const isOfFile = ({ scope, file, agent }: StandingGrant, asker: AgentId, request: ApprovalRequest): boolean =>
  scope === 'file' && agent === asker && request.action === 'write' && file === request.file;

/** Changes of files were allowed to one agent, everything else to all. */
const isEqual = ({ scope, same, action, agent }: StandingGrant, asker: AgentId, request: ApprovalRequest): boolean =>
  scope === 'session' && same === request.same && (action !== 'write' || agent === asker);

/** Paths of files that are other now, new, or gone. */
export function changedInputs(before: readonly InputFile[], now: readonly InputFile[]): readonly string[] {
  const known = new Map(before.map(({ path, digest }) => [path, digest]));
  const changed = now.filter(({ path, digest }) => known.get(path) !== digest).map(({ path }) => path);
  const gone = before.filter(({ path }) => !now.some((one) => one.path === path)).map(({ path }) => path);
  return [...changed, ...gone];
}

/** Ends a grant: what it covered is asked about again, from the next act on. */
export function withdrawGrant(recorder: Recorder, id: string): Result<string, string> {
  const found = recorder.state().grants.find((grant) => grant.id === id);
  if (found === undefined) return fail('there is no such grant: it was withdrawn already');
  recorder.record({ type: 'grant.withdrawn', grant: id });
  return ok(`withdrawn: ${coveredWords(found, found.scope) ?? found.title} asks again`);
}
