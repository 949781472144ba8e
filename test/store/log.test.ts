import { mkdirSync, symlinkSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AgentId, CallId, ModelId, ROOT, SessionId } from '../../src/domain/ids.ts';
import type { EventBody, EventType, MimirEvent } from '../../src/events/event.ts';
import { foldAll } from '../../src/events/fold.ts';
import { withoutOutput } from '../../src/events/fold-agent.ts';
import type { Log } from '../../src/ports/log.ts';
import { databaseOf } from '../../src/store/database.ts';
import { openLog, openLogReadOnly } from '../../src/store/log.ts';
import { body, history } from '../support/events.ts';
import { freshFolder } from '../support/folder.ts';
import { made, spawned } from '../support/family-story.ts';
import { memoryLog } from '../support/log.ts';

const NOON = '2026-01-01T12:00:00.000Z';
const ONE = SessionId.parse('session-one');
const TWO = SessionId.parse('session-two');

const mode = (mode: 'human' | 'confirm' | 'yolo'): EventBody => ({ type: 'session.mode', mode });
const start = (task: string, more: { readonly idle?: true; readonly draft?: true } = {}): EventBody => ({
  ...more,
  type: 'session.started',
  task,
  cwd: '/project',
  mode: 'confirm',
  policyHash: 'hash',
  version: '0.1.0',
  budget: {},
  maxParallel: 4,
  sandbox: 'none',
  provider: 'offline',
  notes: [],
});
const finish: EventBody = {
  type: 'session.finished',
  status: 'completed',
  summary: 'done',
  totals: { cost: 0, tokens: 0, agents: 1, duration: 10 },
};

const TYPES: readonly EventType[] = ['session.started', 'agent.created', 'agent.status', 'agent.told', 'tool.finished'];

const letter = (content: string): EventBody => ({
  type: 'message.sent',
  agent: null,
  from: 'person',
  to: ROOT,
  kind: 'request',
  delivery: 'important',
  content,
});

const fresh = (): Log => openLog({ stateDir: freshFolder(), project: freshFolder() });

describe.each([
  ['in SQLite', fresh],
  ['in memory', memoryLog],
])('a log %s', (_, open) => {
  it('numbers the events of a session from 1 without gaps, whatever other sessions do', () => {
    const log = open();
    log.append(ONE, NOON, [mode('human')]);
    log.append(TWO, NOON, [mode('yolo')]);
    const appended = log.append(ONE, NOON, [mode('confirm'), mode('yolo')]);
    expect(appended).toEqual([
      { v: 1, seq: 2, time: NOON, session: ONE, type: 'session.mode', mode: 'confirm' },
      { v: 1, seq: 3, time: NOON, session: ONE, type: 'session.mode', mode: 'yolo' },
    ]);
    expect(log.read(ONE).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(log.read(TWO).map(({ seq }) => seq)).toEqual([1]);
    log.close();
  });

  it('reads what comes after a number, and nothing after the last', () => {
    const log = open();
    log.append(ONE, NOON, [mode('human'), mode('confirm'), mode('yolo')]);
    expect(log.read(ONE, 2).map(({ seq }) => seq)).toEqual([3]);
    expect(log.read(ONE, 3)).toEqual([]);
    expect(log.read(ONE, 99)).toEqual([]);
    expect(log.read(TWO)).toEqual([]);
    log.close();
  });

  it('is walked event by event as it is read, while its writer goes on, and each walk is a new one', () => {
    const log = open();
    const many: EventBody[] = Array.from({ length: 450 }, () => finish);
    log.append(ONE, NOON, [start('task'), ...many]);
    const all = log.each(ONE);
    expect([...all]).toEqual(log.read(ONE));
    expect([...all]).toHaveLength(451);
    expect([...log.each(ONE, 449)].map(({ seq }) => seq)).toEqual([450, 451]);
    const seen: number[] = [];
    for (const { seq } of log.each(ONE, 200)) {
      if (seq === 201) for (const inner of log.each(ONE, 449)) seen.push(inner.seq);
      if (seq > 201) seen.push(seq);
    }
    expect(seen).toEqual([450, 451, ...Array.from({ length: 250 }, (_, n) => n + 202)]);
    log.close();
  });

  it('does nothing when there is nothing to append', () => {
    const log = open();
    expect(log.append(ONE, NOON, [])).toEqual([]);
    expect(log.sessions()).toEqual([]);
    log.close();
  });

  it('says what a run has used whose process was killed before it could write an end', () => {
    const log = open();
    const call = { agent: ROOT, call: CallId.parse('c1'), model: ModelId.parse('a/x') };
    log.append(ONE, NOON, [
      start('killed'),
      {
        ...call,
        type: 'model.finished',
        usage: { input: 10, output: 1, cacheRead: 0, cacheWrite: 0 },
        cost: 0.3,
        priced: true,
        stopReason: 'end',
        ms: 1,
        calls: [],
      },
      { ...call, type: 'model.failed', cause: 'cut', message: 'cut off', cost: 0.22 },
    ]);
    expect(log.sessions().map(({ cost, ended }) => [cost, ended])).toEqual([[0.52, undefined]]);
    log.append(ONE, NOON, [finish]);
    expect(log.sessions().map(({ cost, ended }) => [cost, ended?.cost])).toEqual([[undefined, 0]]);
    log.close();
  });

  it('lists sessions newest first, with task and state', () => {
    const log = open();
    log.append(ONE, '2026-01-01T10:00:00.000Z', [start('first task'), finish]);
    log.append(TWO, '2026-01-01T11:00:00.000Z', [start('second task')]);
    log.append(ONE, '2026-01-01T12:00:00.000Z', [mode('yolo')]);
    const first = {
      session: ONE,
      task: 'first task',
      startedAt: '2026-01-01T10:00:00.000Z',
      lastAt: '2026-01-01T12:00:00.000Z',
      state: 'finished',
      events: 3,
      ended: { status: 'completed', cost: 0, agents: 1 },
    };
    const second = {
      session: TWO,
      task: 'second task',
      startedAt: '2026-01-01T11:00:00.000Z',
      lastAt: '2026-01-01T11:00:00.000Z',
      state: 'stopped',
      events: 1,
    };
    expect(log.sessions()).toEqual([second, first]);
    log.claim(TWO);
    expect(log.sessions()).toEqual([{ ...second, state: 'running' }, first]);
    log.release(TWO);
    expect(log.sessions()).toEqual([second, first]);
    log.close();
  });

  it('calls a finished session that was resumed running or stopped again', () => {
    const log = open();
    const resumed: EventBody = { type: 'session.resumed', policyHash: 'hash', version: '0.1.0' };
    log.append(ONE, NOON, [start('task'), finish, resumed]);
    expect(log.sessions().map(({ state }) => state)).toEqual(['stopped']);
    log.claim(ONE);
    expect(log.sessions().map(({ state }) => state)).toEqual(['running']);
    log.append(ONE, NOON, [finish]);
    expect(log.sessions().map(({ state }) => state)).toEqual(['finished']);
    log.close();
  });

  it('lets the writer of a session claim it again', () => {
    const log = open();
    expect([log.claim(ONE), log.claim(ONE)]).toEqual([{ ok: true }, { ok: true }]);
    log.release(ONE);
    log.release(ONE);
    log.close();
  });

  it('gives back every event as it was, of any type and with any text', () => {
    const log = open();
    let sessions = 0;
    fc.assert(
      fc.property(fc.array(body, { minLength: 1, maxLength: 5 }), (bodies) => {
        const session = SessionId.parse(`session-${(sessions += 1)}`);
        const live = log.append(session, NOON, bodies);
        expect(log.read(session)).toEqual(live);
      }),
    );
    log.close();
  });

  it('gives back some events as it gives back all of them, and one by its number', () => {
    const log = open();
    let sessions = 0;
    const types = fc.option(fc.subarray([...TYPES]), { nil: undefined });
    const agents = fc.option(fc.subarray([ROOT, AgentId.parse('ROOT::S1')]), { nil: undefined });
    fc.assert(
      fc.property(history, types, agents, fc.nat(10), (bodies, types, agents, after) => {
        const session = SessionId.parse(`session-${(sessions += 1)}`);
        const all = log.append(session, NOON, bodies);
        const isOf = (event: MimirEvent): boolean =>
          (types?.includes(event.type) ?? true) &&
          (!('agent' in event) || event.agent === null || (agents?.includes(event.agent) ?? true));
        const some = { ...(types === undefined ? {} : { types }), ...(agents === undefined ? {} : { agents }) };
        expect([...log.each(session, after, some)]).toEqual(all.slice(after).filter(isOf));
        expect(log.at(session, after)).toEqual(all[after - 1] ?? null);
        expect([...log.each(session, after, { outputs: false })]).toEqual(
          all.slice(after).map((one) => withoutOutput(one)),
        );
      }),
    );
    log.close();
  });

  it('folds to the same state from the disk as it did live', () => {
    const log = open();
    let sessions = 0;
    fc.assert(
      fc.property(history, fc.integer({ min: 1, max: 5 }), (bodies, size) => {
        const session = SessionId.parse(`session-${(sessions += 1)}`);
        let state = foldAll([]);
        for (let at = 0; at < bodies.length; at += size) {
          const time = new Date(Date.parse(NOON) + at * 1000).toISOString();
          state = foldAll(log.append(session, time, bodies.slice(at, at + size)), state);
        }
        expect(foldAll(log.read(session))).toEqual(state);
      }),
    );
    log.close();
  });
});

describe('a session that two logs write in turn', () => {
  it('goes on behind its last event, whoever wrote that', () => {
    const place = { stateDir: freshFolder(), project: freshFolder() };
    const [left, right] = [openLog(place), openLog(place)];
    const seqs = [left, right, right, left, right, left, left].flatMap((log) =>
      log.append(ONE, NOON, [mode('human'), start('x'.repeat(20_000))]).map(({ seq }) => seq),
    );
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    // Reading checks that every event follows the one before it.
    expect(right.read(ONE)).toHaveLength(14);
    left.close();
    right.close();
  });
});

describe('a log read by another', () => {
  it('shows what is there while its writer goes on', () => {
    const place = { stateDir: freshFolder(), project: freshFolder() };
    const writer = openLog(place);
    writer.append(ONE, NOON, [start('task')]);
    const reader = openLogReadOnly(place);
    expect(reader.read(ONE)).toEqual(writer.read(ONE));
    writer.append(ONE, NOON, [mode('yolo')]);
    expect(reader.read(ONE, 1)).toEqual(writer.read(ONE, 1));
    writer.claim(ONE);
    expect(reader.sessions()).toEqual(writer.sessions());
    reader.close();
    writer.close();
  });

  it('has no sessions, and makes nothing, when there is no database yet', () => {
    const place = { stateDir: `${freshFolder()}/mimir`, project: freshFolder() };
    const reader = openLogReadOnly(place);
    expect([reader.sessions(), reader.read(ONE)]).toEqual([[], []]);
    reader.close();
    openLog(place).close();
    expect(openLogReadOnly(place).sessions()).toEqual([]);
  });

  it('keeps projects of the same name apart, and knows one by all its paths', () => {
    const stateDir = freshFolder();
    const [a, b] = [`${freshFolder()}/app`, `${freshFolder()}/app`];
    for (const project of [a, b]) mkdirSync(project);
    const link = `${freshFolder()}/link`;
    symlinkSync(a, link);
    const log = openLog({ stateDir, project: a });
    log.append(ONE, NOON, [start('task')]);
    log.close();
    expect(openLogReadOnly({ stateDir, project: b }).sessions()).toEqual([]);
    expect(openLogReadOnly({ stateDir, project: link }).sessions()).toHaveLength(1);
  });
});

describe('a run without a plan', () => {
  it('is listed with what was asked of it first: of a child, or of main', () => {
    const log = fresh();
    const idle = start('Waits', { idle: true });
    const main = made(ROOT, 'main', 'Waits');
    const child = made(AgentId.parse('ROOT::S1'), 'explore', '\n  Find every caller\nof it', spawned('x'));
    log.append(ONE, NOON, [idle, main]);
    expect(log.sessions().map(({ task, asked }) => [task, asked])).toEqual([['Waits', undefined]]);
    log.append(ONE, NOON, [child, letter('later')]);
    log.append(TWO, NOON, [idle, main, letter('x'.repeat(70_000)), child]);
    log.append(SessionId.parse('planned'), NOON, [start('Survey'), main, letter('more')]);
    expect(log.sessions().map(({ task, asked }) => [task, asked])).toEqual([
      ['Survey', undefined],
      ['Waits', 'x'.repeat(200)],
      ['Waits', 'Find every caller'],
    ]);
    log.close();
  });
});

describe('a log in its database', () => {
  it('gives nothing any more when it is closed, neither all events nor some', () => {
    const log = fresh();
    log.append(ONE, NOON, [start('task'), finish]);
    const [all, some] = [log.each(ONE), log.each(ONE, 0, { types: ['session.started'] })];
    expect([[...all].length, [...some].length]).toEqual([2, 1]);
    log.close();
    expect([[...all], [...some], [...log.each(ONE, 1)]]).toEqual([[], [], []]);
  });

  it('lists which sessions are drafts', () => {
    const log = fresh();
    log.append(ONE, NOON, [start('a plan', { draft: true })]);
    log.append(TWO, NOON, [start('a task')]);
    expect(log.sessions().map(({ session, draft }) => [session, draft])).toEqual([
      [TWO, undefined],
      [ONE, true],
    ]);
    log.close();
  });

  it('keeps long texts beside their records, and no others', () => {
    const place = { stateDir: freshFolder(), project: freshFolder() };
    const log = openLog(place);
    const texts = ['x'.repeat(16_384), 'y'.repeat(16_385), '\u0000 short'];
    log.append(ONE, NOON, [letter(texts.join(''))]);
    for (const text of texts) log.append(TWO, NOON, [letter(text)]);
    expect(log.read(TWO)).toMatchObject(texts.map((content) => ({ content })));
    log.close();
    const database = new DatabaseSync(databaseOf(place), { readOnly: true });
    const kept = database.prepare('SELECT length(json) AS length FROM texts ORDER BY length').all();
    database.close();
    expect(kept.map(({ length }) => length)).toEqual([16_387, JSON.stringify(texts.join('')).length]);
  });
});
