/** How a run is said to have gone. */
import { describe, expect, it } from 'vitest';
import type { AgentOutcome } from '../../../../../src/domain/agents/agent.ts';
import { ROOT } from '../../../../../src/domain/ids.ts';
import type { RunState } from '../../../../../src/events/state.ts';
import { statusLine } from '../../../../../src/ui/tui/components/progress.ts';
import { plain } from '../../../../../src/app/views/text/line.ts';
import { contextOf } from '../../../../support/look.ts';
import { finished } from '../../../../support/recorded-run.ts';

const context = contextOf(finished().events);

/** The line after a run whose agents ended so, and its colour. */
function shown(status: NonNullable<RunState['finished']>['status'], ...ends: readonly AgentOutcome[]): unknown {
  const { state } = context;
  const children = [...state.agents.values()].filter(({ id }) => id !== ROOT).slice(0, ends.length);
  const agents = new Map(children.map((agent, at) => [agent.id, { ...agent, outcome: ends[at] ?? null }]));
  const over = state.finished && { ...state.finished, status };
  const line = statusLine({ ...context, state: { ...state, agents, finished: over, session: null } }, 70);
  return [line[0]?.[1].fg, plain(line).trim()];
}

describe('the end of a run', () => {
  it('is only called failed where an agent failed', () => {
    expect([
      shown('completed', 'completed', 'completed'),
      shown('completed', 'completed'),
      shown('failed', 'completed', 'killed', 'skipped'),
      shown('failed', 'completed', 'failed', 'skipped'),
      shown('failed', 'killed'),
      shown('stopped', 'completed', 'abandoned'),
    ]).toEqual([
      ['ok', '✓ Completed: all 2 agents completed'],
      ['ok', '✓ Completed: its agent completed'],
      ['warn', '⏸ Partly done: 1 of 3 agents completed, 1 killed, 1 skipped'],
      ['err', '✗ Failed: 1 of 3 agents completed, 1 failed, 1 skipped'],
      ['err', '✗ Failed: 0 of 1 agent completed, 1 killed'],
      ['warn', '⏸ Stopped: 1 of 2 agents completed, 1 abandoned'],
    ]);
  });
});
