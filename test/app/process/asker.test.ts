/** Questions at a terminal, one after the other: what was typed before one appeared does not answer it. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startTerminal } from '../../support/pty.ts';

const IO = join(import.meta.dirname, '../../../src/app/process/io.ts');

/** Asks, waits for a signal, and asks again. */
const PROGRAM = `
import { openIo } from ${JSON.stringify(IO)};
const { ask } = openIo({});
console.log('first: ' + (await ask('one? ', 'fresh')));
const busy = setInterval(() => undefined, 1000);
const told = new Promise((resolve) => process.once('SIGUSR2', resolve));
console.log('at work');
await told;
clearInterval(busy);
console.log('second: ' + (await ask('two? ', 'fresh')));
`;

it('discards what was typed ahead before each question, not only before the first', async () => {
  const terminal = startTerminal(process.execPath, ['--input-type=module', '--eval', PROGRAM]);
  await terminal.waitFor('one?');
  terminal.type('yes\r');
  await terminal.waitFor('at work');
  terminal.type('early\r');
  await terminal.waitFor('early');
  terminal.signal('SIGUSR2');
  await terminal.waitFor('two?');
  terminal.type('late\r');
  expect((await terminal.exit).code).toBe(0);
  expect(terminal.screen().filter((row) => /first|second/.test(row))).toEqual(['first: yes', 'second: late']);
});
