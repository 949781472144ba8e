/**
 * A review that was under way when the process ended. It goes on where it was, if exactly what it judges is asked again, of the same
 * model: a verdict is of one tree for ever. Otherwise it ends without one. There is one at most: reviews stand in line.
 */
import type { ForcedNode } from '../../domain/agents/mandatory-review.ts';
import type { AgentId } from '../../domain/ids.ts';
import { isFinal } from '../../events/queries.ts';
import type { AgentState, RunState } from '../../events/state.ts';
import type { Standing } from '../../events/turns.ts';
import { standingsOf } from '../../events/turns.ts';
import { CUT_OFF, finishedEvent } from '../agents/agent-end.ts';
import type { JudgeParts } from './judge.ts';

type Judged = NonNullable<AgentState['forced']>;

interface Again {
  readonly agent: AgentId;
  readonly standing: Standing;
}

/** In its turn, before another review begins: the one that goes on with this, whose conversation it is. Null: a new one is to. */
export function reviewAgain(
  parts: Pick<JudgeParts, 'recorder' | 'world'>,
  node: ForcedNode,
  what: Judged,
): Again | null {
  const { recorder } = parts;
  const cut = cutReview(recorder.state());
  if (cut === null) return null;
  if (!isSame(cut, node, what)) {
    endCut(parts);
    return null;
  }
  const standing = standingsOf(recorder.each({ agents: [cut.id] }), [cut.id]).get(cut.id) ?? { turns: [], replies: 0 };
  return { agent: cut.id, standing };
}

/** In its turn, when nobody asks again for what was begun: it ends. */
export function endCut(parts: Pick<JudgeParts, 'recorder' | 'world'>): void {
  const cut = cutReview(parts.recorder.state());
  if (cut !== null) parts.recorder.record(finishedEvent(parts, cut.id, 'abandoned', cut.summary, CUT_OFF));
}

/** May it go on in this process? What a person has begun nobody asks for again; nor what may never be asked for in a run without a plan. */
export const mayGoOn = ({ trigger }: Judged, idle: boolean): boolean =>
  trigger === 'on-write' || trigger === 'always' || (trigger === 'on-commit' && !idle);

const cutReview = ({ agents }: RunState): AgentState | null =>
  [...agents.values()].find((one) => one.forced !== null && !isFinal(one)) ?? null;

const isSame = ({ role, model, forced }: AgentState, node: ForcedNode, what: Judged): boolean =>
  role === node.role &&
  model.used === node.model.used &&
  forced?.trigger === what.trigger &&
  forced.tree === what.tree &&
  forced.from === what.from;
