/** Calls of ROOT's own, for the plan and the report: messages to it are read before each, those that interrupt one too. */
import { fail, type Result } from '../../domain/result.ts';
import type { ModelReply, Turn } from '../../domain/turn.ts';
import type { Gate } from '../gate/gate.ts';
import type { AskFault, Question } from '../gate/question.ts';

/** One reply. What was read meanwhile is added to the turns of the question. */
export async function askRoot(
  gate: Gate,
  question: Question & { readonly turns: Turn[] },
  when: Parameters<Gate['waiting']>[1],
  signal: AbortSignal,
): Promise<Result<ModelReply, Exclude<AskFault, { readonly is: 'told' }>>> {
  for (;;) {
    const mail = gate.waiting(question.order, when);
    if (mail) question.turns.push(mail);
    const reply = await gate.ask(question, signal);
    if (reply.ok) return reply;
    if (reply.fault.is !== 'told') return fail(reply.fault);
  }
}
