/** A limit reads the same wherever a person types it. */
import { expect, it } from 'vitest';
import { readBudget as readLine } from '../../src/ui/lines/commands/plan.ts';
import { readBudget } from '../../src/ui/tui/components/plan-form.ts';

it('10m is ten minutes in line mode and in the form, and never ten million tokens', () => {
  const form = (texts: Readonly<Record<string, string>>) => readBudget({ texts, checks: {} });
  expect(readLine('10m')).toEqual({ maxDuration: 600_000 });
  expect(form({ time: '10m' })).toEqual({ ok: true, value: { maxDuration: 600_000 } });
  expect(readLine('10M')).toEqual({ maxTokens: 10_000_000 });
  expect(form({ tokens: '10M' })).toEqual({ ok: true, value: { maxTokens: 10_000_000 } });
  expect(form({ tokens: '10m' })).toMatchObject({ ok: false });
});
