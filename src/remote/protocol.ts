/** The API of a run: JSON, one value a line, on sockets of the file system; docs/api.md describes hellos, requests and answers.
 * An invalid request is refused with the reason; a line that is not JSON, has no id or is longer than 1 MiB ends the connection, without an
 * effect on the run. Endless requests at an agent's socket are slowed down (client-connection.ts); lists of events are sent one by one. */
import { z } from 'zod';
import { AgentId } from '../domain/ids.ts';
import { MODES } from '../domain/reason.ts';
import { fail, ok, type Result } from '../domain/result.ts';
import { Command, isForAgents, PlanEdits } from '../ports/controls.ts';
import { isRecord } from './wire.ts';

const id = z.int().min(0);
const seq = z.int().min(0);

const Request = z.discriminatedUnion('ask', [
  z.strictObject({ id, ask: z.literal('submit'), command: Command }),
  z.strictObject({ id, ask: z.literal('family') }),
  z.strictObject({ id, ask: z.literal('detail'), agent: AgentId }),
  z.strictObject({ id, ask: z.literal('events'), agent: AgentId.nullable(), after: seq }),
  z.strictObject({ id, ask: z.literal('follow'), after: seq }),
  z.strictObject({ id, ask: z.literal('ticks'), on: z.boolean() }),
  z.strictObject({ id, ask: z.literal('mode'), mode: z.enum(MODES), agent: AgentId.exactOptional() }),
  z.strictObject({ id, ask: z.literal('plan'), edits: PlanEdits }),
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
  if (!OF_AGENTS.has(request.ask)) return fail(`an agent may not ask for "${request.ask}": only a person may`);
  if (request.ask === 'submit' && !isForAgents(request.command))
    return fail(`an agent may not ${request.command.do}: only a person may`);
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
  return `invalid request: ${issues.join('; ')}`.slice(0, 500);
}
