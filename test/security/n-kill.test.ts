/** Commands that won't end: what is left of them, in the box and outside, and when Mimir itself is killed. Real processes. */
import { describe, expect, it } from 'vitest';
import { sleepers } from '../tools/living.ts';
import { openPlace, runCommands, startCommands, USERS, type Place } from '../support/boxes.ts';
import { until } from '../support/until.ts';

/** Ignores TERM, leaves the session, forks twice, is told of no hang-up; each names itself by how long it sleeps. */
const stubborn = (seconds: number): string =>
  [
    'trap "" TERM HUP',
    `setsid sleep ${seconds} &`,
    `nohup sleep ${seconds} >/dev/null 2>&1 &`,
    `(setsid bash -c 'trap "" TERM; (sleep ${seconds} &) ; sleep ${seconds}' &)`,
    `env -i setsid sleep ${seconds} &`,
    `perl -e 'exit if fork; require POSIX; POSIX::setsid(); exit if fork; $SIG{TERM} = "IGNORE"; exec "sleep", "${seconds}"'`,
    `while [ $(ps -eo args | grep -c "^sleep ${seconds}") -lt 6 ]; do sleep 0.05; done`,
    'echo on',
    `sleep ${seconds}`,
  ].join('\n');

/** Seconds until the limit: what a command has to do before takes a tenth of it where nothing else runs. */
const ENOUGH = 4;
const left = (seconds: number): number => sleepers(new RegExp(`^sleep ${seconds}$`)).length;

describe.each(USERS)('commands of the user %s', (user) => {
  it('N01: what ignores TERM and leaves its session is ended with the box', async () => {
    const place = openPlace(user);
    const { texts, seconds } = await runCommands(place, [stubborn(7101)], { timeout: ENOUGH });
    expect(texts[0]).toMatch(/^stopped: the time limit of \d s was reached, after T; processes ended: \d+\non$/);
    // The limit, and two and a half seconds for the end where nothing else runs (the bench has the figure).
    expect(seconds[0]).toBeLessThan(30);
    expect(left(7101)).toBe(0);
  });

  it('N01: what obeys TERM has the time to do so', async () => {
    const place = openPlace(user);
    const polite = 'trap "echo bye > said; exit 0" TERM; echo on; while :; do sleep 0.05; done';
    await runCommands(place, [polite], { timeout: ENOUGH });
    expect((await runCommands(place, ['cat said'], { box: 'none' })).texts[0]).toContain('bye');
  });

  it('N02: a grandchild that keeps the pipes does not keep the tool', async () => {
    const place = openPlace(user);
    for (const box of ['read-write', 'none'] as const) {
      const { texts } = await runCommands(place, ['sleep 7102 & (setsid sleep 7102 &); date +%s%N'], { box });
      expect(texts[0]).toMatch(/^exit code 0 after T/);
      const ended = Number(texts[0]?.split('\n')[1]) / 1e6;
      // Half a second in a box, where nothing else runs; a tool that waited for the pipe would take two hours.
      expect(Date.now() - ended).toBeLessThan(30_000);
      expect(left(7102)).toBe(0);
    }
  });

  it('N03: when Mimir is killed, nothing of the box is left', async () => {
    const place = openPlace(user);
    const child = startCommands(place, [stubborn(7103)]);
    await new Promise((resolve) => child.stderr?.once('data', resolve));
    expect(left(7103)).toBeGreaterThan(5);
    child.kill('SIGKILL');
    await until(() => left(7103) === 0);
  });

  it('N03: when Mimir leaves while something runs, that goes with it, boxed or not', async () => {
    const place = openPlace(user);
    for (const box of ['read-write', 'none'] as const) {
      const child = startCommands(place, ['trap "" TERM HUP; sleep 7104 & echo on; wait'], { box, leaves: true });
      await new Promise((resolve) => child.once('close', resolve));
      await until(() => left(7104) === 0);
    }
  });

  it('N06: without a box as many as can be found are ended, and the rest is told', async () => {
    const place = openPlace(user);
    const { texts } = await runCommands(place, [stubborn(7106)], { box: 'none', timeout: ENOUGH });
    const told = /; STILL RUNNING, could not be ended: (\d+)/.exec(texts[0] ?? '')?.[1] ?? '0';
    expect(texts[0]).toMatch(/^stopped: the time limit of \d s was reached, after T; processes ended: \d+/);
    expect(left(7106)).toBe(Number(told));
  });
});

describe('the end of a box', () => {
  it('N01: leaves 0 survivors in 20 trials', async () => {
    const place: Place = openPlace('ordinary');
    const one = '(setsid sleep 7107 &); (trap "" TERM; nohup setsid sleep 7107 >/dev/null 2>&1 &); sleep 0.02; echo on';
    const { texts } = await runCommands(
      place,
      Array.from({ length: 20 }, () => one),
    );
    expect(texts.every((text) => text.startsWith('exit code 0'))).toBe(true);
    expect(left(7107)).toBe(0);
  });
});
