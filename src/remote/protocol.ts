/**
 * The API of a run: JSON, one value a line, on sockets of the file system. No port is ever opened.
 *
 * Both sides begin with a hello: the server `{"mimir":"control","protocol":1,"session":ID,"as":AGENT or null}`, the client
 * `{"mimir":"control","protocol":1}` within ten seconds. `as` is who the client is, by the socket it knocked at: the person's,
 * or the door of one agent. Nothing in a request can change that: `from`, `by` and `as` are dropped, and at an agent's door
 * the parent of a spawn and the agent of a `complete` are that agent.
 *
 * A request is `{"id":N,"ask":…}`, N chosen by the client; answers come in any order, as `{"id":N,"value":…}` or
 * `{"id":N,"refused":"why"}`. What can be asked, by the person alone where it is marked *:
 *
 *     submit {"command":…}             every Command of ports/controls.ts; an agent: spawn, message, kill, complete
 *     family                           the run and its sessions, as the asker may see them
 *     detail {"agent":ID}              more of one session
 *     events {"agent":ID|null,"after":SEQ}   a line {"id":N,"event":…} for each stored event, then {"id":N,"value":null}
 *     follow {"after":SEQ} *           the same, then those to come, until the run has ended; once for each connection
 *     ticks  {"on":true} *             {"tick":…} lines: text as it streams; merged and cut for who reads slowly
 *     mode   {"mode":…,"agent":ID?} *  what a change of mode, or a pin, would do
 *     plan   {"edits":[…]} *           what the approved plan would be after edits
 *     poke *                           letters lie in the box
 *
 * A request of a wrong shape is refused in words. What is no JSON, has no id or is longer than 1 MiB ends the connection with
 * `{"bye":"why"}`; the run doesn't notice. Who ends its side of the connection gets what it has asked for, and the connection
 * is closed. Events are never lost: who reads slowly gets them later. At an agent's door whoever asks without end is answered at
 * the pace of pace.ts, and lists of events come one after the other.
 */
import { z } from 'zod';
import type { AgentId } from '../domain/ids.ts';
import { AgentId as agentId } from '../domain/ids.ts';
import type { Result } from '../domain/result.ts';
import { fail, ok } from '../domain/result.ts';
import type { Command } from '../ports/controls.ts';
import { isRecord } from './lines.ts';
import { CommandShape, EditsShape, ModeShape } from './schemas.ts';

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
/** A request as it was checked. */
export type Request = z.output<typeof Request>;
/** A request without its number, as a client words it. */
export type Ask = Request extends infer Each ? (Each extends Request ? Omit<Each, 'id'> : never) : never;

/** What an agent may ask, and submit; everything else is a person's. */
const OF_AGENTS = new Set<Request['ask']>(['submit', 'family', 'detail', 'events']);
const COMMANDS_OF_AGENTS = new Set<Command['do']>(['spawn', 'message', 'kill', 'complete']);

/** Says of itself who asks: never believed. */
const CLAIMS = new Set(['from', 'by', 'as']);

/** The request that a line is, by whom it is; the fault is in words for who asked. `id` must be looked for before. */
export function readRequest(line: Readonly<Record<string, unknown>>, asker: AgentId | null): Result<Request, string> {
  const said = withoutClaims(line);
  const command = said['command'];
  const read = Request.safeParse(isRecord(command) ? { ...said, command: stamped(command, asker) } : said);
  if (!read.success) return fail(wordsOf(read.error));
  const request = read.data;
  if (asker === null) return ok(request);
  if (!OF_AGENTS.has(request.ask)) return fail(`an agent may not ask for "${request.ask}": that is the person's`);
  if (request.ask === 'submit' && !COMMANDS_OF_AGENTS.has(request.command.do)) {
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

/** `command.wish.prompt: Too small …`; the first two things that are wrong. */
function wordsOf(error: z.ZodError): string {
  const issues = error.issues.slice(0, 2).map(({ path, message }) => {
    const where = path.map(String).join('.');
    return where === '' ? message : `${where}: ${message}`;
  });
  return `this can't be asked: ${issues.join('; ')}`.slice(0, 500);
}
