/**
 * Names of agents in columns: a name that is too long is cut in its middle, since children of one parent differ at the end
 * (`finder-part-12`); how wide the column of a run is, its longest name says, within what the pane can spare.
 */
import type { RunState } from '../../../events/state.ts';
import { indentOf } from '../../../app/views/agents/agent-lines.ts';
import type { Glyphs } from './glyphs.ts';
import { clip, plain, span } from '../../../app/views/text/clip.ts';
import { toLabel } from '../../../app/views/text/sanitise.ts';
import { clusterWidth, graphemes, widthOf } from '../../../app/views/text/width.ts';

/** Below so many columns two halves say less than one start. */
const LEAST = 7;

/** At most `width` columns, harmless. */
export function clipName(name: string, width: number, { ellipsis }: Pick<Glyphs, 'ellipsis'>): string {
  const label = toLabel(name);
  if (widthOf(label) <= width) return label;
  if (width < LEAST) return plain(clip([span(label)], Math.max(0, width), ellipsis));
  const room = width - widthOf(ellipsis);
  const clusters = graphemes(label);
  const head = within(clusters, Math.ceil(room / 2));
  const tail = within(clusters.toReversed(), room - widthOf(head.join('')));
  return `${head.join('').trimEnd()}${ellipsis}${tail.toReversed().join('').trimStart()}`;
}

/** Exactly `width` columns. */
export function fitName(name: string, width: number, glyphs: Pick<Glyphs, 'ellipsis'>): string {
  const cut = clipName(name, width, glyphs);
  return cut + ' '.repeat(Math.max(0, width - widthOf(cut)));
}

/** The first clusters that together take at most `width` columns. */
function within(clusters: readonly string[], width: number): readonly string[] {
  let room = width;
  const end = clusters.findIndex((cluster) => (room -= clusterWidth(cluster)) < 0);
  return end === -1 ? clusters : clusters.slice(0, end);
}

interface Longest {
  readonly flat: number;
  /** With two columns before it a level below the plan. */
  readonly indented: number;
}

const KNOWN = new WeakMap<RunState['agents'], Longest>();

/** Columns of the longest name in the run; measured once for each state of the agents. */
export function longestName({ agents }: RunState): Longest {
  const known = KNOWN.get(agents);
  if (known) return known;
  const found = { flat: 0, indented: 0 };
  for (const agent of agents.values()) {
    const width = widthOf(toLabel(agent.name));
    found.flat = Math.max(found.flat, width);
    found.indented = Math.max(found.indented, width + 2 * indentOf(agent));
  }
  KNOWN.set(agents, found);
  return found;
}

/** The column that a name gets: what the longest takes, but at least `least` and at most `most`. */
export const nameColumn = (state: RunState, least: number, most: number): number =>
  Math.max(least, Math.min(most, longestName(state).flat));
