/** Agents of other programs as models: each is one model, whose process works by itself on a prompt in a tree of its own. A call of the model is
 * answered when the agent asks, has done something, or is done; the process lives from its first call to the end of its agent. */
import { CallId, FOREIGN_PROVIDERS, type AgentId } from '../../domain/ids.ts';
import { NO_USAGE } from '../../domain/budget.ts';
import type { ModelOption } from '../../domain/plan/plan.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { Json, ModelReply, StopReason, Turn } from '../../domain/turn.ts';
import type { ModelFault, ModelPort, ModelRequest } from '../../ports/model.ts';
import type { World } from '../../ports/world.ts';
import type { AgentEvents, Connection } from './connection.ts';
import { type AgentReply, AgentSession } from './session.ts';

export interface ForeignAgent {
  readonly name: string;
  readonly option: ModelOption;
  readonly command: string;
  /** Its start needs approval like a command. */
  readonly asks: boolean;
}

export interface ForeignParts {
  readonly agents: readonly ForeignAgent[];
  readonly world: Pick<World, 'sleep'>;
  /** Starts the program for an agent in its own tree, in the sandbox, again where `isResumed`. A fault, in words, where that is not possible. */
  start(foreign: ForeignAgent, agent: AgentId, isResumed: boolean): Promise<Result<StartedAgent, string>>;
}

/** Connects to a started program; a fault, in words, ends it. `earlier`: the session of an earlier process, to continue where that is possible. */
export type StartedAgent = (events: AgentEvents, earlier: string | null) => Promise<Result<Connection, string>>;

export interface ForeignModels {
  readonly name: string;
  models(): readonly ModelOption[];
  readonly call: ModelPort['call'];
  /** Ends the process of an agent that has ended; null for all. */
  ended(agent: AgentId | null): Promise<void>;
}

export function foreignModels(parts: ForeignParts): ForeignModels {
  const sessions = new Map<AgentId, AgentSession>();
  return {
    name: FOREIGN_PROVIDERS.protocol,
    models: () => parts.agents.map(({ option }) => option),
    async call(request, signal, onDelta) {
      const foreign = parts.agents.find(({ option }) => option.id === request.model);
      if (foreign === undefined) return refuse(`no agent ${request.model} is configured`);
      if (request.purpose.is !== 'work') return refuse(`${foreign.name} works on tasks only`);
      if (foreign.asks && !mayStart(request.turns)) return startAnswer(request, foreign);
      const opened = await sessionOf(parts, sessions, foreign, request, signal);
      if (opened === null) return STOPPED;
      if (!opened.ok) return refuse(opened.fault);
      const session = opened.value;
      session.take(request.turns);
      if (request.toolChoice === 'none') session.close(CLOSING);
      const reply = await session.reply(signal, onDelta, (index) => idOf(request.call, index));
      if (!reply.ok) {
        sessions.delete(request.agent);
        await session.end();
        return refuse(reply.fault);
      }
      return reply.value === null ? STOPPED : ok(replyOf(request, reply.value, { session: session.id }));
    },
    async ended(agent) {
      const over = [...sessions].filter(([id]) => agent === null || id === agent);
      for (const [id] of over) sessions.delete(id);
      await Promise.all(over.map(([, session]) => session.end()));
    },
  };
}

const refuse = (message: string): Result<never, ModelFault> => fail({ is: 'refused', message });
const STOPPED: Result<never, ModelFault> = fail({ is: 'aborted', message: 'stopped' });
const CLOSING = 'No further turn is left. Answer now: what you did and found, and what is left to do.';
const idOf = (call: CallId, index: number): CallId => CallId.parse(`${call}.${index + 1}`);

/** The session of the agent, with its process, which is started if there is none; null where `signal` is aborted before it has begun. */
async function sessionOf(
  parts: ForeignParts,
  sessions: Map<AgentId, AgentSession>,
  foreign: ForeignAgent,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<Result<AgentSession, string> | null> {
  const known = sessions.get(request.agent);
  if (known !== undefined && known.fault === null) return ok(known);
  if (signal.aborted) return null;
  const stopped = Promise.withResolvers<null>();
  const stop = (): void => stopped.resolve(null);
  signal.addEventListener('abort', stop, { once: true });
  const opening = openSession(parts, foreign, request);
  const opened = await Promise.race([opening, stopped.promise]);
  signal.removeEventListener('abort', stop);
  // The handshake may take long; what comes of it is not wanted any more.
  if (opened === null) void opening.then((late) => (late.ok ? late.value.end() : undefined)).catch(() => undefined);
  else if (opened.ok) sessions.set(request.agent, opened.value);
  return opened;
}

async function openSession(
  parts: ForeignParts,
  foreign: ForeignAgent,
  { agent, turns }: ModelRequest,
): Promise<Result<AgentSession, string>> {
  const earlier = sessionIn(turns);
  const started = await parts.start(foreign, agent, earlier !== null);
  if (!started.ok) return started;
  const session = new AgentSession(parts.world);
  const connected = await started.value(session, earlier);
  if (!connected.ok) return connected;
  const { value } = connected;
  session.begin(value, newsOf(value, earlier), firstPrompt(turns, value.isLoaded), turns);
  return ok(session);
}

/** What the log says of its start. */
function newsOf({ agent, isLoaded }: Connection, earlier: string | null): string {
  if (earlier === null) return `started ${agent}`;
  return isLoaded ? `continued its session: ${agent}` : `started ${agent} anew: its earlier conversation is lost`;
}

/** The agent's session of an earlier process; null if there was none. */
function sessionIn(turns: readonly Turn[]): string | null {
  const opaque = turns.findLast((turn) => turn.by === 'model' && turn.opaque !== undefined);
  const session: unknown = opaque?.by === 'model' ? Reflect.get(Object(opaque.opaque), 'session') : null;
  return typeof session === 'string' && session !== '' ? session : null;
}

/** What a started process is told: the task, or after an interruption what is new, and what it has lost. */
function firstPrompt(turns: readonly Turn[], isLoaded: boolean): string {
  const at = turns.findLastIndex((turn) => turn.by === 'model' && turn.opaque !== undefined);
  const fresh = textsOf(turns.slice(at + 1));
  if (at < 0) return [...fresh, HOW].join('\n\n');
  if (isLoaded) return [INTERRUPTED, ...fresh].join('\n\n');
  const said = turns.flatMap((turn) => (turn.by === 'model' && turn.text !== '' ? [turn.text] : []));
  return [...textsOf(turns), HOW, LOST, ...said.slice(-3)].join('\n\n');
}

const textsOf = (turns: readonly Turn[]): readonly string[] =>
  turns.flatMap((turn) => (turn.by === 'user' ? [turn.text] : []));

const HOW =
  'You work in a copy of the project, which is merged when you are done; do not commit. Your last message is handed to the others as your result: say what you did and found.';
const INTERRUPTED =
  'You were interrupted. Acts that were under way may have been done or not: look first, then continue.';
const LOST =
  'You worked on this before and were interrupted; your earlier conversation cannot be opened any more. What you changed is in the folder: look first, then continue. You had said:';

const START = 'start';

/** Whether the start was allowed, in this process or an earlier one. */
function mayStart(turns: readonly Turn[]): boolean {
  const starts = turns.flatMap((turn) => (turn.by === 'model' ? turn.calls : [])).filter(isStart);
  return turns
    .flatMap((turn) => (turn.by === 'tools' ? turn.results : []))
    .some((result) => result.ok && starts.some(({ id }) => id === result.call));
}

const isStart = ({ input }: { readonly input: Json }): boolean => Reflect.get(Object(input), 'id') === START;

/** Asks for the start; after a refusal the agent fails with its reason. */
function startAnswer(request: ModelRequest, { name, command }: ForeignAgent): Result<ModelReply, ModelFault> {
  const last = request.turns.findLast(({ by }) => by !== 'user');
  const refusal = last?.by === 'tools' ? last.results[0]?.text : undefined;
  if (refusal !== undefined) return refuse(`${name} was not started: ${refusal}`);
  const call = { tool: 'agent_command', input: { command, id: START } } as const;
  return ok(replyOf(request, { text: '', calls: [call], stopReason: null, cost: null, usage: NO_USAGE }, undefined));
}

const STOPS: Readonly<Record<string, StopReason>> = {
  max_tokens: 'output limit',
  max_turn_requests: 'output limit',
  refusal: 'refused',
};

const replyOf = (
  { model, call }: ModelRequest,
  { text, calls, stopReason, cost, usage }: AgentReply,
  opaque: Json | undefined,
): ModelReply => ({
  text,
  calls: calls.map((one, index) => ({ id: idOf(call, index), ...one })),
  stopReason: calls.length > 0 ? 'tool use' : (STOPS[stopReason ?? ''] ?? 'end'),
  usage,
  model,
  ...(opaque === undefined ? {} : { opaque }),
  ...(cost === null ? {} : { cost }),
});
