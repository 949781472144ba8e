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
/** npm's words where it got no answer, or was told to ask nobody. */
const UNREACHABLE =
  /failed with E|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|ENOTCACHED/;
/** Said where there is none. */
const NO_NPM = 'npm is needed for it, and there is none on the PATH.';

/** The npm that installs, leader of a process group; null while none runs. */
let npm = null;
/** Is the lock this process's? */
let holds = false;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stop(signal));
try {
  if (!isInPlace()) await alone(install);
} catch (error) {
  if (holds) rmSync(lock, { force: true });
  const mayNot = ['EACCES', 'EPERM', 'EROFS'].includes(error.code);
  say(
    mayNot
      ? `Mimir is not set up, and ${root} cannot be written (${error.code}): run "npm run setup" there as a user who may.`
      : `Mimir could not be set up: ${error.message}`,
  );
  process.exit(1);
}

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
  begin();
  const { code, text } = await npmInstall();
  // npm asks the registry for what its cache holds as well. Without a registry, the cache may still have everything.
  if (code !== 0 && (!UNREACHABLE.test(text) || !(await installFromCache()))) fail(code, text);
  if (!nodeVersion().startsWith('v24.')) {
    rmSync(lock, { force: true });
    say('Mimir could not be set up: the packages are in place, but their Node 24 does not run on this system.');
    process.exit(1);
  }
  writeWhole(installed, readFileSync(wanted));
  rmSync(unfinished, { force: true });
  say(`Set up in ${Math.round((Date.now() - started) / 1000)} s.`);
}

function begin() {
  // What an interrupted install left may be half a package that looks whole to npm.
  if (existsSync(unfinished)) rmSync(modules, { recursive: true, force: true });
  mkdirSync(modules, { recursive: true });
  writeFileSync(unfinished, '');
}

async function installFromCache() {
  begin();
  const { code } = await npmInstall('--offline');
  return code === 0;
}

/**
 * Installs what the lock file names and leaves that file alone; resolves with npm's exit code and all it printed. Not
 * `npm ci`: that removes packages first, so that an interrupted one leaves nothing to go on with.
 */
function npmInstall(...more) {
  const settings = ['--no-save', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=http'];
  // One package has a script, `node`: it puts Node 24 here. Who has npm ignore scripts gets here by "npm run setup" alone.
  const scripts = ['--ignore-scripts=false'];
  // Without these an unreachable registry takes minutes to be believed.
  const patience = ['--fetch-retries=2', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000'];
  // pnpm and yarn name themselves there.
  const own = process.env.npm_execpath;
  const [command, before] = own && /\bnpm-cli\.[cm]?js$/.test(own) ? [process.execPath, [own]] : ['npm', []];
  return new Promise((resolve) => {
    // A group of its own: what npm has started ends with it, and a key at the terminal reaches it through `stop` alone.
    const child = spawn(command, [...before, 'install', ...settings, ...scripts, ...patience, ...more], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    npm = child;
    // npm goes on when this process is killed: it holds the lock as well.
    if (child.pid) writeWhole(lock, `${process.pid} ${child.pid}`);
    let text = '';
    const hear = (piece) => {
      text += piece;
      // npm would try every package in vain, which takes minutes.
      if (text.split(FAILED_TRY).length > MOST_FAILED_TRIES) endNpm();
    };
    for (const stream of [child.stdout, child.stderr]) stream.on('data', hear);
    child.on('error', (error) => {
      resolve({ code: 1, text: error.code === 'ENOENT' ? NO_NPM : error.message });
    });
    child.on('close', (code) => {
      npm = null;
      resolve({ code: code ?? 1, text });
    });
  });
}

/** With all that it has started: half of an install is removed by the next start anyway. */
function endNpm() {
  try {
    if (npm?.pid) process.kill(-npm.pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function stop(signal) {
  endNpm();
  if (holds) rmSync(lock, { force: true });
  say(holds ? 'Stopped while setting up; the next start goes on with it.' : 'Stopped.');
  process.exit({ SIGHUP: 129, SIGINT: 130 }[signal] ?? 143);
}

function fail(code, text) {
  if (UNREACHABLE.test(text)) {
    say('Mimir could not be set up: the npm registry cannot be reached.');
    say('  Check the network (or the proxy that npm uses: "npm config get proxy") and start again.');
  } else {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    const errors = lines.filter((line) => /^npm (?:error|ERR!)/.test(line));
    const said = errors.length > 0 ? errors.slice(0, 20) : lines.slice(-5);
    if (text !== NO_NPM) say(said.join('\n'));
    const above = said.length > 0 ? 'what it said is above' : 'it said nothing';
    say(`Mimir could not be set up: ${text === NO_NPM ? text : `"npm install" failed (exit code ${code}); ${above}.`}`);
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
    holds = false;
  }
}

function take() {
  // Written first and linked then: nobody ever sees a lock without its pid.
  const mine = `${lock}.${process.pid}`;
  writeFileSync(mine, String(process.pid));
  try {
    linkSync(mine, lock);
    holds = true;
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
