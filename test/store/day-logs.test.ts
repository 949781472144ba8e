/** The spending of a day, made anew from the logs of all projects: nothing that was paid for becomes free again. */
import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AgentId, CallId, ModelId, SessionId } from '../../src/domain/ids.ts';
import type { EventBody } from '../../src/events/event.ts';
import { openDayLedger } from '../../src/store/daily-budget.ts';
import { openLog } from '../../src/store/log.ts';
import { freshFolder, openFilesIn } from '../support/folder.ts';

const NOON = new Date(2026, 0, 15, 12).getTime();
const YESTERDAY = NOON - 86_400_000;
const agent = AgentId.parse('ROOT');
const fast = ModelId.parse('scripted/fast');
const session = SessionId.parse('session');

const begins = (call: string, tokens: number, cost: number): EventBody => ({
  type: 'model.started',
  agent,
  call: CallId.parse(call),
  model: fast,
  purpose: 'work',
  reserved: { tokens, cost },
});
const ends = (call: string, input: number, cost: number): EventBody => ({
  type: 'model.finished',
  agent,
  call: CallId.parse(call),
  model: fast,
  usage: { input, output: 0, cacheRead: 0, cacheWrite: 0 },
  cost,
  priced: true,
  stopReason: 'end',
  ms: 1,
  calls: [],
});
const breaks = (call: string): EventBody => ({
  type: 'model.failed',
  agent,
  call: CallId.parse(call),
  model: fast,
  cause: 'overloaded',
  message: '',
});

function write(stateDir: string, bodies: readonly EventBody[], at = NOON, project = freshFolder()): string {
  const log = openLog({ stateDir, project });
  log.append(session, new Date(at).toISOString(), bodies);
  log.close();
  return project;
}

function today(stateDir: string, now = NOON): { readonly tokens: number; readonly cost: number } {
  const ledger = openDayLedger(stateDir, () => now);
  const sum = ledger.today();
  ledger.close();
  return sum;
}

describe('a ledger of the day that is gone', () => {
  it('is made from the logs of all projects: what was used, and what is reserved by calls without an end', () => {
    const stateDir = freshFolder();
    write(stateDir, [begins('old', 1000, 5), ends('old', 900, 4)], YESTERDAY);
    write(stateDir, [begins('a', 1000, 1), ends('a', 300, 0.25), begins('b', 1000, 1), breaks('b')]);
    write(stateDir, [begins('c', 100, 0.5)]);
    expect(today(stateDir)).toEqual({ tokens: 400, cost: 0.75 });
    rmSync(join(stateDir, 'days.db'));
    expect(today(stateDir)).toEqual({ tokens: 400, cost: 0.75 });
    expect(today(stateDir, NOON + 86_400_000)).toEqual({ tokens: 0, cost: 0 });
  });

  it('or behind is brought up to the logs, each call once', () => {
    const stateDir = freshFolder();
    const project = write(stateDir, [begins('a', 1000, 1), ends('a', 300, 0.25)]);
    expect(today(stateDir).cost).toBe(0.25);
    const old = join(freshFolder(), 'days.db');
    copyFileSync(join(stateDir, 'days.db'), old);
    write(stateDir, [begins('b', 1000, 1)], NOON, project);
    expect([today(stateDir).cost, today(stateDir).cost]).toEqual([1.25, 1.25]);
    write(stateDir, [ends('b', 10, 0.5)], NOON, project);
    expect(today(stateDir)).toEqual({ tokens: 310, cost: 0.75 });
    copyFileSync(old, join(stateDir, 'days.db'));
    expect(today(stateDir)).toEqual({ tokens: 310, cost: 0.75 });
  });

  it('or replaced while a run has it open is noticed at the next call', () => {
    const stateDir = freshFolder();
    const ledger = openDayLedger(stateDir, () => NOON);
    ledger.reserve({ session, call: CallId.parse('a'), model: fast, tokens: 100, cost: 1 }, []);
    write(stateDir, [begins('a', 100, 1)]);
    renameSync(join(stateDir, 'days.db'), join(stateDir, 'moved.db'));
    for (const end of ['-wal', '-shm']) rmSync(join(stateDir, `days.db${end}`), { force: true });
    const limit = { model: null, budget: { maxCost: 1.5 } };
    const second = { session, call: CallId.parse('b'), model: fast, tokens: 100, cost: 1 };
    expect(ledger.reserve(second, [limit])).toEqual({ limit, what: 'cost', spent: 1, most: 1.5 });
    ledger.close();
    expect(openFilesIn(join(stateDir, 'moved.db'))).toEqual([]);
  });
});
