import { describe, expect, it } from 'vitest';
import { SessionId } from '../../src/domain/ids.ts';
import type { SpawnWish } from '../../src/domain/spawn.ts';
import type { RunState } from '../../src/events/state.ts';
import type { ScriptedReply } from '../../src/models/scripted.ts';
import { CHILD_DEFAULTS } from '../../src/policy/children.ts';
import type { ModelRequest } from '../../src/ports/model.ts';
import { cutLog, lengthsOf, memoryLog } from '../support/log.ts';
import { AGENT, calling, RULES, testRun } from '../support/run.ts';
import type { Setting, TestRun } from '../support/run.ts';
import { fakeWorld } from '../support/world.ts';

const SESSION = SessionId.parse('test-session');
const ROOT = AGENT('ROOT');
const C1 = AGENT('ROOT::S1');
const TEN_MINUTES = 600_000;

const idleRun = (setting: Setting = {}): TestRun =>
  testRun({
    mode: 'yolo',
    idle: true,
    script: ({ agent, turns }) => ({ text: `${agent} answers ${turns.length}` }),
    ...setting,
  });

const waits = ({ agents }: RunState): boolean =>
  agents.get(ROOT)?.status === 'waiting' && agents.get(ROOT)?.reason === 'idle';
const say = (run: TestRun, text: string): Promise<string> =>
  run.tell({ do: 'message', to: ROOT, text, delivery: 'important' });
/** Resolves when ROOT has said this and waits again. */
const answered = (run: TestRun, text: string): Promise<RunState> =>
  run.until(
    (state) =>
      waits(state) && (state.agents.get(ROOT)?.blocks.some((one) => one.is === 'said' && one.text === text) ?? false),
  );

const wish = (prompt: string, more: Partial<SpawnWish> = {}): SpawnWish => ({
  prompt,
  role: 'finder',
  model: null,
  name: null,
  wait: null,
  workingDir: null,
  ...more,
});

const task = (prompt: string): ScriptedReply => ({
  text: '',
  calls: [{ tool: 'Task', input: { description: prompt, prompt, subagent_type: 'explore' } }],
});

describe('a run without a plan', () => {
  it('asks no planner, and waits with no call of a model (D33, S042, S130)', async () => {
    const asked: ModelRequest[] = [];
    const run = idleRun({ record: (request) => void asked.push(request) });
    await run.until(waits);
    expect(run.events().map(({ type }) => type)).toEqual(['session.started', 'agent.created', 'agent.status']);
    expect([run.state().idle, run.state().phase, asked]).toEqual([true, 'running', []]);
    expect(await run.tell({ do: 'stop run', reason: 'Ctrl-C' })).toContain('mimir resume');
    expect(await run.result).toMatchObject({ status: 'stopped', metadata: { agentCount: 0, totalTokens: 0 } });
    expect(run.state().finished).toMatchObject({ status: 'stopped', summary: 'Ctrl-C' });
  });

  it('lets ROOT work for a message, with its tools and one conversation over all of them (S041, S131, S137)', async () => {
    const seen: ModelRequest[] = [];
    const acts: string[] = [];
    const run = idleRun({
      acts,
      record: (request) => void seen.push(request),
      script: ({ turns }) => (turns.length === 1 ? calling('write a') : { text: `answer to ${turns.length} turns` }),
    });
    await say(run, 'hello');
    await answered(run, 'answer to 3 turns');
    await say(run, 'and now?');
    await answered(run, 'answer to 5 turns');
    expect(acts).toEqual(['write a']);
    expect(seen[0]).toMatchObject({
      agent: 'ROOT',
      system: 'common\n\nYou are main.',
      purpose: { is: 'work', role: 'main' },
      turns: [{ by: 'user', text: 'Message from the person who runs you:\nhello' }],
    });
    expect(seen.at(-1)?.turns.map(({ by }) => by)).toEqual(['user', 'model', 'tools', 'model', 'user']);
    run.stop('done');
    await run.result;
  });

  it('has the slot of ROOT for its Task child: one is enough, and is free between turns (S152)', async () => {
    const one = { ...RULES, maxParallelAgents: { ...RULES.maxParallelAgents, value: 1 } };
    const run = idleRun({
      rules: one,
      script: ({ agent, turns }) =>
        agent === ROOT && turns.length === 1 ? task('look') : { text: `${agent} answers ${turns.length}` },
    });
    await say(run, 'look there');
    await answered(run, 'ROOT answers 3');
    expect(run.state().agents.get(C1)?.outcome).toBe('completed');
    await run.controls.submit({ do: 'spawn', parent: ROOT, wish: wish('more') });
    await run.until(({ agents }) => agents.get(AGENT('ROOT::S2'))?.outcome === 'completed');
    run.stop('done');
    await run.result;
  });

  it('keeps notices of children for the person while nobody has spoken to ROOT, and wakes it afterwards (S040, S041, S135)', async () => {
    const asked: string[] = [];
    const run = idleRun({ record: ({ agent }) => void asked.push(agent) });
    await run.controls.submit({ do: 'spawn', parent: ROOT, wish: wish('look', { name: 'first' }) });
    await run.until(({ messages }) => messages.length === 1);
    expect(run.state().messages[0]).toMatchObject({ to: 'ROOT', delivered: false, notice: { is: 'completed' } });
    expect([asked, waits(run.state())]).toEqual([[C1], true]);
    await say(run, 'what is new?');
    await answered(run, 'ROOT answers 1');
    const told = run.state().agents.get(ROOT)?.blocks[0];
    expect(told?.is === 'told' && told.text).toMatch(/Child first completed: [\s\S]*what is new\?/);

    await run.controls.submit({ do: 'spawn', parent: ROOT, wish: wish('look again', { name: 'second' }) });
    await answered(run, 'ROOT answers 3');
    expect(run.state().messages.every(({ delivered }) => delivered)).toBe(true);
    run.stop('done');
    await run.result;
  });

  it('says what ROOT could not do, and waits for the next word', async () => {
    let broken = true;
    const run = idleRun({
      script: () => (broken ? { fault: { is: 'refused', message: 'no' } } : { text: 'here again' }),
    });
    await say(run, 'hello');
    await run.until((state) => waits(state) && state.seq > 10);
    expect(run.state().agents.get(ROOT)?.blocks.at(-1)).toMatchObject({ is: 'note', level: 'warn', text: 'fast: no' });
    broken = false;
    await say(run, 'hello?');
    await answered(run, 'here again');
    run.stop('done');
    await run.result;
  });
});

describe('the end of a run without a plan', () => {
  it('comes when nothing worked, asked or watched for the idle time (D33)', async () => {
    const world = fakeWorld();
    const run = idleRun({ world });
    await run.until(waits);
    await world.advance(TEN_MINUTES - 60_000);
    await say(run, 'hello');
    await answered(run, 'ROOT answers 1');
    await world.advance(TEN_MINUTES - 60_000);
    expect(run.state().finished).toBe(null);
    await world.advance(120_000);
    expect(await run.result).toMatchObject({ status: 'stopped', error: null });
    expect(run.state().finished?.summary).toBe('nothing to do for 10 min');
  });

  it('does not come while somebody watches, a question is open or an agent works', async () => {
    const world = fakeWorld();
    let watched = true;
    let release = (): void => {};
    const reply = new Promise<void>((resolve) => (release = resolve));
    const run = idleRun({
      world,
      mode: 'confirm',
      watched: () => watched,
      script: async ({ turns }) => {
        if (turns.length === 1) return calling('write a');
        await reply;
        return { text: 'done' };
      },
    });
    await run.until(waits);
    await world.advance(2 * TEN_MINUTES);
    await say(run, 'write');
    const { approvals } = await run.until((state) => state.approvals.length === 1);
    watched = false;
    await world.advance(2 * TEN_MINUTES);
    await run.tell({ do: 'answer', approval: approvals[0]?.id ?? '', allow: true, scope: 'once' });
    await run.until(({ agents }) => agents.get(ROOT)?.open.length === 1);
    await world.advance(2 * TEN_MINUTES);
    expect(run.state().finished).toBe(null);
    release();
    await run.until(waits);
    await world.advance(2 * TEN_MINUTES);
    expect((await run.result).status).toBe('stopped');
  });

  it('never comes by itself where the rules say 0', async () => {
    const world = fakeWorld();
    const run = idleRun({ world, rules: { ...RULES, children: { ...CHILD_DEFAULTS, idleTimeout: 0 } } });
    await run.until(waits);
    await world.advance(100 * TEN_MINUTES);
    expect(run.state().finished).toBe(null);
    run.stop('done');
    await run.result;
  });
});

describe('a run without a plan that is cut off at any event', () => {
  it('goes on as if nothing had been: each message answered, each effect once (D11, D33)', async () => {
    const story = (acts: string[]): Setting => ({
      acts,
      script: ({ agent, turns }) => {
        if (agent !== ROOT) return turns.length === 1 ? calling('read x') : { text: `${agent} found it` };
        if (turns.length === 1) return calling('write a');
        return turns.length === 3 ? task('look') : { text: 'all done' };
      },
    });
    const lengths: number[] = [];
    const whole = idleRun({ ...story([]), log: lengthsOf(memoryLog(), lengths) });
    await say(whole, 'do it');
    await answered(whole, 'all done');
    const events = whole.events();
    whole.stop('done');
    await whole.result;
    const from = events.findIndex(({ type }) => type === 'message.sent') + 1;
    for (const length of lengths.filter((one) => one >= from && one <= events.length)) {
      const before = events.slice(0, length);
      const at = `cut after ${length}: ${before.at(-1)?.type}`;
      let names = 0;
      const name = (): string => `again-${(names += 1)}`;
      const acts: string[] = [];
      // That it is a run without a plan is in its log.
      const run = testRun({
        ...story(acts),
        mode: 'yolo',
        log: cutLog(SESSION, before),
        world: { ...fakeWorld(), name },
      });
      const end = await answered(run, 'all done');
      const begun = run.events().flatMap((event) => (event.type === 'tool.started' ? [event.label] : []));
      expect([at, begun.filter((label) => !label.startsWith('read'))]).toEqual([
        at,
        ['write a', 'Task(explore): look'],
      ]);
      expect([at, [...end.agents.keys()]]).toEqual([at, [ROOT, C1]]);
      const said = end.agents.get(ROOT)?.blocks.filter((one) => one.is === 'said').length;
      expect([at, said, end.messages.map(({ delivered }) => delivered)]).toEqual([at, 1, [true]]);
      run.stop('done');
      await run.result;
    }
  });

  it('has each child once, each notice once, and one answer of ROOT to it (S040, S041, D11)', async () => {
    const story: Setting = {
      script: ({ agent, turns }) => {
        if (agent !== ROOT) return turns.length === 1 ? calling('read x') : { text: 'found it' };
        return { text: turns.length === 1 ? 'hello yourself' : 'noted' };
      },
    };
    const lengths: number[] = [];
    const whole = idleRun({ ...story, log: lengthsOf(memoryLog(), lengths) });
    await say(whole, 'hello');
    await answered(whole, 'hello yourself');
    await whole.controls.submit({ do: 'spawn', parent: ROOT, wish: wish('look', { name: 'first' }) });
    await answered(whole, 'noted');
    const events = whole.events();
    whole.stop('done');
    await whole.result;
    const from = events.findIndex((event) => event.type === 'agent.created' && event.agent === C1) + 1;
    const cuts = lengths.filter((one) => one >= from && one <= events.length);
    expect(cuts.length).toBeGreaterThan(10);
    for (const length of cuts) {
      const before = events.slice(0, length);
      const at = `cut after ${length}: ${before.at(-1)?.type}`;
      let names = 0;
      const name = (): string => `again-${(names += 1)}`;
      const run = testRun({ ...story, mode: 'yolo', log: cutLog(SESSION, before), world: { ...fakeWorld(), name } });
      const end = await answered(run, 'noted');
      const said = end.agents.get(ROOT)?.blocks.flatMap((one) => (one.is === 'said' ? [one.text] : []));
      expect([at, said]).toEqual([at, ['hello yourself', 'noted']]);
      expect([at, [...end.agents.keys()], end.agents.get(C1)?.outcome]).toEqual([at, [ROOT, C1], 'completed']);
      expect([at, end.messages.map(({ notice, delivered }) => [notice?.is, delivered])]).toEqual([
        at,
        [
          [undefined, true],
          ['completed', true],
        ],
      ]);
      run.stop('done');
      await run.result;
    }
  });
});

describe('a run without a plan that is handed over', () => {
  it('stops when its children and ROOT are quiet, and they go on in the next process (H022, S138)', async () => {
    let release = (): void => {};
    const reply = new Promise<void>((resolve) => (release = resolve));
    const script: NonNullable<Setting['script']> = ({ agent, turns }) =>
      agent === ROOT || turns.length > 1 ? { text: `${agent} answers ${turns.length}` } : calling('read x');
    const run = idleRun({
      script: async (request, n) => {
        if (request.agent !== ROOT) await reply;
        return script(request, n);
      },
    });
    await say(run, 'hello');
    await answered(run, 'ROOT answers 1');
    await run.controls.submit({ do: 'spawn', parent: ROOT, wish: wish('look') });
    await run.until(({ agents }) => agents.get(C1)?.open.length === 1);
    const given = run.tell({ do: 'hand over', how: 'when quiet' });
    release();
    expect(await given).toBe('handed over: it goes on where it is resumed');
    expect(run.state().agents.get(C1)).toMatchObject({ outcome: null, toolCalls: 0 });

    const next = idleRun({ script, log: run.log });
    await answered(next, 'ROOT answers 3');
    expect(next.state().agents.get(C1)).toMatchObject({ outcome: 'completed', toolCalls: 1 });
    expect(next.state().agents.get(C1)?.iterations).toBe(2);
    next.stop('done');
    await next.result;
  });
});
