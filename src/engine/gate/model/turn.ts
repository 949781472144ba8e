/** Human mode: each model turn waits for the person, who lets it go on, says something, or runs a command in its place. */
import type { WorkOrder } from '../../../domain/agents/agent.ts';
import { CallId } from '../../../domain/ids.ts';
import type { Mode } from '../../../domain/mode.ts';
import { reasonText } from '../../../domain/reason.ts';
import { modeFor } from '../../../events/modes.ts';
import { decide } from '../../../policy/decide.ts';
import type { Decision } from '../../../policy/rules.ts';
import type { ModeOf } from '../tools/approvals.ts';
import type { AskFault, GateParts } from '../gate.ts';
import { useTools } from '../tools/use.ts';

/** Null: it goes on. Refused by the person, the agent stops and can be resumed; `told`: look at the inbox and ask again. */
export async function personsTurn(parts: GateParts, order: WorkOrder, signal: AbortSignal): Promise<AskFault | null> {
  const decision = judged(parts, order, modeFor(parts.recorder.state(), order.agent));
  if (decision.verdict === 'allow') return null;
  if (decision.verdict === 'deny') return { is: 'denied', text: reasonText(decision.because) };
  const runs = (modeOf: ModeOf): boolean => judged(parts, order, modeOf(order.agent)).verdict === 'allow';
  const answer = await parts.approvals.ask(
    order,
    null,
    {
      action: 'turn',
      title: 'its next turn',
      exact: 'It goes on, with a message of yours where you send one; a line with ! is run as a command in its place.',
      options: [],
      unsandboxed: false,
      because: reasonText(decision.because),
    },
    signal,
    { runs },
  );
  if (answer.is === 'denied' && answer.by !== 'person') return { is: 'stopped', text: answer.text };
  const text = answer.text.trim();
  if (text === '') return answer.is === 'allowed' ? null : { is: 'stopped', text: 'its turn was refused' };
  parts.inbox.send({
    from: 'person',
    sender: null,
    to: order.agent,
    kind: 'request',
    delivery: 'important',
    content: text.startsWith('!') ? await ranByPerson(parts, order, text.slice(1).trim(), signal) : text,
  });
  return { is: 'told' };
}

const judged = ({ rules, person }: GateParts, { capabilities }: WorkOrder, mode: Mode): Decision =>
  decide({ is: 'turn' }, rules, { mode, interactive: person, sandbox: 'none', capabilities, granted: false });

async function ranByPerson(parts: GateParts, order: WorkOrder, command: string, signal: AbortSignal): Promise<string> {
  const call = { id: CallId.parse(parts.callId(order.agent)), tool: 'bash', input: { command } };
  const [result] = await useTools(parts, order, [call], signal, 'person');
  return `The person ran this command in your place:\n${command}\n\nIts result:\n${result?.text ?? ''}`;
}
