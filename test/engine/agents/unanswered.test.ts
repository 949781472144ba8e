import { describe, expect, it } from 'vitest';
import { logLine } from '../../../src/events/log-line.ts';
import { builtIn } from '../../../src/policy/rules.ts';
import {
  AGENT,
  calling,
  planOf,
  RULES,
  says,
  type Setting,
  type TestRun,
  testRun,
  testTools,
} from '../../support/run.ts';
import { fakeWorld } from '../../support/world.ts';

const S1 = AGENT('ROOT::S1');
const ALONE: Setting = { person: false };
const ends = (run: TestRun): unknown =>
  run
    .events()
    .flatMap((one) => (one.type === 'agent.finished' && one.agent !== 'ROOT' ? [[one.outcome, one.error]] : []));

/** A sandbox that worked at the start, and starts nothing now. */
function boxless(acts: string[]): ReturnType<typeof testTools> {
  const tools = testTools(acts).tools.map((tool) =>
    tool.name === 'bash'
      ? { ...tool, run: () => Promise.resolve({ ok: false, text: 'not run', unsandboxedCommand: true as const }) }
      : tool,
  );
  return { tools, sandbox: { is: 'bubblewrap' } };
}

describe('work that nobody could be asked about', () => {
  it('D42: leaves its agent partial and the run failed, and the report names it', async () => {
    const acts: string[] = [];
    const run = testRun({
      ...ALONE,
      plan: planOf(['o']),
      acts,
      script: says({ [S1]: [calling('write b', 'bash rm x')] }),
    });
    const result = await run.result;
    expect([acts, result.success, result.status]).toEqual([[], false, 'failed']);
    expect(ends(run)).toEqual([['partial', 'denied, since nobody could be asked: write b, rm x']]);
    expect(run.state().finished?.summary).toBe(
      'ROOT::S1 is done\n\n## Not done\n\nDenied, since nobody could be asked:\n\n- main: write b\n- main: rm x',
    );
  });

  it('is named once, however often and in whatever spelling it was tried', async () => {
    const script = says({ [S1]: [calling('write b', 'write b'), calling('write b')] });
    const run = testRun({ ...ALONE, plan: planOf(['o']), script });
    await run.result;
    expect(run.events().filter(({ type }) => type === 'act.unanswered')).toHaveLength(1);
    expect(ends(run)).toEqual([['partial', 'denied, since nobody could be asked: write b']]);
  });

  it('counts no command whose sandbox could not be started: that is said, and the run ends as partial', async () => {
    const acts: string[] = [];
    const run = testRun({
      mode: 'yolo',
      plan: planOf(['o']),
      port: boxless(acts),
      script: says({ [S1]: [calling('bash npm test')] }),
    });
    const result = await run.result;
    expect([acts, result.success, result.status]).toEqual([[], false, 'failed']);
    expect(ends(run)).toEqual([['partial', 'not run, since the sandbox could not be started: npm test']]);
    const said = run.events().flatMap((event) => (event.type === 'act.unanswered' ? [logLine(event, 0)?.text] : []));
    expect(said).toEqual(['not done: its sandbox could not be started: npm test']);
  });

  it('D42: hands its answer on: what needs it begins', async () => {
    const run = testRun({ ...ALONE, plan: planOf(['o'], ['b', 'o']), script: says({ [S1]: [calling('write b')] }) });
    await run.result;
    expect([...run.state().agents.values()].map(({ outcome }) => outcome)).toEqual(['partial', 'partial', 'completed']);
  });

  it('D42: counts as done when the same is done later', async () => {
    const acts: string[] = [];
    const rules = { ...RULES };
    const run = testRun({
      ...ALONE,
      plan: planOf(['o']),
      acts,
      rules,
      script: ({ agent, purpose }, n) => {
        if (agent !== S1 || purpose.is !== 'work') return undefined;
        if (n === 1) void run.controls.submit({ do: 'set mode', mode: 'yolo' });
        return [calling('write b'), calling('read a'), calling('write b')][n];
      },
    });
    expect([(await run.result).success, acts, ends(run)]).toEqual([true, ['read a', 'write b'], [['completed', null]]]);
    expect(run.events().filter(({ type }) => type === 'act.done')).toHaveLength(1);
  });

  it('D42: is no denied read, no denial of a rule, and no answer of a person', async () => {
    const rule = { words: ['rm', '**'], from: builtIn('commands.deny') };
    const rules = { ...RULES, commands: { allow: [], ask: [], deny: [rule] } };
    const byRule = testRun({ ...ALONE, rules, plan: planOf(['o']), script: says({ [S1]: [calling('bash rm x')] }) });
    expect((await byRule.result).success).toBe(true);
    const person = testRun({ plan: planOf(['o']), script: says({ [S1]: [calling('write b')] }) });
    const { approvals } = await person.until((state) => state.approvals.length === 1);
    await person.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: false, scope: 'once' });
    expect([(await person.result).success, ends(person)]).toEqual([true, [['completed', null]]]);
  });

  it('D42: is a question as well that nobody answered in the time that rules give', async () => {
    const rules = { ...RULES, answerWithin: { value: 1000, from: builtIn('approvals.answerWithin: 1s') } };
    const world = fakeWorld();
    const run = testRun({ world, rules, plan: planOf(['o']), script: says({ [S1]: [calling('write b')] }) });
    await run.until((state) => state.approvals.length === 1);
    await world.advance(1000);
    expect([(await run.result).success, ends(run)]).toEqual([
      false,
      [['partial', 'denied, since nobody could be asked: write b']],
    ]);
  });
});
