/** What an editor is told of a run: the plan, each agent as a tool call, questions as requests for permission, and the answer. */
import {
  type AgentContext,
  methods,
  type PermissionOption,
  type RequestPermissionResponse,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import { answerCommands } from '../../app/actions/index.ts';
import { plainPlanLines } from '../../app/reports/index.ts';
import { agentName, answerText, escapeHidden, offersFor, questionText, WANTS } from '../../app/views/index.ts';
import { type AgentId, ROOT } from '../../domain/ids.ts';
import { fold, isFinal, type MimirEvent, type RunState } from '../../events/index.ts';
import type { Command, Controls } from '../../ports/controls.ts';

type Asked = RunState['approvals'][number];

/** Follows a run to its end; resolves with its last state. */
export async function follow(controls: Controls, editor: Editor, before: RunState): Promise<RunState> {
  let state = before;
  for await (const event of controls.events(before.seq, { outputs: false })) {
    state = fold(state, event);
    await tell(event, state, editor, controls);
  }
  return state;
}

/** The editor's side of a session. */
export interface Editor {
  update(update: SessionUpdate): Promise<void>;
  ask(title: string, text: string, options: readonly PermissionOption[]): Promise<string | null>;
}

export const editorOf = (client: AgentContext, sessionId: string): Editor => {
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

async function tell(event: MimirEvent, state: RunState, editor: Editor, controls: Controls): Promise<void> {
  switch (event.type) {
    case 'plan.proposed':
      await editor.update(planOf(state));
      if (state.phase === 'approving') void approve(state, editor, controls);
      return;
    case 'plan.approved':
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
      return say(editor, clean(answerText(state)));
    default:
  }
}

export const say = (editor: Editor, text: string): Promise<void> =>
  text === ''
    ? Promise.resolve()
    : editor.update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });

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

/** An editor that closes the question leaves the plan to other terminals. */
async function approve(state: RunState, editor: Editor, controls: Controls): Promise<void> {
  const count = state.plan?.tasks.length ?? 0;
  const title = `Run this plan with ${count === 1 ? 'one agent' : `${count} agents`}?`;
  const chosen = await editor.ask(title, plainPlanLines(state).join('\n'), APPROVE).catch(() => null);
  if (chosen === null) return;
  const command: Command =
    chosen === 'approve' ? { do: 'approve plan', digest: state.planDigest ?? '' } : { do: 'reject plan' };
  await controls.submit(command);
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
  const text = clean(`${questionText(request)}\n\nbecause ${request.because}`);
  const chosen = await editor.ask(title, text, options.length === 0 ? [none] : options).catch(() => null);
  const offer = offers.find(({ number }) => number === chosen);
  const given = offer ?? (chosen === 'none' ? { allow: false, scope: 'once' as const, text: '' } : null);
  if (given === null) return;
  const { allow, scope, text: words } = given;
  const question = { key: id, first: approval, all: [approval] };
  for (const command of answerCommands(question, [id], { allow, scope, text: words })) await controls.submit(command);
}
