import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WorkOrder } from '../../src/domain/agents/agent.ts';
import { AgentId, CallId, ROOT, TaskId } from '../../src/domain/ids.ts';
import type { EventBody, MimirEvent } from '../../src/events/event.ts';
import { fold, foldAll } from '../../src/events/fold.ts';
import { EMPTY } from '../../src/events/state.ts';
import { history } from '../support/events.ts';
import {
  agentAfter,
  asked,
  created,
  FINDER,
  finished,
  NESTED,
  replied,
  REVIEWER,
  SESSION,
  START,
  stateAfter,
  status,
  story,
  told,
  used,
} from '../support/story.ts';

const started: EventBody = {
  type: 'session.started',
  task: 'review the riskiest file',
  cwd: '/project',
  mode: 'confirm',
  policyHash: 'hash',
  version: '0.1.0',
  budget: { maxCost: 5 },
  maxParallel: 4,
  sandbox: 'bubblewrap',
  provider: 'offline (no provider)',
  notes: ['a warning'],
};
const proposed = (digest: string): EventBody => ({
  type: 'plan.proposed',
  plan: { reason: 'two kinds of work', tasks: [] },
  choices: { roles: [], models: [], limits: { maxTasks: 50, maxParallel: 4, run: {}, agent: {} } },
  by: 'offline/analyst',
  ms: 40,
  digest,
});
const approved: EventBody = { type: 'plan.approved', digest: 'd2', by: 'you' };
const resumed: EventBody = { type: 'session.resumed', policyHash: 'hash', version: '0.1.0' };
const ended: EventBody = {
  type: 'session.finished',
  status: 'completed',
  summary: 'all is well',
  totals: { cost: 0.5, tokens: 100, agents: 2, duration: 9000 },
};
const request = {
  action: 'write',
  title: 'write a.ts',
  exact: '+1',
  options: [],
  unsandboxed: false,
  because: 'mode',
} as const;
const wants = (approval: string): EventBody => ({
  type: 'approval.requested',
  agent: FINDER,
  approval,
  call: null,
  request,
});

describe('the state of a run', () => {
  it('begins with what session.started says', () => {
    expect(stateAfter(started)).toEqual({
      ...EMPTY,
      session: SESSION,
      seq: 1,
      phase: 'planning',
      task: 'review the riskiest file',
      cwd: '/project',
      policyHash: 'hash',
      version: '0.1.0',
      provider: 'offline (no provider)',
      sandbox: 'bubblewrap',
      notes: ['a warning'],
      budget: { maxCost: 5 },
      maxParallel: 4,
      startedAt: START,
      lastAt: START,
      log: [{ at: START, agent: null, level: 'info', text: 'session started in /project' }],
    });
  });

  it('goes through planning, approving, running and merging to its end', () => {
    const bodies: EventBody[] = [
      started,
      created(ROOT),
      asked(ROOT, 'c1', 0, 0, 'plan'),
      proposed('d1'),
      { type: 'plan.edited', plan: { reason: 'one', tasks: [] }, edit: 'dropped task-2', digest: 'd2' },
      approved,
      asked(ROOT, 'c2', 0, 0, 'merge'),
      ended,
    ];
    let state = EMPTY;
    const phases = story(...bodies).map((event) => (state = fold(state, event)).phase);
    expect(phases).toEqual([
      'planning',
      'planning',
      'planning',
      'approving',
      'approving',
      'running',
      'merging',
      'finished',
    ]);
    expect(state).toMatchObject({
      plan: { reason: 'one' },
      planDigest: 'd2',
      approvedDigest: 'd2',
      planBy: 'offline/analyst',
      planMs: 40,
      finished: { status: 'completed', summary: 'all is well', totals: { agents: 2 } },
    });
  });

  it.each([
    ['planning', [started]],
    ['approving', [started, proposed('d1')]],
    ['running', [started, proposed('d2'), approved]],
  ])('goes on with %s after a resume', (phase, bodies) => {
    expect(stateAfter(...bodies, ended, resumed)).toMatchObject({ phase, finished: null });
  });

  it('knows the mode that was set last', () => {
    expect(stateAfter(started, { type: 'session.mode', mode: 'yolo' }).mode).toBe('yolo');
  });

  it('keeps agents in the order of their creation, and children under their parents', () => {
    const { agents } = stateAfter(created(ROOT), created(FINDER), created(REVIEWER), created(NESTED));
    expect([...agents.values()].map(({ id, children }) => [id, children])).toEqual([
      [ROOT, [FINDER, REVIEWER]],
      [FINDER, [NESTED]],
      [REVIEWER, []],
      [NESTED, []],
    ]);
  });

  it('lists what waits for a person, oldest first, until it is answered', () => {
    const answer: EventBody = {
      type: 'approval.answered',
      agent: FINDER,
      approval: 'a1',
      answer: 'allowed',
      scope: 'once',
      text: '',
      by: 'you',
    };
    const asking = [created(FINDER), wants('a1'), wants('a2')];
    expect(stateAfter(...asking).approvals).toEqual([
      { id: 'a1', agent: FINDER, request, askedAt: START + 1000 },
      { id: 'a2', agent: FINDER, request, askedAt: START + 2000 },
    ]);
    expect(stateAfter(...asking, answer).approvals.map(({ id }) => id)).toEqual(['a2']);
    expect([stateAfter(...asking, resumed).approvals, stateAfter(...asking, ended).approvals]).toEqual([[], []]);
  });

  it('logs a question, and the answer that denies it, once each', () => {
    const denies: EventBody = {
      type: 'approval.answered',
      agent: FINDER,
      approval: 'a1',
      answer: 'denied',
      scope: 'once',
      text: '',
      by: 'person',
    };
    const asksUser: EventBody = {
      type: 'tool.started',
      agent: FINDER,
      call: CallId.parse('t2'),
      tool: 'ask_user',
      label: 'ask: which?',
      input: {},
      repeat: 'safe',
    };
    const failed = used(FINDER, 't1', 'The person denied this.', false);
    const { log } = stateAfter(created(FINDER), asksUser, wants('a1'), denies, failed);
    expect(log.map(({ text }) => text).slice(1)).toEqual(['asks: write a.ts', 'you denied']);
  });

  it('knows a message as delivered when it was told', () => {
    const message: EventBody = {
      type: 'message.sent',
      agent: null,
      from: 'you',
      to: FINDER,
      kind: 'request',
      delivery: 'important',
      content: 'look at b.ts too',
    };
    const sent = [created(FINDER), message, message];
    expect(stateAfter(...sent, told(FINDER, 'look at b.ts too', [2])).messages).toEqual([
      {
        seq: 2,
        from: 'you',
        to: FINDER,
        delivery: 'important',
        content: 'look at b.ts too',
        delivered: true,
        notice: null,
      },
      {
        seq: 3,
        from: 'you',
        to: FINDER,
        delivery: 'important',
        content: 'look at b.ts too',
        delivered: false,
        notice: null,
      },
    ]);
  });

  it('remembers which limits were warned of', () => {
    const warned = (scope: 'run' | 'agent'): EventBody => ({
      type: 'budget.warned',
      agent: FINDER,
      scope,
      what: 'cost',
      spent: 4,
      limit: 5,
    });
    expect(stateAfter(created(FINDER), warned('run'), warned('agent')).warned).toEqual(['run:cost', 'ROOT::S1:cost']);
  });

  it('forgets the warnings of a budget that is changed, and none of another', () => {
    const warned = (id: string, more: object = {}): EventBody => ({
      type: 'budget.warned',
      agent: AgentId.parse(id),
      scope: 'agent',
      what: 'tokens',
      spent: 4,
      limit: 5,
      ...more,
    });
    const child = `${FINDER}::S1`;
    const all = [
      warned(FINDER),
      warned(FINDER, { estimate: true }),
      warned(child),
      warned(`${FINDER}0`),
      warned(FINDER, { scope: 'run' }),
    ];
    const changed = (agent: AgentId): EventBody => ({ type: 'budget.changed', agent, budget: {}, by: 'test' });
    const after = (agent: AgentId): readonly string[] => stateAfter(...all, changed(agent)).warned;
    const [own, run] = [[`${FINDER}:tokens`, `${FINDER}:estimate`], 'run:tokens'];
    expect(after(FINDER)).toEqual([`${child}:tokens`, `${FINDER}0:tokens`, run]);
    expect(after(ROOT)).toEqual([...own, `${child}:tokens`, `${FINDER}0:tokens`]);
  });

  it('counts events of a type that it does not know, and ignores them otherwise', () => {
    const before = stateAfter(started, created(FINDER));
    const [template] = story(started);
    const later: unknown = { ...template, seq: 3, type: 'agent.dreamed', agent: FINDER, dream: 'of sheep' };
    const isEvent = (value: unknown): value is MimirEvent => typeof value === 'object';
    if (!isEvent(later)) throw new Error('not an event');
    expect(fold(before, later)).toEqual({ ...before, seq: 3, lastAt: START, unknown: 1 });
  });

  it('is not troubled by events about agents that it does not know', () => {
    const before = stateAfter(created(ROOT));
    const [, event] = story(started, status(NESTED, 'running'));
    if (event === undefined) throw new Error('no event');
    expect(fold(before, event).agents).toEqual(before.agents);
  });

  it('keeps the last thousand lines of the log', () => {
    const lines = Array.from({ length: 1005 }, (_, index) => status(FINDER, 'waiting', `line ${index}`));
    const { log } = stateAfter(created(FINDER), ...lines);
    expect([log.length, log.at(-1)?.text]).toEqual([1000, 'waiting: line 1004']);
  });

  it('is the same when folded in one go or in two, and never changed in place', () => {
    fc.assert(
      fc.property(history, fc.nat(), (bodies, at) => {
        const events = story(...bodies);
        const cut = at % (events.length + 1);
        const half = foldAll(events.slice(0, cut));
        const copy = structuredClone(half);
        expect(foldAll(events.slice(cut), half)).toEqual(foldAll(events));
        expect(half).toEqual(copy);
      }),
    );
  });

  it('survives a trip through JSON, event by event', () => {
    fc.assert(
      fc.property(history, (bodies) => {
        const events = story(...bodies);
        const isEvents = (value: unknown): value is MimirEvent[] => Array.isArray(value);
        const back: unknown = JSON.parse(JSON.stringify(events));
        if (!isEvents(back)) throw new Error('not events');
        expect(back).toEqual(events);
        expect(foldAll(back)).toEqual(foldAll(events));
      }),
    );
  });
});

describe('a work order', () => {
  it('survives a trip through JSON', () => {
    const { role, model } = agentAfter(FINDER, created(FINDER));
    const order: WorkOrder = {
      agent: FINDER,
      parent: ROOT,
      taskId: TaskId.parse('task-1'),
      role,
      task: 'find',
      system: 'You find.',
      model,
      fallbacks: [model.used],
      capabilities: ['read'],
      tools: ['read_file'],
      budget: { maxTokens: 10 },
      iterations: 20,
      findings: [],
      turns: [
        { by: 'user', text: 'find' },
        { by: 'model', text: '', calls: [], opaque: { signature: 'x' } },
      ],
    };
    expect(JSON.parse(JSON.stringify(order))).toEqual(order);
  });
});

describe('the clock of a run', () => {
  it('stands still between a crash and the resume', () => {
    const events = story(created(FINDER), status(FINDER, 'running'), told(FINDER, 'go'), resumed);
    const [last] = events.slice(-1);
    if (last === undefined) throw new Error('no event');
    const nextDay = { ...last, time: new Date(START + 86_400_000).toISOString() };
    const state = foldAll([...events.slice(0, -1), nextDay]);
    expect(state.agents.get(FINDER)).toMatchObject({ ranMs: 1000, runningSince: null });
  });

  it('is stopped for every agent when the session ends', () => {
    const state = stateAfter(created(FINDER), status(FINDER, 'running'), ended);
    expect(state.agents.get(FINDER)).toMatchObject({ ranMs: 1000, runningSince: null });
    expect(stateAfter(created(FINDER), finished(FINDER), ended).agents.get(FINDER)).toMatchObject({ ranMs: 0 });
  });

  it('charges a call that a crash left open until it is settled', () => {
    const open = [created(FINDER), asked(FINDER, 'c1', 100, 0.1), resumed];
    expect(stateAfter(...open).agents.get(FINDER)?.open).toHaveLength(1);
    expect(stateAfter(...open, replied(FINDER, 'c1')).agents.get(FINDER)?.open).toEqual([]);
  });
});
