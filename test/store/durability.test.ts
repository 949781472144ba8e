import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OUTCOMES, statusOfOutcome } from '../../src/domain/agents/agent.ts';
import { CallId, ROOT, SessionId } from '../../src/domain/ids.ts';
import type { EventBody } from '../../src/events/event.ts';
import { transactionsIn } from '../../src/store/database.ts';
import { durableIn } from '../../src/store/durability.ts';
import { body } from '../support/events.ts';
import { freshFolder } from '../support/folder.ts';

const SESSION = SessionId.parse('session');
const OTHER = SessionId.parse('other');

const begun = (name: string, repeat: 'safe' | 'never'): EventBody => ({
  type: 'tool.started',
  agent: ROOT,
  call: CallId.parse(name),
  tool: 'tool',
  label: 'tool',
  input: {},
  repeat,
});
const ended = (name: string): EventBody => ({
  type: 'tool.finished',
  agent: ROOT,
  call: CallId.parse(name),
  tool: 'tool',
  ok: true,
  output: '',
  ms: 1,
});
const todos: EventBody = { type: 'agent.todos', agent: ROOT, todos: [] };
const mode: EventBody = { type: 'session.mode', mode: 'yolo' };

describe('what a power cut must not take back', () => {
  it('is both ends of a call that must not be repeated', () => {
    const lasts = durableIn();
    expect([[begun('one', 'never')], [todos], [ended('one')]].map((bodies) => lasts(SESSION, bodies))).toEqual([
      true,
      false,
      true,
    ]);
  });

  it('is no end of a call that may be repeated', () => {
    const lasts = durableIn();
    const steps = [[begun('one', 'safe')], [begun('two', 'never')], [ended('one')], [ended('two')]];
    expect(steps.map((bodies) => lasts(SESSION, bodies))).toEqual([false, true, false, true]);
  });

  it("is the end of a call whose beginning wasn't seen, be it another's of that name or one that ended already", () => {
    const lasts = durableIn();
    expect(lasts(SESSION, [begun('one', 'safe'), ended('one')])).toBe(false);
    expect(lasts(SESSION, [ended('one')])).toBe(true);
    expect(lasts(SESSION, [begun('two', 'safe')])).toBe(false);
    expect(lasts(OTHER, [ended('two')])).toBe(true);
  });

  it('is all that is appended together with it, and calls beside it are still known', () => {
    const lasts = durableIn();
    expect(lasts(SESSION, [todos, mode, begun('one', 'safe')])).toBe(true);
    expect(lasts(SESSION, [ended('one')])).toBe(false);
  });

  it('is every end of an agent but a completed one, whose answer stands in the log already', () => {
    const metrics = { startTime: '', endTime: '', duration: 0, tokensUsed: 0, cost: 0, iterations: 0, toolCalls: 0 };
    const end = { type: 'agent.finished', agent: ROOT, summary: '', error: null, metrics } as const;
    const lasting = OUTCOMES.filter((outcome) =>
      durableIn()(SESSION, [{ ...end, status: statusOfOutcome(outcome), outcome }]),
    );
    expect(lasting).toEqual(OUTCOMES.filter((outcome) => outcome !== 'completed'));
  });

  it('is what a person decided, what agents told each other, and how things ended', () => {
    const found = new Map<string, boolean>();
    for (const event of fc.sample(body, 2000)) {
      if (!event.type.startsWith('tool.') && event.type !== 'agent.finished')
        found.set(event.type, durableIn()(SESSION, [event]));
    }
    const typesOf = (lasting: boolean): string[] =>
      [...found].flatMap(([type, is]) => (is === lasting ? [type] : [])).toSorted((a, b) => (a < b ? -1 : 1));
    expect(typesOf(true)).toEqual([
      'agent.model',
      'agent.pinned',
      'approval.answered',
      'approval.requested',
      'budget.changed',
      'budget.exhausted',
      'forced.began',
      'forced.gate',
      'forced.verdict',
      'message.sent',
      'plan.amended',
      'plan.approved',
      'plan.edited',
      'plan.rejected',
      'policy.decided',
      'session.finished',
      'session.mode',
      'session.resumed',
      'session.started',
    ]);
    expect(typesOf(false)).toEqual([
      'agent.changed',
      'agent.created',
      'agent.message',
      'agent.status',
      'agent.todos',
      'agent.told',
      'budget.warned',
      'clock.moved',
      'context.compacted',
      'model.failed',
      'model.fallback',
      'model.finished',
      'model.retry',
      'model.started',
      'plan.proposed',
    ]);
  });
});

describe('an event of another type', () => {
  const ofType = (type: EventBody['type']): EventBody => Object.assign({ ...mode }, { type });

  it.each(['agent.signalled', 'grant.withdrawn', 'act.unanswered'] as const)('lasts: %s', (type) => {
    expect(durableIn()(SESSION, [ofType(type)])).toBe(true);
  });

  it.each(['agent.adopted', 'agent.environment', 'agent.worker', 'tool.noted', 'act.done'] as const)(
    'need not last: %s',
    (type) => {
      expect(durableIn()(SESSION, [ofType(type)])).toBe(false);
    },
  );

  it('lasts where a newer Mimir made it', () => {
    expect(durableIn()(SESSION, [Object.assign({ ...mode }, { type: 'made.later' })])).toBe(true);
  });
});

describe('a transaction', () => {
  it('is synced by SQLite where it lasts, and leaves that to the trail where not', () => {
    const database = new DatabaseSync(join(freshFolder(), 'log.db'));
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    const { onDisk, inSystem } = transactionsIn(database);
    const level = database.prepare('SELECT synchronous FROM pragma_synchronous');
    const now = (): unknown => level.get()?.['synchronous'];
    const [FULL, NORMAL] = [2, 1];
    expect([inSystem(now), now(), onDisk(now), inSystem(now), onDisk(now)]).toEqual([NORMAL, FULL, FULL, NORMAL, FULL]);
    const broken = (): never => {
      throw new Error('broken off');
    };
    expect(() => inSystem(broken)).toThrow('broken off');
    expect([now(), database.isTransaction]).toEqual([FULL, false]);
    database.close();
  });
});
