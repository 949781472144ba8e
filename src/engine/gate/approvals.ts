/** Questions to a person, from all agents in one list. Each is recorded when asked and gets exactly one answer: from a
 * person, from a less strict mode, or by timeout. An answer for the session also answers equal open questions. */
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
export type InputFile = Grant['inputs'][number];

export type ModeOf = (agent: AgentId) => Mode;

export interface Asking {
  readonly inputs?: readonly InputFile[];
  /** Whether these modes would run the action without asking. Missing: every mode asks. */
  readonly runs?: (modeOf: ModeOf) => boolean;
}

export type Approvals = ReturnType<typeof openApprovals>;

interface Open {
  readonly agent: AgentId;
  readonly request: ApprovalRequest;
  readonly asking: Asking;
  readonly settle: (answer: Answer, grant?: Grant | 'other') => void;
}

/** Named as the answerer of questions that nobody answered. */
export const UNANSWERED_BY = 'mimir';
const WITHDRAWN: Answer = { is: 'withdrawn', text: '', by: UNANSWERED_BY };

/** `within`: milliseconds after which a question is denied, read when it is asked; undefined waits forever. `waitsOn`: whether the agent also waits
 * for something else, so that an answer alone does not let it run. `rests`: whether the agent is not working now (for example when a process it left
 * behind asks for a child), so that the question does not change its status. */
function openQuestions(
  recorder: Recorder,
  world: World,
  within: () => number | undefined = () => undefined,
  waitsOn: (agent: AgentId) => boolean = () => false,
  rests: (agent: AgentId) => boolean = () => false,
) {
  const open = new Map<string, Open>();
  /** Unless the agent waits for more (another question, a child) or was ended meanwhile. */
  const runsAgain = (agent: AgentId): boolean =>
    recorder.state().agents.get(agent)?.status === 'waiting' &&
    !(waitsOn(agent) || rests(agent) || [...open.values()].some((one) => one.agent === agent));
  return {
    open,
    /** Asks a person and waits for the answer; the agent is `waiting` meanwhile. Aborting `signal` withdraws the question. */
    async ask(
      { agent }: Pick<WorkOrder, 'agent'>,
      call: CallId | null,
      request: ApprovalRequest,
      signal: AbortSignal,
      asking: Asking = {},
    ): Promise<Answer> {
      if (signal.aborted) return WITHDRAWN;
      const approval = `ask-${world.name(8)}`;
      recorder.record(
        { type: 'approval.requested', agent, approval, call, request },
        ...(rests(agent) ? [] : [{ type: 'agent.status', agent, ...FOR_A_PERSON } as const]),
      );
      const answered = Promise.withResolvers<Answer>();
      const done = new AbortController();
      const settle: Open['settle'] = (answer, grant) => {
        if (!open.delete(approval)) return;
        done.abort('answered');
        // A fault of the log belongs to the agent that asked. Thrown in this listener, nothing could catch it.
        try {
          recorder.record(...answerEvents({ agent, approval }, answer, grant, runsAgain(agent)));
          answered.resolve(answer);
        } catch (error) {
          answered.reject(error);
        }
      };
      open.set(approval, { agent, request, asking, settle });
      signal.addEventListener('abort', () => settle(WITHDRAWN), { signal: done.signal });
      void denyAfter(within(), world, done.signal, settle);
      return answered.promise;
    },
  };
}

export function openApprovals(...given: Parameters<typeof openQuestions>) {
  const [recorder] = given;
  const { open, ...questions } = openQuestions(...given);
  const coverFor = (agent: AgentId, request: ApprovalRequest, inputs: readonly InputFile[] = []): Cover =>
    coverOf(recorder.state().grants, agent, request, inputs);
  const releasable = (modeOf: ModeOf): readonly Open[] =>
    [...open.values()].filter(({ asking }) => asking.runs?.(modeOf) === true);
  return {
    ...questions,
    /** A text that says what was done; a fault when the question is no longer open. */
    answer(
      approval: string,
      { allow, scope, text }: { readonly allow: boolean; readonly scope: AnswerScope; readonly text: string },
    ): Result<string, string> {
      const asked = open.get(approval);
      if (!asked) return fail('this question was answered or withdrawn meanwhile');
      const answer: Answer = { is: allow ? 'allowed' : 'denied', text, by: 'person' };
      const grant = allow ? givenGrant(asked, scope) : null;
      asked.settle(answer, grant ?? undefined);
      if (grant === null) return ok(answeredText(asked.request, allow));
      for (const { agent, request, asking, settle } of open.values())
        if (coverFor(agent, request, asking.inputs).is === 'yes') settle(answer, 'other');
      return ok(grantedWords(grant, grant.scope));
    },
    /** Whether a grant of the session answers the request. */
    granted: coverFor,
    /** The number of open questions that these modes would not ask. */
    countReleasable: (modeOf: ModeOf): number => releasable(modeOf).length,
    release(modeOf: ModeOf, by: string): number {
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

const ANSWERED: ReadonlySet<ApprovalRequest['action']> = new Set([
  'question',
  'turn',
  'failure',
  'budget',
  'merge',
] as const);

/** An answer with a scope that was not offered allows once, never more. */
const givenGrant = ({ request, asking: { inputs = [] } }: Open, scope: AnswerScope): Grant | null =>
  scope === 'once' ? null : grantOf(request, scope, inputs);

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

const FOR_A_PERSON = { status: 'waiting', reason: '', waitingFor: { is: 'person' } } as const;

function answerEvents(
  of: { readonly agent: AgentId; readonly approval: string },
  { is: answer, text, by }: Answer,
  grant: Grant | 'other' | undefined,
  runsAgain: boolean,
): readonly EventBody[] {
  const scope = grant === undefined ? 'once' : 'session';
  const given = typeof grant === 'object' ? { grant } : {};
  return [
    { type: 'approval.answered', ...of, answer, scope, text, by, ...given },
    ...(runsAgain ? [{ type: 'agent.status', agent: of.agent, status: 'running', reason: '' } as const] : []),
  ];
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
