/** What screens look at, from the parts that know it; and whether time alone changes what they show. */
import type { Millis } from '../domain/ids.ts';
import type { RunState } from '../events/state.ts';
import { EMPTY } from '../events/state.ts';
import type { LobbyInfo } from '../ports/lobby.ts';
import { someoneWorks } from './agents.ts';
import type { FoundFiles } from './found-files.ts';
import type { Glyphs } from './glyphs.ts';
import type { RunFeed } from './run-feed.ts';
import type { Context, Look } from './screen.ts';

export interface ContextParts {
  readonly feed: RunFeed | null;
  readonly lobby: LobbyInfo;
  readonly now: Millis;
  readonly glyphs: Glyphs;
  readonly look: Look;
  readonly files: FoundFiles;
}

export function contextOf({ feed, files, ...rest }: ContextParts): Context {
  return {
    ...rest,
    state: feed?.state ?? EMPTY,
    live: feed?.live.texts() ?? NO_TEXTS,
    reasoning: feed?.live.reasoning() ?? NO_TEXTS,
    calls: feed?.live.calls() ?? NO_CALLS,
    files: (query) => files.of(query),
    ...(feed === null
      ? {}
      : { preview: (mode, agent) => feed.preview(mode, agent), amended: (edits) => feed.amended(edits) }),
    activity: (agent) => feed?.live.activity(agent, rest.now) ?? { rate: 0, steps: [] },
  };
}

const NO_TEXTS: ReadonlyMap<string, string> = new Map();
const NO_CALLS: NonNullable<Context['calls']> = new Map();

/** Does something of this run count seconds? Nothing does while a plan waits for the person, nor at the end. */
export function hasClock(state: RunState, isThere: boolean): boolean {
  if (state.finished !== null) return false;
  const planning = isThere && (state.phase === 'planning' || state.phase === 'starting');
  return planning || state.approvals.length > 0 || (state.phase !== 'approving' && someoneWorks(state));
}
