/** Human mode: each model turn waits for the person, who lets it go on, says something, or runs a command in its place. */
import type { WorkOrder } from '../domain/agent.ts';
import { CallId } from '../domain/ids.ts';
import { decide } from '../policy/decide.ts';
import { reasonText } from '../domain/reason.ts';
import type { GateParts } from './gate.ts';
import { useTools } from './gate-use.ts';

/** `told`: something was put into the inbox instead; look there and ask again. */
export async function personsTurn(
  parts: GateParts,
  order: WorkOrder,
  signal: AbortSignal,
): Promise<'go on' | 'told' | 'stopped'> {
  const { recorder, rules, person, approvals } = parts;
  const decision = decide({ is: 'turn' }, rules, {
    mode: recorder.state().mode,
    interactive: person,
    sandbox: 'none',
    capabilities: order.capabilities,
    granted: false,
  });
  if (decision.verdict !== 'ask') return decision.verdict === 'allow' ? 'go on' : 'stopped';
  const answer = await approvals.ask(
    order,
    null,
    {
      action: 'turn',
      title: 'its next turn',
      exact: 'Enter lets it go on. Text is a message to it. A line with ! is run as a command in its place.',
      options: [],
      unsandboxed: false,
      because: reasonText(decision.because),
    },
    signal,
  );
  if (answer.is === 'withdrawn') return 'stopped';
  const text = answer.text.trim();
  if (text === '') return answer.is === 'allowed' ? 'go on' : 'stopped';
  parts.inbox.send({
    from: 'person',
    sender: null,
    to: order.agent,
    kind: 'request',
    delivery: 'important',
    content: text.startsWith('!') ? await ranByPerson(parts, order, text.slice(1).trim(), signal) : text,
  });
  return 'told';
}

async function ranByPerson(parts: GateParts, order: WorkOrder, command: string, signal: AbortSignal): Promise<string> {
  const call = { id: CallId.parse(parts.callId(order.agent)), tool: 'bash', input: { command } };
  const [result] = await useTools(parts, order, [call], signal);
  return `The person ran this command in your place:\n${command}\n\nIts result:\n${result?.text ?? ''}`;
}
