/** What screens look at, from the parts that know it; and whether time alone changes what they show. */
import type { Millis } from '../../../domain/ids.ts';
import type { RunState } from '../../../events/state.ts';
import { EMPTY } from '../../../events/state.ts';
import type { LobbyInfo } from '../../../ports/project-service.ts';
import { someoneWorks } from '../../../app/views/agents/agent-lines.ts';
import type { FoundFiles } from './found-files.ts';
import type { Glyphs } from '../components/glyphs.ts';
import type { RunFeed } from '../components/runs/feed.ts';
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
    files: (query) => files.of(query),
    ...(feed === null ? NO_RUN : ofRun(feed, rest.now)),
  };
}

type OfRun = Omit<Context, keyof LobbyParts | 'files' | 'now'>;
type LobbyParts = Pick<Context, 'lobby' | 'glyphs' | 'look'>;

const ofRun = (feed: RunFeed, now: Millis): OfRun & Pick<Context, 'now'> => ({
  state: feed.shown,
  now: feed.time(now),
  live: feed.live.texts(),
  reasoning: feed.live.reasoning(),
  calls: feed.live.calls(),
  preview: (mode, agent) => feed.preview(mode, agent),
  amended: (edits) => feed.amended(edits),
  activity: (agent) => feed.live.activity(agent, now),
  ...(feed.elsewhere === undefined ? {} : { elsewhere: feed.elsewhere }),
});

const NO_TEXTS: ReadonlyMap<string, string> = new Map();
const NO_CALLS: NonNullable<Context['calls']> = new Map();
const NO_RUN: OfRun = {
  state: EMPTY,
  live: NO_TEXTS,
  reasoning: NO_TEXTS,
  calls: NO_CALLS,
  activity: () => ({ rate: 0, steps: [] }),
};

/** Does something of this run count seconds? Nothing does while a plan waits for the person, nor at the end. */
export function hasClock(state: RunState, isThere: boolean): boolean {
  if (state.finished !== null) return false;
  const planning = isThere && (state.phase === 'planning' || state.phase === 'starting');
  return planning || state.approvals.length > 0 || (state.phase !== 'approving' && someoneWorks(state));
}
