import { describe, expect, it } from 'vitest';
import { SessionId } from '../../../src/domain/ids.ts';
import type { ScriptedReply } from '../../support/scripted.ts';
import { cutLog, lengthsOf, memoryLog } from '../../support/log.ts';
import { AGENT, calling, filed, planOf, type Setting, type TestRun, testRun } from '../../support/run.ts';
import { fakeWorld } from '../../support/world.ts';

const SESSION = SessionId.parse('test-session');
const [S1, S2] = [AGENT('ROOT::S1'), AGENT('ROOT::S2')];
const QUIETLY = { do: 'hand over', how: 'when quiet' } as const;
const NOW = { do: 'hand over', how: 'now' } as const;
const STAY = { do: 'hand over', how: 'stay' } as const;
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
const never = new Promise<undefined>(() => {});

/** What is waited for until it is let go. */
function latch(): { readonly waited: Promise<void>; readonly open: () => void } {
  let open = (): void => {};
  const waited = new Promise<void>((resolve) => (open = resolve));
  return { waited, open };
}

const begunIn = (run: TestRun): readonly string[] =>
  run.events().flatMap((event) => {
    if (event.type === 'tool.started') return [`${event.agent} ${event.label}`];
    return event.type === 'model.started' && event.purpose === 'work' ? [`${event.agent} asks`] : [];
  });

describe('a run that is handed over when it is quiet', () => {
  it('begins nothing new, lets what runs come to its end, and stops as it stands (H022)', async () => {
    const [tool, reply] = [latch(), latch()];
    const run = testRun({
      plan: planOf(['o1'], ['b']),
      mode: 'yolo',
      wait: () => tool.waited,
      script: async ({ agent, purpose }, n) => {
        if (purpose.is !== 'work') return undefined;
        if (agent === S1) return n === 0 ? calling('write x') : undefined;
        await reply.waited;
        return n === 0 ? calling('read y') : undefined;
      },
    });
    await run.until(({ agents }) => agents.get(S1)?.toolCalls === 1 && agents.get(S2)?.open.length === 1);
    const given = run.controls.submit(QUIETLY);
    expect(await run.refused(QUIETLY)).toBe(
      'refused: already being handed over; waiting for a reply for ROOT::S2; write x (ROOT::S1)',
    );
    tool.open();
    await run.until(
      ({ agents }) => agents.get(S1)?.blocks.some((one) => one.is === 'tool' && one.ok === true) ?? false,
    );
    expect(run.state().finished).toBe(null);
    reply.open();
    expect(await given).toEqual({ ok: true, value: { text: 'handed over; the run continues where it is resumed' } });
    expect(await run.result).toMatchObject({ status: 'stopped' });
    expect(run.state().finished).toMatchObject({
      status: 'stopped',
      summary: 'handed over',
      endedBy: { is: 'hand-over' },
    });
    expect(begunIn(run)).toEqual(['ROOT::S1 asks', 'ROOT::S2 asks', 'ROOT::S1 write x']);

    const acts: string[] = [];
    const next = testRun({ plan: planOf(['o1'], ['b']), mode: 'yolo', acts, log: run.log });
    expect((await next.result).status).toBe('completed');
    // What was asked for and not begun is done there; what was done is not done again.
    expect(acts).toEqual(['read y']);
  });

  it('goes on here at a word, with all that was held back', async () => {
    const tool = latch();
    const run = testRun({
      plan: planOf(['o1']),
      mode: 'yolo',
      wait: () => tool.waited,
      script: ({ purpose }, n) => (purpose.is === 'work' && n === 0 ? calling('write x', 'write y') : undefined),
    });
    await run.until(({ agents }) => agents.get(S1)?.toolCalls === 1);
    expect(await run.refused(STAY)).toBe('refused: no hand-over is in progress');
    const given = run.controls.submit(QUIETLY);
    expect(await run.tell(STAY)).toBe('the run stays here');
    expect(await given).toEqual({
      ok: false,
      fault: { text: 'the run stays here; the hand-over was waiting for write x (ROOT::S1)' },
    });
    tool.open();
    expect((await run.result).success).toBe(true);
    expect(begunIn(run)).toEqual(['ROOT::S1 asks', 'ROOT::S1 write x', 'ROOT::S1 write y', 'ROOT::S1 asks']);
  });

  it('holds what was to begin, and lets it begin when it stays', async () => {
    const [first, second] = [latch(), latch()];
    const run = testRun({
      plan: planOf(['a'], ['b']),
      mode: 'yolo',
      script: async ({ agent, purpose }, n) => {
        if (purpose.is !== 'work') return undefined;
        await (agent === S1 ? first : second).waited;
        return n === 0 ? calling('read x') : undefined;
      },
    });
    await run.until(({ agents }) => [S1, S2].every((id) => agents.get(id)?.open.length === 1));
    const given = run.controls.submit(QUIETLY);
    first.open();
    await run.until(({ agents }) => agents.get(S1)?.open.length === 0);
    expect(begunIn(run)).toEqual(['ROOT::S1 asks', 'ROOT::S2 asks']);
    await run.tell(STAY);
    await given;
    second.open();
    expect((await run.result).success).toBe(true);
    expect(begunIn(run).filter((one) => one.endsWith('read x'))).toEqual(['ROOT::S1 read x', 'ROOT::S2 read x']);
  });

  it('asks about what it held back where the mode is stricter by then', async () => {
    const [first, second] = [latch(), latch()];
    const run = testRun({
      plan: planOf(['o1'], ['b']),
      mode: 'yolo',
      script: async ({ agent, purpose }, n) => {
        if (purpose.is !== 'work') return undefined;
        await (agent === S1 ? first : second).waited;
        return agent === S1 && n === 0 ? calling('write x') : undefined;
      },
    });
    await run.until(({ agents }) => [S1, S2].every((id) => agents.get(id)?.open.length === 1));
    const given = run.controls.submit(QUIETLY);
    first.open();
    await run.until(({ agents }) => agents.get(S1)?.open.length === 0);
    await settled();
    await run.tell({ do: 'set mode', mode: 'confirm' });
    await run.tell(STAY);
    await given;
    const { approvals } = await run.until(
      (state) => state.approvals.length === 1 || state.agents.get(S1)?.toolCalls === 1,
    );
    expect(approvals.map(({ request }) => request.title)).toEqual(['oracle: write x']);
    await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: false, scope: 'once' });
    second.open();
    expect((await run.result).success).toBe(true);
  });

  it('asks once about a check that it held back', async () => {
    const second = latch();
    const checked = { id: 'a', description: 'do a', role: 'oracle', writes: ['a'], checks: [{ run: 'make' }] };
    const run = testRun({
      ...filed({ tasks: [checked, { id: 'b', description: 'do b', role: 'finder' }] }),
      script: async ({ agent, purpose }) => {
        if (purpose.is === 'work' && agent === S2) await second.waited;
        return undefined;
      },
    });
    const { approvals } = await run.until(
      (state) => state.approvals.length === 1 && state.agents.get(S2)?.open.length === 1,
    );
    const given = run.controls.submit(QUIETLY);
    await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: true, scope: 'once' });
    await settled();
    await run.tell(STAY);
    await given;
    await run.until((state) => state.approvals.length === 1 || (state.agents.get(S1)?.checks?.length ?? 0) > 0);
    await run.tell({ do: 'stop run', reason: 'enough' });
    second.open();
    await run.result;
    const kinds = run.events().map(({ type }) => type);
    const ofCheck = kinds.filter((type) => type === 'approval.requested' || type === 'check.started');
    expect(ofCheck.slice(0, 2)).toEqual(['approval.requested', 'check.started']);
  });

  it('does not wait for a question, nor for a Task call with its child: both go on there (T012, S136)', async () => {
    const reply = latch();
    const plan = {
      reason: '',
      tasks: [
        { id: 't', description: 'do t', role: 'oracle', maySpawn: true },
        { id: 'u', description: 'do u', role: 'oracle' },
      ],
    };
    const task: ScriptedReply = {
      text: '',
      calls: [{ tool: 'Task', input: { description: 'look', prompt: 'look', subagent_type: 'explore' } }],
    };
    const ask: ScriptedReply = { text: '', calls: [{ tool: 'ask_user', input: { question: 'which?' } }] };
    const script: Setting['script'] = ({ agent, purpose }, n) => {
      if (purpose.is !== 'work' || n > 0) return undefined;
      return agent === S1 ? task : agent === S2 ? ask : undefined;
    };
    const run = testRun({
      plan,
      mode: 'yolo',
      script: async (request, n) => {
        if (request.agent === 'ROOT::S1::S1') await reply.waited;
        return script(request, n);
      },
    });
    await run.until(
      ({ agents, approvals }) => approvals.length === 1 && agents.get(AGENT('ROOT::S1::S1'))?.open.length === 1,
    );
    const given = run.controls.submit(QUIETLY);
    reply.open();
    expect((await given).ok).toBe(true);
    await run.result;

    const next = testRun({ plan, mode: 'yolo', script, log: run.log });
    const { approvals } = await next.until((state) => state.approvals.length === 1);
    await next.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: true, scope: 'once', text: 'left' });
    expect((await next.result).status).toBe('completed');
    const ends = next.events().flatMap((event) => (event.type === 'tool.finished' ? [[event.tool, event.output]] : []));
    expect(ends).toEqual([
      ['Task', 'ROOT::S1::S1 is done'],
      ['ask_user', 'left'],
    ]);
    expect(next.events().filter(({ type }) => type === 'agent.created').length).toBe(4);
  });

  it('at once ends what runs, whether it was waiting for quiet or not', async () => {
    for (const before of [[], [QUIETLY]]) {
      const run = testRun({
        plan: planOf(['a']),
        script: ({ purpose }) => (purpose.is === 'work' ? never : undefined),
      });
      await run.until(({ agents }) => agents.get(S1)?.open.length === 1);
      const given = before.map((command) => run.controls.submit(command));
      expect(await run.tell(NOW)).toBe('handed over; the run continues where it is resumed');
      expect((await Promise.all(given)).every(({ ok }) => ok)).toBe(true);
      expect(await run.result).toMatchObject({ status: 'stopped' });
      expect(await run.refused(QUIETLY)).toBe('refused: the run has ended');
    }
  });

  it('says so when the run came to its own end meanwhile', async () => {
    const reply = latch();
    const run = testRun({
      plan: planOf(['a'], ['b']),
      script: async ({ purpose }) => {
        if (purpose.is === 'merge') await reply.waited;
        return undefined;
      },
    });
    await run.until(({ phase, agents }) => phase === 'merging' && agents.get(AGENT('ROOT'))?.open.length === 1);
    const given = run.refused(QUIETLY);
    reply.open();
    expect(await given).toBe('refused: the run has ended meanwhile');
    expect((await run.result).status).toBe('completed');
  });
});

describe('a hand-over at any event', () => {
  it('leaves a run that ends as if nothing had been: each effect once, each answer paid once (D11, H022)', async () => {
    const story = (acts: string[]): Setting => ({
      plan: planOf(['o1'], ['o2', 'o1'], ['c']),
      mode: 'yolo',
      acts,
      script: ({ agent, purpose }, n) =>
        purpose.is === 'work' && agent !== 'ROOT::S3' && n < 2
          ? calling(`${n === 0 ? 'read' : 'write'} ${agent}`)
          : undefined,
    });
    const lengths: number[] = [];
    const whole = testRun({ ...story([]), log: lengthsOf(memoryLog(), lengths) });
    await whole.result;
    const replies = (run: TestRun): number => run.events().filter(({ type }) => type === 'model.finished').length;
    for (const length of lengths.slice(0, -1)) {
      const acts: string[] = [];
      const first = testRun({ ...story(acts), log: memoryLog() });
      await first.until(({ seq }) => seq >= length);
      const given = await first.controls.submit(QUIETLY);
      await first.result;
      let names = 0;
      const name = (): string => `again-${(names += 1)}`;
      const log = cutLog(SESSION, first.events());
      const next = testRun({ ...story(acts), log, world: { ...fakeWorld(), name } });
      await next.result;
      expect([length, next.state().finished?.status, acts.toSorted()]).toEqual([
        length,
        'completed',
        ['read ROOT::S1', 'read ROOT::S2', 'write ROOT::S1', 'write ROOT::S2'],
      ]);
      expect([length, given.ok, replies(next)]).toEqual([length, given.ok, replies(whole)]);
    }
  });
});
