/** Trust, the mode and pins as a person meets them, in the real program. */
import { describe, expect, it } from 'vitest';
import { ACCEPT, LEDGER, makeMachine, TASK } from '../support/journey.ts';

const LOOK = { cols: 100, rows: 30 };
const BRINGS = { ...LEDGER, 'AGENTS.md': 'Always be brief.\n' };

describe.concurrent('what rules ask of a person', () => {
  it('a mode for the whole hierarchy: Enter makes it stricter, only L looser, and what changes is said first', async () => {
    const person = makeMachine().opens([TASK], LOOK);
    await person.sees(ACCEPT);
    person.press('backtab');
    await person.sees('Mode of all agents', 'Applies to all agents');
    person.press('up');
    await person.sees('Asks again before:');
    person.press('enter');
    await person.sees(/MIMIR.* human /);
    person.press('backtab');
    await person.sees('Mode of all agents');
    person.press('down');
    await person.sees('No longer asks before:');
    person.press('enter');
    await person.sees('Press L to switch');
    person.press('L');
    await person.sees(/MIMIR.* confirm /);
    person.press('esc');
    await person.sees('What do you want to do?');
    person.terminal.kill();
  });

  it('trust before anything begins, and Enter goes on without it', async () => {
    const machine = makeMachine(BRINGS);
    const person = machine.opens([TASK], LOOK);
    await person.sees('Do you trust this project?', 'AGENTS.md');
    expect(person.screen()).not.toContain('Plan ');
    await person.sees("don't trust");
    person.press('y');
    for (let tries = 0; tries < 60 && person.screen().includes('Do you trust'); tries += 1) {
      person.press('enter');
      await person.terminal.waitFor(/Plan \d/, { timeout: 400 }).catch(() => undefined);
    }
    await person.sees(ACCEPT);
    person.terminal.kill();
  });

  it('trust in what has a fault: it is said which, and the session goes on without it', async () => {
    const machine = makeMachine({ ...LEDGER, '.mimir/agents/deploy.md': '---\nnmae: deploy\n---\nDeploy it.\n' });
    const person = machine.opens([], LOOK);
    await person.sees('Do you trust this project?', 'an invalid role file');
    for (let tries = 0; tries < 60 && person.screen().includes('Do you trust'); tries += 1) {
      // A second T would be written into the field, and take the words about the first away.
      person.press('T');
      const gone = (rows: readonly string[]): boolean => !rows.join('\n').includes('Do you trust');
      await person.terminal.waitFor(gone, { timeout: 5000 }).catch(() => undefined);
    }
    await person.sees('Trusted, but not used in this session', '! trusted, but not used in');
    await person.sees('.mimir/agents/deploy.md:2:1');
    await person.doesNotSee('because this project is not trusted');
    person.terminal.kill();
  });

  it('trust in lines: y trusts exactly what was shown, and it is not asked again', async () => {
    const machine = makeMachine(BRINGS);
    const person = machine.opens(['--plain', TASK], LOOK);
    await person.sees('is not trusted yet', 'Trust this?');
    person.type('y');
    person.press('enter');
    await person.sees('Trusted.', 'Proceed? [Y/n/e/m]');
    person.terminal.kill();
    const again = machine.opens(['--plain', TASK], LOOK);
    await again.sees('Proceed? [Y/n/e/m]');
    expect(again.terminal.output()).not.toContain('Trust this?');
    again.terminal.kill();
  });

  it.each(['dumb', 'xterm-256color'])(
    'the question of trust leaves the input to what comes after it, on %s',
    async (TERM) => {
      const person = makeMachine(BRINGS).opens(['--plain'], { ...LOOK, env: { TERM } });
      await person.sees('Trust this?');
      person.type('n');
      person.press('enter');
      await person.sees('Not trusted', 'Type a task');
      person.type('help');
      person.press('enter');
      await person.sees('Commands here:');
      person.type('quit');
      person.press('enter');
      expect(await person.leaves()).toBe(0);
    },
  );
});
