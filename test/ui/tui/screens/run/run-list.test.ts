/** Which agents the run screen lists, and the live graph in the place of the cards. */
import { describe, expect, it } from 'vitest';
import { shownStatus } from '../../../../../src/app/views/agent-counts.ts';
import { AgentId, ROOT } from '../../../../../src/domain/ids.ts';
import { pageOf } from '../../../../../src/ui/tui/frame/keymap.ts';
import {
  hiddenBy,
  listed,
  listWords,
  queueOf,
  WHOLE,
  withFold,
} from '../../../../../src/ui/tui/components/agents/list.ts';
import { runScreen } from '../../../../../src/ui/tui/screens/run/run.ts';
import { lineWidth } from '../../../../../src/app/views/text/line.ts';
import { graphPane } from '../../../../../src/ui/tui/components/agents/graph.ts';
import { ASCII } from '../../../../../src/ui/tui/text/glyphs.ts';
import { crowd } from '../../../../support/crowd.ts';
import { contextOf, look } from '../../../../support/look.ts';
import { midRun } from '../../../../support/recorded-run.ts';

const context = contextOf(midRun().events);
const names = (list: typeof WHOLE): readonly string[] => listed(list, context.state).map(({ name }) => name);

describe('the list of agents', () => {
  it('is the very same for the same state, so that a frame costs no sorting', () => {
    const list = { ...WHOLE, filter: 'finder' };
    expect(listed(list, context.state)).toBe(listed(list, context.state));
  });

  it('keeps only those with every word of the filter, and counts the others', () => {
    const list = { ...WHOLE, filter: 'FINDER completed' };
    expect(names(list)).toEqual(['finder']);
    expect(hiddenBy(list, context.state)).toBe(context.state.agents.size - 1);
    expect(listWords(list, context.state)).toBe('1 of 8, "FINDER completed"');
  });

  it('puts what cost most first, and loses nobody by that', () => {
    const costs = listed({ ...WHOLE, sort: 'cost' }, context.state).map(({ cost }) => cost);
    expect(costs).toEqual(costs.toSorted((a, b) => b - a));
    expect(costs).toHaveLength(context.state.agents.size);
  });

  it('folds a subtree away and back', () => {
    const folded = withFold(WHOLE, AgentId.parse('ROOT::S4'));
    expect(names(folded)).not.toContain('finder 2');
    expect(names(withFold(folded, AgentId.parse('ROOT::S4')))).toContain('finder 2');
  });
});

describe('the queue of a run of many agents', () => {
  const log = crowd(40);
  for (let at = 5; at <= 40; at++)
    log.at(20, { type: 'agent.status', agent: AgentId.parse(`ROOT::S${at}`), status: 'initializing', reason: '' });
  const crowded = contextOf(log.events);
  const queued = [...crowded.state.agents.values()].filter(
    (agent) => agent.id !== ROOT && shownStatus(agent) === 'queued',
  );

  it('is one row behind those at work, and Space lists its agents', () => {
    const shown = listed(WHOLE, crowded.state);
    expect(queueOf(WHOLE, crowded.state)).toEqual(queued);
    expect(shown.filter((agent) => queued.includes(agent))).toEqual(queued.slice(0, 1));
    expect([hiddenBy(WHOLE, crowded.state), shown[0]?.id]).toEqual([0, ROOT]);
    const open = { ...WHOLE, queue: true };
    expect([queueOf(open, crowded.state).length, listed(open, crowded.state).length]).toEqual([
      0,
      crowded.state.agents.size,
    ]);
  });

  it('opens and closes by Space on its row', () => {
    const page = pageOf(runScreen, {});
    const size = { width: 120, height: 40 };
    const at = listed(WHOLE, crowded.state).findIndex((agent) => agent === queued[0]);
    const down = Array.from({ length: at }, () => 'j');
    const words = `${queued.length} queued`;
    expect(look(page, crowded, size, down).some((row) => row.includes(`▌○ ${words}`))).toBe(true);
    expect(look(page, crowded, size, [' ']).some((row) => row.includes(`○ ${words}  `))).toBe(false);
    expect(look(page, crowded, size, [' ']).some((row) => row.includes(`▌○ ${words}`))).toBe(true);
  });
});

describe('the run screen', () => {
  it('filters while one types; Esc shows all again', () => {
    const page = pageOf(runScreen, {});
    const size = { width: 80, height: 24 };
    const typed = look(page, context, size, ['/', 'o', 'r', 'a', 'c']).join('\n');
    expect(typed).toContain('1 of 8');
    expect(typed).not.toContain('✗ librarian');
    expect(look(page, context, size, ['esc']).join('\n')).toContain('✗ librarian');
  });

  it('says which agent one talks to, by its path (H013, H014)', () => {
    expect(look(pageOf(runScreen, {}), context, { width: 80, height: 24 }, ['j', 'j', 'j']).join('\n')).toContain(
      'Message oracle (ROOT::S3)…',
    );
  });

  it('draws the graph in the place of the cards at 80x24', () => {
    const rows = look(pageOf(runScreen, {}), context, { width: 80, height: 24 }, ['T']).join('\n');
    expect(rows).toContain(' Graph ');
    expect(rows).toContain('reviewer');
  });
});

describe('the graph', () => {
  it.each([
    [40, 8],
    [58, 20],
    [120, 40],
  ])('is exactly %i by %i, in Unicode and in ASCII', (width, height) => {
    for (const of of [context, { ...context, glyphs: ASCII }]) {
      const lines = graphPane({ selected: undefined, focused: true }, of, width, height);
      expect(lines.map(lineWidth)).toEqual(Array.from({ length: height }, () => width));
    }
  });
});
