/** Real temporary folders and git repositories for tests; removed when the test file is done. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';

const made: string[] = [];
afterAll(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

/** A fresh empty folder with a real path. */
export function freshFolder(): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'mimir-test-')));
  made.push(folder);
  return folder;
}

/** Names relative to the folder with their contents. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

export function writeFiles(folder: string, files: Files): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), content);
  }
}

/** A folder with these files and no git. */
export function makeFolder(files: Files = {}): string {
  const folder = freshFolder();
  writeFiles(folder, files);
  return folder;
}

/** A repository with one commit of these files on branch `main`. */
export function makeRepository(files: Files = { 'README.md': '# A project\n' }): string {
  const folder = makeFolder(files);
  git(folder, 'init', '--quiet', '--initial-branch=main');
  commitAll(folder, 'Begin');
  return folder;
}

export function commitAll(folder: string, message: string): void {
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--allow-empty', `--message=${message}`);
}

/** Runs git with nothing of this machine's configuration; gives its output. */
export function git(folder: string, ...args: readonly string[]): string {
  const who = ['-c', 'user.name=Tester', '-c', 'user.email=tester@example.org', '-c', 'commit.gpgSign=false'];
  return execFileSync('git', [...who, ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_AUTHOR_DATE: '2026-01-02T03:04:05Z',
      GIT_COMMITTER_DATE: '2026-01-02T03:04:05Z',
    },
  });
}
