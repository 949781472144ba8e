/** One run, several terminals: a process that carries it, two screens on it, and verbs typed in a third. */
import { describe, expect, it } from 'vitest';
import type { Rule } from '../support/double/script.ts';
import type { Person } from '../support/journey.ts';
import { newest } from '../support/journey.ts';
import { ANSWER, leftRunning, WORK } from '../support/left-running.ts';
import { needs } from '../support/needs.ts';
import { of } from '../support/on-the-wire.ts';
import { until } from '../support/until.ts';

/** One asks its person and then says what it was told; the other sleeps until it is killed. */
const CHILDREN: readonly Rule[] = [
  {
    when: { first: '^Paint', turn: 1 },
    answer: { calls: [{ tool: 'ask_user', input: { question: 'Which colour?' } }] },
  },
  { when: { first: '^Paint', last: 'blue' }, answer: { text: 'Blue it is.' } },
  { when: { first: '^Paint', last: 'green' }, answer: { text: 'Green by now.' } },
  { when: { first: '^Sleep' }, answer: { text: 'never', latencyMs: 600_000 } },
];

/** A question is deaf at first to what was typed before it was drawn. */
async function typesUntilSeen({ terminal }: Person, text: string): Promise<void> {
  const isSeen = (): Promise<boolean> =>
    terminal.waitFor(text, { timeout: 400 }).then(
      () => true,
      () => false,
    );
  do terminal.type(text);
  while (!(await isSeen()));
}

describe('a run with two screens and verbs beside them', () => {
  needs('bubblewrap');

  it('H010, H013, H018, H019, H020, S022, S041, S059, S065, S089, S136, S157: all see the same, and each acts on it for all', async () => {
    const run = await leftRunning(undefined, CHILDREN);
    const { machine } = run;
    const verb = async (...args: readonly string[]): Promise<string> => {
      const { code, out, err } = await machine.mimir(...args);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      return out;
    };
    await verb('run', WORK, '--yes', '--mode', 'yolo', '--detach');
    const session = await newest(machine);
    await until(() => run.effects() === 1);
    const [one, other] = [machine.opens(['attach']), machine.opens(['attach'])];
    await Promise.all([one.sees(/● main/), other.sees(/● main/)]);

    // A mode that is chosen on one screen is that of all agents, and stands on the other.
    one.press('backtab');
    await one.sees('Applies to all agents');
    one.press('up', 'enter');
    await one.sees(/MIMIR .*confirm/);
    await other.sees(/MIMIR .*confirm/);

    // A child of the verb is on both, and so is its question; what one answers is answered on the other.
    expect(await verb('spawn', 'finder', 'Paint the house', '--name', 'painter')).toMatch(/^Spawned finder-painter \(/);
    await Promise.all([one, other].map((person) => person.sees('A to answer', 'Which colour?')));
    one.press('A');
    await one.sees('Esc later');
    await typesUntilSeen(one, 'blue');
    one.press('enter');
    await other.doesNotSee('A to answer');
    await Promise.all([one, other].map((person) => person.sees(/✓ finder-painter/)));
    expect(await verb('what', 'finder-painter')).toContain('Blue it is.');

    // What has ended goes on by a message; what sleeps is ended; whoever follows hears of both.
    const followed = machine.mimir('events', session, '--follow', '--json');
    expect(await verb('send', 'finder-painter', 'green, please')).toMatch(/^Input sent to finder-painter \(/);
    await verb('spawn', 'finder', 'Sleep', '--name', 'sleeper');
    await Promise.all([one, other].map((person) => person.sees('finder-sleeper')));
    expect(await verb('kill', 'finder-sleeper')).toMatch(/^Session \w{6} terminated/);
    await Promise.all([one, other].map((person) => person.sees(/⏸ finder-sleeper/)));

    // A screen that is closed, or killed, ends nothing.
    one.terminal.kill();
    await one.terminal.exit;
    run.go();
    await other.sees('┌─ 1 Answer', "The agents'");
    other.press('q');
    // One was killed (D29).
    expect(await other.leaves()).toBe(1);
    expect((await followed).out).toBe(await verb('events', session, '--json'));
    const ends = of(await run.events(), 'agent.finished').map(({ agent, outcome, summary }) => [
      agent,
      outcome,
      summary,
    ]);
    expect(ends).toEqual([
      ['ROOT::S2', 'completed', 'Blue it is.'],
      ['ROOT::S2', 'completed', 'Blue it is.\n\nGreen by now.'],
      ['ROOT::S3', 'killed', expect.anything()],
      ['ROOT::S1', 'completed', ANSWER],
      ['ROOT', 'partial', expect.stringContaining(ANSWER)],
    ]);
    expect(run.effects()).toBe(1);
  });
});
