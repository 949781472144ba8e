/**
 * The conversations of agents in the run, kept as the log tells of them: who has waited goes on with its own without reading the
 * whole log again, however often it is woken. Whose begin nobody has seen is read once, with all others that are asked for later.
 */
import type { AgentId } from '../../domain/ids.ts';
import type { MimirEvent } from '../../events/event.ts';
import type { Standing } from '../../events/turns.ts';
import { Conversation, conversationsIn } from '../../events/turns.ts';
import type { Recorder } from '../run/recorder.ts';

export interface Conversations {
  /** Keeps that of `agent` until it is let go; `isNew`: the log holds nothing of one yet. */
  keep(agent: AgentId, isNew: boolean): void;
  /** Where `agent` stands by the log; it is kept from then on. */
  of(agent: AgentId): Standing;
  /** Replies for its work up to its last end, likewise. */
  repliesBefore(agent: AgentId): number;
  /** It works no more: a conversation may be long. */
  drop(agent: AgentId): void;
}

export function openConversations(recorder: Pick<Recorder, 'each' | 'onRecord'>): Conversations {
  const known = new Map<AgentId, Conversation>();
  /** Kept, and not read yet. */
  const unread = new Set<AgentId>();
  recorder.onRecord((event: MimirEvent) => {
    if (event.type === 'session.resumed') for (const one of known.values()) one.take(event);
    else if ('agent' in event && event.agent !== null) known.get(event.agent)?.take(event);
  });
  const found = (agent: AgentId): Conversation => {
    const one = known.get(agent);
    if (one !== undefined) return one;
    unread.add(agent);
    for (const [id, conversation] of conversationsIn(recorder.each({ agents: [...unread] }), unread))
      known.set(id, conversation);
    unread.clear();
    return known.get(agent) ?? new Conversation(agent);
  };
  return {
    keep(agent, isNew) {
      if (known.has(agent)) return;
      if (isNew) known.set(agent, new Conversation(agent));
      else unread.add(agent);
    },
    of: (agent) => found(agent).standing(),
    repliesBefore: (agent) => found(agent).repliesBefore(),
    drop(agent) {
      known.delete(agent);
      unread.delete(agent);
    },
  };
}
