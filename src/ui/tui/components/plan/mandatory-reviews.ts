/** What the screens say about agents that the rules add: when they run, what they found, and what waits for them. */
import type { AgentId } from '../../../../domain/ids.ts';
import { isFinal } from '../../../../events/queries.ts';
import type { ForcedGate, GivenVerdict } from '../../../../events/decisions.ts';
import type { AgentState, RunState } from '../../../../events/state.ts';
import { labelOf } from '../../../../app/views/agents/agent-lines.ts';
import { counted } from '../../../../app/views/text/format.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import type { Context } from '../../frame/screen.ts';
import { span } from '../../../../app/views/text/clip.ts';
import type { Ink, Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';

/** What a forced agent found last; undefined before it did. */
export const verdictOf = ({ verdicts }: RunState, agent: AgentId): GivenVerdict | undefined =>
  verdicts.findLast((verdict) => verdict.agent === agent);

/** `✓ pass`, `✗ did not pass: 2 findings`. */
export function verdictLine({ pass, findings }: GivenVerdict, glyphs: Glyphs): Line {
  const many = findings.length === 0 ? '' : `: ${counted(findings.length, 'finding')}`;
  return pass
    ? [span(`${glyphs.status.completed} pass`, { fg: 'ok', bold: true })]
    : [span(`${glyphs.status.failed} did not pass${many}`, { fg: 'err', bold: true })];
}

/** Whose work it judges, in words: an agent's, or all there is. */
export function judged(agent: AgentState, state: RunState): string {
  const trigger = agent.forced?.trigger ?? 'always';
  const [subject] = agent.dependsOn;
  const whom = subject === undefined ? '' : toLabel(labelOf(state, subject));
  if (trigger === 'on-write') return whom === '' ? 'what was written' : `what ${whom} wrote`;
  return trigger === 'on-commit' ? `what ${whom === '' ? 'an agent' : whom} wants to commit` : 'all that changed';
}

/** The gates of an agent's work that are closed, the blocking ones first. */
export const closedGates = ({ gates }: RunState, agent: AgentId): readonly ForcedGate[] =>
  gates
    .filter((gate) => gate.agent === agent && !gate.open)
    .sort((a, b) => Number(a.onFailure === 'warn') - Number(b.onFailure === 'warn'));

/** `waits for security`, `security did not pass: 2 findings`; with what follows where nothing is held up. */
export function gateWords(gate: ForcedGate, state: RunState): { readonly text: string; readonly ink: Ink } {
  const role = toLabel(gate.role);
  if (gate.due !== undefined) return { text: `${role} judges it when it rests`, ink: 'muted' };
  const verdict = state.verdicts.findLast((one) => one.role === gate.role && one.tree === gate.tree);
  if (verdict === undefined && isJudging(gate, state)) return { text: `waits for ${role}`, ink: 'warn' };
  const found = verdict === undefined || verdict.pass ? toLabel(gate.why) : counted(verdict.findings.length, 'finding');
  const goes = gate.onFailure === 'warn' ? ' (goes on)' : '';
  return { text: `${role} did not pass${goes}: ${found}`, ink: gate.onFailure === 'block' ? 'err' : 'warn' };
}

const isJudging = ({ role, tree }: ForcedGate, { agents }: RunState): boolean =>
  [...agents.values()].some((one) => one.role === role && one.forced?.tree === tree && !isFinal(one));

/** The foot of a card whose work is held up or was found wanting; null for all others. */
export function gateFoot(agent: AgentState, { state, glyphs }: Context): Line | null {
  const [gate] = closedGates(state, agent.id);
  if (gate === undefined) return null;
  const { text, ink } = gateWords(gate, state);
  return [span(`${glyphs.lock} ${text}`, { fg: ink, bold: true })];
}

/** The foot of a forced agent that gave its verdict; null before, and for all others. */
export function verdictFoot(agent: AgentState, { state, glyphs }: Context): Line | null {
  const verdict = agent.forced === null ? undefined : verdictOf(state, agent.id);
  if (verdict === undefined) return null;
  return [...verdictLine(verdict, glyphs), span(`  ${toLabel(verdict.summary)}`, { fg: 'muted' })];
}

/** `▣` in front of the name of an agent that the rules added. */
export const lockOf = (agent: AgentState, { glyphs }: Context): Line =>
  agent.forced === null ? [] : [span(`${glyphs.lock} `, { fg: 'warn' })];

/** ` human `: the stricter mode that an agent is held to. */
export const pinOf = ({ pin }: AgentState): Line =>
  pin === null ? [] : [span(' '), span(` ${pin} `, { fg: 'surface', bg: 'info', bold: true })];
