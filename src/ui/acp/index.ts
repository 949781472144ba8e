/** Mimir as an agent for editors: the server side of the Agent Client Protocol, version 1 (https://agentclientprotocol.com/protocol/v1). */
import {
  agent,
  type AgentContext,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
  type ContentBlock,
  type PromptResponse,
} from '@agentclientprotocol/sdk';
import type { LocalProjectService } from '../../app/project/index.ts';
import { SessionId } from '../../domain/ids.ts';
import type { Result } from '../../domain/result.ts';
import { foldAll, type RunState } from '../../events/index.ts';
import type { Controls, Refusal } from '../../ports/controls.ts';
import { editorOf, follow, say } from './told.ts';

export interface AcpParts {
  readonly input: ReadableStream<Uint8Array>;
  readonly output: WritableStream<Uint8Array>;
  readonly version: string;
  newSession(): SessionId;
  /** Opens the project of a folder. Rejects with an `Exit`. */
  open(cwd: string): Promise<LocalProjectService>;
}

/** One session of an editor, which is a session of Mimir. */
interface EditorSession {
  readonly id: SessionId;
  readonly service: LocalProjectService;
  /** It has run, so that a prompt continues it. */
  hasRun: boolean;
  isCancelled: boolean;
}

/** Serves one editor until its input ends; runs that are at work then are stopped and can be resumed. */
export async function serveAcp(parts: AcpParts): Promise<void> {
  const sessions = new Map<string, EditorSession>();
  const opened = async (id: SessionId, cwd: string, hasRun: boolean): Promise<EditorSession> => {
    const session = { id, service: await refusing(parts.open(cwd)), hasRun, isCancelled: false };
    sessions.set(id, session);
    return session;
  };
  const connection = agent({ name: 'mimir' })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'mimir', version: parts.version },
      agentCapabilities: { loadSession: true, promptCapabilities: { embeddedContext: true } },
    }))
    .onRequest(methods.agent.session.new, async ({ params }) => ({
      sessionId: (await opened(parts.newSession(), params.cwd, false)).id,
    }))
    .onRequest(methods.agent.session.load, async ({ params, client }) => {
      const session = await opened(sessionId(params.sessionId), params.cwd, true);
      const before = accepted(await session.service.look(session.id));
      const state = await stateOf(before);
      const editor = editorOf(client, session.id);
      await editor.update({ sessionUpdate: 'user_message_chunk', content: { type: 'text', text: state.task } });
      await say(editor, state.finished?.summary ?? '');
      return {};
    })
    .onRequest(methods.agent.session.prompt, ({ params, client }) =>
      prompted(sessionIn(sessions, params.sessionId), textOf(params.prompt), client),
    )
    .onNotification(methods.agent.session.cancel, ({ params }) => {
      const session = sessions.get(params.sessionId);
      if (session === undefined) return;
      session.isCancelled = true;
      session.service.current()?.stop('stopped in the editor');
    })
    .connect(ndJsonStream(parts.output, parts.input));
  await connection.closed;
  for (const { service } of sessions.values()) service.current()?.stop('the editor has gone');
  await Promise.all([...sessions.values()].map(({ service }) => ended(service)));
}

async function ended(service: LocalProjectService): Promise<void> {
  await service.current()?.result;
  await service.close();
}

async function prompted(session: EditorSession, text: string, client: AgentContext): Promise<PromptResponse> {
  const { id, service } = session;
  if (text.trim() === '') throw new RequestError(INVALID, 'the prompt is empty');
  session.isCancelled = false;
  const controls = session.hasRun
    ? accepted(await service.resume(id, text))
    : await refusing(service.begin({ session: id, task: text, plan: null }));
  session.hasRun = true;
  const editor = editorOf(client, id);
  const state = await follow(controls, editor, controls.found ?? foldAll([]));
  await service.current()?.result;
  if (session.isCancelled) return { stopReason: 'cancelled' };
  if (state.finished?.status === 'rejected') await say(editor, 'The plan was not approved: nothing was done.');
  return { stopReason: 'end_turn' };
}

const INVALID = -32_602;
const FAILED = -32_603;

function sessionId(written: string): SessionId {
  const id = SessionId.safeParse(written);
  if (!id.success) throw new RequestError(INVALID, `there is no session ${written}`);
  return id.data;
}

function sessionIn(sessions: ReadonlyMap<string, EditorSession>, id: string): EditorSession {
  const session = sessions.get(id);
  if (session === undefined) throw new RequestError(INVALID, `there is no session ${id}; open it with session/load`);
  return session;
}

/** The text of a prompt; files and links by their address. */
const textOf = (prompt: readonly ContentBlock[]): string =>
  prompt
    .flatMap((block) => {
      if (block.type === 'text') return [block.text];
      if (block.type === 'resource_link') return [block.uri];
      if (block.type !== 'resource') return [];
      return 'text' in block.resource ? [`${block.resource.uri}\n${block.resource.text}`] : [block.resource.uri];
    })
    .join('\n\n');

async function stateOf(controls: Controls): Promise<RunState> {
  const events = [];
  for await (const event of controls.events(0, { outputs: false })) events.push(event);
  return foldAll(events);
}

function accepted<T>(result: Result<T, Refusal>): T {
  if (result.ok) return result.value;
  throw new RequestError(FAILED, result.fault.text);
}

const refusing = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw new RequestError(FAILED, error instanceof Error ? error.message : String(error));
  });
