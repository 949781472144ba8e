/** The numbers in the first row of the run: which of them there are at which width, that none of them jumps, and what is said in words. */
import { describe, expect, it } from 'vitest';
import { countsOf } from '../../../../../src/app/views/agent-counts.ts';
import type { RunState } from '../../../../../src/events/state.ts';
import type { Context } from '../../../../../src/ui/tui/frame/screen.ts';
import { type Line, lineWidth, plain } from '../../../../../src/app/views/text/line.ts';
import { crumbs, headerLine, marks, runNumbers, windowTitle } from '../../../../../src/ui/tui/components/header.ts';
import { AgentId } from '../../../../../src/domain/ids.ts';
import { contextOf } from '../../../../support/look.ts';
import { approval, asks, finished, midRun, type Recording } from '../../../../support/recorded-run.ts';

const WIDTHS = [200, 120, 100, 80, 60, 40];

const header = (context: Context, width: number): Line =>
  headerLine(
    {
      left: crumbs('run-7f3a', context.state.task, context.glyphs),
      marks: marks(context.state, width),
      right: runNumbers(context, width),
    },
    width,
  );
const rows = (context: Context, widths = WIDTHS): readonly string[] =>
  widths.map((width) => plain(header(context, width)));

const held = (recording: Recording, ...ids: readonly string[]): Recording =>
  ids.reduce(
    (log, id) =>
      log.at(190, {
        type: 'agent.status',
        agent: AgentId.parse(id),
        status: 'waiting',
        reason: 'anthropic is rate limited; next try in 14 s (2 of 5)',
      }),
    recording,
  );

/** The run with another cap, and so many agents allowed. */
function withLimits(context: Context, maxCost: number, maxAgents?: number): Context {
  const { state } = context;
  const choices =
    state.choices === null
      ? null
      : { ...state.choices, limits: { ...state.choices.limits, ...(maxAgents === undefined ? {} : { maxAgents }) } };
  const changed: RunState = { ...state, budget: { maxCost }, choices };
  return { ...context, state: changed };
}

const middle = withLimits(contextOf(midRun().events), 2, 100);

describe('the header of a run', () => {
  it('has counts, time, spend and cap, and gives them up one after the other', () => {
    expect(rows(middle)).toMatchInlineSnapshot(`
      [
        " MIMIR  run-7f3a › Fix the token refresh race                                 sandboxed  confirm  ● 3 running ○ 2 queued (4 at once) ✗ 1  1 of 6 done   3m 11s / ~1m 30s    $0.33 of $2.00 ▰▰·········· ",
        " MIMIR  run-7f3a › Fix the token ref… sandboxed  confirm  ● 3 ○ 2 ✗ 1  1 of 6 done   3m 11s / ~1m 30s    $0.33 of $2.00 ",
        " MIMIR  run-7f3a › Fix the… sandboxed  confirm  ● 3 ○ 2 ✗ 1  1 of 6 done   3m 11s    $0.33 of $2.00 ",
        " MIMIR  run-7f3a › Fix … confirm  ● 3 ○ 2 ✗ 1  ✓ 1/6   3m 11s    $0.33 of $2.00 ",
        " MIMIR  run-7f3… confirm  ● 3 ○ 2 ✗ 1  1 of 6 done    $0.33 ",
        " MIMIR      ● 3 ○ 2 ✗ 1  ✓ 1/6    $0.33 ",
      ]
    `);
  });

  it('says what providers and the person are waited for', () => {
    const log = asks(held(midRun(), 'ROOT::S3', 'ROOT::S4'), 191, 'ROOT::S4::S1', 'a1', approval({}));
    expect(rows(withLimits(contextOf(log.events), 2, 100))).toMatchInlineSnapshot(`
      [
        " MIMIR  run-7f3a › Fix the token refresh race                      sandboxed  confirm  ◔ 2, 12s  ◌ 1 ask  ◌ 1 ○ 2 queued (4 at once) ✗ 1  1 of 6 done   3m 11s / ~1m 30s    $0.33 of $2.00 ▰▰·········· ",
        " MIMIR  run-7f3a › Fix the token ref… sandboxed  confirm  ◔ 2, 12s  ◌ 1 ask  ◌ 1 ○ 2 ✗ 1  1 of 6 done   3m 11s    $0.33 ",
        " MIMIR  run-7f3a › Fix the … sandboxed  confirm  ◔ 2  ◌ 1 ask  ◌ 1 ○ 2 ✗ 1  ✓ 1/6   3m 11s    $0.33 ",
        " MIMIR  run-7f3a ›… confirm  ◔ 2  ◌ 1 ask  ◌ 1 ○ 2 ✗ 1  ✓ 1/6   3m 11s    $0.33 ",
        " MIMIR  run-7f3… confirm  ◔ 2, 12s  ◌ 1 ask  ✓ 1/6    $0.33 ",
        " MIMIR     ◔ 2  ◌ 1 ask  ✓ 1/6    $0.33 ",
      ]
    `);
  });

  it('says in words how near the cap is, and always how near the agents are to theirs', () => {
    const near = (cap: number): Context => withLimits(contextOf(midRun().events), cap, 8);
    expect([...rows(near(0.4)), ...rows(near(0.2), [120, 80, 40])]).toMatchInlineSnapshot(`
      [
        " MIMIR  run-7f3a › Fix the token refresh race            sandboxed  confirm  7/8 agents  ● 3 running ○ 2 queued (4 at once) ✗ 1  1 of 6 done   3m 11s / ~1m 30s    $0.33 of $0.40 ▰▰▰▰▰▰▰▰▰▰·· 81% used ",
        " MIMIR  run-7f3a › Fix the token ref… sandboxed  confirm  7/8  ● 3 ○ 2 ✗ 1  1 of 6 done   3m 11s    $0.33 of $0.40 81%! ",
        " MIMIR  run-7f3a › Fix the … sandboxed  confirm  7/8  ● 3 ○ 2 ✗ 1  ✓ 1/6   3m 11s    $0.33 81% used ",
        " MIMIR  run-7f3a › Fix… confirm  7/8  ● 3 ○ 2 ✗ 1  ✓ 1/6   3m 11s    $0.33 81%! ",
        " MIMIR  run-7f3a… confirm  ● 3 ○ 2 ✗ 1  ✓ 1/6    $0.33 81%! ",
        " MIMIR     ✓ 1/6   3m 11s    $0.33 81%! ",
        " MIMIR  run-7f3a › Fix the token re… sandboxed  confirm  7/8  ● 3 ○ 2 ✗ 1  1 of 6 done   3m 11s    $0.33 of $0.20 163%! ",
        " MIMIR  run-7f3a › Fi… confirm  7/8  ● 3 ○ 2 ✗ 1  ✓ 1/6   3m 11s    $0.33 163%! ",
        " MIMIR    ✓ 1/6   3m 11s    $0.33 163%! ",
      ]
    `);
  });

  it('moves nothing when seconds pass and dollars are spent', () => {
    const still = (text: string): string =>
      text.replaceAll(/\d+m \d+s|\d+s|\$[\d.]+/g, (one) => ' '.repeat(one.length));
    for (const width of WIDTHS) {
      const after = [1, 9, 10, 59, 61, 192, 599, 601, 3599].map((seconds) => {
        const cost = seconds / 30_000;
        const agents = new Map([...middle.state.agents].map(([id, agent]) => [id, { ...agent, cost }]));
        const state = { ...middle.state, agents };
        return still(plain(header({ ...middle, state, now: state.startedAt + seconds * 1000 }, width)));
      });
      expect(new Set(after.map((text) => text.replaceAll(/[▰▱·]/g, '▱'))).size).toBe(1);
    }
  });

  it('is as wide as the screen, whatever that is', () => {
    for (let width = 1; width <= 260; width++) expect(lineWidth(header(middle, width))).toBe(width);
  });

  it('sums up once for each state of the agents', () => {
    expect(countsOf(middle.state)).toBe(countsOf({ agents: middle.state.agents }));
  });
});

describe('the title of the window', () => {
  it('has what asks, who works and what it cost', () => {
    const title = (log: Recording): string => windowTitle(contextOf(log.events));
    expect([
      title(midRun()),
      title(asks(asks(midRun(), 180, 'ROOT::S3', 'a1', approval({})), 181, 'ROOT::S4', 'a2', approval({}))),
      title(finished()),
    ]).toEqual(['mimir ● 3 run $0.33', 'mimir ? 2 ● 1 run $0.33', 'mimir ✓ completed $0.33']);
  });
});
