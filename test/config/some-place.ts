/** A home and a project in a fresh directory, with the files that a test writes; loaded as the program loads them. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { type ConfigFault, faultText } from '../../src/config/files/read-text.ts';
import { type Flags } from '../../src/config/files/layer.ts';
import { type Loaded, type Sources, loadConfig } from '../../src/config/settings/load.ts';
import type { Result } from '../../src/domain/result.ts';

export const PACKAGE = path.resolve(import.meta.dirname, '../..');

/** A fresh directory, gone when the test ends. */
export function freshDirectory(): string {
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'mimir-test-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export interface Place {
  readonly home: string;
  readonly project: string;
}

export interface Written {
  /** `~/.config/mimir/config.yml`. */
  readonly user?: string;
  /** `.mimir/config.yml`. */
  readonly project?: string;
  /** More files, by path below home. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Writes the files of a test. */
export function somePlace({ user, project, files = {} }: Written = {}): Place {
  const home = freshDirectory();
  const all = {
    ...(user === undefined ? {} : { '.config/mimir/config.yml': user }),
    ...(project === undefined ? {} : { 'work/.mimir/config.yml': project }),
    ...files,
  };
  mkdirSync(path.join(home, 'work'));
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(path.dirname(path.join(home, name)), { recursive: true });
    writeFileSync(path.join(home, name), text);
  }
  return { home, project: path.join(home, 'work') };
}

export const load = (
  { home, project }: Place,
  flags: Flags = {},
  more: Pick<Sources, 'trusted' | 'managedRoot'> = {},
): Result<Loaded, readonly ConfigFault[]> =>
  loadConfig({ packageRoot: PACKAGE, projectRoot: project, env: { HOME: home }, flags, ...more });

/** A folder in which only root could write, for an administrator's files; gone when the test ends. Only for root. */
export function rootsDirectory(): string {
  const directory = realpathSync(mkdtempSync(path.join(userInfo().homedir, '.mimir-test-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  chmodSync(directory, 0o755);
  return directory;
}

/** What is loaded; the test fails with the faults when it isn't. */
export function loaded(written: Written = {}, flags: Flags = {}): Loaded {
  const result = load(somePlace(written), flags);
  if (!result.ok) throw new Error(result.fault.map(faultText).join('\n'));
  return result.value;
}

/** The faults in words; none when it loads. */
export function faults(written: Written, flags: Flags = {}): readonly string[] {
  const result = load(somePlace(written), flags);
  return result.ok ? [] : result.fault.map(faultText);
}
