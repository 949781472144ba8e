/** The changes of a run as a person reviews them: each hunk with its agents, in groups. */
import type { AuthoredFile, AuthoredHunk } from '../../domain/changes/authorship.ts';
import type { AgentId } from '../../domain/ids.ts';
import { jsonDigest } from '../../domain/digest.ts';
import { memoize } from '../../domain/memoize.ts';
import { type RunState, taskOf } from '../../events/index.ts';
import { closedReason, labelOf } from './agents/agent-lines.ts';
import { diffLinesOf } from './authors.ts';

export const GROUPINGS = ['agent', 'task', 'file'] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface ReviewItem {
  readonly file: AuthoredFile;
  /** Null: the file as a whole, which is not shown as lines, or its mode. */
  readonly hunk: AuthoredHunk | null;
  /** The number of the hunk in its file. */
  readonly nth: number;
  readonly agent: AgentId;
  /** Stays the same while its lines do. */
  readonly key: string;
  /** First and last line now, `12-14`; empty for a whole file. */
  readonly lines: string;
}

export interface ReviewGroup {
  readonly title: string;
  readonly items: readonly ReviewItem[];
}

/** The changes of agents that are left, in groups sorted by title; what only the person changed is left out. */
export const reviewGroups = memoize(
  (state: RunState, by: Grouping) => [state.agents, state.authored, by],
  (state, by): readonly ReviewGroup[] => {
    const items = itemsIn(state.authored ?? NOTHING);
    const groups = Map.groupBy(items, (item) => titleOf(state, item, by));
    return [...groups].map(([title, own]) => ({ title, items: own })).toSorted((a, b) => (a.title < b.title ? -1 : 1));
  },
);

const NOTHING: readonly AuthoredFile[] = [];

const itemsIn = memoize(
  (files: readonly AuthoredFile[]) => [files],
  (files) => files.flatMap(itemsOf),
);

const keyOf = (file: AuthoredFile, text: string): string => jsonDigest([file.path, text]).slice(0, 20);

function itemsOf(file: AuthoredFile): readonly ReviewItem[] {
  const hunks = file.hunks.flatMap((hunk, nth): readonly ReviewItem[] => {
    const [agent] = hunk.agents;
    if (agent === undefined) return [];
    const { at, lines } = hunk.to;
    const range = lines > 1 ? `${at}-${at + lines - 1}` : `${Math.max(1, at)}`;
    return [{ file, hunk, nth, agent, lines: range, key: keyOf(file, diffLinesOf(hunk).join('\n')) }];
  });
  const [agent] = [...(file.whole ?? []), ...(file.mode ?? [])];
  if (agent === undefined) return hunks;
  return [
    ...hunks,
    {
      file,
      hunk: null,
      nth: -1,
      agent,
      lines: '',
      key: keyOf(file, `${file.now?.blob ?? ''} ${file.now?.mode ?? ''}`),
    },
  ];
}

function titleOf(state: RunState, { file, agent }: ReviewItem, by: Grouping): string {
  if (by === 'file') return file.path;
  const own = by === 'task' ? taskOf(state, agent) : null;
  return state.plan?.tasks.find(({ id }) => id === own)?.description ?? labelOf(state, agent);
}

/** `src/a.ts:12-14`, or the file alone. */
export const placeOf = ({ file, lines }: ReviewItem): string => (lines === '' ? file.path : `${file.path}:${lines}`);

/** Who gets a comment on a change, its agent or main where that cannot go on, and the words before it. */
export function commentOn(state: RunState, item: ReviewItem): { readonly to: AgentId | null; readonly about: string } {
  const one = state.agents.get(item.agent);
  return one !== undefined && closedReason(one) === null
    ? { to: item.agent, about: `About your change of ${placeOf(item)}: ` }
    : { to: null, about: `About ${placeOf(item)}, changed by ${labelOf(state, item.agent)}: ` };
}
