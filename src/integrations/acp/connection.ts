/** One process of an agent of another program that speaks the Agent Client Protocol, version 1 (https://agentclientprotocol.com/protocol/v1):
 * handshake, session, prompts. What its updates mean is decided in session.ts. */
import { type Readable, Writable } from 'node:stream';
import type { ClientConnection, InitializeResponse, LoadSessionResponse } from '@agentclientprotocol/sdk';
import type { NewSessionResponse } from '@agentclientprotocol/sdk';
import type { PromptResponse, RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk';
import type { SessionUpdate, SessionModeState, StopReason } from '@agentclientprotocol/sdk';
import { client, methods, ndJsonStream, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk';
import type { Usage } from '../../domain/budget.ts';
import { fail, messageOf, ok, type Result, tried } from '../../domain/result.ts';
import type { World } from '../../ports/world.ts';
import type { TalkingProgram } from '../../ports/program.ts';

export interface AgentEvents {
  update(update: SessionUpdate): void;
  permission(request: RequestPermissionRequest): Promise<RequestPermissionResponse>;
  /** A question that is no permission; resolves with the answer, or with null where nobody gives one. */
  question(text: string, options: readonly string[]): Promise<string | null>;
  /** The tokens that it has used in all, where that is known. */
  used(usage: Usage): void;
}

export interface ConnectOptions {
  /** The name of the agent in messages: `claude`. */
  readonly name: string;
  readonly process: TalkingProgram;
  /** The folder that it works in, as its process sees it. */
  readonly cwd: string;
  /** A session of an earlier process to continue; null for a new one. */
  readonly earlier: string | null;
  /** The mode of the agent's own in which it asks for permission; null to choose a known one. */
  readonly mode: string | null;
  readonly events: AgentEvents;
  readonly world: Pick<World, 'sleep'>;
  /** Milliseconds that the process may take to answer each request of the handshake; 30 seconds where left out. */
  readonly patience?: number;
}

export interface Connection {
  readonly session: string;
  /** Its program and version, as it says. */
  readonly agent: string;
  /** The version of the protocol; null where none is spoken. */
  readonly protocol: number | null;
  /** The session continues that of an earlier process, with its conversation. */
  readonly isLoaded: boolean;
  /** Sends a prompt; resolves when the agent has ended its turn, or with why it cannot, in words. */
  prompt(text: string): Promise<Result<StopReason, string>>;
  /** Asks the agent to end its turn now. */
  cancel(): void;
  /** Why the connection no longer works; resolves when that happens. */
  readonly lost: Promise<string>;
  end(): Promise<void>;
}

const HANDSHAKE_MS = 30_000;
/** With so many lines that are no messages, it speaks no protocol. */
const MOST_NOISE = 200;
/** Characters of one message. */
const LONGEST_LINE = 32 * 1024 * 1024;
/** `Authentication required` (https://agentclientprotocol.com/protocol/v1/initialization). */
const NOT_LOGGED_IN = -32_000;

/** Connects to the process and opens a session in a mode that asks. On a fault, in words for a person, the process is ended. */
export async function connect(options: ConnectOptions): Promise<Result<Connection, string>> {
  const { process, name } = options;
  const noise = new Noise();
  const lost = Promise.race([
    process.ended.then((how) => `${name} ended: ${[how, lastLine(process.errors())].filter(Boolean).join(': ')}`),
    noise.tooMuch.then((line) => `${name} does not speak the protocol: it printed ${JSON.stringify(line)}`),
  ]);
  const gate = { isOpen: false };
  const connection = open(options, noise, gate);
  const opened = await handshake(options, connection, lost, noise);
  if (!opened.ok) {
    connection.close();
    await process.end();
    return opened;
  }
  gate.isOpen = true;
  const { session } = opened.value;
  const asked = async (text: string): Promise<Result<StopReason, string>> => {
    try {
      const prompt = [{ type: 'text' as const, text }];
      const request = connection.agent.request<PromptResponse>(methods.agent.session.prompt, {
        sessionId: session,
        prompt,
      });
      const { stopReason } = await orLost(request, process, lost);
      return ok(stopReason);
    } catch (error) {
      return fail(faultText(name, error));
    }
  };
  return ok({
    ...opened.value,
    lost,
    prompt: (text) => Promise.race([asked(text), lost.then((why) => fail(why))]),
    cancel: () =>
      void connection.agent.notify(methods.agent.session.cancel, { sessionId: session }).catch(() => undefined),
    async end() {
      connection.close();
      await process.end();
    },
  });
}

function open({ process, events }: ConnectOptions, noise: Noise, gate: { readonly isOpen: boolean }): ClientConnection {
  process.input.on('error', () => undefined);
  return (
    client({ name: 'mimir' })
      .onRequest(methods.client.session.requestPermission, ({ params }) => events.permission(params))
      // While an earlier session is loaded, its conversation is told again.
      .onNotification(methods.client.session.update, ({ params }) =>
        gate.isOpen ? events.update(params.update) : undefined,
      )
      .connect(ndJsonStream(Writable.toWeb(process.input), noise.messagesOf(process.output)))
  );
}

type Opened = Pick<Connection, 'session' | 'isLoaded' | 'agent' | 'protocol'>;

async function handshake(
  options: ConnectOptions,
  { agent }: ClientConnection,
  lost: Promise<string>,
  noise: Noise,
): Promise<Result<Opened, string>> {
  const { name } = options;
  const within = <T>(request: Promise<T>): Promise<T> => answered(options, request, lost, noise);
  let said: InitializeResponse | null = null;
  try {
    said = await within(
      agent.request(methods.agent.initialize, {
        protocolVersion: PROTOCOL_VERSION,
        clientInfo: { name: 'mimir', version: '1' },
        clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      }),
    );
    const { protocolVersion, agentCapabilities } = said;
    if (protocolVersion !== PROTOCOL_VERSION)
      return fail(`${name} speaks version ${protocolVersion} of the protocol, and Mimir version ${PROTOCOL_VERSION}`);
    const load = agentCapabilities?.loadSession === true ? options.earlier : null;
    const { session, modes } = await within(sessionOf(agent, options.cwd, load));
    const mode = modeThatAsks(modes, options.mode);
    if (mode !== null) await within(agent.request(methods.agent.session.setMode, { sessionId: session, modeId: mode }));
    return ok({ session, isLoaded: load !== null, agent: programIn(said, name), protocol: protocolVersion });
  } catch (error) {
    return fail(faultText(name, error, said));
  }
}

const programIn = ({ agentInfo }: InitializeResponse, name: string): string =>
  [agentInfo?.name ?? name, agentInfo?.version ?? ''].join(' ').trim();

/** A new session, or the one to `load`. */
async function sessionOf(
  agent: ClientConnection['agent'],
  cwd: string,
  load: string | null,
): Promise<{ readonly session: string; readonly modes: SessionModeState | null }> {
  const place = { cwd, mcpServers: [] };
  if (load === null) {
    const { sessionId, modes = null } = await agent.request<NewSessionResponse>(methods.agent.session.new, place);
    return { session: sessionId, modes };
  }
  const loaded = await agent.request<LoadSessionResponse | null>(methods.agent.session.load, {
    ...place,
    sessionId: load,
  });
  return { session: load, modes: loaded?.modes ?? null };
}

/** The answer to a request of the handshake. Rejects with an `Error` in words. */
async function answered<T>(
  { name, world, process, patience = HANDSHAKE_MS }: ConnectOptions,
  request: Promise<T>,
  lost: Promise<string>,
  noise: Noise,
): Promise<T> {
  const over = new AbortController();
  const late = world.sleep(patience, over.signal).then(() => {
    const instead = noise.first === null ? '' : `; it printed ${JSON.stringify(noise.first)} instead`;
    return `${name} did not answer within ${patience / 1000} s${instead}`;
  });
  const broken = Promise.race([lost, late]).then((why): never => {
    throw new Error(why);
  });
  try {
    return await Promise.race([orLost(request, process, lost), broken]);
  } finally {
    over.abort();
    broken.catch(() => undefined);
  }
}

/** A request that is cut off with its connection ends the process, and rejects with how that ended. */
const orLost = <T>(request: Promise<T>, process: TalkingProgram, lost: Promise<string>): Promise<T> =>
  request.catch(async (error: unknown) => {
    if (error instanceof RequestError) throw error;
    await process.end();
    throw new Error(await lost);
  });

/** Modes in which agents ask before they act, by the ids that their adapters use, in order of preference. */
const ASKING = ['default', 'ask', 'read-only'];

/** The mode to change to; null to stay in the present one. */
function modeThatAsks(modes: SessionModeState | null, wanted: string | null): string | null {
  const known = modes?.availableModes.map(({ id }) => id) ?? [];
  const mode = (wanted === null ? ASKING : [wanted]).find((id) => known.includes(id));
  return mode === undefined || mode === modes?.currentModeId ? null : mode;
}

function faultText(name: string, error: unknown, said: InitializeResponse | null = null): string {
  if (error instanceof RequestError && error.code === NOT_LOGGED_IN) {
    const who = said === null ? name : `${name} (${programIn(said, name)})`;
    const ways = said?.authMethods?.map((one) => one.name).join(', ') ?? '';
    const how = ways === '' ? '' : ` (it offers ${ways})`;
    return `${who} is not logged in: ${error.message.replace(/\.$/, '')}; start it once in a terminal and log in${how}`;
  }
  return error instanceof RequestError ? `${name} refused: ${error.message}` : messageOf(error);
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1)?.slice(0, 300) ?? '';

/** Passes messages on and counts other lines, which the SDK drops silently. */
class Noise {
  first: string | null = null;
  readonly tooMuch: Promise<string>;
  readonly #many = Promise.withResolvers<string>();
  #count = 0;

  constructor() {
    this.tooMuch = this.#many.promise;
  }

  messagesOf(output: Readable): ReadableStream<Uint8Array> {
    const [decoder, encoder] = [new TextDecoder(), new TextEncoder()];
    let rest = '';
    const take = (chunk: Buffer): string => {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > LONGEST_LINE) this.#many.resolve(`${rest.slice(0, 200)}…`);
      return lines
        .filter((line) => this.#isMessage(line))
        .map((line) => `${line}\n`)
        .join('');
    };
    return new ReadableStream({
      start(controller) {
        // The stream is closed once the connection is.
        const over = (): void => tried(() => controller.close(), undefined);
        output.on('data', (chunk: Buffer) => tried(() => controller.enqueue(encoder.encode(take(chunk))), undefined));
        output.once('end', over).once('error', over);
      },
    });
  }

  #isMessage(line: string): boolean {
    if (line.trim() === '') return false;
    if (line.trimStart().startsWith('{') && line.includes('"jsonrpc"')) return true;
    this.first ??= line.slice(0, 200);
    this.#count += 1;
    if (this.#count > MOST_NOISE) this.#many.resolve(this.first);
    return false;
  }
}
