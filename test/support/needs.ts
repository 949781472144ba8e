/**
 * What tests need of the machine. Where it is missing they are skipped, and the report says why; in CI a skipped test is a
 * failure (`.ci/run`).
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { beforeEach, type TestContext } from 'vitest';
import { withoutPostgres } from './postgres.ts';

export type Need = 'bubblewrap' | 'cargo' | 'git' | 'npm' | 'postgres' | 'pytest' | 'root' | 'tmux';

/** The sources of a crate, as Debian has them. */
export const ITOA = '/usr/share/cargo/registry/itoa-1.0.1';

const starts = (command: string, ...args: readonly string[]): boolean =>
  spawnSync(command, [...args], { stdio: 'ignore' }).status === 0;

/** Why there is none; null where it is there. */
const LOOKS: Readonly<Record<Need, () => string | null>> = {
  bubblewrap: () =>
    starts('bwrap', '--unshare-user', '--dev-bind', '/', '/', 'true')
      ? null
      : 'needs bubblewrap, and namespaces for it: it is missing here or refused',
  cargo: () => {
    const minor = /^cargo 1\.(\d+)/.exec(spawnSync('cargo', ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1];
    if (minor === undefined || !existsSync(ITOA)) return 'needs cargo and the package librust-itoa-dev';
    return Number(minor) >= 68 ? null : `needs cargo 1.68, which asks registries without git: this is 1.${minor}`;
  },
  npm: () => (starts('npm', '--version') ? null : 'needs npm, which is missing here'),
  postgres: () => withoutPostgres(),
  pytest: () => (starts('/usr/bin/python3', '-m', 'pytest', '--version') ? null : 'needs the package python3-pytest'),
  git: () => (starts('git', '--version') ? null : 'needs git, which is missing here'),
  root: () =>
    process.getuid?.() === 0
      ? null
      : 'needs root, to give files to other users or to mount a policy where sandboxes still work',
  tmux: () => (starts('tmux', '-V') ? null : 'needs tmux, which is missing here'),
};

const known = new Map<Need, string | null>();

/** Why a test that needs this can't run here; null when it can. */
export function whyNot(need: Need): string | null {
  const before = known.get(need);
  if (before !== undefined) return before;
  const now = LOOKS[need]();
  known.set(need, now);
  return now;
}

/** The tests of this file, or of this `describe`, are skipped with the reason where one of these is missing. */
export function needs(...all: readonly Need[]): void {
  beforeEach(({ skip }) => {
    for (const need of all) skipWithout(need, skip);
  });
}

/** The same for the running test. */
export function skipWithout(need: Need, skip: TestContext['skip']): void {
  const reason = whyNot(need);
  if (reason !== null) skip(reason);
}
