/** Forced agents before a commit: each judges exactly the tree that is proposed; one that does not pass is the end of it. */
import type { ForcedNode } from '../../domain/agents/mandatory-review.ts';
import type { AgentId } from '../../domain/ids.ts';
import type { Result } from '../../domain/result.ts';
import { fail, ok } from '../../domain/result.ts';
import type { CommitGate } from '../gate/tools/review-check.ts';
import type { JudgeParts } from './judge.ts';
import { decide, judge, judged, nameOf } from './judge.ts';
import { gateWords, verdictOnCommit } from './record.ts';

export const STOPPED = 'stopped before the commit was judged';

interface Committing {
  readonly agent: AgentId;
  readonly proposal: Parameters<CommitGate['beforeCommit']>[1];
  readonly signal: AbortSignal;
}

/** Ok when all `nodes` let it pass, or only warn; otherwise why not, in words for the model. */
export async function judgeCommit(
  parts: JudgeParts,
  nodes: readonly ForcedNode[],
  { agent, proposal, signal }: Committing,
): Promise<Result<void, string>> {
  const { tree, from, files, patch } = proposal;
  for (const node of nodes) {
    if (signal.aborted) return fail(STOPPED);
    const known = verdictOnCommit(parts.recorder.state(), node.role, tree, from);
    const what = { trigger: 'on-commit', whose: nameOf(parts, agent), files, patch, tree, from } as const;
    const verdict = known === null ? await judge(parts, node, what, signal) : judged(known);
    // A review that ended with who asked for it says nothing of the commit.
    if (verdict === null || signal.aborted) return fail(STOPPED);
    if (decide(parts, node, 'on-commit', agent, tree, verdict) === 'closed') return fail(refusal(parts, node, agent));
  }
  return ok(undefined);
}

function refusal({ recorder }: JudgeParts, { role, because }: ForcedNode, agent: AgentId): string {
  const state = recorder.state();
  const gate = state.gates.find((one) => one.agent === agent && one.role === role && one.trigger === 'on-commit');
  const words = gate === undefined ? role : gateWords(state, gate);
  return `Not committed: the ${role} review of exactly this did not pass — ${because}\n${words}`;
}
