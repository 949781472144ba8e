/** What a child of a call used, and what its caller's context grew by for it: the proof that only the answer came back. */
import { tokensOfAgent } from '../../../events/queries.ts';
import type { AgentState, RunState } from '../../../events/state.ts';
import { formatTokens } from '../text/format.ts';

/** `child used 12.4k tokens, parent grew by 380 (counted)`; null of who is no such child, or has not come back. */
export function isolationWords(child: AgentState, state: RunState): string | null {
  const grew = grownBy(child, state);
  return grew === null ? null : `child used ${formatTokens(tokensOfAgent(child))} tokens, parent grew by ${grew}`;
}

/** `380 (counted)`, `about 95 (estimated)` */
function grownBy({ call, parent }: AgentState, { agents }: RunState): string | null {
  const returned = parent === null ? undefined : agents.get(parent)?.returns?.find((one) => one.call === call);
  if (returned === undefined) return null;
  const many = formatTokens(returned.tokens);
  return returned.by === 'provider' ? `${many} (counted)` : `about ${many} (estimated)`;
}
