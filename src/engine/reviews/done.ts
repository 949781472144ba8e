/** What was done in a burst of work, in lines for whoever judges it: what had an effect, and what was said. Pure. */
import type { AgentId } from '../../domain/ids.ts';
import { bytesIn } from '../../domain/text/text.ts';
import type { MimirEvent } from '../../events/event.ts';
import type { RunState } from '../../events/state.ts';

/** Bytes of all lines. Acts come before words: who talks much hides nothing behind that. */
const MOST = 24_000;
/** Characters of a line. A long command may have its sting at the end: what is cut says so. */
const [LONGEST_ACT, LONGEST_WORDS] = [1500, 300];

/** Acts that can't be taken back, each with its agent, then what was said; what is left out is counted. */
export function doneIn({ agents }: RunState, events: readonly MimirEvent[]): readonly string[] {
  const worker = (agent: AgentId): string | null => {
    const one = agents.get(agent);
    return one === undefined || one.forced !== null ? null : one.name;
  };
  const line = (agent: AgentId, what: string, longest: number): readonly string[] => {
    const name = worker(agent);
    return name === null ? [] : [cut(`${name} ${what}`.replaceAll('\n', ' '), longest)];
  };
  const acts = events.flatMap((event) =>
    event.type === 'tool.started' && event.repeat === 'never'
      ? line(event.agent, `did: ${event.label}`, LONGEST_ACT)
      : [],
  );
  const words = events.flatMap((event) =>
    event.type === 'agent.message' ? line(event.agent, `said: ${event.text}`, LONGEST_WORDS) : [],
  );
  const [shown, left] = fitting(acts, MOST);
  const [said, unsaid] = left > 0 ? [[], words.length] : fitting(words, MOST - bytesOf(shown));
  return [
    ...shown,
    ...(left === 0 ? [] : [`AND ${left} MORE ACTS that are not shown: what you can't see you can't pass`]),
    ...said,
    ...(unsaid === 0 ? [] : [`and ${unsaid} more of what was said`]),
  ];
}

function cut(line: string, longest: number): string {
  const left = line.length - longest;
  return left <= 0 ? line.toWellFormed() : `${line.slice(0, longest).toWellFormed()}… (${left} MORE CHARACTERS)`;
}

const bytesOf = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + bytesIn(line) + 1, 0);

/** The first that have room, and how many have none. */
function fitting(lines: readonly string[], room: number): readonly [readonly string[], number] {
  let taken = 0;
  const shown = lines.filter((line) => (taken += bytesIn(line) + 1) <= room);
  return [shown, lines.length - shown.length];
}
