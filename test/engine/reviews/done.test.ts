import { expect, it } from 'vitest';
import { bytesIn } from '../../../src/domain/text/text.ts';
import { CallId, ROOT } from '../../../src/domain/ids.ts';
import type { EventBody } from '../../../src/events/event.ts';
import { doneIn } from '../../../src/engine/reviews/batch.ts';
import { judgingText } from '../../../src/engine/reviews/judge.ts';
import { foldAll } from '../../../src/events/fold.ts';
import { planned, Recording, started } from '../../support/recorded-run.ts';

const CALL = CallId.parse('c1');

const act = (label: string): EventBody => ({
  type: 'tool.started',
  agent: ROOT,
  call: CALL,
  tool: 'bash',
  label,
  input: {},
  repeat: 'never',
});

const done = (...bodies: readonly EventBody[]): readonly string[] => {
  const log = planned(started(new Recording()));
  const before = log.events.length;
  for (const body of bodies) log.at(1, body);
  return doneIn(foldAll(log.events), log.events.slice(before));
};

it('says of a command that is cut how much of it nobody sees', () => {
  expect(done(act('true '.repeat(100) + 'rm b'))[0]).toContain('rm b');
  const [line = ''] = done(act(': '.repeat(2000) + 'rm b'));
  expect(line).toMatch(/… \(\d+ MORE CHARACTERS\)$/);
});

it('says what acts have no room, and lets no words take it', () => {
  const many = Array.from({ length: 400 }, (_, n) => act(`echo ${n} ${'x'.repeat(200)}`));
  const lines = done({ type: 'agent.message', agent: ROOT, call: CALL, text: 'y'.repeat(9000) }, ...many);
  expect(lines.filter((line) => line.includes('did: echo')).length).toBeGreaterThan(50);
  expect(lines.at(-2)).toMatch(/^AND \d+ MORE ACTIONS/);
  expect(lines.at(-1)).toBe('and 1 more message');
  expect(bytesIn(lines.join('\n'))).toBeLessThan(24_500);
});

it('leaves a brief room in its budget, however long the names of files are', () => {
  const files = Array.from({ length: 300 }, (_, n) => `${'ü'.repeat(1000)}${n}`);
  const text = judgingText({ trigger: 'always', whose: null, files, patch: 'z'.repeat(90_000), fence: 'f' });
  expect(text).toContain('- and 297 more');
  expect(bytesIn(text)).toBeLessThan(34_000);
});
