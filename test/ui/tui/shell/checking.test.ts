/** What a change would do is said by another process: late, or not at all, while the keys are answered at once. */
import { describe, expect, it } from 'vitest';
import { planDigest } from '../../../../src/domain/digest.ts';
import { ok, type Result } from '../../../../src/domain/result.ts';
import type { ModePreview, PlanPreview } from '../../../../src/ports/controls.ts';
import { openSession as open } from '../../../support/app-session.ts';
import { settled } from '../../../support/fake-run.ts';
import { hosted, reached } from '../../../support/knocking.ts';
import { RACE } from '../../../support/plans.ts';
import { midRun } from '../../../support/recorded-run.ts';
import { until } from '../../../support/until.ts';

const ASKED = 'Checking the effect of this change.';
const DROPPED = 'The run did not answer. Your input was ignored.';
const LOOSER: ModePreview = { refused: null, looser: true, changes: ['writes run without asking'], answers: 0 };

/** A session whose run says what a mode would do when the test lets it. */
async function late() {
  const session = await open(midRun());
  const answer = Promise.withResolvers<ModePreview>();
  session.run.preview(() => answer.promise);
  return { ...session, answer: answer.resolve };
}

describe('a change that the run has not judged yet', () => {
  it('is shown as being checked while other keys are answered, and cannot be made', async () => {
    const { terminal, run, answer } = await late();
    terminal.press('backtab', 'down');
    expect(terminal.text()).toContain('checking …');
    expect(terminal.text()).not.toContain('change to yolo');
    terminal.press('up');
    expect(terminal.text()).toContain('▌ confirm');
    terminal.press('down');
    answer(LOOSER);
    await settled();
    expect(terminal.text()).toContain('writes run without asking');
    expect(terminal.text()).toContain('L change to yolo');
    expect(run.commands).toEqual([]);
  });

  it('is made when the answer has come, and what was typed behind it is done after it', async () => {
    const { terminal, run, world, answer } = await late();
    terminal.press('backtab', 'down', 'L', 'i');
    terminal.type('hello');
    terminal.press('enter');
    expect([run.commands, terminal.text().includes(ASKED)]).toEqual([[], false]);
    await world.advance(100);
    expect([run.commands, terminal.text().includes(ASKED)]).toEqual([[], true]);
    answer(LOOSER);
    await settled();
    expect(run.commands).toMatchObject([
      { do: 'set mode', mode: 'yolo' },
      { do: 'message', to: 'ROOT', text: 'hello' },
    ]);
  });

  it('is not made after a second without an answer, which is said', async () => {
    const { terminal, run, world, answer } = await late();
    terminal.press('backtab', 'down', 'L', 'esc');
    await world.advance(999);
    expect(terminal.text()).not.toContain(DROPPED);
    await world.advance(1);
    expect(terminal.text()).toContain(DROPPED);
    expect(terminal.text()).toContain('Mode of all agents');
    answer(LOOSER);
    await settled();
    expect(run.commands).toEqual([]);
    terminal.press('L');
    expect(run.commands).toEqual([{ do: 'set mode', mode: 'yolo' }]);
  });

  it('is given up with Ctrl-C at once', async () => {
    const { terminal, run, answer } = await late();
    terminal.press('backtab', 'down', 'L', 'ctrl-c');
    expect(terminal.text()).not.toContain('Mode of all agents');
    answer(LOOSER);
    await settled();
    expect(run.commands).toEqual([]);
  });

  it('of the plan that runs keeps its form open until the difference can be shown', async () => {
    const { terminal, run } = await open(midRun());
    const answer = Promise.withResolvers<Result<PlanPreview, string>>();
    run.previewPlan(() => answer.promise);
    terminal.press('G', 'b');
    terminal.type('64k');
    terminal.press('ctrl-s');
    expect(terminal.text()).toContain('64k');
    const form = terminal.text();
    terminal.press('y');
    expect(terminal.text()).toBe(form);
    const changes = [{ is: 'changed', task: RACE.tasks[5]?.id ?? never(), text: '#6 tester: model x -> o3' }] as const;
    answer.resolve(ok({ plan: RACE, digest: planDigest(RACE), base: 'before', changes }));
    await settled();
    // A yes that was typed before the difference was there is none to it.
    expect([run.commands, terminal.text().includes('#6 tester: model x → o3')]).toEqual([[], true]);
    expect(terminal.text()).toContain('Input typed before this question appeared was ignored.');
    terminal.press('y');
    expect(run.commands).toMatchObject([{ do: 'amend plan', base: 'before', digest: planDigest(RACE) }]);
  });
});

describe('a change that another process judges', () => {
  it('waits while that stands still, and is refused in words when it dies', async () => {
    const { where, child } = await hosted();
    const { controls } = await reached(where);
    const { terminal, run } = await open(midRun());
    run.preview((mode, agent) => controls.previewMode(mode, agent));
    terminal.press('backtab', 'down');
    await until(() => terminal.text().includes('all at 0'));
    child.kill('SIGSTOP');
    terminal.press('up', 'up');
    expect(terminal.text()).toContain('checking …');
    const begun = performance.now();
    for (let key = 0; key < 20; key += 1) terminal.press('down');
    expect(performance.now() - begun).toBeLessThan(20 * 33);
    terminal.press('down');
    child.kill('SIGKILL');
    await until(() => terminal.text().includes('Not possible: the process that hosted the run has ended'));
    terminal.press('enter', 'L');
    expect(run.commands).toEqual([]);
    terminal.press('esc');
    expect(terminal.text()).not.toContain('Mode of all agents');
  });
});

function never(): never {
  throw new Error('the plan has less tasks');
}
