/** What the forced agents of a run found, and which gates stayed closed: for its end. */
import type { GivenVerdict } from '../../../../events/decisions.ts';
import { labelOf } from '../../../../app/views/agents/agent-lines.ts';
import type { Context } from '../../frame/screen.ts';
import { span } from '../../../../app/views/text/clip.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { wrap } from '../../../../app/views/text/wrap.ts';
import { gateWords, judged, verdictLine } from '../plan/mandatory-reviews.ts';

/** As many lines as it takes, at most `width` columns each; empty where nothing was judged. What is closed comes first. */
export function reviewLines(context: Context, width: number): readonly Line[] {
  const { state } = context;
  return [
    ...closedLines(context, width),
    ...state.verdicts.flatMap((verdict) => verdictLines(verdict, context, width)),
  ];
}

/** What waits for a verdict that never came: `▣ security did not pass: it ran out of budget, #4 refactoring`. */
const closedLines = ({ state, glyphs }: Context, width: number): readonly Line[] =>
  state.gates
    .filter(({ open, role, tree }) => !open && !state.verdicts.some((one) => one.role === role && one.tree === tree))
    .flatMap((gate) => {
      const { text, ink } = gateWords(gate, state);
      const whose = span(`, ${toLabel(labelOf(state, gate.agent))}`, { fg: 'muted' });
      return wrap([span(`${glyphs.lock} ${text}`, { fg: ink, bold: true }), whose], width, 2);
    });

function verdictLines(verdict: GivenVerdict, { state, glyphs }: Context, width: number): readonly Line[] {
  const agent = state.agents.get(verdict.agent);
  const what = agent === undefined ? '' : `, ${judged(agent, state)}`;
  const head: Line = [
    span(toLabel(verdict.role), { fg: `role:${verdict.role}`, bold: true }),
    span(' '),
    ...verdictLine(verdict, glyphs),
    span(what, { fg: 'muted' }),
  ];
  const findings = verdict.findings.flatMap((finding) =>
    wrap([span(`  ${glyphs.bullet} `, { fg: 'focus' }), span(toLabel(finding), { fg: 'fg' })], width, 2),
  );
  const summary = verdict.pass ? [] : wrap([span(`  ${toLabel(verdict.summary)}`, { fg: 'fg' })], width);
  return [...wrap(head, width, 2), ...summary, ...findings];
}
