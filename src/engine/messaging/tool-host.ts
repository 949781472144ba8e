/** What tools ask of the run on behalf of an agent: its todos, messages, children, questions. The sender is stamped here. */
import type { WorkOrder } from '../../domain/agents/agent.ts';
import type { Desk, ToolOutput as Output } from '../gate/gate.ts';
import type { Approvals } from '../gate/approvals.ts';
import { readFinding } from './findings.ts';
import type { Inbox } from './inbox.ts';
import { sendMessage } from './host-messages.ts';
import { taskFor, type TaskParts } from './task-tool.ts';
import type { LetterParts } from './messages.ts';

export interface DeskParts extends TaskParts {
  readonly inbox: Inbox;
  readonly approvals: Approvals;
  /** Can a person be asked? */
  readonly person: boolean;
  readonly children: LetterParts['children'];
}

export function deskOf(parts: DeskParts, order: WorkOrder, signal: AbortSignal): Desk {
  const { recorder } = parts;
  return {
    setTodos(todos) {
      recorder.record({ type: 'agent.todos', agent: order.agent, todos });
      const done = todos.filter(({ status }) => status === 'completed').length;
      return { ok: true, text: `${done} of ${todos.length} done` };
    },
    readFinding: (wanted) => readFinding(parts, order, wanted),
    sendMessage: (to, content) => sendMessage(parts, order, to, content),
    spawn: (child) => taskFor(parts, order, child, signal),
    giveVerdict: (verdict) => giveVerdict(parts, order, verdict),
    askUser: (question, options) => askUser(parts, order, { question, options }, signal),
  };
}

/** Bound to the tree that the agent was given to judge. Its last one counts, once it has ended. */
function giveVerdict(
  { recorder }: DeskParts,
  { agent, role }: WorkOrder,
  verdict: Parameters<Desk['giveVerdict']>[0],
): Output {
  const forced = recorder.state().agents.get(agent)?.forced ?? null;
  if (forced === null) return refused('Only agents that a rule makes run give verdicts.');
  recorder.record({ type: 'forced.verdict', agent, role, tree: forced.tree, ...verdict });
  return { ok: true, text: `Noted: ${verdict.pass ? 'pass' : 'no pass'}. End now with one short sentence.` };
}

async function askUser(
  { approvals, person }: DeskParts,
  order: WorkOrder,
  { question, options }: { readonly question: string; readonly options: readonly string[] },
  signal: AbortSignal,
): Promise<Output> {
  if (!person) return refused('Nobody can be asked here. Decide yourself, and say in your answer what you assumed.');
  const request = {
    action: 'question',
    title: question.split('\n')[0] ?? '',
    exact: question,
    options,
    unsandboxed: false,
    because: '',
  } as const;
  const answer = await approvals.ask(order, null, request, signal);
  // Asked again by whoever goes on with the run.
  if (answer.is === 'withdrawn')
    return { ...refused('The question was withdrawn.'), ...(signal.reason === 'run stopped' ? { open: true } : {}) };
  const text = answer.text.trim();
  if (answer.is === 'denied' && text === '') return refused('The person does not want to answer this.');
  return { ok: true, text: text === '' ? 'Yes.' : text };
}

const refused = (text: string): Output => ({ ok: false, text });
