/** What a killed process leaves running, and that the next one that opens the project ends it. Real processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { tried } from '../../../src/domain/result.ts';
import { openTools } from '../../../src/tools/index.ts';
import { toolProcessesBelow } from '../../support/invariants.ts';
import { skipWithout } from '../../support/needs.ts';
import { freshFolder, makeFolder } from '../../support/repos.ts';
import { until } from '../../support/until.ts';

const FOLDER = path.resolve(import.meta.dirname, '../../../src/tools/process');
const OWNER = `
  const { endLeftRunning } = await import('${FOLDER}/kept-folders.ts');
  const { runProgram } = await import('${FOLDER}/run-program.ts');
  const [, stateDir, cwd, script] = process.argv;
  await endLeftRunning(stateDir);
  const [env, signal] = [{ PATH: process.env.PATH }, new AbortController().signal];
  await runProgram({ file: '/bin/bash', args: ['-c', script], cwd, env, timeLimit: 1e9, signal });`;

/** A sandbox that waits while its namespaces are made: its first process does not yet end with its parent. */
const SETTING_UP =
  'mkfifo wait; exec 5<>wait 6>info; exec bwrap --unshare-all --unshare-user --info-fd 6 --userns-block-fd 5 --ro-bind / / --die-with-parent sleep 300';

/** A sandbox whose command would leave a file if it were asked to end. */
const SET_UP =
  'exec bwrap --unshare-all --bind / / --dev /dev bash -c \'trap "echo asked >asked; exit" TERM; touch ready; while :; do sleep 0.05; done\' 2>/dev/null';

const owners: ChildProcess[] = [];
const folders: string[] = [];
afterEach(() => {
  for (const owner of owners.splice(0)) owner.kill();
  // A test that fails leaves what it is about.
  const left = folders.splice(0).flatMap((folder) => toolProcessesBelow(folder));
  for (const line of left) tried(() => process.kill(Number(line.split(' ')[0]), 'SIGKILL'), false);
});

/** A process that runs a line of bash in a folder of its own, as a tool does, once so many processes of `program` are there. */
async function owner(
  stateDir: string,
  script: string,
  [program, count]: readonly [string, number],
): Promise<[ChildProcess, folder: string]> {
  const folder = makeFolder();
  const process_ = spawn(process.execPath, ['--input-type=module', '-e', OWNER, stateDir, folder, script]);
  owners.push(process_);
  folders.push(folder);
  await until(() => toolProcessesBelow(folder).filter((line) => line.split(' ')[1] === program).length === count);
  return [process_, folder];
}

async function kill(one: ChildProcess): Promise<void> {
  const gone = once(one, 'exit');
  one.kill('SIGKILL');
  await gone;
}

const open = (stateDir: string): boolean => openTools({ root: makeFolder(), home: '/nowhere/home', stateDir }).ok;
const notesIn = (stateDir: string): readonly string[] => readdirSync(path.join(stateDir, 'running'));

it('is ended, and what a living process runs in the same project is not', async () => {
  const stateDir = freshFolder();
  const [dead, ofDead] = await owner(stateDir, 'exec sleep 300', ['sleep', 1]);
  const [living, ofLiving] = await owner(stateDir, 'exec sleep 300', ['sleep', 1]);
  await kill(dead);
  expect(toolProcessesBelow(ofDead)).toHaveLength(1);
  expect(open(stateDir)).toBe(true);
  await until(() => toolProcessesBelow(ofDead).length === 0);
  expect(toolProcessesBelow(ofLiving)).toHaveLength(1);
  await until(() => notesIn(stateDir).length === 2);
  const left = once(living, 'exit');
  living.kill();
  await left;
  expect(open(stateDir)).toBe(true);
  await until(() => notesIn(stateDir).length === 1 && toolProcessesBelow(ofLiving).length === 0);
});

it('is ended in a sandbox that was still being set up', async ({ skip }) => {
  skipWithout('bubblewrap', skip);
  const stateDir = freshFolder();
  const [dead, folder] = await owner(stateDir, SETTING_UP, ['bwrap', 2]);
  await kill(dead);
  expect(toolProcessesBelow(folder)).not.toEqual([]);
  expect(open(stateDir)).toBe(true);
  await until(() => toolProcessesBelow(folder).length === 0);
});

it('is killed at once in a sandbox, which should have ended with its owner', async ({ skip }) => {
  skipWithout('bubblewrap', skip);
  const stateDir = freshFolder();
  const [dead, folder] = await owner(stateDir, SET_UP, ['bwrap', 2]);
  await until(() => existsSync(path.join(folder, 'ready')));
  await kill(dead);
  expect(toolProcessesBelow(folder)).not.toEqual([]);
  expect(open(stateDir)).toBe(true);
  await until(() => toolProcessesBelow(folder).length === 0);
  expect(readdirSync(folder)).toEqual(['ready']);
});
