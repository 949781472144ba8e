/** The last turn of an agent that reviews: its verdict is the one call that it may still make, since words open no gate. */
import type { WorkOrder } from '../../domain/agents/agent.ts';
import type { ToolCall, ToolResult, Turn } from '../../domain/turn.ts';
import { NOT_IN_LAST_TURN, ONLY_THE_VERDICT, VERDICT_TOOL } from '../agents/closing-words.ts';
import type { Gate } from '../gate/gate.ts';

/** Does this agent review, so that its last turn is for its verdict? */
export const isReviewer = ({ tools }: { readonly tools: readonly string[] }): boolean => tools.includes(VERDICT_TOOL);

/** The results of the calls of a last turn: only a reviewer's verdict is carried out. */
export async function lastResults(
  order: WorkOrder,
  gate: Gate,
  calls: readonly ToolCall[],
  signal: AbortSignal,
): Promise<readonly ToolResult[]> {
  if (!isReviewer(order)) return gate.refuse(order, calls, NOT_IN_LAST_TURN);
  const verdicts = calls.filter(({ tool }) => tool === VERDICT_TOOL);
  const others = calls.filter(({ tool }) => tool !== VERDICT_TOOL);
  const given = [...(await gate.use(order, verdicts, signal)), ...gate.refuse(order, others, ONLY_THE_VERDICT)];
  return calls.flatMap(({ id }) => given.filter(({ call }) => call === id));
}

/** Has the agent given its verdict? */
export const hasVerdict = (turns: readonly Turn[]): boolean =>
  turns.some((turn, at) => {
    const next = turns[at + 1];
    if (turn.by !== 'model' || next?.by !== 'tools') return false;
    const asked = new Set(turn.calls.flatMap(({ tool, id }) => (tool === VERDICT_TOOL ? [id] : [])));
    return next.results.some(({ call, ok }) => ok && asked.has(call));
  });
