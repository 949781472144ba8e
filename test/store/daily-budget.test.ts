/** The record of what all runs of a day use: across processes, kept through crashes, private, and never made free again. */
import * as fc from 'fast-check';
import { chmodSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { CallId, ModelId, SessionId } from '../../src/domain/ids.ts';
import type { DayLedger, DayLimit } from '../../src/ports/daily-budget.ts';
import { LogFault } from '../../src/ports/log.ts';
import { openDayLedger } from '../../src/store/daily-budget.ts';
import { ended, start } from '../support/child.ts';
import { freshFolder as folder } from '../support/folder.ts';

const NOON = new Date(2026, 0, 15, 12).getTime();
const DAY = 86_400_000;
const session = SessionId.parse('session');
const fast = ModelId.parse('scripted/fast');
const slow = ModelId.parse('scripted/slow');
const all = (budget: DayLimit['budget']): DayLimit => ({ model: null, budget });
const call = (id: string, tokens: number, cost: number, model = fast): Parameters<DayLedger['reserve']>[0] => ({
  session,
  call: CallId.parse(id),
  model,
  tokens,
  cost,
});

describe('the ledger of a day', () => {
  it('promises what fits, refuses what does not, and counts what it really was', () => {
    const ledger = openDayLedger(folder(), () => NOON);
    const limits = [all({ maxTokens: 100, maxCost: 1 })];
    expect(ledger.reserve(call('a', 60, 0.5), limits)).toBe(null);
    expect(ledger.reserve(call('b', 60, 0.1), limits)).toEqual({
      limit: limits[0],
      what: 'tokens',
      spent: 60,
      most: 100,
    });
    expect(ledger.reserve(call('b', 10, 0.6), limits)).toEqual({ limit: limits[0], what: 'cost', spent: 0.5, most: 1 });
    ledger.settle({ session, call: CallId.parse('a'), tokens: 20, cost: 0.25 });
    expect(ledger.today()).toEqual({ tokens: 20, cost: 0.25 });
    expect(ledger.reserve(call('b', 80, 0.75), limits)).toBe(null);
    expect(ledger.today()).toEqual({ tokens: 100, cost: 1 });
    ledger.settle({ session, call: CallId.parse('never begun'), tokens: 5, cost: 5 });
    expect(ledger.today()).toEqual({ tokens: 100, cost: 1 });
    ledger.close();
  });

  it('counts a model, or a family, by itself', () => {
    const ledger = openDayLedger(folder(), () => NOON);
    const limits = [{ model: 'scripted/fast@*', budget: { maxTokens: 50 } }];
    const dated = ModelId.parse('scripted/fast-20260101');
    expect(ledger.reserve(call('a', 1000, 1, slow), limits)).toBe(null);
    expect(ledger.reserve(call('b', 40, 1, dated), limits)).toBe(null);
    expect(ledger.reserve(call('c', 40, 1), limits)).toMatchObject({ what: 'tokens', spent: 40 });
    expect(ledger.today((id) => id === slow).tokens).toBe(1000);
    ledger.close();
  });

  it('keeps a promise that nobody settled, as after a crash, until the next local day', () => {
    const stateDir = folder();
    let now = NOON;
    openDayLedger(stateDir, () => now).reserve(call('a', 80, 0), []);
    const again = openDayLedger(stateDir, () => now);
    expect(again.reserve(call('b', 30, 0), [all({ maxTokens: 100 })])).toMatchObject({ spent: 80 });
    now = new Date(2026, 0, 15, 23, 59, 59).getTime();
    expect(again.today().tokens).toBe(80);
    now += 1000;
    expect(again.today().tokens).toBe(0);
    // Begun before midnight, it is charged to its own day.
    again.settle({ session, call: CallId.parse('a'), tokens: 70, cost: 0 });
    expect(again.today().tokens).toBe(0);
    again.close();
  });

  it('makes nothing free again when the clock goes back (2.4)', () => {
    let now = NOON;
    const ledger = openDayLedger(folder(), () => now);
    ledger.reserve(call('a', 100, 0), []);
    now -= 3 * DAY;
    expect(ledger.reserve(call('b', 1, 0), [all({ maxTokens: 100 })])).toMatchObject({ spent: 100 });
    ledger.close();
  });

  it('never exceeds a limit, to the micro-dollar, whatever is promised and settled in whatever order', () => {
    const step = fc.record({ cost: fc.integer({ min: 0, max: 400_000 }), part: fc.integer({ min: 0, max: 100 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), fc.integer({ min: 0, max: 1_000_000 }), (steps, micro) => {
        const ledger = openDayLedger(folder(), () => NOON);
        let sum = 0;
        for (const [n, { cost, part }] of steps.entries()) {
          const one = call(`c${n}`, 1, cost / 1e6);
          const fits = sum + cost <= micro;
          expect(ledger.reserve(one, [all({ maxCost: micro / 1e6 })]) === null).toBe(fits);
          if (!fits) continue;
          const spent = Math.floor((cost * part) / 100);
          if (part < 90) ledger.settle({ session, call: one.call, tokens: 1, cost: spent / 1e6 });
          sum += part < 90 ? spent : cost;
          expect(Math.round(ledger.today().cost * 1e6)).toBe(sum);
        }
        ledger.close();
      }),
      { numRuns: 15 },
    );
  });

  it('is one for all processes: two that race never promise more than there is', async () => {
    const stateDir = folder();
    const child = new URL('../support/day-child.ts', import.meta.url).pathname;
    const runs = ['first', 'second'].map((name) =>
      ended(start(process.execPath, [child, stateDir, name, '0.003', '0.5'])),
    );
    const both = await Promise.all(runs);
    expect(both.map(({ code, err }) => [code, err.replaceAll(/.*Warning.*\n?/g, '')])).toEqual([
      [0, ''],
      [0, ''],
    ]);
    const ledger = openDayLedger(stateDir, () => Date.UTC(2026, 0, 15, 12));
    const { cost } = ledger.today();
    expect(cost).toBeLessThanOrEqual(0.5);
    expect(cost).toBeGreaterThan(0.497);
    ledger.close();
  });

  it('belongs to its owner alone', () => {
    const stateDir = folder();
    openDayLedger(stateDir, () => NOON).close();
    const file = join(stateDir, 'days.db');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    chmodSync(file, 0o644);
    expect(() => openDayLedger(stateDir, () => NOON)).toThrow(/is accessible to other users/);
  });

  it('charges whole amounts alone, and names one that is none', () => {
    const ledger = openDayLedger(folder(), () => NOON);
    for (const tokens of [-1, 0.5, Number.NaN, Infinity])
      expect(() => ledger.reserve(call('a', tokens, 0), [])).toThrow(`not a valid amount to charge: ${tokens}`);
    expect(() => ledger.reserve(call('a', 1, -0.000001), [])).toThrow('not a valid amount to charge: -1');
    expect(ledger.reserve(call('a', 0, 0), [all({ maxTokens: 0, maxCost: 0 })])).toBeNull();
    expect(ledger.today()).toEqual({ tokens: 0, cost: 0 });
    ledger.close();
  });

  it('is asked for each limit in turn, and keeps nothing of a call that one of them refuses', () => {
    const ledger = openDayLedger(folder(), () => NOON);
    const limits = [all({ maxTokens: 100 }), { model: 'scripted/fast', budget: { maxCost: 0.5 } }];
    expect(ledger.reserve(call('a', 100, 0.500001), limits)).toEqual({
      limit: limits[1],
      what: 'cost',
      spent: 0,
      most: 0.5,
    });
    expect(ledger.today()).toEqual({ tokens: 0, cost: 0 });
    expect(ledger.reserve(call('a', 100, 0.5), limits)).toBeNull();
    expect(ledger.reserve(call('b', 1, 0), limits)).toMatchObject({ what: 'tokens', spent: 100, most: 100 });
    ledger.close();
  });

  it('forgets the calls of a day after forty days', () => {
    const stateDir = folder();
    const daysIn = (): readonly unknown[] => {
      const database = new DatabaseSync(join(stateDir, 'days.db'), { readOnly: true });
      const rows = database.prepare('SELECT day FROM calls ORDER BY day').all();
      database.close();
      return rows.map(({ day }) => day);
    };
    for (const [id, day] of [
      ['a', 4],
      ['b', 5],
      ['c', 12],
    ] as const) {
      const ledger = openDayLedger(stateDir, () => new Date(2026, 0, day, 12).getTime());
      ledger.reserve(call(id, 1, 0), []);
      ledger.close();
    }
    expect(daysIn()).toEqual(['2026-01-04', '2026-01-05', '2026-01-12']);
    openDayLedger(stateDir, () => new Date(2026, 1, 14, 12).getTime()).close();
    expect(daysIn()).toEqual(['2026-01-05', '2026-01-12']);
  });

  it('says in words what is wrong with its file', () => {
    const stateDir = folder();
    writeFileSync(join(stateDir, 'days.db'), 'no database at all, but long enough to be one'.repeat(50), {
      mode: 0o600,
    });
    expect(() => openDayLedger(stateDir, () => NOON)).toThrow(LogFault);
    expect(() => openDayLedger(stateDir, () => NOON)).toThrow(/no model is called without it/);
  });
});
