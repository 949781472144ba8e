import { describe, expect, it } from 'vitest';
import { CHILD_DEFAULTS } from '../../../../src/policy/rules.ts';
import type { ModelRequest } from '../../../../src/ports/model.ts';
import { forcedRun, gatesOf, reviewers, verdict, writing } from '../../../support/forced.ts';
import { answered, idleRun, say, task, waits, wish } from '../../../support/idle.ts';
import { AGENT, calling, RULES } from '../../../support/run.ts';
import { fakeWorld } from '../../../support/world.ts';

const ROOT = AGENT('ROOT');
const C1 = AGENT('ROOT::S1');
const TEN_MINUTES = 600_000;

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
      purpose: { is: 'work', role: 'main', task: 'hello' },
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

  it('ends the turn of ROOT at a word, and nothing of it goes on by itself, in the next process either (S136)', async () => {
    const never = new Promise<undefined>(() => {});
    const run = idleRun({ script: ({ turns }) => (turns.length === 1 ? never : { text: 'as you like' }) });
    expect(await run.refused({ do: 'interrupt', agent: ROOT })).toMatch(/^refused: main plans and reports/);
    await say(run, 'do it all');
    await run.until(({ agents }) => agents.get(ROOT)?.open.length === 1);
    expect(await run.tell({ do: 'interrupt', agent: ROOT })).toBe('main interrupted; it waits for your next message');
    await run.until((state) => waits(state) && state.seq > 8);
    run.stop('later');
    await run.result;
    const asked: string[] = [];
    const next = idleRun({
      log: run.log,
      script: ({ turns }) => ({ text: `as you like, after ${turns.length}` }),
      record: ({ agent }) => void asked.push(agent),
    });
    await next.until(waits);
    await next.controls.submit({ do: 'spawn', parent: ROOT, wish: wish('look') });
    await next.until(({ agents }) => agents.get(C1)?.outcome === 'completed');
    await answered(next, 'as you like, after 2');
    expect(asked).toEqual([C1, ROOT]);
    next.stop('done');
    await next.result;
  });

  it('counts the time that children work beside ROOT as that of the run (G, D19)', async () => {
    const world = fakeWorld();
    let release = (): void => {};
    const reply = new Promise<void>((resolve) => (release = resolve));
    const run = idleRun({
      world,
      script: async () => {
        await reply;
        return { text: 'found it' };
      },
    });
    await run.until(waits);
    await world.advance(5000);
    await run.controls.submit({ do: 'spawn', parent: ROOT, wish: wish('look') });
    await run.until(({ agents }) => agents.get(C1)?.open.length === 1 && agents.get(ROOT)?.runningSince !== null);
    await world.advance(7000);
    release();
    await run.until(({ agents }) => agents.get(C1)?.outcome === 'completed' && agents.get(ROOT)?.runningSince === null);
    await world.advance(9000);
    expect([waits(run.state()), run.state().agents.get(ROOT)?.ranMs]).toEqual([true, 7000]);
    run.stop('done');
    await run.result;
  });

  it('has judged what ROOT has written, as the work of any agent (O137, A05)', async () => {
    let pass = false;
    const run = forcedRun({
      idle: true,
      script: ({ agent, turns }) => {
        if (agent !== ROOT) return turns.length === 1 ? verdict(pass, 'a.txt:1: a secret') : undefined;
        return turns.at(-1)?.by === 'user' ? writing('a.txt', `words ${turns.length}`) : { text: 'written' };
      },
    });
    await say(run, 'write it');
    const first = await answered(run, 'written');
    expect(JSON.stringify(first.agents.get(ROOT)?.blocks.at(-1))).toContain('a secret');
    pass = true;
    await say(run, 'write it well');
    const second = await run.until(
      (state) => waits(state) && reviewers(run).length === 2 && state.gates[0]?.open === true,
    );
    expect(second.agents.get(ROOT)?.blocks.at(-1)).toMatchObject({ is: 'said', text: 'written' });
    expect(gatesOf(run)).toEqual([[ROOT, 'on-write', true, 'passed: nothing found']]);
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
