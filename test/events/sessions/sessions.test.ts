/** Records of child sessions from the log: whole ones, and every state of their lives. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Lifecycle } from '../../../src/domain/agents/agent.ts';
import { AgentId, CallId, ROOT } from '../../../src/domain/ids.ts';
import type { EventBody } from '../../../src/events/event.ts';
import { foldAll } from '../../../src/events/fold.ts';
import { CHILD_DEFAULTS } from '../../../src/policy/rules.ts';
import { approval, midRun, says } from '../../support/recorded-run.ts';
import type { Timed } from '../../support/session-stage.ts';
import {
  ARCHITECT,
  at,
  ended,
  ENGINEER,
  FAMILY,
  HELP,
  made,
  NOW,
  spawned,
  started,
  status,
  TASK,
  TESTER,
  told,
  turn,
} from '../../support/family-story.ts';
import type { SessionRecord } from '../../../src/events/sessions/record.ts';
import { createdTimes, recordsWith } from '../../../src/events/sessions/sessions.ts';

const idOf = (id: string): AgentId => AgentId.parse(id);
const looking = { ...CHILD_DEFAULTS, now: NOW, alive: true };

const records = (story: readonly Timed[], more: Partial<typeof looking> = {}): readonly SessionRecord[] => {
  const events = told(story);
  return recordsWith(foldAll(events), createdTimes(events), { ...looking, ...more });
};

const recordOf = (
  agent: string,
  story: readonly Timed[] = FAMILY,
  more: Partial<typeof looking> = {},
): SessionRecord => {
  const found = records(story, more).find((one) => one.agent === agent);
  if (found === undefined) throw new Error(`${agent} has no record`);
  return found;
};

describe('the record of a session', () => {
  it('S008 to S016, S032 to S038, S077 to S083: says all of one that works, and a percentage by its todos', () => {
    expect(recordOf(ENGINEER)).toEqual({
      session_id: 'fgul86',
      name: 'engineer-cache',
      friendly_name: 'engineer-cache',
      agent: 'ROOT::S1',
      run: 'k7f3a2',
      parent_session_id: 'obgef6',
      role: 'engineer',
      model: 'anthropic/claude-haiku-4-5',
      status: 'running',
      completion_status: null,
      completion_message: null,
      partial: false,
      spawn_prompt: 'As engineer, implement the cache\nwith tests',
      working_dir: '/home/me/shop/packages/cache',
      tmux_session: null,
      created_at: '2026-11-22T09:01:00.000Z',
      spawned_at: '2026-11-22T09:01:00.000Z',
      completed_at: null,
      tokens_used: 2500,
      tokens_remaining_estimate: 7500,
      completion_percentage: 33,
      tools_used: { read: 2, search: 1 },
      total_tools: 3,
      last_tool: { name: 'read', timestamp: '2026-11-22T09:09:30.000Z' },
      last_tool_call: '2026-11-22T09:09:30.000Z',
      current_activity: 'read src/lru.ts',
      is_complete: false,
      is_idle: false,
      idle_seconds: 30,
      is_waiting_input: false,
      cost: 0.02,
      subtree_cost: 0.022,
      subtree_tokens: 2800,
      children: 2,
    });
  });

  it('S010, S011, S013: says how one ended, by the first line of its answer or of its error', () => {
    const end = ({
      status: is,
      completion_status,
      completion_message,
      completed_at,
      partial,
    }: SessionRecord): unknown => [is, completion_status, completion_message, completed_at, partial];
    expect([ARCHITECT, TESTER, HELP].map((agent) => end(recordOf(agent)))).toEqual([
      ['completed', 'completed', 'An LRU with a bound.', '2026-11-22T09:03:00.000Z', false],
      ['error', 'error', 'no database', '2026-11-22T09:04:20.000Z', false],
      ['completed', 'completed', 'Found 3 of them', '2026-11-22T09:04:00.000Z', true],
    ]);
  });

  it('S115, S116: names sessions by the rules of the project, and planned ones by their own names', () => {
    const naming = { pattern: '{role}/{friendly_name}', fallback: '{role} {short_id} at {id}' };
    expect(records(FAMILY, { naming }).map(({ name }) => name)).toEqual([
      'main',
      'engineer/engineer-cache',
      'oracle/architect',
      'finder/finder',
      'tester vyqj8b at ROOT::S3',
      'security',
      'explore',
    ]);
    expect(recordOf(TESTER).name).toBe('child-vyqj8b');
    expect(recordOf(TESTER, FAMILY, { naming: { pattern: '', fallback: ' ' } }).name).toBe('child-vyqj8b');
  });

  it('S153: works in the folder of who is above it, where it was given none', () => {
    expect([ROOT, ENGINEER, TASK, TESTER].map((agent) => recordOf(agent).working_dir)).toEqual([
      '/home/me/shop',
      '/home/me/shop/packages/cache',
      '/home/me/shop/packages/cache',
      '/home/me/shop',
    ]);
  });

  it('S150: sums what a session used with everything below it, whatever the tree', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 9999 })), { maxLength: 12 }), (children) => {
        const agents = [{ id: 'ROOT', kids: 0 }];
        const story = [at(0, started()), at(0, made(ROOT, 'main', 'x'))];
        for (const [index, [under, tokens]] of children.entries()) {
          const above = agents[under % agents.length];
          if (above === undefined) continue;
          above.kids += 1;
          const own = made(ROOT, 'code', 'y', spawned(null));
          if (own.type !== 'agent.created') continue;
          const id = idOf(`${above.id}::S${above.kids}`);
          agents.push({ id, kids: 0 });
          story.push(at(1, { ...own, agent: id, parent: idOf(above.id) }));
          story.push(...turn(id, `c${index}`, tokens, tokens / 1e6).map((body) => at(2, body)));
        }
        const all = records(story);
        for (const one of all) {
          const below = all.filter(({ agent }) => agent === one.agent || agent.startsWith(`${one.agent}::`));
          expect(one.subtree_tokens).toBe(below.reduce((sum, { tokens_used }) => sum + tokens_used, 0));
          expect(one.subtree_cost).toBeCloseTo(
            below.reduce((sum, { cost }) => sum + cost, 0),
            9,
          );
        }
      }),
    );
  });

  it('S081: guesses by the budget where there are no todos, and not where nothing tells', () => {
    const one = (more: object, ...bodies: readonly EventBody[]): readonly unknown[] => {
      const story = [at(0, started()), at(0, made(ROOT, 'main', 'x', more)), ...bodies.map((body) => at(1, body))];
      const { completion_percentage, tokens_remaining_estimate } = recordOf(ROOT, story);
      return [completion_percentage, tokens_remaining_estimate];
    };
    expect(one({})).toEqual([null, null]);
    expect(one({ budget: { maxTokens: 400 } }, ...turn(ROOT, 'a', 100, 0))).toEqual([25, 300]);
    expect(one({ budget: { maxTokens: 400 } }, ...turn(ROOT, 'a', 500, 0))).toEqual([100, 0]);
    expect(one({}, ended(ROOT, 'completed', 'done'))).toEqual([100, null]);
  });

  it('tells nothing before the run has begun', () => {
    expect(records([])).toEqual([]);
  });
});

describe('the life of a session', () => {
  const CHILD = ENGINEER;
  const after = (bodies: readonly EventBody[], more: Partial<typeof looking> = {}): Lifecycle => {
    const story = [
      at(0, started()),
      at(0, made(ROOT, 'main', 'x')),
      at(0, status(ROOT, 'running')),
      at(1, made(CHILD, 'code', 'y', spawned(null))),
      ...bodies.map((body) => at(2, body)),
    ];
    return recordOf(CHILD, story, { now: at(60, started()).at, ...more }).status;
  };
  const question: EventBody = {
    type: 'approval.requested',
    agent: CHILD,
    approval: 'q1',
    call: CallId.parse('c1'),
    request: approval({}),
  };
  const stopped: EventBody = {
    type: 'session.finished',
    status: 'stopped',
    summary: '',
    totals: { cost: 0, tokens: 0, agents: 1, duration: 0 },
  };

  it.each<readonly [string, readonly EventBody[], Lifecycle]>([
    ['S120 begins as spawned', [], 'spawned'],
    ['S120 is starting while it waits for a slot', [status(CHILD, 'initializing')], 'starting'],
    ['S121 runs', [status(CHILD, 'running')], 'running'],
    ['S122 waits for an answer', [status(CHILD, 'waiting'), question], 'waiting_input'],
    ['S118 waits for its children, idle', [status(CHILD, 'waiting', 'waits for its children')], 'idle'],
    ['D11 waits to be resumed by who stopped it', [status(CHILD, 'interrupted', 'by you')], 'waiting_input'],
    ['S124 is completed', [ended(CHILD, 'completed', 'a')], 'completed'],
    ['D29 is completed when it was cut off with an answer', [ended(CHILD, 'partial', 'a', 'b')], 'completed'],
    ['S125 is an error', [ended(CHILD, 'failed', '', 'b')], 'error'],
    ['S126 is killed', [ended(CHILD, 'killed', '', 'b')], 'killed'],
    ['S127 is abandoned', [ended(CHILD, 'abandoned', '', 'b')], 'abandoned'],
    ['D29 is over when it was skipped', [ended(CHILD, 'skipped', '', 'b')], 'killed'],
    [
      'S130 S131 runs again when a message resumes it',
      [ended(CHILD, 'completed', 'a'), status(CHILD, 'running')],
      'running',
    ],
    ['waits to be resumed with its run', [status(CHILD, 'running'), stopped], 'waiting_input'],
  ])('%s', (_, bodies, expected) => {
    expect(after(bodies)).toBe(expected);
  });

  it.each<readonly [string, EventBody, string, boolean]>([
    ['its answer', ended(CHILD, 'completed', '# Found\n\nTwo.'), 'Two. (killed by you after its end)', false],
    ['what it has', ended(CHILD, 'partial', 'One.', 'too long'), 'One. (killed by you after its end)', true],
    ['why it failed', ended(CHILD, 'failed', '', 'no disk'), 'no disk (killed by you after its end)', false],
  ])('S010, S011, S048, S132: of one that is killed after its end still says %s', (_, end, words, partial) => {
    const kill = ended(CHILD, 'killed', end.type === 'agent.finished' ? end.summary : '', 'killed by you');
    const story = [...FAMILY, at(590, end), at(595, kill)];
    expect(recordOf(CHILD, story)).toMatchObject({
      status: 'killed',
      completion_status: 'killed',
      completion_message: words,
      partial,
    });
    expect(recordOf(CHILD, [...FAMILY, at(595, ended(CHILD, 'killed', 'I look', 'killed by you'))])).toMatchObject({
      completion_message: 'killed by you',
    });
  });

  it('D14 S127: is abandoned when the process that carries its run has died', () => {
    expect(after([status(CHILD, 'running')], { alive: false })).toBe('abandoned');
    expect(after([ended(CHILD, 'completed', 'a')], { alive: false })).toBe('completed');
  });

  it('S073, S123: is idle when nothing happened for the idle time, to the second, and never with 0', () => {
    const quiet = { now: at(602, started()).at };
    expect(after([status(CHILD, 'running')], quiet)).toBe('idle');
    expect(after([status(CHILD, 'running')], { now: at(601, started()).at })).toBe('running');
    expect(after([status(CHILD, 'running')], { ...quiet, idleTimeout: 0 })).toBe('running');
  });

  it('S072, S085: works, by its own events alone, as long as the child does that it waits for in a call', () => {
    // The engineer's last act was at 570 s, its Task child's at 441 s: both count for it.
    expect(recordOf(ENGINEER, FAMILY, { now: at(1169, started()).at }).status).toBe('running');
    expect(recordOf(ENGINEER, FAMILY, { now: at(1170, started()).at }).status).toBe('idle');
    const busy = [...FAMILY, ...turn(TASK, 't1', 10, 0).map((body) => at(1000, body))];
    expect(recordOf(ENGINEER, busy, { now: at(1170, started()).at }).status).toBe('running');
  });

  it('S080: says what it asks, waits for or does', () => {
    const now = (...bodies: readonly EventBody[]): string | null =>
      recordOf(ENGINEER, [...FAMILY, ...bodies.map((body) => at(580, body))]).current_activity;
    expect(now()).toBe('read src/lru.ts');
    expect(now(status(ENGINEER, 'waiting'), question)).toBe('asks: npm test');
    expect(now(status(ENGINEER, 'waiting', 'waits for its children'))).toBe('waits for its children');
    expect(now(...turn(ENGINEER, 'e9', 1, 0, '\nAll is read.\nNow I write.'))).toBe('All is read.');
  });

  it('S080: says of main how many it waits for, not the plan that it has written', () => {
    const plan = says(midRun(), 191, 'ROOT', '{\n  "tasks": []\n}', 10, 0).events;
    const known = recordsWith(foldAll(plan), createdTimes(plan), {
      ...looking,
      now: Date.parse(plan.at(-1)?.time ?? ''),
    });
    expect(known.find(({ agent }) => agent === ROOT)?.current_activity).toMatch(/^waits for [2-9] agents$/);
  });
});
