/** A limit reads the same wherever a person types it. */
import { expect, it } from 'vitest';
import { budgetOf } from '../../src/ui/lines/commands/edits.ts';
import { readBudget } from '../../src/ui/tui/components/plan-form.ts';

it('10m is ten minutes in line mode and in the form, and never ten million tokens', () => {
  const form = (texts: Readonly<Record<string, string>>) => readBudget({ texts, checks: {} });
  expect([budgetOf('10m'), form({ time: '10m' })]).toEqual([
    { ok: true, value: { maxDuration: 600_000 } },
    { ok: true, value: { maxDuration: 600_000 } },
  ]);
  expect([budgetOf('10M'), form({ tokens: '10M' })]).toEqual([
    { ok: true, value: { maxTokens: 10_000_000 } },
    { ok: true, value: { maxTokens: 10_000_000 } },
  ]);
  expect(form({ tokens: '10m' })).toMatchObject({ ok: false });
});
