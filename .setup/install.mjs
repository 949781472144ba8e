/**
 * Puts the packages in place that this checkout needs, Node 24 among them, before `npm start` and `npm test`. Runs on any
 * Node from 18. Says nothing when all is there; stdout stays empty always, since it belongs to Mimir.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
/** The lock file that was installed last: written when everything is in place. */
const installed = join(modules, '.mimir-installed.json');
/** There while an install goes on, and after one that was interrupted. */
const unfinished = join(modules, '.mimir-unfinished');
const wanted = join(root, 'package-lock.json');
const lock = join(root, '.setup', 'install.lock');

/** npm's words about one package that it could not get at this try. */
const FAILED_TRY = / attempt \d+ failed with /;
const MOST_FAILED_TRIES = 8;

if (!isInPlace()) await alone(install);

function isInPlace() {
  if (textOf(installed) === null || textOf(installed) !== textOf(wanted)) return false;
  return nodeVersion().startsWith('v24.');
}

/** The version of the Node in node_modules, empty when it can't be run. */
function nodeVersion() {
  const found = spawnSync(join(modules, '.bin', 'node'), ['--version'], { encoding: 'utf8' });
  return found.status === 0 ? found.stdout.trim() : '';
}

async function install() {
  // Somebody else may have done it while this one waited.
  if (isInPlace()) return;
  const started = Date.now();
  say('Setting up Mimir (first start only)…');
  // What an interrupted install left may be half a package that looks whole to npm.
  if (existsSync(unfinished)) rmSync(modules, { recursive: true, force: true });
  mkdirSync(modules, { recursive: true });
  writeFileSync(unfinished, '');
  const { code, text } = await npmInstall();
  if (code !== 0) fail(code, text);
  if (!nodeVersion().startsWith('v24.')) {
    say('Mimir could not be set up: the packages are in place, but their Node 24 does not run here.');
    say('  If npm is told to ignore scripts ("npm config get ignore-scripts"), allow them and start again.');
    process.exit(1);
  }
  writeWhole(installed, readFileSync(wanted));
  rmSync(unfinished, { force: true });
  say(`Set up in ${Math.round((Date.now() - started) / 1000)} s.`);
}

/**
 * Installs what the lock file names and leaves that file alone; resolves with npm's exit code and all it printed. Not
 * `npm ci`: that refuses a lock file in which the binaries of other platforms are missing, and adds nothing else.
 */
function npmInstall() {
  const settings = ['--no-save', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=http'];
  // Without these an unreachable registry takes minutes to be believed.
  const patience = ['--fetch-retries=2', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000'];
  const npm = process.env.npm_execpath;
  const [command, before] = npm && /\.[cm]?js$/.test(npm) ? [process.execPath, [npm]] : ['npm', []];
  return new Promise((resolve) => {
    const child = spawn(command, [...before, 'install', ...settings, ...patience], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // npm goes on when this process is killed: it holds the lock as well.
    if (child.pid) writeWhole(lock, `${process.pid} ${child.pid}`);
    let text = '';
    const hear = (piece) => {
      text += piece;
      // npm would try every package in vain, which takes minutes.
      if (text.split(FAILED_TRY).length > MOST_FAILED_TRIES) child.kill();
    };
    for (const stream of [child.stdout, child.stderr]) stream.on('data', hear);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stop(signal));
    let stopped = null;
    const stop = (signal) => {
      // npm takes a moment to end; who can't wait for it presses again.
      child.kill(stopped === null ? signal : 'SIGKILL');
      stopped = signal;
    };
    child.on('error', (error) => resolve({ code: 1, text: error.message }));
    child.on('close', (code) => {
      if (stopped !== null) leave(stopped);
      resolve({ code: code ?? 1, text });
    });
  });
}

function leave(signal) {
  rmSync(lock, { force: true });
  say('Stopped while setting up; the next start goes on with it.');
  process.exit({ SIGHUP: 129, SIGINT: 130 }[signal] ?? 143);
}

function fail(code, text) {
  if (
    /failed with E|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|ENOTCACHED/.test(
      text,
    )
  ) {
    say('Mimir could not be set up: the npm registry can not be reached.');
    say('  Check the network (or the proxy that npm uses: "npm config get proxy") and start again.');
  } else {
    const errors = text.split('\n').filter((line) => /^npm (?:error|ERR!)/.test(line));
    say(errors.slice(0, 20).join('\n'));
    say(`Mimir could not be set up: "npm install" failed (exit code ${code}); what it said is above.`);
  }
  rmSync(lock, { force: true });
  process.exit(1);
}

/** Runs `act` while no other process does; waits for one that is at it. A lock of a process that is gone is nobody's. */
async function alone(act) {
  for (let waits = 0; !take(); waits += 1) {
    if (waits === 0) say('Mimir is being set up by another process: waiting for it…');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  try {
    await act();
  } finally {
    rmSync(lock, { force: true });
  }
}

function take() {
  // Written first and linked then: nobody ever sees a lock without its pid.
  const mine = `${lock}.${process.pid}`;
  writeFileSync(mine, String(process.pid));
  try {
    linkSync(mine, lock);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    dropStale();
    return false;
  } finally {
    rmSync(mine, { force: true });
  }
}

function dropStale() {
  const holder = textOf(lock);
  if (holder === null || holder.split(' ').some((pid) => isAlive(Number(pid)))) return;
  const taken = `${lock}.stale.${process.pid}`;
  try {
    renameSync(lock, taken);
  } catch {
    return;
  }
  // Another one may have dropped it and taken its own in between: that one is put back.
  if (textOf(taken) !== holder && !existsSync(lock)) renameSync(taken, lock);
  rmSync(taken, { force: true });
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Nobody ever sees half of it. */
function writeWhole(file, text) {
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, text);
  renameSync(fresh, file);
}

function textOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

function say(line) {
  process.stderr.write(`${line}\n`);
}
