/** What a person wants to know of a run that did not complete: what happened, what was kept, what can be done now. */
import { resumeCost } from '../../../../app/views/spending/resume-cost.ts';
import { ROOT } from '../../../../domain/ids.ts';
import type { AgentState } from '../../../../events/state.ts';
import { inOrder } from '../../../../app/views/agents/agent-lines.ts';
import { counted } from '../../../../app/views/text/format.ts';
import { stillOpen, touchedFiles } from '../../../../app/views/run-summary.ts';
import type { Context } from '../../shell/screen.ts';
import { span } from '../../../../app/views/text/clip.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { wrap } from '../../../../app/views/text/wrap.ts';
import { endOf, oneLine } from '../../components/agents/doing.ts';

/** Above the report; empty for a run that completed. */
export function happenedLines(context: Context, width: number): readonly Line[] {
  const { state } = context;
  const status = state.finished?.status;
  if (status === undefined || status === 'completed') return [];
  return [
    ...part('What happened', happened(context), width),
    ...part('What was kept', kept(context), width),
    ...part('What can be done', next(context), width),
  ];
}

/** Below the report: what nobody did. */
export function openLines(context: Context, width: number): readonly Line[] {
  const all = stillOpen(context.state).map(toLabel);
  const shown = all.slice(0, MOST);
  const more = all.length > shown.length ? [`and ${all.length - shown.length} more: 2 shows the agents`] : [];
  return all.length === 0 ? [] : part('Still open', [...shown, ...more].map(textLine), width);
}

const MOST = 8;
const textLine = (text: string): Line => [span(text, { fg: 'fg' })];

const part = (title: string, lines: readonly Line[], width: number): readonly Line[] =>
  lines.length === 0
    ? []
    : [
        [span(title, { fg: 'title', bold: true })],
        ...lines.flatMap((line) => wrap([span('  '), ...line], width, 2)),
        [],
      ];

function happened({ state, glyphs }: Context): readonly Line[] {
  if (state.finished?.status === 'rejected') return [textLine('The plan was not approved; no agent was started.')];
  const ends = inOrder(state).filter(
    ({ id, outcome }) => outcome !== null && outcome !== 'completed' && (id !== ROOT || outcome === 'failed'),
  );
  const failed = sameEnds(ends).map(({ agents, why }): Line => {
    const isFailed = agents.some(({ outcome }) => outcome === 'failed');
    const sign = glyphs.status[isFailed ? 'failed' : 'interrupted'];
    const names = agents.map(({ name }) => toLabel(name)).join(', ');
    return [span(`${sign} ${names}  `, { fg: isFailed ? 'err' : 'warn', bold: true }), span(why, { fg: 'fg' })];
  });
  // Nobody failed: the run itself was stopped, and says why.
  const last = state.agents.get(ROOT)?.reason || state.log.findLast(({ level }) => level !== 'info')?.text;
  const logged = failed.length === 0 && last !== undefined ? [textLine(toLabel(last))] : [];
  const more = failed.length > MOST ? [textLine(`and ${failed.length - MOST} more: 2 shows the agents`)] : [];
  return [...failed.slice(0, MOST), ...more, ...logged];
}

/** Agents that ended for the same reason, the reason once: a key that no provider accepts ends all of them. */
function sameEnds(
  ends: readonly AgentState[],
): readonly { readonly why: string; readonly agents: readonly AgentState[] }[] {
  const byWhy = Map.groupBy(ends, (agent) => oneLine(endOf(agent)));
  return [...byWhy].map(([why, agents]) => ({ why, agents }));
}

function kept({ state }: Context): readonly Line[] {
  const agents = [...state.agents.values()].filter(({ id }) => id !== ROOT);
  const done = agents.filter(({ outcome }) => outcome === 'completed').length;
  const files = touchedFiles(state).length;
  return [
    ...(done > 0 ? [textLine(`the answers of ${counted(done, 'agent')}: below, and on their cards`)] : []),
    ...(files > 0 ? [textLine(`changes to ${counted(files, 'file')}: 5 lists them`)] : []),
    textLine('every transcript and what it cost, in the log of this session'),
  ];
}

function next({ state }: Context): readonly Line[] {
  const row = (key: string, words: string): Line => [
    span(key.padEnd(4), { fg: 'focus', bold: true }),
    span(words, { fg: 'fg' }),
  ];
  const status = state.finished?.status;
  // A provider's limits are no budget: more money changes nothing about those.
  const spent = [...state.agents.values()].some(({ error, reason }) => /budget/i.test(error ?? reason));
  return [
    ...(status === 'stopped' ? [row('r', `resume where it stopped: ${resumeCost(state)}`)] : []),
    ...(status === 'failed' ? [row('R', 'try again what failed: nothing that is done is done again')] : []),
    ...(spent && status !== 'rejected'
      ? [row('', `with more to spend: mimir resume ${state.session ?? ''} --max-cost USD`)]
      : []),
    row('Esc', 'read on the cards what each agent did'),
    row('n', 'another task'),
  ];
}
