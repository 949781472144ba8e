/**
 * The API of a run: JSON, one value a line, on sockets of the file system. No port is ever opened.
 *
 * Both sides begin with a hello: the server `{"mimir":"control","protocol":1,"session":ID,"as":AGENT or null}`, the client
 * `{"mimir":"control","protocol":1}` within ten seconds. `as` is the client's identity, determined by the socket: the person's, or that of one
 * agent. A request cannot change it: `from`, `by` and `as` are dropped, and at an agent's socket the parent of a spawn and the agent of a
 * `complete` are that agent.
 *
 * A request is `{"id":N,"ask":…}`, N chosen by the client; answers come in any order, as `{"id":N,"value":…}` or
 * `{"id":N,"refused":"why"}`. These are the requests; * marks those of the person alone:
 *
 *     submit {"command":…}             every Command of ports/controls.ts; an agent: spawn, message, kill, complete
 *     family                           the run and its sessions, as the asker may see them
 *     detail {"agent":ID}              details of one session
 *     events {"agent":ID|null,"after":SEQ}   a line {"id":N,"event":…} for each stored event, then {"id":N,"value":null}
 *     follow {"after":SEQ} *           the same, then new events, until the run has ended; once per connection
 *     ticks  {"on":true} *             {"tick":…} lines: streamed text; merged and cut for slow readers
 *     mode   {"mode":…,"agent":ID?} *  what a change of mode, or a pin, would do
 *     plan   {"edits":[…]} *           the approved plan after edits
 *     poke *                           there are new messages in the store
 *
 * An invalid request is refused with the reason. A line that is not JSON, has no id or is longer than 1 MiB ends the connection with
 * `{"bye":"why"}`, without an effect on the run. A client that ends its side of the connection still gets the requested answers. Events are
 * never lost: slow readers get them later. Endless requests at an agent's socket are slowed down (client-connection.ts), and lists of events are sent
 * one after the other.
 */
import { z } from 'zod';
import { GRANT_SCOPES } from '../domain/agents/grant.ts';
import { ON_FAILURE, SpawnRequest, TRIGGERS } from '../domain/agents/agent.ts';
import { Budget } from '../domain/budget.ts';
import { AgentId, AgentId as agentId, ModelId, RoleName, TaskId } from '../domain/ids.ts';
import { MODES } from '../domain/reason.ts';
import { EFFORTS } from '../domain/models/provider.ts';
import { Permission, Permissions } from '../domain/plan/plan.ts';
import { fail, ok, type Result } from '../domain/result.ts';
import { isForAgents } from '../ports/controls.ts';
import { isRecord } from './wire.ts';

// Schemas of all requests: strict and bounded. They check form only.

/** Texts of people and plans; a line has its own limit. */
const text = z.string().max(1_000_000);
const name = z.string().max(300);
const ids = z.array(TaskId).max(1000).readonly();
const count = z.number().min(0).max(1e12);
const tools = z.array(name).max(100).readonly();
const cost = z.number().min(0).max(1e9).nullable();

const ModeShape = z.enum(MODES);
const choice = z.strictObject({ asked: name, used: ModelId, because: text.nullable() });
const figures = { estimatedTokens: count, estimatedCost: cost, estimatedSeconds: count, budget: Budget };

const globs = z.array(z.string().max(500)).max(100).readonly();

const effort = z.enum(EFFORTS);
const task = z.strictObject({
  id: TaskId,
  description: text,
  role: RoleName,
  model: choice,
  tools,
  ...figures,
  dependsOn: ids,
  writes: globs,
  after: z
    .array(z.strictObject({ task: TaskId, because: text }))
    .max(1000)
    .readonly()
    .exactOptional(),
  alongside: ids.exactOptional(),
  maySpawn: z.boolean(),
  permissions: Permissions.exactOptional(),
  effort: effort.exactOptional(),
});

const forced = z.strictObject({
  role: RoleName,
  model: choice,
  triggers: z.array(z.enum(TRIGGERS)).max(10).readonly(),
  onFailure: z.enum(ON_FAILURE),
  after: ids,
  runs: count,
  ...figures,
  because: text,
});

/** A plan from a client; the engine validates it again. */
const PlanShape = z.strictObject({
  reason: text,
  tasks: z.array(task).max(1000).readonly(),
  permissions: Permissions.exactOptional(),
  commit: z.literal(true).exactOptional(),
  forced: z.array(forced).max(100).readonly().exactOptional(),
});

const EditShape = z.discriminatedUnion('is', [
  z.strictObject({ is: z.literal('describe'), task: TaskId, description: text }),
  z.strictObject({ is: z.literal('role'), task: TaskId, role: name }),
  z.strictObject({ is: z.literal('model'), task: TaskId, model: name }),
  z.strictObject({ is: z.literal('budget'), task: TaskId, budget: Budget }),
  z.strictObject({ is: z.literal('effort'), task: TaskId, effort: effort.nullable() }),
  z.strictObject({ is: z.literal('tools'), task: TaskId, tools }),
  z.strictObject({ is: z.literal('depends'), task: TaskId, dependsOn: ids }),
  z.strictObject({ is: z.literal('writes'), task: TaskId, writes: globs.nullable() }),
  z.strictObject({ is: z.literal('alongside'), task: TaskId, others: ids }),
  z.strictObject({
    is: z.literal('add'),
    description: text,
    role: name,
    dependsOn: ids,
    writes: globs.exactOptional(),
  }),
  z.strictObject({ is: z.literal('drop'), task: TaskId }),
  z.strictObject({
    is: z.literal('split'),
    task: TaskId,
    descriptions: z.array(text).max(100).readonly(),
    inOrder: z.boolean(),
  }),
  z.strictObject({ is: z.literal('join'), task: TaskId, other: TaskId }),
  z.strictObject({
    is: z.literal('models'),
    models: z
      .array(z.strictObject({ task: TaskId, model: name }))
      .max(1000)
      .readonly(),
  }),
  z.strictObject({
    is: z.literal('permissions'),
    task: TaskId.nullable(),
    permissions: z.strictObject({
      edits: Permission.nullable().exactOptional(),
      commands: Permission.nullable().exactOptional(),
    }),
  }),
  z.strictObject({ is: z.literal('commit'), commit: z.boolean() }),
  z.strictObject({ is: z.literal('move'), task: TaskId, by: z.union([z.literal(1), z.literal(-1)]) }),
  z.strictObject({
    is: z.literal('form'),
    task: TaskId,
    description: text,
    role: name,
    model: name,
    budget: Budget,
    dependsOn: ids,
    tools: tools.exactOptional(),
    effort: effort.nullable().exactOptional(),
    writes: globs.exactOptional(),
  }),
  z.strictObject({ is: z.literal('replace'), plan: PlanShape }),
]);
const EditsShape = z.array(EditShape).max(1000).readonly();

const digest = z.string().max(200);

/** One schema for each `Command` of ports/controls.ts; a missing one does not compile in client.ts. */
export const CommandShape = z.discriminatedUnion('do', [
  z.strictObject({ do: z.literal('edit plan'), edit: EditShape }),
  z.strictObject({ do: z.literal('approve plan'), digest }),
  z.strictObject({ do: z.literal('reject plan') }),
  z.strictObject({ do: z.literal('plan again'), hint: text }),
  z.strictObject({
    do: z.literal('message'),
    to: z.union([AgentId, z.literal('all')]),
    text: text.min(1),
    delivery: z.enum(['sequential', 'important', 'urgent']),
  }),
  z.strictObject({ do: z.literal('interrupt'), agent: AgentId }),
  z.strictObject({ do: z.literal('resume'), agent: AgentId }),
  z.strictObject({ do: z.literal('kill'), agent: AgentId }),
  z.strictObject({ do: z.literal('retry'), agent: AgentId }),
  z.strictObject({ do: z.literal('skip'), agent: AgentId }),
  z.strictObject({
    do: z.literal('answer'),
    approval: name,
    allow: z.boolean(),
    scope: z.enum(['once', ...GRANT_SCOPES]),
    text: text.exactOptional(),
  }),
  z.strictObject({ do: z.literal('withdraw grant'), grant: name }),
  z.strictObject({ do: z.literal('set mode'), mode: ModeShape }),
  z.strictObject({ do: z.literal('pin mode'), agent: AgentId, mode: ModeShape.nullable() }),
  z.strictObject({ do: z.literal('set budget'), agent: AgentId, budget: Budget }),
  z.strictObject({ do: z.literal('review'), role: RoleName }),
  z.strictObject({ do: z.literal('amend plan'), edits: EditsShape, base: digest, digest }),
  z.strictObject({ do: z.literal('set model'), agent: AgentId, model: name }),
  z.strictObject({ do: z.literal('spawn'), parent: AgentId, wish: SpawnRequest }),
  z.strictObject({
    do: z.literal('complete'),
    agent: AgentId,
    status: z.enum(['completed', 'error']),
    message: text,
  }),
  z.strictObject({ do: z.literal('hand over'), how: z.enum(['when quiet', 'now', 'stay']) }),
  z.strictObject({ do: z.literal('stop run'), reason: text }),
]);

const id = z.int().min(0);
const seq = z.int().min(0);

const Request = z.discriminatedUnion('ask', [
  z.strictObject({ id, ask: z.literal('submit'), command: CommandShape }),
  z.strictObject({ id, ask: z.literal('family') }),
  z.strictObject({ id, ask: z.literal('detail'), agent: agentId }),
  z.strictObject({ id, ask: z.literal('events'), agent: agentId.nullable(), after: seq }),
  z.strictObject({ id, ask: z.literal('follow'), after: seq }),
  z.strictObject({ id, ask: z.literal('ticks'), on: z.boolean() }),
  z.strictObject({ id, ask: z.literal('mode'), mode: ModeShape, agent: agentId.exactOptional() }),
  z.strictObject({ id, ask: z.literal('plan'), edits: EditsShape }),
  z.strictObject({ id, ask: z.literal('poke') }),
]);
/** A validated request. */
export type Request = z.output<typeof Request>;
/** A request without its id, as a client makes it. */
export type Ask = Request extends infer Each ? (Each extends Request ? Omit<Each, 'id'> : never) : never;

/** The requests of agents; of commands those that ports/controls.ts allows. All others are the person's. */
const OF_AGENTS = new Set<Request['ask']>(['submit', 'family', 'detail', 'events']);

/** Fields that claim an identity; they are ignored. */
const CLAIMS = new Set(['from', 'by', 'as']);

/** The validated request of `asker`, or a fault to send back. The caller checks `id` first. */
export function readRequest(line: Readonly<Record<string, unknown>>, asker: AgentId | null): Result<Request, string> {
  const said = withoutClaims(line);
  const command = said['command'];
  const read = Request.safeParse(isRecord(command) ? { ...said, command: stamped(command, asker) } : said);
  if (!read.success) return fail(wordsOf(read.error));
  const request = read.data;
  if (asker === null) return ok(request);
  if (!OF_AGENTS.has(request.ask)) return fail(`an agent may not ask for "${request.ask}": that is the person's`);
  if (request.ask === 'submit' && !isForAgents(request.command)) {
    return fail(`an agent may not ${request.command.do}: that is the person's`);
  }
  return ok(request);
}

function stamped(said: Readonly<Record<string, unknown>>, asker: AgentId | null): Readonly<Record<string, unknown>> {
  const command = withoutClaims(said);
  if (asker === null) return command;
  if (command['do'] === 'spawn') return { ...command, parent: asker };
  return command['do'] === 'complete' ? { ...command, agent: asker } : command;
}

const withoutClaims = (said: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(said).filter(([key]) => !CLAIMS.has(key)));

/** The first two problems: `command.wish.prompt: Too small …`. */
function wordsOf(error: z.ZodError): string {
  const issues = error.issues.slice(0, 2).map(({ path, message }) => {
    const where = path.map(String).join('.');
    return where === '' ? message : `${where}: ${message}`;
  });
  return `this can't be asked: ${issues.join('; ')}`.slice(0, 500);
}
