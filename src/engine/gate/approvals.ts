/**
 * Questions to a person, from all agents in one list. Each is recorded when asked and gets exactly one answer: from a
 * person, from a less strict mode, or by timeout. An answer for the session also answers equal open questions.
 */
import type { WorkOrder } from '../../domain/agents/agent.ts';
import { actOf, type AnswerScope, coveredWords, grantedWords, type GrantScope } from '../../domain/agents/grant.ts';
import type { AgentId, CallId } from '../../domain/ids.ts';
import type { Mode } from '../../domain/reason.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { ApprovalRequest, EventBody, Grant, StandingGrant } from '../../events/index.ts';
import type { World } from '../../ports/world.ts';
import type { Recorder } from './recorder.ts';

export interface Answer {
  readonly is: 'allowed' | 'denied' | 'withdrawn';
  readonly text: string;
  /** `person`, `mode yolo`, or `mimir` where nobody answered. */
  readonly by: string;
}

/** A file whose content decides what a command does; a grant applies only to this content. */
export interface InputFile {
  readonly path: string;
  readonly digest: string;
}

export type ModeOf = (agent: AgentId) => Mode;

export interface Asking {
  readonly inputs?: readonly InputFile[];
  /** Whether these modes would run the action without asking. Missing: every mode asks. */
  readonly runs?: (modeOf: ModeOf) => boolean;
}

export interface Approvals {
  /** Asks a person and waits for the answer; the agent is `waiting` meanwhile. Aborting `signal` withdraws the question. */
  ask(
    order: Pick<WorkOrder, 'agent'>,
    call: CallId | null,
    request: ApprovalRequest,
    signal: AbortSignal,
    asking?: Asking,
  ): Promise<Answer>;
  /** A text that says what was done; a fault when the question is no longer open. */
  answer(
    approval: string,
    answer: { readonly allow: boolean; readonly scope: AnswerScope; readonly text: string },
  ): Result<string, string>;
  /** Whether a grant of the session answers the request. */
  granted(agent: AgentId, request: ApprovalRequest, inputs?: readonly InputFile[]): Cover;
  /** The number of open questions that these modes would not ask. */
  countReleasable(modeOf: ModeOf): number;
  /** Allows those questions in the name of `by`; returns their number. */
  release(modeOf: ModeOf, by: string): number;
}

interface Open {
  readonly order: Pick<WorkOrder, 'agent'>;
  readonly request: ApprovalRequest;
  readonly asking: Asking;
  readonly settle: (answer: Answer, grant?: Grant | 'other') => void;
}

/** Named as the answerer of questions that nobody answered. */
export const UNANSWERED_BY = 'mimir';

/**
 * `within`: milliseconds after which a question is denied, read when it is asked; undefined waits forever. `waitsOn`:
 * whether the agent also waits for something else, so that an answer alone does not let it run. `rests`: whether the
 * agent is not working now (for example when a process it left behind asks for a child), so that the question does not
 * change its status.
 */
export function openApprovals(
  recorder: Recorder,
  world: World,
  within: () => number | undefined = () => undefined,
  waitsOn: (agent: AgentId) => boolean = () => false,
  rests: (agent: AgentId) => boolean = () => false,
): Approvals {
  const open = new Map<string, Open>();
  const coverFor = (agent: AgentId, request: ApprovalRequest, inputs: readonly InputFile[] = []): Cover =>
    coverOf(recorder.state().grants, agent, request, inputs);
  const releasable = (modeOf: ModeOf): readonly Open[] =>
    [...open.values()].filter(({ asking }) => asking.runs?.(modeOf) === true);

  const staysWaiting = (agent: AgentId): boolean =>
    waitsOn(agent) || rests(agent) || [...open.values()].some(({ order }) => order.agent === agent);

  return {
    ask(order, call, request, signal, asking = {}) {
      if (signal.aborted) return Promise.resolve({ is: 'withdrawn', text: '', by: UNANSWERED_BY });
      const id = `ask-${world.name(8)}`;
      return new Promise<Answer>((resolve, reject) => {
        const events = requestEvents(order.agent, id, call, request);
        recorder.record(...(rests(order.agent) ? events.slice(0, 1) : events));
        const done = new AbortController();
        const withdraw = (): void => open.get(id)?.settle({ is: 'withdrawn', text: '', by: UNANSWERED_BY });
        const settle: Open['settle'] = (answer, grant) => {
          open.delete(id);
          signal.removeEventListener('abort', withdraw);
          done.abort('answered');
          const more = staysWaiting(order.agent);
          // A fault of the log belongs to the agent that asked. Thrown in this listener, nothing could catch it.
          try {
            recorder.record(...answerEvents(recorder, order, id, { answer, grant }, more));
            resolve(answer);
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        };
        open.set(id, { order, request, asking, settle });
        signal.addEventListener('abort', withdraw, { once: true });
        void denyAfter(within(), world, done.signal, (answer) => open.get(id)?.settle(answer));
      });
    },
    answer(approval, { allow, scope, text }) {
      const asked = open.get(approval);
      if (!asked) return fail('this question was answered or withdrawn meanwhile');
      const answer: Answer = { is: allow ? 'allowed' : 'denied', text, by: 'person' };
      const grant = allow ? givenGrant(asked, scope) : null;
      asked.settle(answer, grant ?? undefined);
      if (grant === null) return ok(answeredText(asked.request, allow));
      for (const { order, request, asking, settle } of open.values())
        if (coverFor(order.agent, request, asking.inputs).is === 'yes') settle(answer, 'other');
      return ok(grantedWords(grant, grant.scope));
    },
    granted: coverFor,
    countReleasable: (modeOf) => releasable(modeOf).length,
    release(modeOf, by) {
      const all = releasable(modeOf);
      for (const one of all) one.settle({ is: 'allowed', text: '', by });
      return all.length;
    },
  };
}

/** The receipt: `allowed once: npm test`, or `answered` for a question that asks for no permission. */
function answeredText({ action, title }: ApprovalRequest, allow: boolean): string {
  if (ANSWERED.has(action)) return allow ? 'answered' : 'not answered';
  return `${allow ? 'allowed once' : 'denied'}: ${actOf(title)}`;
}

const ANSWERED: ReadonlySet<ApprovalRequest['action']> = new Set(['question', 'turn', 'failure', 'budget'] as const);

/** An answer with a scope that was not offered allows once, never more. */
const givenGrant = ({ request, asking: { inputs = [] } }: Open, scope: AnswerScope): Grant | null =>
  scope === 'once' ? null : grantOf(request, scope, inputs);

/** Denies the question after the time limit. */
async function denyAfter(
  limit: number | undefined,
  world: World,
  answered: AbortSignal,
  settle: (answer: Answer) => void,
): Promise<void> {
  if (limit === undefined) return;
  await world.sleep(limit, answered);
  settle({ is: 'denied', text: `nobody answered within ${durationText(limit)}`, by: UNANSWERED_BY });
}

function durationText(ms: number): string {
  if (ms < 60_000) return `${ms / 1000} s`;
  return ms < 3_600_000 ? `${Math.round(ms / 6000) / 10} min` : `${Math.round(ms / 360_000) / 10} h`;
}

/** The events of a new question, with the status of the waiting agent. */
function requestEvents(agent: AgentId, approval: string, call: CallId | null, request: ApprovalRequest): EventBody[] {
  const waitingFor = { is: 'person' } as const;
  return [
    { type: 'approval.requested', agent, approval, call, request },
    { type: 'agent.status', agent, status: 'waiting', reason: '', waitingFor },
  ];
}

/** The events of an answer. The agent runs again unless it waits for more (another question, a child) or was ended meanwhile. */
function answerEvents(
  recorder: Recorder,
  { agent }: Pick<WorkOrder, 'agent'>,
  approval: string,
  { answer, grant }: { readonly answer: Answer; readonly grant: Grant | 'other' | undefined },
  staysWaiting: boolean,
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
  if (staysWaiting || recorder.state().agents.get(agent)?.status !== 'waiting') return [event];
  return [event, { type: 'agent.status', agent, status: 'running', reason: '' }];
}

// Matching questions with the session's grants. Grants are in the log, so a resumed run has them; policy decides before them each time.

type Cover = { readonly is: 'yes' | 'no' } | { readonly is: 'changed'; readonly paths: readonly string[] };

/** The grant that an answer with this scope gives; null where the question does not offer it. */
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

/** `changed`: the command was allowed, but files that it reads have changed since. */
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

/** Whether each program of the command is allowed by some grant. */
function hasPrograms(grants: readonly StandingGrant[], { programs }: ApprovalRequest): boolean {
  if (programs === undefined) return false;
  const allowed = new Set(grants.flatMap((grant) => grant.programs ?? []).map((words) => JSON.stringify(words)));
  return programs.every((words) => allowed.has(JSON.stringify(words)));
}

const isOfFile = ({ scope, file, agent }: StandingGrant, asker: AgentId, request: ApprovalRequest): boolean =>
  scope === 'file' && agent === asker && request.action === 'write' && file === request.file;

/** Grants for file changes apply to one agent, all others to every agent. */
const isEqual = ({ scope, same, action, agent }: StandingGrant, asker: AgentId, request: ApprovalRequest): boolean =>
  scope === 'session' && same === request.same && (action !== 'write' || agent === asker);

/** Paths of files that were changed, added or removed. */
export function changedInputs(before: readonly InputFile[], now: readonly InputFile[]): readonly string[] {
  const known = new Map(before.map(({ path, digest }) => [path, digest]));
  const changed = now.filter(({ path, digest }) => known.get(path) !== digest).map(({ path }) => path);
  const gone = before.filter(({ path }) => !now.some((one) => one.path === path)).map(({ path }) => path);
  return [...changed, ...gone];
}

/** Withdraws a grant: what it covered is asked about again from the next action on. */
export function withdrawGrant(recorder: Recorder, id: string): Result<string, string> {
  const found = recorder.state().grants.find((grant) => grant.id === id);
  if (found === undefined) return fail('no such grant (already withdrawn)');
  recorder.record({ type: 'grant.withdrawn', grant: id });
  return ok(`withdrawn: ${coveredWords(found, found.scope) ?? found.title} asks again`);
}
