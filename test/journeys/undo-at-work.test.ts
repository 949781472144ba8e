/** What a person takes back while the run goes on: recorded by the run, told to an agent that works, checked and reviewed as it is then. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { jsonLines } from '../support/cli.ts';
import type { Rule } from '../support/double/script.ts';
import { LEDGER } from '../support/journey.ts';
import { needs } from '../support/needs.ts';
import { type Event, of, ownModel, planText } from '../support/on-the-wire.ts';

needs('git', 'bubblewrap');

const runs = (first: string, command: string): Rule => ({
  when: { first, turn: 1 },
  answer: { calls: [{ tool: 'bash', input: { command } }] },
});

it('undoes changes of an agent that has ended and of one that waits, from a shell and from the review', async () => {
  const rules: readonly Rule[] = [
    {
      when: { first: '# Roles' },
      answer: { text: planText(['Name it', 'code'], ['Log it', 'refactoring', 'task-1']) },
    },
    runs('^Name it', 'sed -i s/one/1/ a.txt'),
    { when: { first: '^Name it' }, answer: { text: 'Named.' } },
    runs('^Log it', 'sed -i s/three/3/ a.txt'),
    {
      when: { first: '^Log it', turn: 2 },
      answer: { calls: [{ tool: 'ask_user', input: { question: 'Is this enough?', options: ['yes', 'no'] } }] },
    },
    { answer: { text: 'Done.' } },
  ];
  const { machine, double } = await ownModel('anthropic', {
    script: { rules },
    files: { ...LEDGER, 'a.txt': 'one\ntwo\nthree\n' },
  });
  const text = (): string => readFileSync(path.join(machine.project, 'a.txt'), 'utf8');
  const person = machine.opens(['Name and log', '--mode', 'yolo'], { cols: 120, rows: 40 });
  await person.sees('⏎ accept');
  person.press('Y');
  await person.sees('Is this enough?');
  expect(text()).toBe('1\ntwo\n3\n');
  expect(await machine.mimir('undo', 'code', '--yes')).toMatchObject({ code: 0, err: '' });
  expect(text()).toBe('one\ntwo\n3\n');
  person.press('D');
  await person.sees('Changes by agent', /▌ .*a.txt:3/);
  person.press('U');
  await person.sees('Undo this hunk?', '-3', '+three');
  person.press('y');
  await person.sees('undid changes of refactoring in 1 file');
  expect(text()).toBe('one\ntwo\nthree\n');
  person.press('esc');
  await person.doesNotSee('Changes by agent');
  person.press('A');
  await person.sees(/1 .*yes/);
  person.press('1');
  await person.sees('Done.', /completed/i);
  const { out } = await machine.mimir('events', '--json');
  const events: readonly Event[] = jsonLines(out);
  expect(of(events, 'changes.undone')).toMatchObject([
    { agent: 'ROOT::S1', files: ['a.txt'] },
    { agent: 'ROOT::S2', files: ['a.txt'] },
  ]);
  const told = 'I have undone changes of yours in: a.txt.';
  expect(of(events, 'message.sent').filter(({ content }) => String(content).startsWith(told))).toMatchObject([
    { to: 'ROOT::S2' },
  ]);
  expect(double.asked.some((request) => JSON.stringify(request).includes(told))).toBe(true);
});
