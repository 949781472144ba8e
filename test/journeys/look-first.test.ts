/** A stopped session is looked at before anything is spent: Enter opens it as it is, and resuming is a key of its own. */
import { describe, expect, it } from 'vitest';
import { ACCEPT, LEDGER, newest, sessionsOf } from '../support/journey.ts';
import { ownModel, planText } from '../support/on-the-wire.ts';

const script = {
  rules: [
    { when: { first: '# Roles' }, answer: { text: planText(['Read the ledger', 'finder']) } },
    {
      when: { first: '^Read the ledger', turn: 1 },
      answer: { calls: [{ tool: 'bash', input: { command: 'npm run x' } }] },
    },
    { answer: { text: 'All is well.' } },
  ],
};

describe('a session whose process was killed', () => {
  it('is opened stopped by Enter, with what resuming may cost, and goes on by r alone', async () => {
    const { machine } = await ownModel('anthropic', { script, files: LEDGER });
    const first = machine.opens(['Look after the ledger']);
    await first.sees(ACCEPT);
    first.press('enter');
    await first.sees('A to answer');
    first.terminal.kill();
    await first.terminal.exit;
    const session = await newest(machine);
    const before = (await machine.mimir('events', session, '--json')).out;
    const person = machine.opens([]);
    await person.sees('What do you want to do?', /press 1-\d/, 'Recent sessions', 'stopped');
    person.press('tab', 'tab');
    await person.sees(/▌ ⏸ .*Look after the ledger/);
    person.press('enter');
    await person.sees('Stopped', /1 of 1 task is left, (?:est\.|no price)/);
    expect((await machine.mimir('events', session, '--json')).out).toBe(before);
    person.press('r');
    await person.sees('A to answer');
    person.terminal.kill();
    expect(await sessionsOf(machine)).toHaveLength(1);
  });
});
