/** Places for tests of the sandbox, with something in each that a command must not reach, and a way to run commands there. */
import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';
import { lookAlsoIn } from './aftermath.ts';
import { BoxAnswer, type BoxOrders } from './box-orders.ts';
import { COMPILED } from './compiled.ts';
import { needs } from './needs.ts';
import { type Files, writeFiles } from './repos.ts';

const CHILD = path.join(import.meta.dirname, 'box-child.ts');
const NOBODY = 65534;
export const isRoot = process.getuid?.() === 0;

/** Who may be tested here: both, where this is root's. */
export const USERS: readonly User[] = isRoot ? ['root', 'ordinary'] : ['ordinary'];
export type User = 'root' | 'ordinary';

needs('bubblewrap');

const made: string[] = [];
afterAll(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

export interface Place {
  readonly project: string;
  readonly other: string;
  readonly home: string;
  readonly state: string;
  readonly user: User;
}

/** Not below /tmp where that can be: commands have a /tmp of their own, which would hide what is to be shown hidden. */
export function openPlace(user: User, files: Files = { 'a.txt': 'one\n' }): Place {
  const top = realpathSync(mkdtempSync(path.join(isRoot ? '/var' : tmpdir(), 'mimir-box-')));
  made.push(top);
  lookAlsoIn(top);
  const folder = (name: string): string => {
    mkdirSync(path.join(top, name));
    return path.join(top, name);
  };
  const [project, other, home, state] = [folder('project'), folder('other'), folder('home'), folder('state')] as const;
  writeFiles(project, files);
  writeFiles(other, { 'b.txt': 'other\n' });
  writeFiles(home, { '.ssh/id': 'key\n' });
  writeFiles(state, { 'mimir.db': 'log\n' });
  chmodSync(top, 0o755);
  const place = { project, other, home, state, user };
  for (const folder of [project, other, home, state]) giveTo(place, folder);
  return place;
}

/** Makes it this place's user's own. */
export function giveTo({ user }: Place, folder: string): void {
  if (isRoot && user === 'ordinary') giveAll(folder);
}

function giveAll(folder: string): void {
  for (const name of [folder, ...globOf(folder)]) if (existsSync(name)) chownSync(name, NOBODY, NOBODY);
}

const globOf = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => path.join(folder, name));

export interface How extends Pick<BoxOrders, 'door' | 'workingDir' | 'program' | 'hide' | 'reads' | 'passthrough'> {
  readonly box?: BoxOrders['box'];
  readonly timeout?: number;
  readonly paths?: BoxOrders['paths'];
  readonly env?: Readonly<Record<string, string>>;
  /** Where the answer goes; standard output when left out. */
  readonly out?: string;
  /** The process leaves as soon as the first command says something. */
  readonly leaves?: true;
  /** A command that gets the child's command line after its own words. */
  readonly within?: readonly string[];
}

/** The start of a command line that runs the rest as this user. */
const as = (user: User): readonly string[] =>
  isRoot && user === 'ordinary' ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : [];

/** The words that start a process of Mimir's which runs these commands. */
export function wordsFor(place: Place, commands: readonly string[], how: How = {}): readonly string[] {
  const { within: _within, env: _env, box = 'read-write', ...more } = how;
  const orders: BoxOrders = {
    ...more,
    root: place.project,
    home: place.home,
    stateDir: place.state,
    box,
    commands,
  };
  return [...(how.within ?? []), ...as(place.user), process.execPath, CHILD, JSON.stringify(orders)];
}

/** Starts it; not waited for. */
export function startCommands(place: Place, commands: readonly string[], how: How = {}): ChildProcess {
  const words = wordsFor(place, commands, how);
  const PATH = `${path.dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  return spawn(words[0] ?? '', words.slice(1), {
    cwd: place.project,
    env: { PATH, HOME: place.home, LANG: 'C.UTF-8', NODE_COMPILE_CACHE: COMPILED, ...how.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs these commands in a process of Mimir's, to the end. */
export async function runCommands(place: Place, commands: readonly string[], how: How = {}): Promise<BoxAnswer> {
  const child = startCommands(place, commands, how);
  const texts = { out: '', err: '' };
  child.stdout?.on('data', (chunk: Buffer) => (texts.out += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (texts.err += chunk.toString()));
  await new Promise((resolve) => child.once('close', resolve));
  if (texts.out === '') throw new Error(texts.err);
  return BoxAnswer.parse(JSON.parse(texts.out));
}

/** Of one command: what it printed, without the head line. */
export async function printed(place: Place, command: string, how: How = {}): Promise<readonly string[]> {
  const { texts } = await runCommands(place, [command], how);
  return (texts[0] ?? '').split('\n').slice(1);
}

/** A command that says for each attempt whether it worked. */
export const attempts = (all: Readonly<Record<string, string>>): string =>
  Object.entries(all)
    .map(([name, attempt]) => `( ${attempt} ) >/dev/null 2>&1 && echo "${name}: worked" || echo "${name}: failed"`)
    .join('\n');

export const allFailed = (all: Readonly<Record<string, string>>): readonly string[] =>
  Object.keys(all).map((name) => `${name}: failed`);
