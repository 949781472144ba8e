/** Names of agents and models in columns. A name that is too long is cut in its middle, since children of one parent differ at the end
 * (`finder-part-12`); a column is as wide as the longest name of the run, within limits of the pane. */
import { clip, clusterWidth, graphemes, indentOf, modelName, modelText, plain } from '../../../app/views/index.ts';
import { span, toLabel, widthOf } from '../../../app/views/index.ts';
import type { ModelChoice } from '../../../domain/agents/agent.ts';
import { memoize } from '../../../domain/memoize.ts';
import type { RunState } from '../../../events/index.ts';
import type { Glyphs } from '../text/glyphs.ts';

/** Below this many columns a name is cut at its end. */
const LEAST = 7;

/** A sanitised name of at most `width` columns. */
export function clipName(name: string, width: number): string {
  const label = toLabel(name);
  if (widthOf(label) <= width) return label;
  if (width < LEAST) return plain(clip([span(label)], Math.max(0, width)));
  const room = width - 1;
  const clusters = graphemes(label);
  const head = within(clusters, Math.ceil(room / 2));
  const tail = within(clusters.toReversed(), room - widthOf(head.join('')));
  return `${head.join('').trimEnd()}…${tail.toReversed().join('').trimStart()}`;
}

/** A sanitised name of exactly `width` columns. */
export function fitName(name: string, width: number): string {
  const cut = clipName(name, width);
  return cut + ' '.repeat(Math.max(0, width - widthOf(cut)));
}

/** The first clusters that together take at most `width` columns. */
function within(clusters: readonly string[], width: number): readonly string[] {
  let room = width;
  const end = clusters.findIndex((cluster) => (room -= clusterWidth(cluster)) < 0);
  return end === -1 ? clusters : clusters.slice(0, end);
}

/** Columns of the longest name in the run: `indented` with two columns of indent for each level. */
export const longestName = memoize(
  ({ agents }: RunState) => [agents],
  ({ agents }) => {
    const widths = [...agents.values()].map((agent) => ({ agent, width: widthOf(toLabel(agent.name)) }));
    return {
      flat: Math.max(0, ...widths.map(({ width }) => width)),
      indented: Math.max(0, ...widths.map(({ agent, width }) => width + 2 * indentOf(agent))),
    };
  },
);

/** Columns for names: those of the longest, but at least `least` and at most `most`. */
export const nameColumn = (state: RunState, least: number, most: number): number =>
  Math.max(least, Math.min(most, longestName(state).flat));

/** The used model, after the requested one where they differ and both fit into `room` columns; else `→ offline`. */
export function fittingModel(model: ModelChoice, room: number, glyphs: Glyphs): string {
  const both = toLabel(modelText(model, glyphs));
  return model.because === null || widthOf(both) <= room ? both : `${glyphs.arrow} ${toLabel(modelName(model.used))}`;
}
