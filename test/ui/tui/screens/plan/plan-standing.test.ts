import { describe, expect, it } from 'vitest';
import type { AgentOutcome } from '../../../../../src/domain/agents/agent.ts';
import { statusOfOutcome } from '../../../../../src/domain/agents/agent.ts';
import { planDigest } from '../../../../../src/domain/digest.ts';
import { childOf, ROOT } from '../../../../../src/domain/ids.ts';
import type { EventBody } from '../../../../../src/events/event.ts';
import { fold } from '../../../../../src/events/fold.ts';
import type { RunState } from '../../../../../src/events/state.ts';
import { UNICODE } from '../../../../../src/ui/tui/text/glyphs.ts';
import { taskStateOf } from '../../../../../src/ui/tui/components/progress.ts';
import { graph } from '../../../../support/plans.ts';
import { SESSION } from '../../../../support/recorded-run.ts';
import { approving } from './context.ts';

const PLAN = graph('a', 'b:a', 'c:b', 'd');

/** A run of the plan in which some tasks have ended. */
function ended(outcomes: Readonly<Record<string, AgentOutcome>>): RunState {
  const bodies = PLAN.tasks.flatMap((task, index): readonly EventBody[] => {
    const outcome = outcomes[task.id];
    const agent = childOf(ROOT, index + 1);
    const created: EventBody = {
      type: 'agent.created',
      agent,
      parent: ROOT,
      role: task.role,
      name: task.role,
      task: task.description,
      taskId: task.id,
      tools: [],
      budget: {},
      dependsOn: task.dependsOn.map((need) => childOf(ROOT, PLAN.tasks.findIndex(({ id }) => id === need) + 1)),
      model: task.model,
      iterations: 9,
    };
    if (outcome === undefined) return [created];
    const metrics = {
      startTime: '2026-11-21T12:00:00Z',
      endTime: '2026-11-21T12:00:09Z',
      duration: 9000,
      tokensUsed: 0,
      cost: 0,
      iterations: 1,
      toolCalls: 0,
    };
    const error = outcome === 'failed' ? 'the provider gave up' : null;
    const status = statusOfOutcome(outcome);
    return [created, { type: 'agent.finished', agent, status, outcome, summary: '', error, metrics }];
  });
  const start = approving(PLAN, { phase: 'running', approvedDigest: planDigest(PLAN) });
  return bodies.reduce(
    (state, body, index) =>
      fold(state, { v: 1, seq: 900 + index, time: '2026-11-21T12:00:09Z', session: SESSION, ...body }),
    start,
  );
}

const words = (outcomes: Readonly<Record<string, AgentOutcome>>): readonly (string | undefined)[] => {
  const state = ended(outcomes);
  return PLAN.tasks.map((task) => taskStateOf(PLAN, task, { state, glyphs: UNICODE, now: 0 })?.words);
};

describe('where the tasks of a running plan stand', () => {
  it('is nothing before it runs, then what each one waits for', () => {
    const [first] = PLAN.tasks;
    if (first === undefined) throw new Error('no task');
    expect(taskStateOf(PLAN, first, { state: approving(PLAN), glyphs: UNICODE, now: 0 })).toBe(null);
    expect(words({})).toEqual(['queued', 'waiting for #1 finder', 'waiting for #2 finder', 'queued']);
  });

  it('names who blocks a task, and how that one ended', () => {
    expect(words({ a: 'failed' })[1]).toBe('blocked by #1 finder, which failed');
    expect(words({ a: 'killed' })[1]).toBe('blocked by #1 finder, which was killed');
    expect(words({ a: 'failed' })[2]).toBe('waiting for #2 finder');
    expect(words({ a: 'completed' })[1]).toBe('queued');
  });

  it('says what can never run, through any number of needs', () => {
    expect(words({ a: 'failed', b: 'skipped' }).slice(1, 3)).toEqual([
      'left out: it never runs',
      'can never run: #2 finder was left out',
    ]);
  });
});
