/** The verdicts of mandatory reviews and the gates that wait for them, as lines and for cards. */
import { plural, type Ink, labelOf, type Line, span, toLabel, wrap } from '../../../app/views/index.ts';
import type { AgentId } from '../../../domain/ids.ts';
import type { AgentState, ReviewGate, RecordedVerdict, RunState } from '../../../events/index.ts';
import { isFinal } from '../../../events/index.ts';
import type { Context } from '../frame/screen.ts';
import { strong, tint } from '../text/blocks.ts';
import type { Glyphs } from '../text/glyphs.ts';

/** All reviews of a run in lines of at most `width` columns, closed gates first; empty without reviews. */
export function reviewLines(context: Context, width: number): readonly Line[] {
  const { state } = context;
  return [
    ...closedLines(context, width),
    ...state.verdicts.flatMap((verdict) => verdictLines(verdict, context, width)),
  ];
}

/** Gates whose review gave no verdict: `▣ security did not pass: it ran out of budget, #4 refactoring`. */
const closedLines = ({ state, glyphs }: Context, width: number): readonly Line[] =>
  state.gates
    .filter(({ open, role, tree }) => !open && !state.verdicts.some((one) => one.role === role && one.tree === tree))
    .flatMap((gate) => {
      const { text, ink } = gateWords(gate, state);
      const whose = tint(`, ${toLabel(labelOf(state, gate.agent))}`, 'muted');
      return wrap([strong(`${glyphs.lock} ${text}`, ink), whose], width, 2);
    });

function verdictLines(verdict: RecordedVerdict, { state, glyphs }: Context, width: number): readonly Line[] {
  const agent = state.agents.get(verdict.agent);
  const what = agent === undefined ? '' : `, ${judged(agent, state)}`;
  const head: Line = [
    strong(toLabel(verdict.role), `role:${verdict.role}`),
    span(' '),
    ...verdictLine(verdict, glyphs),
    tint(what, 'muted'),
  ];
  const findings = verdict.findings.flatMap((finding) =>
    wrap([tint(`  ${glyphs.bullet} `, 'focus'), tint(toLabel(finding), 'fg')], width, 2),
  );
  const summary = verdict.pass ? [] : wrap([tint(`  ${toLabel(verdict.summary)}`, 'fg')], width);
  return [...wrap(head, width, 2), ...summary, ...findings];
}

/** The last verdict of a review agent; undefined before the first. */
export const verdictOf = ({ verdicts }: RunState, agent: AgentId): RecordedVerdict | undefined =>
  verdicts.findLast((verdict) => verdict.agent === agent);

/** `✓ pass`, `✗ did not pass: 2 findings`. */
export function verdictLine({ pass, findings }: RecordedVerdict, glyphs: Glyphs): Line {
  const many = findings.length === 0 ? '' : `: ${plural(findings.length, 'finding')}`;
  return pass
    ? [strong(`${glyphs.status.completed} pass`, 'ok')]
    : [strong(`${glyphs.status.failed} did not pass${many}`, 'err')];
}

/** What a review agent judges, in words. */
export function judged(agent: AgentState, state: RunState): string {
  const trigger = agent.forced?.trigger ?? 'always';
  const [subject] = agent.dependsOn;
  const whom = subject === undefined ? '' : toLabel(labelOf(state, subject));
  if (trigger === 'on-write') return whom === '' ? 'what was written' : `what ${whom} wrote`;
  return trigger === 'on-commit' ? `what ${whom === '' ? 'an agent' : whom} wants to commit` : 'all that changed';
}

/** The gates of an agent's work that are closed, the blocking ones first. */
export const closedGates = ({ gates }: RunState, agent: AgentId): readonly ReviewGate[] =>
  gates
    .filter((gate) => gate.agent === agent && !gate.open)
    .sort((a, b) => Number(a.onFailure === 'warn') - Number(b.onFailure === 'warn'));

/** `waiting for security`, `security did not pass: 2 findings`; says where the run continues all the same. */
export function gateWords(gate: ReviewGate, state: RunState): { readonly text: string; readonly ink: Ink } {
  const role = toLabel(gate.role);
  if (gate.due !== undefined) return { text: `${role} reviews it when it is idle`, ink: 'muted' };
  const verdict = state.verdicts.findLast((one) => one.role === gate.role && one.tree === gate.tree);
  if (verdict === undefined && isJudging(gate, state)) return { text: `waiting for ${role}`, ink: 'warn' };
  const found = verdict === undefined || verdict.pass ? toLabel(gate.why) : plural(verdict.findings.length, 'finding');
  const goes = gate.onFailure === 'warn' ? ' (warning only)' : '';
  return { text: `${role} did not pass${goes}: ${found}`, ink: gate.onFailure === 'block' ? 'err' : 'warn' };
}

const isJudging = ({ role, tree }: ReviewGate, { agents }: RunState): boolean =>
  [...agents.values()].some((one) => one.role === role && one.forced?.tree === tree && !isFinal(one));

/** The most important closed gate of an agent; null without one. */
export function gateFoot(agent: AgentState, { state, glyphs }: Context): Line | null {
  const [gate] = closedGates(state, agent.id);
  if (gate === undefined) return null;
  const { text, ink } = gateWords(gate, state);
  return [strong(`${glyphs.lock} ${text}`, ink)];
}

/** The verdict and summary of a review agent; null before the verdict, and for other agents. */
export function verdictFoot(agent: AgentState, { state, glyphs }: Context): Line | null {
  const verdict = agent.forced === null ? undefined : verdictOf(state, agent.id);
  if (verdict === undefined) return null;
  return [...verdictLine(verdict, glyphs), tint(`  ${toLabel(verdict.summary)}`, 'muted')];
}

/** `▣` in front of the name of a review agent; empty for others. */
export const lockOf = (agent: AgentState, { glyphs }: Context): Line =>
  agent.forced === null ? [] : [tint(`${glyphs.lock} `, 'warn')];

/** ` human `, the stricter mode that an agent is pinned to; empty without one. */
export const pinOf = ({ pin }: AgentState): Line =>
  pin === null ? [] : [span(' '), span(` ${pin} `, { fg: 'surface', bg: 'info', bold: true })];
