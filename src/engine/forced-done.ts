/** What was done in a burst of work, in lines for whoever judges it: what had an effect, and what was said. Pure. */
import type { AgentId } from '../domain/ids.ts';
import type { MimirEvent } from '../events/event.ts';
import type { RunState } from '../events/state.ts';

/** Lines at most, and characters of each. Acts come before words: who talks much hides nothing behind that. */
const MOST_LINES = 120;
const LONGEST = 300;

/** Acts that can't be taken back, each with its agent, then what was said; what is left out is counted. */
export function doneIn({ agents }: RunState, events: readonly MimirEvent[]): readonly string[] {
  const worker = (agent: AgentId): string | null => {
    const one = agents.get(agent);
    return one === undefined || one.forced !== null ? null : one.name;
  };
  const line = (agent: AgentId, what: string): readonly string[] => {
    const name = worker(agent);
    return name === null ? [] : [`${name} ${what}`.replaceAll('\n', ' ').slice(0, LONGEST).toWellFormed()];
  };
  const acts = events.flatMap((event) =>
    event.type === 'tool.started' && event.repeat === 'never' ? line(event.agent, `did: ${event.label}`) : [],
  );
  const words = events.flatMap((event) =>
    event.type === 'agent.message' ? line(event.agent, `said: ${event.text}`) : [],
  );
  const all = [...acts, ...words];
  const left = all.length - MOST_LINES;
  return left <= 0 ? all : [...all.slice(0, MOST_LINES), `and ${left} more`];
}
