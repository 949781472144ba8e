/** Child sessions of a real run in a process of its own, by the real program: from the first spawn to the end of the run. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Home } from '../support/cli.ts';
import { jsonLines, openHome, SMALL } from '../support/cli.ts';
import { like, part } from '../support/like.ts';

let home: Home;
let run = '';
beforeAll(() => {
  home = openHome(SMALL);
});
afterAll(async () => {
  await home.run(['kill', run]);
  home.remove();
});

/** The JSON of a verb that did what it was asked. */
async function json(...argv: readonly string[]): Promise<readonly Record<string, unknown>[]> {
  const { code, out, err } = await home.run([...argv, '--json']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return jsonLines(out);
}

/** Asks again until `is` holds; the limit of the test ends it. */
async function until(ask: () => Promise<boolean>): Promise<void> {
  while (!(await ask()));
}

const complete = async (id: string): Promise<boolean> => (await json('progress', id)).at(0)?.['is_complete'] === true;

describe('a person and child sessions', () => {
  it('D33, S022, S158: spawns one where nothing runs: a run that waits starts by itself', async () => {
    const [child] = await json('spawn', 'finder', 'Find where add is defined', '--name', 'look');
    expect(child).toEqual({
      session_id: like(/^[a-z0-9]{6}$/),
      name: 'finder-look',
      friendly_name: 'finder-look',
      working_dir: home.project,
      parent_session_id: like(/^[a-z0-9]{6}$/),
      tmux_session: null,
      created_at: like(/^\d{4}-.*Z$/),
      agent: 'ROOT::S1',
      run: like(/^[a-z0-9]{6}$/),
    });
    run = String(child?.['run']);
    expect(await home.run(['spawn', 'Read the README', '--name', 'second'])).toEqual(
      part({ code: 0, out: like(/^Spawned second \([a-z0-9]{6}\)\n$/), err: '' }),
    );
  });

  it('S064, S065, S089, S090: sees its end by asking again, and by following its events', async () => {
    const followed = home.run(['events', 'finder-look', '--follow', '--json']);
    await until(() => complete('finder-look'));
    const events = jsonLines((await followed).out).map(({ event_type }) => event_type);
    expect([events.at(0), events.at(-1)]).toEqual(['spawned', 'completed']);
    expect(await json('progress', 'finder-look')).toEqual([
      part({ status: 'completed', completion_percentage: 100, is_idle: false, is_waiting_input: false }),
    ]);
  });

  it('S130, S131, S132: sends one that has ended a message, again and again, and it continues its context', async () => {
    await until(() => complete('second'));
    for (const round of [1, 2]) {
      const { out } = await home.run(['send', 'finder-look', `And again, ${round}?`]);
      expect(out).toMatch(/^Input sent to finder-look \([a-z0-9]{6}\)\n$/);
      await until(async () => {
        const events = await json('events', 'finder-look');
        return events.filter(({ event_type }) => event_type === 'completed').length === round + 1;
      });
    }
    const words = (await json('events', 'finder-look')).map(({ message }) => message);
    expect(words).toContain('message from person: And again, 2?');
    expect(JSON.stringify(await json('status'))).toContain('"kept_messages":0');
  });

  it('S069, S156, S161: sees all of them with one command', async () => {
    const { out } = await home.run(['all']);
    for (const name of ['main', 'finder-look', 'second'])
      expect(out).toMatch(new RegExp(`^ .*${name} \\([a-z0-9]{6}\\)`, 'm'));
  });

  it('S049, S126, S157: ends the run, and leaves messages for when it goes on', async () => {
    expect(await home.run(['kill', run])).toEqual(
      part({ code: 0, out: `Session ${run} terminated\n  \`mimir resume ${run}\` continues it\n`, err: '' }),
    );
    await until(async () =>
      (await json('status')).flat().every((one) => JSON.stringify(one).includes('"state":"stopped"')),
    );
    const { code, out } = await home.run(['send', 'second', 'Later']);
    expect([code, out]).toEqual([
      0,
      like(/^Stored for second \([a-z0-9]{6}\): its run is not running\n {2}`mimir resume/),
    ]);
    expect((await home.run(['status'])).out).toContain(`  1 message stored: \`mimir resume ${run}\` delivers`);
  });
});
