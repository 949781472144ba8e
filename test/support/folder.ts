/** Fresh folders that are gone when the test is. */
import { mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { tried } from '../../src/domain/result.ts';

/** A new empty folder, by its real path, for the running test. */
export function freshFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mimir-test-')));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** The files below `folder` that this process has open, also removed ones. */
export const openFilesIn = (folder: string): readonly string[] =>
  readdirSync('/proc/self/fd')
    .map((fd) => tried(() => readlinkSync(join('/proc/self/fd', fd)), ''))
    .filter((file) => file.startsWith(folder));
