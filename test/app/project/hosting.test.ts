/** Runs in processes of their own, from scripts: how they begin, how they are refused, how they end. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Home } from '../../support/cli.ts';
import { jsonLines, openHome, SMALL } from '../../support/cli.ts';
import { until } from '../../support/until.ts';

let home: Home;
beforeAll(() => {
  home = openHome(SMALL);
});
afterAll(() => {
  for (const pid of hosts()) process.kill(pid, 'SIGKILL');
  home.remove();
});

/** Processes that carry runs of this project. */
const hosts = (): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && argumentsOf(name).includes('--hosted'))
    .filter((name) => argumentsOf(name).includes(home.project))
    .map(Number);

function argumentsOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** A run whose plan waits for a screen, in a process of its own. */
async function waiting(...flags: readonly string[]): Promise<string> {
  const { code, out, err } = await home.run(['run', 'Explain how add works', '--detach', '--json', ...flags]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return String(jsonLines(out)[0]?.['session']);
}

const stateOf = async (session: string): Promise<unknown> => {
  const { out } = await home.run(['sessions', '--json']);
  const all: unknown = JSON.parse(out);
  return Array.isArray(all) ? all.find((one: { session?: unknown }) => one.session === session) : undefined;
};

describe('mimir run --detach', () => {
  it('S001, S003: returns when the run answers, says how to come back and how to stop it; the plan waits for a screen', async () => {
    const { code, out, err } = await home.run(['run', 'Explain how add works', '--detach']);
    const session = /Session (\w+) runs/.exec(out)?.[1] ?? '';
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toBe(
      [
        `Session ${session} runs in the background.`,
        `  mimir attach ${session}   shows it; its plan and its questions wait for you there`,
        `  mimir kill ${session}     stops it; mimir resume ${session} continues it`,
        '',
      ].join('\n'),
    );
    expect(await stateOf(session)).toMatchObject({ state: 'running' });
    const refused = await home.run(['resume', session]);
    expect(refused).toMatchObject({
      code: 2,
      err: `mimir: session ${session} runs in another process\n  \`mimir attach ${session}\` shows it\n`,
    });
    const stopped = await home.run(['kill', session]);
    expect(stopped.code).toBe(0);
    await until(() => hosts().length === 0);
    expect(await stateOf(session)).toMatchObject({ state: 'stopped' });
  });

  it('S126: is stopped by SIGTERM so that it can be gone on with, in a process of its own again', async () => {
    const session = await waiting();
    for (const pid of hosts()) process.kill(pid, 'SIGTERM');
    await until(() => hosts().length === 0);
    expect(await stateOf(session)).toMatchObject({ state: 'stopped' });
    const again = await home.run(['resume', session, '--detach', '--yes']);
    expect(again).toMatchObject({ code: 0, err: '' });
    await until(() => hosts().length === 0);
    expect(await stateOf(session)).toMatchObject({ state: 'finished', ended: { status: 'completed' } });
  });

  it('S144: is found by doctor, which says where it answers, or that it does not', async () => {
    const session = await waiting();
    const said = async (): Promise<string> =>
      /^. runs .*$/m.exec((await home.run(['doctor'])).out)?.[0] ?? 'nothing of runs';
    expect(await said()).toMatch(
      new RegExp(`^✓ runs +${session} is active and listens at /\\S+ \\(this user only\\)$`),
    );
    const [pid = 0] = hosts();
    process.kill(pid, 'SIGSTOP');
    expect(await said()).toMatch(new RegExp(`^· runs +run ${session} cannot be reached: .*is it stopped\\?`));
    process.kill(pid, 'SIGCONT');
    expect((await home.run(['kill', session])).code).toBe(0);
    await until(() => hosts().length === 0);
    expect(await said()).toBe('✓ runs      no active run');
  });

  it('takes nothing of a task for a flag: what nobody has approved waits', async () => {
    writeFileSync(
      join(home.project, 'plan.yml'),
      'reason: Explain add\ntasks: [{ id: a, description: Explain add, role: finder }]\n',
    );
    for (const task of ['--yes', '--hosted', '--cwd=/']) {
      const { code, out, err } = await home.run(['run', '--plan', 'plan.yml', '--detach', '--json', '--', task]);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      const session = String(jsonLines(out)[0]?.['session']);
      await home.run(['kill', session]);
      const events = jsonLines((await home.run(['events', session, '--json'])).out);
      expect(events.find(({ type }) => type === 'session.started')).toMatchObject({ task });
      expect(events.filter(({ type }) => type === 'plan.approved')).toEqual([]);
    }
    await until(() => hosts().length === 0);
  });

  it('says in words of the process why it did not begin, with its exit code', async () => {
    const unusable = await home.run(['run', 'x', '--detach', '--no-offline']);
    expect(unusable.code).toBe(6);
    expect(unusable.err).toMatch(/^mimir: no model provider is configured/);
    expect(hosts()).toEqual([]);
  });

  it('names nothing in its help that people don’t type', async () => {
    const { out } = await home.run(['run', '--help']);
    expect(out).toContain('--detach');
    expect(out).not.toMatch(/--hosted|--idle|--watched/);
  });
});

describe('mimir attach', () => {
  it('says what there is, where nothing goes on', async () => {
    const fresh = openHome(SMALL);
    const { code, err } = await fresh.run(['attach']);
    expect({ code, err }).toEqual({
      code: 2,
      err: 'mimir: no run is active in this project\n  `mimir run --detach "…"` starts one; `mimir sessions` lists the finished ones\n',
    });
    fresh.remove();
  });

  it('S144: shows what a run does as lines, to whoever reads a pipe, until it has ended', async () => {
    const session = await waiting();
    const reading = home.start(['attach', session]);
    await reading.printed('Estimate');
    const stopped = await home.run(['kill', session]);
    expect(stopped.code).toBe(0);
    const { code, out } = await reading.ended;
    expect(code).toBe(1);
    expect(out).toContain(`Attached to session ${session}: Explain how add works`);
  });

  it('S060: takes an agent by any of its names, of the newest run also without that', async () => {
    const spawned = await home.run(['spawn', 'finder', 'Find add', '--name', 'scout', '--json']);
    const session = String(jsonLines(spawned.out)[0]?.['run']);
    expect(await home.run(['attach', session, 'nobody'])).toMatchObject({ code: 2, out: '' });
    const wrong = await home.run(['attach', 'nobody']);
    expect(wrong.err).toMatch(/^mimir: there is no session "nobody"\n/);
    for (const words of [[session, 'scout'], ['scout']]) {
      const reading = home.start(['attach', ...words]);
      await reading.printed(`Attached to session ${session}`);
      reading.child.kill('SIGINT');
      await reading.ended;
    }
    expect((await home.run(['kill', session])).code).toBe(0);
  });
});
