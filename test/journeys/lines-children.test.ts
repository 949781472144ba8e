/** A run with children in a dumb terminal: spawned, asked after, written to, killed, and the whole given away. */
import { describe, expect, it } from 'vitest';
import { newest } from '../support/journey.ts';
import type { Person } from '../support/journey.ts';
import { ANSWER, leftRunning, WORK } from '../support/left-running.ts';
import { needs } from '../support/needs.ts';
import { of } from '../support/on-the-wire.ts';
import { until } from '../support/until.ts';

const DUMB = { cols: 80, rows: 60, env: { TERM: 'dumb' } };
const WAITS = 'while [ ! -e never ]; do sleep 0.05; done';

/** One of the work, that only a kill ends. */
const waiting = {
  when: { first: '^Watch the mill', turn: 1 },
  answer: { calls: [{ tool: 'bash', input: { command: WAITS } }] },
};

async function says(person: Person, line: string, ...answers: readonly (string | RegExp)[]): Promise<void> {
  person.type(line);
  person.press('enter');
  await person.sees(...answers);
}

describe('children in a dumb terminal', () => {
  needs('bubblewrap');

  it('are spawned, asked after, written to and killed, and the run is given away', async () => {
    const run = await leftRunning(undefined, [waiting]);
    const person = run.machine.opens([WORK, '--mode', 'yolo'], DUMB);
    await person.sees('Proceed?');
    await says(person, 'Y', 'Plan approved');
    await until(() => run.effects() === 1);
    await says(person, 'spawn oracle "Watch the mill" --name mill', 'Spawned oracle-mill');
    await says(person, 'children', /#2 oracle-mill: running, .*spawned by\s+you/);
    await says(person, 'what 2', /Id ROOT::S2. Last activity/);
    await says(person, 'send 2 And the river?', 'Sent to oracle-mill');
    await says(person, 'kill 2', 'It can be retried, not resumed.', 'Kill oracle-mill?');
    await says(person, 'yes', /\[oracle-mill\] killed by you/);
    await says(person, 'detach', 'Current calls finish', '- main:');
    run.go();
    expect(await person.leaves()).toBe(0);
    const session = await newest(run.machine);
    const said = person.terminal.output().replaceAll('\r', '');
    expect(said.slice(said.indexOf('detach now cuts these calls off'))).toBe(
      `detach now cuts these calls off, detach stay keeps the run here.\nThe run continues in the background.\nsession ${session} continues in the background\n  mimir attach ${session}\n`,
    );
    expect(said).not.toContain('\u001b');
    await run.stands('finished');
    // All but the one that was killed: its end is no success of the whole.
    expect(of(await run.events(), 'session.finished').map(({ status }) => status)).toEqual(['stopped', 'failed']);
    const { out } = await run.machine.mimir('report', session);
    expect(out).toContain(ANSWER);
  });
});
