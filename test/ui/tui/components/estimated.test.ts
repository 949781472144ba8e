import { expect, it } from 'vitest';
import { ASCII, UNICODE } from '../../../../src/ui/tui/text/glyphs.ts';
import { costText } from '../../../../src/app/reports/spend-text.ts';
import { aboutSign } from '../../../../src/ui/tui/components/costs.ts';

it('numbers that are estimates, since a server left its count out, have a sign in front', () => {
  expect(aboutSign({ estimated: true }, { glyphs: UNICODE })).toBe('≈');
  expect(aboutSign({ estimated: true }, { glyphs: ASCII })).toBe('~');
  expect(aboutSign({}, { glyphs: UNICODE })).toBe('');
  expect(costText({ cost: 0.0123, priced: true, estimated: true })).toBe('≈$0.01');
  expect(costText({ cost: 0.0123, priced: true })).toBe('$0.01');
});
