import { describe, expect, it } from 'vitest';
import { ModelId, ROOT, RoleName } from '../../src/domain/ids.ts';
import type { EventBody } from '../../src/events/event.ts';
import { foldAll } from '../../src/events/fold.ts';
import { isTakenOut, TAKEN_OUT } from '../../src/events/queries.ts';
import { agentAfter, created, FINDER, finished, story } from '../support/story.ts';

const SLOW = { asked: 'slow', used: ModelId.parse('scripted/slow'), because: null } as const;
const facts = {
  role: RoleName.parse('reviewer'),
  name: 'reviewer',
  task: 'another task',
  tools: ['git'],
  budget: { maxTokens: 5 },
  dependsOn: [],
  model: SLOW,
} as const;
const changed: EventBody = { type: 'agent.changed', agent: FINDER, ...facts, iterations: 7 };
const pinned: EventBody = { type: 'agent.pinned', agent: FINDER, mode: 'human' };
const takenOut = { ...finished(FINDER, 'skipped', TAKEN_OUT.error), ...TAKEN_OUT };

describe('what a person changes while agents run', () => {
  it('makes the amended plan the approved one, with a line in the log that says what changed', () => {
    const plan = { reason: 'two', tasks: [] };
    const state = foldAll(
      story(
        { type: 'plan.approved', digest: 'd1', by: 'person' },
        { type: 'plan.amended', plan, digest: 'd2', changes: ['#2 finder: dropped', '#3 tester: added'], by: 'person' },
      ),
    );
    expect([state.plan, state.planDigest, state.approvedDigest, state.phase]).toEqual([plan, 'd2', 'd2', 'running']);
    expect(state.log.at(-1)?.text).toBe('plan changed by person: #2 finder: dropped; #3 tester: added');
    expect(state.unknown).toBe(0);
  });

  it('makes another agent of one that waits: its id, its place and how it is held stay', () => {
    const [before, after] = [
      agentAfter(FINDER, created(ROOT), created(FINDER), pinned),
      agentAfter(FINDER, created(ROOT), created(FINDER), pinned, changed),
    ];
    expect(after).toEqual({ ...before, ...facts, maxIterations: 7, lastAt: after.lastAt });
    const state = foldAll(story(created(ROOT), created(FINDER), changed));
    expect(state.agents.get(ROOT)?.children).toEqual([FINDER]);
  });

  it('brings back one that was taken out, and nothing else was', () => {
    const gone = agentAfter(FINDER, created(ROOT), created(FINDER), takenOut);
    expect([isTakenOut(gone), gone.status]).toEqual([true, 'interrupted']);
    expect(isTakenOut(agentAfter(FINDER, created(ROOT), created(FINDER), finished(FINDER, 'skipped')))).toBe(false);
    const back = agentAfter(FINDER, created(ROOT), created(FINDER), takenOut, changed);
    expect([back.status, back.outcome, back.error, back.endedAt]).toEqual(['pending', null, null, null]);
  });

  it('gives an agent another model, and says so among what happened to it', () => {
    const one = agentAfter(FINDER, created(ROOT), created(FINDER), { type: 'agent.model', agent: FINDER, model: SLOW });
    expect(one.model).toEqual(SLOW);
    expect(one.blocks).toEqual([{ is: 'note', text: 'model is now scripted/slow, by you', level: 'info' }]);
  });
});
