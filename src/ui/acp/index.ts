/** Mimir as an agent for editors: the server side of the Agent Client Protocol, version 1 (https://agentclientprotocol.com/protocol/v1). */
import type { AgentContext, ContentBlock, PermissionOption, PromptResponse } from '@agentclientprotocol/sdk';
import type { RequestPermissionResponse, SessionUpdate } from '@agentclientprotocol/sdk';
import { agent, methods, ndJsonStream, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk';
import { answerCommands } from '../../app/actions/index.ts';
import type { LocalProjectService } from '../../app/project/index.ts';
import { plainPlanLines } from '../../app/reports/index.ts';
import { agentName, answerText, dangerOf, escapeHidden, offersFor, questionText } from '../../app/views/index.ts';
import { WANTS } from '../../app/views/index.ts';
import { type AgentId, ROOT, SessionId } from '../../domain/ids.ts';
import { messageOf, type Result } from '../../domain/result.ts';
import { fold, foldAll, isFinal, type MimirEvent, type RunState } from '../../events/index.ts';
import type { Command, Controls, Refusal } from '../../ports/controls.ts';

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
      const id = sessionId(params.sessionId);
      const known = sessions.get(id);
      const session = known ?? (await opened(id, params.cwd, true));
      const found = await session.service.look(id);
      if (!found.ok && known === undefined) {
        sessions.delete(id);
        await session.service.close();
      }
      const state = await stateOf(accepted(found));
      const editor = editorOf(client, session.id);
      await editor.update({ sessionUpdate: 'user_message_chunk', content: { type: 'text', text: clean(state.task) } });
      await say(editor, answerText(state));
      return {};
    })
    .onRequest(methods.agent.session.prompt, ({ params, client }) =>
      prompted(sessionIn(sessions, params.sessionId), textOf(params.prompt), client),
    )
    .onNotification(methods.agent.session.cancel, ({ params }) => {
      const session = sessions.get(params.sessionId);
      if (session === undefined) return;
      session.isCancelled = true;
      session.service.current()?.stop(CANCELLED);
    })
    .connect(ndJsonStream(parts.output, parts.input));
  await connection.closed;
  const gone = [...sessions.values()].map(async ({ service }) => {
    service.current()?.stop('the editor has gone');
    await service.current()?.result;
    await service.close();
  });
  await Promise.all(gone);
}

async function prompted(session: EditorSession, text: string, client: AgentContext): Promise<PromptResponse> {
  const { id, service } = session;
  if (text.trim() === '') throw new RequestError(INVALID, 'the prompt is empty');
  session.isCancelled = false;
  const controls = session.hasRun
    ? accepted(await service.resume(id, text))
    : await refusing(service.begin({ session: id, task: text, plan: null }));
  session.hasRun = true;
  // It may have been cancelled while the run was opened.
  if (session.isCancelled) service.current()?.stop(CANCELLED);
  const editor = editorOf(client, id);
  const state = await follow(controls, editor, controls.found ?? foldAll([]));
  await service.current()?.result;
  if (session.isCancelled) return { stopReason: 'cancelled' };
  if (state.finished?.status === 'rejected') await say(editor, 'The plan was not approved: nothing was done.');
  return { stopReason: 'end_turn' };
}

const CANCELLED = 'stopped in the editor';
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
    throw new RequestError(FAILED, messageOf(error));
  });

// What an editor is told of a run: the plan, each agent as a tool call, questions as requests for permission, and the answer.

type Asked = RunState['approvals'][number];

/** Follows a run to its end; resolves with its last state. */
async function follow(controls: Controls, editor: Editor, before: RunState): Promise<RunState> {
  let state = before;
  const now = (): RunState => state;
  for await (const event of controls.events(before.seq, { outputs: false })) {
    state = fold(state, event);
    await tell(event, now, editor, controls);
  }
  return state;
}

/** The editor's side of a session. */
interface Editor {
  update(update: SessionUpdate): Promise<void>;
  ask(title: string, text: string, options: readonly PermissionOption[]): Promise<string | null>;
}

const editorOf = (client: AgentContext, sessionId: string): Editor => {
  let asked = 0;
  return {
    update: (update) => client.notify(methods.client.session.update, { sessionId, update }),
    async ask(title, text, options) {
      const toolCallId = `question-${(asked += 1)}`;
      const toolCall = { toolCallId, title, status: 'pending' as const, content: [textContent(text)] };
      const request = { sessionId, toolCall, options: [...options] };
      const { outcome } = await client.request<RequestPermissionResponse>(
        methods.client.session.requestPermission,
        request,
      );
      return outcome.outcome === 'selected' ? outcome.optionId : null;
    },
  };
};

async function tell(event: MimirEvent, now: () => RunState, editor: Editor, controls: Controls): Promise<void> {
  const state = now();
  switch (event.type) {
    case 'plan.proposed':
      await editor.update(planOf(state));
      if (state.phase === 'approving') void approve(now, editor, controls);
      return;
    case 'plan.approved':
    case 'plan.edited':
    case 'plan.amended':
      return editor.update(planOf(state));
    case 'agent.created':
      return event.agent === ROOT ? undefined : editor.update(callOf(event.agent, state));
    case 'tool.started':
      return event.agent === ROOT
        ? undefined
        : editor.update({ ...changeOf(event.agent, state), content: [textContent(clean(event.label))] });
    case 'agent.finished':
      if (event.agent === ROOT) return;
      await editor.update({
        ...changeOf(event.agent, state),
        content: [textContent(clean(event.error ?? event.summary))],
      });
      return editor.update(planOf(state));
    case 'approval.requested': {
      const approval = state.approvals.find(({ id }) => id === event.approval);
      return approval === undefined ? undefined : void answer(approval, state, editor, controls);
    }
    case 'session.finished':
      return say(editor, answerText(state));
    default:
  }
}

const say = (editor: Editor, text: string): Promise<void> =>
  text === ''
    ? Promise.resolve()
    : editor.update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: clean(text) } });

const clean = (text: string): string => escapeHidden(text).toWellFormed();
const textContent = (text: string) => ({ type: 'content' as const, content: { type: 'text' as const, text } });

/** The tasks in plan order. */
function planOf({ plan, agents }: RunState): SessionUpdate {
  const ofTask = new Map([...agents.values()].map((agent) => [agent.taskId, agent]));
  const entries = (plan?.tasks ?? []).map(({ id, role, description }) => {
    const agent = ofTask.get(id);
    const status = agent === undefined ? 'pending' : isFinal(agent) ? 'completed' : 'in_progress';
    return { content: clean(`${role}: ${description}`), priority: 'medium', status } as const;
  });
  return { sessionUpdate: 'plan', entries };
}

const callOf = (agent: AgentId, state: RunState): SessionUpdate => ({
  sessionUpdate: 'tool_call',
  toolCallId: agent,
  title: clean(`${agentName(state, agent)}: ${state.agents.get(agent)?.task.split('\n')[0] ?? ''}`),
  kind: 'other',
  status: 'in_progress',
});

function changeOf(agent: AgentId, { agents }: RunState): Extract<SessionUpdate, { sessionUpdate: 'tool_call_update' }> {
  const one = agents.get(agent);
  const ended = one !== undefined && isFinal(one);
  const status = !ended ? 'in_progress' : one.outcome === 'completed' ? 'completed' : 'failed';
  return { sessionUpdate: 'tool_call_update', toolCallId: agent, status };
}

const APPROVE: readonly PermissionOption[] = [
  { optionId: 'approve', name: 'Approve the plan', kind: 'allow_once' },
  { optionId: 'reject', name: 'Reject the plan', kind: 'reject_once' },
];

/** An editor that closes the question leaves the plan to other terminals. A plan that was changed meanwhile is asked about again. */
async function approve(now: () => RunState, editor: Editor, controls: Controls): Promise<void> {
  const state = now();
  const count = state.plan?.tasks.length ?? 0;
  const title = `Run this plan with ${count === 1 ? 'one agent' : `${count} agents`}?`;
  const chosen = await editor.ask(title, plainPlanLines(state).join('\n'), APPROVE).catch(() => null);
  if (chosen === null) return;
  const command: Command =
    chosen === 'approve' ? { do: 'approve plan', digest: state.planDigest ?? '' } : { do: 'reject plan' };
  const isDone = await submit(command, editor, controls);
  if (!isDone && now().phase === 'approving' && now().planDigest !== state.planDigest)
    await approve(now, editor, controls);
}

/** False where the run refuses it, which is said. */
async function submit(command: Command, editor: Editor, controls: Controls): Promise<boolean> {
  const done = await controls.submit(command);
  if (!done.ok) await say(editor, `Not done: ${done.fault.text}\n\n`).catch(() => undefined);
  return done.ok;
}

async function answer(approval: Asked, state: RunState, editor: Editor, controls: Controls): Promise<void> {
  const { request, agent, id } = approval;
  // What has to be typed cannot be answered in an editor; a terminal that attaches can.
  const offers = offersFor(request).filter(({ asks }) => asks === null);
  const options = offers.map(
    ({ number, label, allow, scope }): PermissionOption => ({
      optionId: number,
      name: label,
      kind: allow ? (scope === 'once' ? 'allow_once' : 'allow_always') : 'reject_once',
    }),
  );
  const title = clean(`${agentName(state, agent)} ${WANTS[request.action]}`);
  const none: PermissionOption = { optionId: 'none', name: 'Answer with nothing', kind: 'reject_once' };
  const danger = dangerOf(request) ?? '';
  const text = clean(`${questionText(request)}\n\nbecause ${request.because}\n\n${danger}`.trimEnd());
  const chosen = await editor.ask(title, text, options.length === 0 ? [none] : options).catch(() => null);
  const offer = offers.find(({ number }) => number === chosen);
  const given = offer ?? (chosen === 'none' ? { allow: false, scope: 'once' as const, text: '' } : null);
  if (given === null) return;
  const { allow, scope, text: words } = given;
  const question = { key: id, first: approval, all: [approval] };
  for (const command of answerCommands(question, [id], { allow, scope, text: words }))
    await submit(command, editor, controls);
}
