/** More of one session than its record says: its last words, tools and time. Pure. */
import type { Millis } from '../../domain/ids.ts';
import { elapsedOf } from '../queries.ts';
import type { SessionDetail } from './record.ts';
import type { AgentState } from '../state.ts';

/** Tools that are told, the newest ones. */
const RECENT = 10;

export function sessionDetail(agent: AgentState, now: Millis): SessionDetail {
  const said = agent.blocks.findLast((block) => block.is === 'said');
  return {
    last_words: said?.is === 'said' ? said.text : agent.summary,
    recent_tools: agent.blocks
      .flatMap((block) =>
        block.is === 'tool'
          ? [{ label: block.label, ok: block.ok, timestamp: new Date(block.started).toISOString() }]
          : [],
      )
      .slice(-RECENT),
    elapsed: elapsedOf(agent, now),
  };
}
