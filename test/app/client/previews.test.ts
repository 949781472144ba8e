/** What changes would do, asked of a run: how often it is asked, and what is known meanwhile. */
import { describe, expect, it } from 'vitest';
import { Previews } from '../../../src/app/client/index.ts';
import { AgentId, TaskId } from '../../../src/domain/ids.ts';
import { fail } from '../../../src/domain/result.ts';
import { foldAll } from '../../../src/events/fold.ts';
import type { RunState } from '../../../src/events/state.ts';
import type { ModePreview } from '../../../src/ports/controls.ts';
import { settled } from '../../support/fake-run.ts';
import { midRun } from '../../support/recorded-run.ts';
import { fakeWorld } from '../../support/world.ts';

const ORACLE = AgentId.parse('ROOT::S3');
const answerOf = (text: string, refused: string | null = null): ModePreview => ({
  refused,
  looser: false,
  changes: [text],
  answers: 0,
});

function asking(refused: string | null = null) {
  const world = fakeWorld();
  const asked: string[] = [];
  let state: RunState = foldAll(midRun().events);
  let answers = 0;
  const previews = new Previews({
    controls: {
      previewMode(mode, agent) {
        asked.push(`${mode} ${agent ?? 'all'}`);
        return Promise.resolve(answerOf(`answer ${asked.length}\u001b[2J`, refused));
      },
      previewPlan(edits) {
        asked.push(`${edits.length} edits`);
        return Promise.resolve(fail('no plan'));
      },
    },
    world,
    state: () => state,
    answered: () => void (answers += 1),
    fail: (error) => {
      throw error;
    },
  });
  return {
    world,
    asked,
    previews,
    answers: () => answers,
    becomes: (more: Partial<RunState>) => void (state = { ...state, ...more }),
    state: () => state,
  };
}

describe('what a change would do', () => {
  it('is asked once, however often it is drawn, and is harmless', async () => {
    const { previews, asked, answers } = asking();
    for (let paint = 0; paint < 1000; paint += 1) expect(previews.mode('yolo')).toBeNull();
    expect(previews.mode('yolo', ORACLE)).toBeNull();
    await settled();
    for (let paint = 0; paint < 1000; paint += 1) previews.mode('yolo');
    expect(previews.mode('yolo')).toEqual(answerOf('answer 1'));
    expect(previews.mode('yolo', ORACLE)).toEqual(answerOf('answer 2'));
    expect([asked, answers()]).toEqual([['yolo all', 'yolo ROOT::S3'], 2]);
  });

  it('is asked anew when something has happened, and the old answer holds until the new one is there', async () => {
    const { previews, asked, becomes, state } = asking();
    previews.mode('yolo');
    await settled();
    becomes({ seq: state().seq + 1 });
    expect(previews.mode('yolo')?.changes).toEqual(['answer 1']);
    await settled();
    expect([previews.mode('yolo')?.changes, asked.length]).toEqual([['answer 2'], 2]);
  });

  it('is unknown again when the mode or the plan is another one by now', async () => {
    const { previews, becomes } = asking();
    const edits = [{ is: 'drop', task: TaskId.parse('task-1') }] as const;
    previews.mode('confirm');
    previews.plan(edits);
    await settled();
    expect([previews.mode('confirm') === null, previews.plan(edits)]).toEqual([false, fail('no plan')]);
    becomes({ mode: 'human', planDigest: 'another' });
    expect([previews.mode('confirm'), previews.plan(edits)]).toEqual([null, null]);
  });

  it('is asked anew after a second where it was refused, since that may be because of the time', async () => {
    const { previews, asked, world } = asking('the run is being handed over');
    previews.mode('yolo');
    await settled();
    for (const [ms, times] of [
      [0, 1],
      [999, 1],
      [1, 2],
    ] as const) {
      await world.advance(ms);
      expect([previews.mode('yolo')?.refused, asked.length]).toEqual(['the run is being handed over', times]);
    }
  });

  it('is kept for the last questions only', async () => {
    const { previews, asked } = asking();
    const edits = (count: number) =>
      Array.from({ length: count }, () => ({ is: 'drop', task: TaskId.parse('task-1') }) as const);
    for (let count = 1; count <= 65; count += 1) previews.plan(edits(count));
    await settled();
    expect([previews.plan(edits(65)), asked.length]).toEqual([fail('no plan'), 65]);
    expect([previews.plan(edits(1)), asked.length]).toEqual([null, 66]);
  });
});
