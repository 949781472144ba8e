/** Keys where no sandbox works: not in what a process of Mimir was started with, where a command could read it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openHome, PUBLISHED, SMALL, type Home } from '../support/cli.ts';
import { KEY, openDouble } from '../support/double/double.ts';
import { needs } from '../support/needs.ts';
import { until } from '../support/until.ts';

needs('bubblewrap');

/** A machine without bubblewrap: it is there, and empty. */
const WITHOUT = [
  'bwrap',
  '--die-with-parent',
  '--dev-bind',
  '/',
  '/',
  '--ro-bind',
  '/dev/null',
  '/usr/bin/bwrap',
  ...PUBLISHED,
];

function home(): Home {
  const made = openHome(SMALL);
  onTestFinished(() => made.remove());
  return made;
}

interface Living {
  readonly program: string;
  readonly environment: string;
}

/** Processes that were started with this folder in their arguments. */
const processesOf = (folder: string): readonly Living[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
        return words.includes(folder) ? [{ program: words[0]?.split('/').at(-1) ?? '', environment }] : [];
      } catch {
        return [];
      }
    });

/** A run whose model never answers, looked at while it waits. */
async function whileItAsks(
  it: Home,
  program: readonly string[],
  ...more: readonly string[]
): Promise<readonly Living[]> {
  const double = await openDouble({ rules: [{ answer: { fault: { is: 'silent', at: 'head' } } }] });
  onTestFinished(() => double.close());
  const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${double.url}/v1` };
  const running = it.start(['run', 'Look', '--yes', '--cwd', it.project, ...more], { env, program });
  onTestFinished(async () => {
    running.child.kill('SIGTERM');
    await running.ended;
  });
  // The double answers only who has the key.
  await until(() => double.asked.length > 0);
  return processesOf(it.project).filter(({ program: name }) => name !== 'bwrap');
}

const holders = (living: readonly Living[]): readonly boolean[] =>
  living.map(({ environment }) => environment.includes(KEY));

describe('a key in the environment', () => {
  it('E03: has left the process that works with it where there is no sandbox', async () => {
    const it = home();
    expect(holders(await whileItAsks(it, WITHOUT))).toEqual([false]);
    // What handed it over is gone, and nothing that could be read was written.
    expect(readdirSync(join(it.state, 'handed'))).toEqual([]);
  });

  it('that is too short to be taken out of texts is told of at the start and by doctor', async () => {
    const it = home();
    const env = { OPENAI_API_KEY: 'abc' };
    const words = 'OPENAI_API_KEY: its value is shorter than 8 characters';
    const doctor = await it.run(['doctor'], { env });
    const started = await it.run(['run', 'Look', '--yes', '--model', 'offline'], { env });
    expect([doctor.out.includes(words), (started.out + started.err).includes(words)]).toEqual([true, true]);
  });

  it('stays where a sandbox keeps commands from it, and that is looked for once', async () => {
    const it = home();
    expect(holders(await whileItAsks(it, PUBLISHED))).toEqual([true]);
    expect([existsSync(join(it.state, 'boxes/works')), existsSync(join(it.state, 'handed'))]).toEqual([true, false]);
  });

  it('is refused where a sandbox worked before and does not now, and is taken out at the next start', async () => {
    const it = home();
    const note = join(it.state, 'boxes/works');
    const worked = `mkdir -p "$(dirname '${note}')"; echo "$(cat /proc/sys/kernel/random/boot_id) $(id -u) $(readlink /proc/self/ns/mnt)" >'${note}'; exec "$@"`;
    const again = await it.run(['run', 'Look', '--yes', '--model', 'offline'], {
      env: { OPENAI_API_KEY: KEY },
      program: [...WITHOUT.slice(0, -PUBLISHED.length), 'bash', '-c', worked, 'mimir', ...PUBLISHED],
    });
    expect([again.code, again.err.split('\n')[1]]).toEqual([
      3,
      '  start Mimir again; it then removes them from its environment first',
    ]);
    expect(again.err).toContain('the sandbox no longer works (bubblewrap is missing');
    expect(holders(await whileItAsks(it, WITHOUT))).toEqual([false]);
  });
});
