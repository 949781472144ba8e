import { describe, expect, it } from 'vitest';
import { mainAgent } from '../../../../src/events/queries.ts';
import type { ModelRequest } from '../../../../src/ports/model.ts';
import { cutLog, lengthsOf } from '../../../support/log.ts';
import { AGENT, calling, planOf, type Setting, type TestRun, testRun } from '../../../support/run.ts';
import { SessionId } from '../../../../src/domain/ids.ts';

const ROOT = AGENT('ROOT');
const S1 = 'ROOT::S1';
const SESSION = SessionId.parse('test-session');
const TASK = {
  text: '',
  calls: [{ tool: 'Task', input: { description: 'look', prompt: 'look', subagent_type: 'explore' } }],
};

/** What an agent was told in a request: its user turns. */
const toldIn = ({ turns }: ModelRequest): readonly string[] =>
  turns.flatMap((turn) => (turn.by === 'user' ? [turn.text] : []));
const callsOf = (run: TestRun): readonly string[] =>
  run.events().flatMap((event) => (event.type === 'model.started' ? [`${event.agent} ${event.purpose}`] : []));
/** The run of a former one's log, in which a person says `followUp` to main. */
const followUp = (before: TestRun, text: string, setting: Setting = {}): TestRun =>
  testRun({ mode: 'yolo', log: before.log, followUp: text, ...setting });
const ended = async (setting: Setting): Promise<TestRun> => {
  const run = testRun({ mode: 'yolo', ...setting });
  await run.result;
  return run;
};

describe('a message to main while agents of a plan work', () => {
  it('is answered at once, by ROOT with its tools and all that is known so far; the report knows of it', async () => {
    const go = Promise.withResolvers<void>();
    const asked: ModelRequest[] = [];
    const run = testRun({
      plan: planOf(['a'], ['b']),
      mode: 'yolo',
      record: (request) => void (request.agent === ROOT && asked.push(request)),
      script: async ({ agent, purpose, turns }) => {
        if (purpose.is !== 'work') return undefined;
        if (agent === 'ROOT::S2') await go.promise;
        if (agent !== ROOT) return undefined;
        return turns.at(-1)?.by === 'tools' ? { text: 'a is done, b works' } : calling('read x');
      },
    });
    await run.until(({ agents }) => agents.get(AGENT(S1))?.outcome === 'completed');
    expect(
      await run.tell({ do: 'message', to: mainAgent(run.state()), text: 'How far are you?', delivery: 'important' }),
    ).toBe('sent to main');
    await run.until(
      ({ agents }) =>
        agents.get(ROOT)?.blocks.some((one) => one.is === 'said' && one.text === 'a is done, b works') ?? false,
    );
    expect(run.state().agents.get(ROOT)).toMatchObject({ status: 'running', outcome: null });
    go.resolve();
    expect((await run.result).success).toBe(true);
    const [standing, message] = toldIn(asked[1] ?? asked[0]!).slice(-2);
    expect(standing).toContain('- ROOT::S1 finder 1: completed; task: do a\n- ROOT::S2 finder 2: running');
    expect(standing).toContain('### ROOT::S1, finder (completed)\n\nROOT::S1 is done');
    expect(message).toBe('Message from the person who runs you:\nHow far are you?');
    expect(asked[1]?.tools.map(({ name }) => name)).toContain('Task');
    expect(callsOf(run).filter((call) => call.startsWith('ROOT '))).toEqual([
      'ROOT plan',
      'ROOT work',
      'ROOT work',
      'ROOT merge',
    ]);
    expect(toldIn(asked.at(-1)!)[0]).toContain('# What you told the person meanwhile\n\na is done, b works');
    expect(run.state().finished?.summary).toBe('merged');
  });
});

describe('a follow-up to main after the end', () => {
  it('is answered by ROOT of a plan of several, with what is known, Task and no new plan', async () => {
    const before = await ended({ plan: planOf(['a'], ['b']) });
    const asked: ModelRequest[] = [];
    const [cost, calls] = [before.state().finished?.totals.cost ?? 0, callsOf(before).length];
    const run = followUp(before, 'And who calls it?', {
      record: (request) => void asked.push(request),
      script: ({ agent, turns }) => {
        if (agent !== ROOT) return undefined;
        return turns.at(-1)?.by === 'tools' ? { text: 'nobody calls it' } : TASK;
      },
    });
    expect(await run.until((state) => state.answering || state.finished?.summary !== 'merged')).toMatchObject({
      finished: null,
    });
    expect(await run.result).toMatchObject({ success: true, status: 'completed' });
    expect(run.state().finished?.summary).toBe('merged\n\n## main, later\n\nnobody calls it');
    expect([run.state().answering, run.state().finished?.totals.agents]).toEqual([false, 3]);
    expect((run.state().finished?.totals.cost ?? 0) > cost).toBe(true);
    expect(callsOf(run).slice(calls)).toEqual(['ROOT work', 'ROOT::S3 work', 'ROOT work']);
    const told = toldIn(asked[0]!);
    expect(told.at(-1)).toBe('Message from the person who runs you:\nAnd who calls it?');
    expect(told.join('\n').split('ROOT::S1 is done')).toHaveLength(2);
    expect(run.events().filter(({ type }) => type === 'plan.proposed')).toHaveLength(1);

    const third = followUp(run, 'Sure?', { script: ({ agent }) => (agent === ROOT ? { text: 'quite' } : undefined) });
    expect((await third.result).status).toBe('completed');
    expect(third.state().finished?.summary).toBe(
      'merged\n\n## main, later\n\nnobody calls it\n\n## main, later\n\nquite',
    );
  });

  it('goes to the agent that did a single task as main, which has its whole conversation', async () => {
    const before = await ended({ plan: planOf(['a']) });
    expect(mainAgent(before.state())).toBe(S1);
    const asked: ModelRequest[] = [];
    const run = followUp(before, 'Now commit it', {
      record: (request) => void asked.push(request),
      script: () => ({ text: 'committed' }),
    });
    expect((await run.result).status).toBe('completed');
    expect(asked.map(({ agent }) => agent)).toEqual([S1]);
    expect(toldIn(asked[0]!).at(-1)).toBe('Message from the person who runs you:\nNow commit it');
    expect(asked[0]?.turns.length).toBe(3);
    expect(run.state().finished?.summary).toBe('ROOT::S1 is done\n\n## main, later\n\ncommitted');
  });

  it('goes to the agent that is meant, or to main where that one reads nothing any more', async () => {
    const before = await ended({ plan: planOf(['a'], ['b']) });
    const asked = async (log: TestRun, to: string): Promise<readonly string[]> => {
      const calls: ModelRequest[] = [];
      const run = followUp(log, 'Why so?', { followUpTo: AGENT(to), record: (request) => void calls.push(request) });
      expect((await run.result).status).toBe('completed');
      return calls.map((request) => `${request.agent} ${toldIn(request).at(-1) ?? ''}`);
    };
    const words = 'Message from the person who runs you:\nWhy so?';
    expect(await asked(before, 'ROOT::S2')).toEqual([`ROOT::S2 ${words}`]);
    expect(await asked(before, 'ROOT::S9')).toEqual([`ROOT ${words}`]);
  });

  it('runs nothing again of a run that failed, which stays failed', async () => {
    const before = await ended({
      plan: planOf(['a'], ['b', 'a'], ['c']),
      person: false,
      script: ({ agent }) => (agent === S1 ? { fault: { is: 'refused', message: 'no' } } : undefined),
    });
    const calls = callsOf(before).length;
    const run = followUp(before, 'Why did it fail?', {
      script: ({ agent }) => (agent === ROOT ? { text: 'it refused' } : undefined),
    });
    expect((await run.result).status).toBe('failed');
    expect(callsOf(run).slice(calls)).toEqual(['ROOT work']);
    expect([...run.state().agents.values()].map(({ outcome }) => outcome)).toEqual([
      'partial',
      'failed',
      'skipped',
      'completed',
    ]);
    expect(run.state().finished?.summary).toBe('merged\n\n## main, later\n\nit refused');
  });

  it('ends the same wherever it was cut off and resumed', async () => {
    const before = await ended({ plan: planOf(['a'], ['b']) });
    const script: Setting['script'] = ({ agent, turns }) =>
      agent !== ROOT ? undefined : turns.at(-1)?.by === 'tools' ? { text: 'looked' } : calling('read x');
    const lengths: number[] = [];
    const whole = followUp(before, 'Look again', { script, log: lengthsOf(cutLog(SESSION, before.events()), lengths) });
    await whole.result;
    const events = whole.events();
    const begun = events.findLastIndex(({ type }) => type === 'message.sent') + 1;
    for (const length of lengths.filter((one) => one >= begun && one < events.length)) {
      const log = cutLog(SESSION, events.slice(0, length));
      const again = testRun({ mode: 'yolo', log, script });
      expect([length, (await again.result).status, again.state().finished?.summary]).toEqual([
        length,
        'completed',
        'merged\n\n## main, later\n\nlooked',
      ]);
    }
  });

  it('is answered after a stop as well, by a resume', async () => {
    const before = await ended({ plan: planOf(['a'], ['b']) });
    const never = new Promise<undefined>(() => {});
    const stopped = followUp(before, 'Look again', { script: ({ agent }) => (agent === ROOT ? never : undefined) });
    await stopped.until(({ agents }) => (agents.get(ROOT)?.open.length ?? 0) > 0);
    stopped.stop('Ctrl-C');
    expect((await stopped.result).status).toBe('stopped');
    const again = testRun({
      mode: 'yolo',
      log: stopped.log,
      script: ({ agent }) => (agent === ROOT ? { text: 'looked' } : undefined),
    });
    expect((await again.result).status).toBe('completed');
    expect(again.state().finished?.summary).toBe('merged\n\n## main, later\n\nlooked');
  });
});
