import { describe, expect, it } from 'vitest';
import { OUTCOMES, STATUSES, statusOfOutcome } from '../../src/domain/agents/agent.ts';
import { ModelId, ROOT } from '../../src/domain/ids.ts';
import type { EventBody } from '../../src/events/event.ts';
import { elapsedOf, workOf } from '../../src/events/queries.ts';
import {
  agentAfter,
  asked,
  began,
  callId,
  created,
  FINDER,
  finished,
  MODEL,
  replied,
  said,
  START,
  status,
  told,
  used,
} from '../support/story.ts';

const finder = (...bodies: readonly EventBody[]): ReturnType<typeof agentAfter> =>
  agentAfter(FINDER, created(ROOT), created(FINDER), ...bodies);

describe('a new agent (O019)', () => {
  it('has the role, model, tools, parent and budget it was created with, and is pending', () => {
    expect(finder()).toEqual({
      id: FINDER,
      parent: ROOT,
      children: [],
      role: 'finder',
      name: 'finder',
      task: 'find the entry points',
      taskId: null,
      tools: ['git'],
      budget: {},
      dependsOn: [],
      model: { asked: 'haiku-4.5', used: MODEL, because: 'no provider' },
      maxIterations: 20,
      pin: null,
      forced: null,
      spawned: null,
      owner: ROOT,
      signalled: null,
      toolsUsed: {},
      lastTool: null,
      status: 'pending',
      reason: '',
      waitingFor: null,
      endedBy: null,
      outcome: null,
      summary: '',
      error: null,
      todos: [],
      blocks: [],
      usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      cost: 0,
      byModel: [],
      call: null,
      priced: true,
      open: [],
      pause: null,
      lost: { calls: 0, usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, cost: 0 },
      retries: 0,
      fallbacks: [],
      compactions: 0,
      iterations: 0,
      toolCalls: 0,
      firstRunAt: null,
      endedAt: null,
      ranMs: 0,
      runningSince: null,
      lastAt: START + 1000,
    });
  });
});

describe("an agent's status (O037)", () => {
  it.each(STATUSES)('is %s when the log says so', (name) => {
    expect(finder(status(FINDER, name, 'because'))).toMatchObject({ status: name, reason: 'because' });
  });

  it.each(OUTCOMES)('at the end follows from the outcome %s (D29)', (outcome) => {
    expect(finder(finished(FINDER, outcome))).toMatchObject({ status: statusOfOutcome(outcome), outcome });
  });

  it('is at its end with summary, error and time', () => {
    expect(finder(status(FINDER, 'running'), finished(FINDER, 'failed', 'Budget exceeded'))).toMatchObject({
      summary: 'what was found',
      error: 'Budget exceeded',
      reason: 'Budget exceeded',
      endedAt: START + 3000,
    });
  });

  it('is no longer at its end when it is retried or resumed', () => {
    expect(finder(finished(FINDER, 'failed', 'no'), status(FINDER, 'running'))).toMatchObject({
      status: 'running',
      outcome: null,
      endedAt: null,
    });
  });
});

describe('elapsed time (D19)', () => {
  it('runs from the first running to the end', () => {
    const agent = finder(status(FINDER, 'running'), told(FINDER, 'go'), finished(FINDER));
    expect([agent.firstRunAt, elapsedOf(agent, START + 60_000)]).toEqual([START + 2000, 2000]);
  });

  it('goes on while the agent runs', () => {
    expect(elapsedOf(finder(status(FINDER, 'running')), START + 2000 + 750)).toBe(750);
  });

  it('leaves out waiting for a free slot, for a person, and being interrupted', () => {
    const agent = finder(
      status(FINDER, 'initializing'),
      status(FINDER, 'running'),
      status(FINDER, 'waiting', 'asks'),
      status(FINDER, 'running'),
      status(FINDER, 'interrupted', 'by you'),
      status(FINDER, 'running'),
      finished(FINDER),
    );
    expect([agent.firstRunAt, elapsedOf(agent, START + 60_000)]).toEqual([START + 3000, 3000]);
  });

  it('never goes back when the clock of the machine does', () => {
    expect(elapsedOf(finder(status(FINDER, 'running')), START)).toBe(0);
  });
});

describe('what an agent uses (O045, O093)', () => {
  it('counts calls, tools, tokens and money in whole micro-dollars', () => {
    const usage = { input: 10, output: 5, cacheRead: 3, cacheWrite: 1 };
    const agent = finder(
      asked(FINDER, 'c1', 100, 0.2),
      replied(FINDER, 'c1', { usage, cost: 0.1 }),
      began(FINDER, 't1'),
      asked(FINDER, 'c2', 100, 0.2),
      replied(FINDER, 'c2', { usage, cost: 0.2 }),
    );
    expect(agent).toMatchObject({
      usage: { input: 20, output: 10, cacheRead: 6, cacheWrite: 2 },
      cost: 0.3,
      priced: true,
      open: [],
      iterations: 2,
      toolCalls: 1,
    });
  });

  it('says when a price was not known, for good', () => {
    const agent = finder(replied(FINDER, 'c1', { priced: false }), replied(FINDER, 'c2'));
    expect(agent.priced).toBe(false);
  });

  it('holds a reservation until the call ends, well or not', () => {
    const failed: EventBody = {
      type: 'model.failed',
      agent: FINDER,
      call: callId('c1'),
      model: MODEL,
      cause: 'overloaded',
      message: 'try later',
    };
    expect(finder(asked(FINDER, 'c1', 100, 0.2)).open).toEqual([{ call: 'c1', model: MODEL, tokens: 100, cost: 0.2 }]);
    expect(finder(asked(FINDER, 'c1', 100, 0.2), failed).open).toEqual([]);
  });
});

describe('a wait for a provider', () => {
  const failed: EventBody = {
    type: 'model.failed',
    agent: FINDER,
    call: callId('c1'),
    model: MODEL,
    cause: 'cut',
    message: 'the stream broke off',
    usage: { input: 100, output: 7, cacheRead: 0, cacheWrite: 0 },
    cost: 0.002,
    priced: true,
  };
  const retry: EventBody = {
    type: 'model.retry',
    agent: FINDER,
    call: callId('c1'),
    model: MODEL,
    cause: 'cut',
    wait: 12_000,
    attempt: 2,
    attempts: 5,
  };
  const pause = { model: MODEL, cause: 'cut', until: START + 17_000, attempt: 2, attempts: 5 };

  it('lasts until the next try, whether the status is said before or after it', () => {
    const waits = status(FINDER, 'waiting', 'the provider is rate limited');
    expect(finder(asked(FINDER, 'c1'), status(FINDER, 'waiting'), failed, retry).pause).toEqual(pause);
    expect(finder(asked(FINDER, 'c1'), failed, waits, retry, waits).pause).toEqual(pause);
    expect(finder(asked(FINDER, 'c1'), failed, retry, asked(FINDER, 'c2')).pause).toBe(null);
    expect(finder(asked(FINDER, 'c1'), failed, retry, status(FINDER, 'interrupted', 'by you')).pause).toBe(null);
    expect(finder(asked(FINDER, 'c1'), failed, retry, finished(FINDER)).pause).toBe(null);
  });

  it('leaves behind how many tries there were and what those that failed cost', () => {
    const aborted: EventBody = { ...failed, cause: 'aborted', cost: 0.001 };
    const end = finder(asked(FINDER, 'c1'), failed, retry, asked(FINDER, 'c2'), aborted);
    expect([end.retries, end.lost, end.cost]).toEqual([
      1,
      { calls: 1, usage: { input: 200, output: 14, cacheRead: 0, cacheWrite: 0 }, cost: 0.003 },
      0.003,
    ]);
  });

  it('is over with a fallback, which is kept with its cause and rule', () => {
    const to = ModelId.parse('openai/gpt-5');
    const fallback = { from: MODEL, to, cause: 'overloaded: 529', rule: 'built-in defaults' };
    const end = finder(asked(FINDER, 'c1'), failed, retry, { type: 'model.fallback', agent: FINDER, ...fallback });
    expect([end.pause, end.fallbacks, end.model.used]).toEqual([null, [fallback], to]);
  });
});

describe("an agent's transcript", () => {
  it('has a summary of the context behind a note', () => {
    const { blocks, compactions } = finder({
      type: 'context.compacted',
      agent: FINDER,
      summary: 'So far: nothing.',
      kept: 2,
      tokens: { before: 120_000, after: 9000 },
    });
    const text = 'context summarised: 120000 -> about 9000 tokens';
    expect([blocks, compactions]).toEqual([[{ is: 'note', level: 'info', text, more: 'So far: nothing.' }], 1]);
  });

  it('tells in order what it was told, what it said and what it did', () => {
    const agent = finder(
      told(FINDER, 'find'),
      said(FINDER, 'c1', 'I look'),
      began(FINDER, 't1'),
      used(FINDER, 't1', 'found', true),
    );
    expect(agent.blocks).toEqual([
      { is: 'told', text: 'find' },
      { is: 'said', text: 'I look', call: 'c1' },
      {
        is: 'tool',
        call: 't1',
        tool: 'read_file',
        label: 'read src/a.ts',
        started: START + 4000,
        ok: true,
        output: 'found',
        ms: 5,
      },
    ]);
  });

  it('keeps head and tail of a long output', () => {
    const agent = finder(began(FINDER, 't1'), used(FINDER, 't1', `${'a'.repeat(4000)}${'z'.repeat(4000)}`));
    expect(agent.blocks).toMatchObject([
      { output: `${'a'.repeat(3000)}\n… 2000 characters left out here …\n${'z'.repeat(3000)}` },
    ]);
  });

  it('notes what happened to it: a fallback, a retry, a denial, a spent budget, an interruption', () => {
    const other = ModelId.parse('anthropic/claude-haiku');
    const agent = finder(
      { type: 'model.fallback', agent: FINDER, from: MODEL, to: other, cause: 'overloaded', rule: 'fallback' },
      { type: 'model.retry', agent: FINDER, call: callId('c1'), model: other, cause: 'rate limited', wait: 1500 },
      {
        type: 'policy.decided',
        agent: FINDER,
        subject: 'write a.ts',
        action: 'write',
        decision: 'deny',
        rule: 'commands.deny',
        layer: 'user',
        file: null,
        line: null,
        policyHash: 'hash',
      },
      { type: 'budget.exhausted', agent: FINDER, scope: 'agent', what: 'tokens', spent: 10, limit: 10 },
      status(FINDER, 'interrupted', 'interrupted by you'),
    );
    expect(agent.model).toEqual({ asked: 'haiku-4.5', used: other, because: 'overloaded' });
    expect(agent.blocks).toEqual([
      { is: 'note', level: 'warn', text: 'offline/analyst -> anthropic/claude-haiku: overloaded' },
      { is: 'note', level: 'warn', text: 'rate limited: retrying in 2s', retry: true },
      { is: 'note', level: 'warn', text: 'denied: write a.ts: commands.deny' },
      { is: 'note', level: 'error', text: 'agent budget exhausted (tokens)' },
      { is: 'note', level: 'warn', text: 'interrupted by you' },
    ]);
  });

  it('has the list of todos as it was set last (O026)', () => {
    const todos = [{ description: 'look', status: 'active' }] as const;
    expect(finder({ type: 'agent.todos', agent: FINDER, todos }).todos).toEqual(todos);
  });
});

describe('how the work of an agent ended', () => {
  const work = (...bodies: readonly EventBody[]): ReturnType<typeof workOf> => workOf(finder(...bodies));

  it('is its own end, however often it is killed after that', () => {
    expect(work(finished(FINDER), finished(FINDER, 'killed'), finished(FINDER, 'killed'))).toBe('completed');
    expect(work(finished(FINDER, 'killed'), finished(FINDER, 'killed'))).toBe('killed');
  });

  it('is open once it begins again', () => {
    const revived = [finished(FINDER), finished(FINDER, 'killed'), status(FINDER, 'initializing')];
    expect([work(...revived), work(...revived, finished(FINDER, 'failed'))]).toEqual([null, 'failed']);
  });
});
