/** The numbers of a run: whatever happens, header, cards, list, graph, lines and report say the same, and what the log says. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  agentTime,
  countsOf,
  countWords,
  runTime,
  type ShownStatus,
  shownStatus,
  sinceStart,
} from '../../src/app/views/agent-counts.ts';
import { agentShare, runShare, runSpending } from '../../src/app/views/spending/spending.ts';
import { type AgentId, ROOT } from '../../src/domain/ids.ts';
import type { MimirEvent } from '../../src/events/event.ts';
import { fold, foldAll } from '../../src/events/fold.ts';
import { EMPTY } from '../../src/events/state.ts';
import { formatCost, formatDuration } from '../../src/app/views/text/format.ts';
import { UNICODE } from '../../src/ui/tui/text/glyphs.ts';
import { plain } from '../../src/app/views/text/line.ts';
import { card } from '../../src/ui/tui/components/agents/cards.ts';
import { cardsPane, rowsFor } from '../../src/ui/tui/components/agents/cards.ts';
import { gauge, reservedText, UNCERTAIN } from '../../src/ui/tui/components/costs.ts';
import { taskCounts } from '../../src/ui/tui/components/agents/graph.ts';
import { resultBody } from '../../src/ui/tui/screens/result/view.ts';
import { costsLines } from '../../src/ui/tui/screens/result/costs.ts';
import { runNumbers } from '../../src/ui/tui/components/header.ts';
import { statusLine } from '../../src/ui/lines/agents.ts';
import { REPORT_PARTS, reportMarkdown } from '../../src/app/reports/report.ts';
import { contextOf } from '../support/look.ts';
import { at, begun, histories, idOf, told } from '../support/counted-histories.ts';
import { modelRun } from '../support/model-run.ts';
import { START } from '../support/recorded-run.ts';

const SIGNS: Readonly<Record<string, ShownStatus>> = {
  [UNICODE.status.running]: 'running',
  [UNICODE.status.waiting]: 'waiting',
  [UNICODE.held]: 'held',
  [UNICODE.status.pending]: 'queued',
  [UNICODE.status.completed]: 'completed',
  [UNICODE.status.failed]: 'failed',
  [UNICODE.status.interrupted]: 'interrupted',
};
/** The first sign of a status in a row. */
const signIn = (line: string): ShownStatus | undefined => SIGNS[/[●◌◔○✓✗⏸]/.exec(line)?.[0] ?? ''];
const NONE = { running: 0, waiting: 0, held: 0, queued: 0, completed: 0, failed: 0, interrupted: 0 };

function tallied(all: readonly (ShownStatus | undefined)[]): Record<ShownStatus, number> {
  const counts = { ...NONE };
  for (const one of all) if (one !== undefined) counts[one] += 1;
  return counts;
}

/** `● 4 running` and the like, by their signs or by their words. */
function bySign(text: string): Record<ShownStatus, number> {
  const counts = { ...NONE };
  for (const [, sign = '', many] of text.matchAll(/([●◌◔○✓✗⏸]) (\d+)/g)) {
    const status = SIGNS[sign];
    if (status !== undefined) counts[status] += Number(many);
  }
  return counts;
}
const byWord = (text: string, word: string): number => Number(new RegExp(`(\\d+) ${word}`).exec(text)?.[1] ?? 0);

describe('the numbers of a run', () => {
  it('are the same in header, cards, list, graph, lines and report, and those of the log', () => {
    fc.assert(
      fc.property(histories, ([count, steps]) => {
        const truth = told(count, steps);
        const base = contextOf(truth.log.events);
        const context = { ...base, now: START + truth.now * 1000 };
        const { state } = context;
        const agents = [...state.agents.values()].filter(({ id }) => id !== ROOT);
        const expected = tallied(truth.status);

        expect(countsOf(state)).toEqual({ ...expected, all: count });
        expect(tallied(agents.map(shownStatus))).toEqual(expected);

        const header = plain(runNumbers(context, 400));
        const held = byWord(header, 'waits?\\b');
        expect({ ...bySign(header), completed: byWord(header, `of ${count} done`), held }).toEqual(expected);

        const cards = agents.map((agent) =>
          plain(card(agent, context, 90, { selected: false, focused: false, hidden: 0, indent: 0 })[0] ?? []),
        );
        expect(tallied(cards.map((line) => signIn(line)))).toEqual(expected);

        const view = { agents, selected: -1, density: 'line', top: 0, focused: false } as const;
        const rows = cardsPane(view, context, 120, rowsFor('line', count)).map(plain);
        expect(tallied(rows.map((line) => signIn(line)))).toEqual(expected);

        if (state.plan === null) throw new Error('no plan');
        const graph = plain(taskCounts(state.plan, context, 120));
        const stuck = byWord(graph, "can't start");
        expect({
          completed: byWord(graph, `of ${count} done`),
          running: byWord(graph, 'running'),
          queued: byWord(graph, 'queued'),
          failed: byWord(graph, 'failed'),
          waiting: byWord(graph, 'waiting'),
          interrupted: byWord(graph, 'interrupted') + stuck,
        }).toEqual({
          completed: expected.completed,
          running: expected.running,
          queued: expected.queued,
          failed: expected.failed,
          waiting: expected.waiting + expected.held,
          interrupted: expected.interrupted,
        });

        const cost = formatCost(truth.micro / 1_000_000);
        const time = formatDuration(truth.ran * 1000);
        const line = statusLine(state, context.now);
        expect(line.startsWith([...countWords(state), time].join(', '))).toBe(true);
        expect(line).toContain(`${cost} of $2.00`);
        expect(header).toContain(cost);
        expect(header).toContain(` ${time} `);
        expect(REPORT_PARTS.spending(state)).toContain(`tokens, ${cost}`);
        const worked = formatDuration(runTime(state));
        expect(reportMarkdown(state)).toContain(
          `tokens, ${cost}${worked === '0s' && runTime(state) === 0 ? '' : `, ${worked}`}`,
        );
        expect(runTime(state, context.now)).toBe(sinceStart(state, context.now) - 1000);
      }),
      { numRuns: 150 },
    );
  });

  it('never let what is spent run backwards, and leave what is reserved out of it', () => {
    fc.assert(
      fc.property(histories, ([count, steps]) => {
        let state = EMPTY;
        let before = { run: 0, agents: new Map<AgentId, number>() };
        for (const event of told(count, steps).log.events) {
          state = fold(state, event);
          const run = runShare(state)?.spent ?? 0;
          const agents = new Map(
            [...state.agents.values()].map((one) => [
              one.id,
              agentShare(state, one, Date.parse(event.time))?.spent ?? 0,
            ]),
          );
          expect(run).toBeGreaterThanOrEqual(before.run);
          for (const [id, spent] of before.agents) expect(agents.get(id)).toBeGreaterThanOrEqual(spent);
          expect(run).toBeCloseTo(runSpending(state).cost / 2, 9);
          before = { run, agents };
        }
      }),
      { numRuns: 60 },
    );
  });

  it('show beside what is spent what a provider may have billed for calls without an end', () => {
    const totals = { cost: 0.2435, tokens: 120_000, agents: 6, duration: 200_000 };
    const end = { type: 'session.finished', status: 'stopped', summary: '', totals } as const;
    const context = contextOf(modelRun().at(193, end).events);
    expect(runSpending(context.state).uncertain).toEqual({ calls: 1, tokens: 9000, cost: 0.02 });
    expect(plain(runNumbers(context, 80))).toBe('◔ 1  ● 3 ○ 2  ✓ 0/6   3m 12s  $0.24+? +$0.02?');
    expect(plain(runNumbers(context, 240))).toContain('$0.24+? + $0.02 uncertain of $2.00');
    const result = resultBody({ tab: 'Answer', top: 0 }, context, { width: 120, height: 38 });
    expect(result.map(plain).find((line) => line.includes('Cost  '))).toContain(' $0.24+? + $0.02 uncertain ');
    expect(costsLines(context, 160).map(plain)).toContain(`$0.02 uncertain  ${UNCERTAIN}`);
    const asked = [...context.state.agents.values()].find(({ open }) => open.length > 0);
    expect(asked === undefined ? '' : reservedText(asked)).toBe('$0.02 uncertain');
  });

  it('leave out the time in which no process carried the run', () => {
    const log = begun(1);
    log.at(2, at(idOf(0), 'running'));
    log.at(24, { type: 'agent.todos', agent: idOf(0), todos: [] });
    const later: readonly MimirEvent[] = log
      .at(144, { type: 'session.resumed', policyHash: 'p1', version: '0.1.0' })
      .at(144, at(ROOT, 'running'))
      .at(145, at(idOf(0), 'running')).events;
    const state = foldAll(later);
    const agent = state.agents.get(idOf(0));
    if (agent === undefined) throw new Error('no agent');
    expect([runTime(state, START + 150_000), agentTime(agent, state, START + 150_000)]).toEqual([29_000, 27_000]);
  });

  it('draw what is spent solid and what is reserved hollow', () => {
    const drawn = (spent: number, reserved: number): string => plain(gauge({ spent, reserved }, 6, UNICODE));
    expect([drawn(0.5, 0), drawn(0.3, 0.4), drawn(0.1, 3), drawn(1.2, 0.5), drawn(0, 0)]).toEqual([
      '▰▰▰···',
      '▰▰▱▱··',
      '▰▱▱▱▱▱',
      '▰▰▰▰▰▰',
      '······',
    ]);
  });

  it('say of forty tasks at four slots that four run and the others are queued', () => {
    const log = begun(40);
    for (let index = 0; index < 40; index++) log.at(2, at(idOf(index), 'initializing'));
    for (let index = 0; index < 4; index++) log.at(2, at(idOf(index), 'running'));
    const context = contextOf(log.events);
    expect(countWords(context.state)).toEqual(['4 running', '36 queued (4 at once)']);
    const header = (width: number): string => plain(runNumbers(context, width));
    expect(header(60)).toContain('● 4 ○ 36');
    expect(header(80)).toContain('● 4 ○ 36');
    expect(header(120)).toContain('● 4 ○ 36');
    expect(header(240)).toContain('● 4 running ○ 36 queued (4 at once)   0 of 40 done');
  });
});
