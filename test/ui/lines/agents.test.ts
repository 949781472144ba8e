/** Agents in the words of line mode. */
import { describe, expect, it } from 'vitest';
import { AgentId, TaskId } from '../../../src/domain/ids.ts';
import { foldAll } from '../../../src/events/fold.ts';
import type { RunState } from '../../../src/events/state.ts';
import { statusOf } from '../../../src/ui/lines/agents.ts';
import { midRun } from '../../support/recorded-run.ts';

const MID = foldAll(midRun().events);
const TESTER = AgentId.parse('ROOT::S5');
const ORACLE = AgentId.parse('ROOT::S3');

/** The run with what keeps the tester from beginning. */
const withTester = (more: Partial<NonNullable<ReturnType<RunState['agents']['get']>>>, state = MID): RunState => {
  const tester = state.agents.get(TESTER);
  if (tester === undefined) throw new Error('there is no tester');
  return { ...state, agents: new Map(state.agents).set(TESTER, { ...tester, ...more }) };
};

const said = (state: RunState): string => {
  const tester = state.agents.get(TESTER);
  return tester === undefined ? '' : statusOf(state, tester, state.lastAt);
};

describe('an agent that has not begun', () => {
  it('says whom it needs', () => {
    expect(said(MID)).toBe('waiting for #3 oracle');
  });

  it('says whose files it waits for, as the screen does, rather than that it could begin', () => {
    const [task, other] = [TaskId.parse('tests'), TaskId.parse('oracle')];
    const because = 'both may change src/auth/**';
    const plan = MID.plan ?? never();
    const oracle = MID.agents.get(ORACLE) ?? never();
    const state = withTester(
      { dependsOn: [], taskId: task },
      {
        ...MID,
        agents: new Map(MID.agents).set(ORACLE, { ...oracle, taskId: other }),
        plan: {
          ...plan,
          tasks: plan.tasks.map((one, at) =>
            at === 0 ? { ...one, id: task, after: [{ task: other, because }] } : one,
          ),
        },
      },
    );
    expect(said(state)).toBe('waiting for #3 oracle (both may change src/auth/**)');
  });

  it('says that it waits for its turn where nothing else keeps it', () => {
    expect(said(withTester({ dependsOn: [] }))).toBe('queued');
  });
});

function never(): never {
  throw new Error('the recorded run has less');
}
