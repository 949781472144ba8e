/** The short form of the bench's long run: many agents at once over a wire that breaks now and then. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { soak, tokensOf } from '../bench/soak-core.ts';

const PROGRAM = [process.execPath, join(import.meta.dirname, '../../src/main.ts')];

it('brings 64 agents to a good end for 20 s at 50 tokens/s with faults, and charges what the provider bills, to the token', async () => {
  const { code, err, outcomes, ledger, total, bill, prefixFaults } = await soak({
    program: PROGRAM,
    agents: 64,
    seconds: 20,
    replySeconds: 4,
    rate: 50,
    share: 0.05,
  });
  expect({ code, err, outcomes, prefixFaults }).toEqual({
    code: 0,
    err: '',
    outcomes: { completed: 64 },
    prefixFaults: 0,
  });
  expect(bill.refused).toBeGreaterThan(0);
  expect(bill.broken.calls).toBeGreaterThan(0);
  expect(ledger.answered).toEqual(bill.answered);
  // How much of a broken reply is billed can't be known: it is charged by its upper bound.
  expect(tokensOf(ledger.failed)).toBeGreaterThanOrEqual(tokensOf(bill.broken));
  expect(total).toBe(tokensOf(ledger.answered) + tokensOf(ledger.failed));
}, 180_000);
