/**
 * An agent of another program beside an own agent, both in the tree of their own of one project: what they try, and what comes of it. Beyond the
 * own agent, the other one has its login folder and its provider's hosts, and nothing else. A real agent that speaks the protocol, real bubblewrap.
 */
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { fail, ok } from '../../src/domain/result.ts';
import type { Turn } from '../../src/domain/turn.ts';
import { connectAgent, foreignModels, openProxy, type Proxy } from '../../src/integrations/index.ts';
import { checkRoot, foreignFile, openSandbox, toolEnvironment } from '../../src/tools/index.ts';
import { type ForeignProgram, type Place as ForeignPlace, startForeign } from '../../src/tools/sandbox/foreign.ts';
import { noSandbox, runSandboxed } from '../../src/tools/sandbox/sandbox.ts';
import { acpCommand } from '../support/acp-agent.ts';
import { attempts, isRoot, openPlace, type Place } from '../support/boxes.ts';
import { callForeign, scriptedOption } from '../support/foreign-models.ts';
import { type Listeners, listeners, talking } from '../support/listeners.ts';
import { git, writeFiles } from '../support/repos.ts';

const KEY = `canary-${process.pid}-key`;
/** So that it is not found where it is looked for. */
const KEY_PATTERN = KEY.replace('canary', 'canar[y]');
const FOLDERS = ['.mimir', '.vscode', '.idea', '.zed', '.fleet', '.devcontainer'];

type Tries = Readonly<Record<string, string>>;

/** By the proxy on the loopback of its sandbox. */
const byProxy = (host: string): string =>
  `exec 3<>/dev/tcp/127.0.0.1/3128 && printf 'CONNECT ${host} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&3 && head -n 1 <&3 | grep -q ' 200 '`;

/** What an own agent may do in its tree. */
const MAY: Tries = {
  'E01 the tree': 'echo two > a.txt && echo x > new.txt',
  'E01 /tmp': 'echo x > /tmp/x',
  'E01 its home': 'echo x > ~/x',
  'E01 its repository': 'git -c user.name=A -c user.email=a@b.example commit --quiet --allow-empty -m mine',
  'E08 is limited in files': '[ "$(ulimit -n)" -le 4096 ]',
  'E08 is limited in the size of a file': '[ "$(ulimit -f)" -le 4194304 ]',
  'E08 leaves no image of its memory': '[ "$(ulimit -c)" = 0 ]',
  'E09 gains no privileges':
    "grep -q 'NoNewPrivs:.1' /proc/self/status && ! grep -q 'CapEff:.*[1-9a-f]' /proc/self/status",
};

const mayNot = ({ project, other, home, state }: Place, tree: string, listening: Listeners): Tries => ({
  'E01 the project': `echo x > ${project}/a.txt`,
  'E01 read the project': `cat ${project}/a.txt`,
  'E01 the project, by a link': `ln -s ${project} to-project && cat to-project/a.txt`,
  'E01 the project, by the tree': `cat ${path.relative(tree, project)}/a.txt`,
  'E01 another project': `echo x >> ${other}/b.txt`,
  'E01 a new file there': `echo x > ${other}/x`,
  'E01 /etc': 'echo x > /etc/mimir-x',
  'E01 /run': 'echo x > /run/x',
  'E01 /dev': 'echo x > /dev/x',
  'E01 the home': `echo x > ${home}/x`,
  'E01 a key in the home': `cat ${home}/.ssh/id`,
  'E01 a login of another program': `cat ${home}/.other/login || cat ~/.other/login`,
  'E01 the state': `cat ${state}/mimir.db`,
  'E01 write the state': `echo x > ${state}/x`,
  'E01 another tree': `cat ${path.dirname(tree)}/of-another/c.txt`,
  'E01 passwords': 'cat /etc/shadow',
  'E01 unmount': `umount ${home}`,
  'E01 remount': 'mount -o remount,rw /',
  ...Object.fromEntries(Object.entries(talking(home, listening)).map(([name, each]) => [`E02 ${name}`, each])),
  'E03 a key in an environment or a command line': `(env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline) | tr '\\0' '\\n' | grep -q '${KEY_PATTERN}'`,
  'E03 a variable of another': 'env | grep -q -e SSH_AUTH_SOCK -e NODE_EXTRA -e MIMIR_DATABASE',
  'E03 a process outside': `kill -0 ${process.pid}`,
  ...Object.fromEntries(FOLDERS.map((name) => [`E04 ${name}`, `mkdir -p ${name} && echo x > ${name}/x`])),
  'E04 .env': 'cat .env | grep KEY',
  'E04 write .env': 'echo x > .env',
  'E04 a start file': 'echo x > .bashrc',
  'E07 a terminal': 'perl -e \'open(T, "+<", "/dev/tty") or exit 1\'',
  'E08 a file of 5 GB': 'truncate -s 5G big',
  'E08 3 GB of memory': "perl -e '$x = chr(97) x 3_000_000_000'",
});

/** What only the agent of another program may do. */
const ofItsOwn = (listening: Listeners): Tries => ({
  'its login': 'grep -q "logged in" ~/.helper/login',
  'its session': 'echo kept > ~/.helper/session',
  'its provider': byProxy(`127.0.0.1:${listening.tcp}`),
});

const notByProxy = ({ udp }: Listeners): Tries => ({
  'another port of its provider': byProxy(`127.0.0.1:${udp}`),
  'another host': byProxy('example.org:443'),
});

interface Made {
  readonly place: Place;
  readonly tree: string;
  readonly foreign: ForeignPlace;
}

/** A project with a tree of an agent's own and another agent's; commands get the environment of a Mimir that has a key. */
async function openTree(): Promise<Made> {
  const place = openPlace(isRoot ? 'root' : 'ordinary');
  writeFiles(place.home, { '.helper/login': 'logged in\n', '.other/login': 'logged in\n' });
  const tree = path.join(place.state, 'trees/its-own');
  mkdirSync(tree, { recursive: true });
  writeFiles(path.dirname(tree), { 'of-another/c.txt': 'not yours\n' });
  writeFiles(tree, { 'a.txt': 'one\n', '.env': 'KEY=1\n', '.bashrc': '' });
  git(tree, 'init', '--quiet', '--initial-branch=main');
  const of = checkRoot(place.project, { home: place.home, state: place.state });
  if (!of.ok) throw new Error(of.fault);
  const PATH = `${path.dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  const source = { PATH, ANTHROPIC_API_KEY: KEY, SSH_AUTH_SOCK: '/run/agent', NODE_EXTRA: KEY, MIMIR_DATABASE: KEY };
  const environment = toolEnvironment(place.project, source);
  const { home, state: stateDir } = place;
  const sandbox = await openSandbox({ root: tree, home, stateDir, environment, tree: { of: of.value, objects: [] } });
  expect(sandbox.state).toEqual({ is: 'bubblewrap' });
  return { place, tree, foreign: { sandbox, environment, home, root: tree, node: process.execPath } };
}

/** What an own agent's command prints. */
async function own({ foreign, tree }: Made, command: string): Promise<void> {
  const what = { file: '/bin/bash', args: ['-c', command], cwd: tree, env: foreign.environment };
  await runSandboxed(foreign.sandbox, { ...what, box: 'read-write', agent: 'own' }, { timeLimit: 60_000 });
}

/** Runs the command as an agent of another program does, without asking. */
async function another({ foreign, tree }: Made, command: string, proxy: Proxy): Promise<void> {
  const script = {
    prompts: [
      [
        { do: 'run', command },
        { do: 'say', text: 'Tried.' },
      ],
    ],
  } as const;
  const program: ForeignProgram = {
    command: acpCommand(script),
    agent: 'other',
    home: ['.helper'],
    env: {},
    proxy: proxy.socket,
  };
  const world = { sleep: (_: number, signal?: AbortSignal) => untilAborted(signal) };
  const models = foreignModels({
    agents: [{ name: 'scripted', command: 'scripted', asks: false, option: scriptedOption('acp/scripted') }],
    world,
    async start() {
      const started = await startForeign(foreign, program);
      if (!started.ok) return started;
      const of = { process: started.value, cwd: tree, name: 'scripted', mode: null, world };
      return ok((events, earlier) => connectAgent({ ...of, events, earlier }));
    },
  });
  const turns: Turn[] = [{ by: 'user', text: 'Try it.' }];
  const { signal } = new AbortController();
  for (let number = 1; turns.at(-1)?.by !== 'model'; number += 1) {
    const reply = await callForeign(models, 'acp/scripted', turns, { number, signal });
    if (!reply.ok) throw new Error(reply.fault.message);
    const results = reply.value.calls.map(({ id }) => ({ call: id, ok: true, text: 'result' }));
    if (results.length > 0) turns.push({ by: 'tools', results });
  }
  await models.ended(null);
}

const untilAborted = (signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal?.addEventListener('abort', () => resolve()));

it('E01 to E04, E07 to E09: an agent of another program may do what an own agent may in its tree, no more', async () => {
  const made = await openTree();
  const { place, tree } = made;
  const heard: string[] = [];
  const listening = await listeners(place.home, heard);
  const proxy = await openProxy(path.join(place.state, 'proxies/one'), [`127.0.0.1:${listening.tcp}`]);
  if (!proxy.ok) throw new Error(proxy.fault);
  const no = { ...mayNot(place, tree, listening), ...notByProxy(listening) };
  const more = ofItsOwn(listening);
  writeFileSync(path.join(tree, 'attempts.sh'), attempts({ ...MAY, ...no, ...more }));
  const of = (file: string): readonly string[] => readFileSync(path.join(tree, file), 'utf8').trim().split('\n');
  const all = (what: Tries, how: string): readonly string[] => Object.keys(what).map((name) => `${name}: ${how}`);
  await own(made, 'bash attempts.sh > own.log');
  git(
    tree,
    'clean',
    '--quiet',
    '-fd',
    '-e',
    '*.log',
    '-e',
    'attempts.sh',
    '-e',
    '.env',
    '-e',
    '.bashrc',
    '-e',
    'a.txt',
  );
  await another(made, 'bash attempts.sh > another.log', proxy.value);
  expect(of('own.log')).toEqual([...all(MAY, 'worked'), ...all(no, 'failed'), ...all(more, 'failed')]);
  expect(of('another.log')).toEqual([...all(MAY, 'worked'), ...all(no, 'failed'), ...all(more, 'worked')]);
  // Once, and by the proxy.
  expect([heard, proxy.value.refused()]).toEqual([[String(0)], [`127.0.0.1:${listening.udp}`, 'example.org:443']]);
  proxy.value.close();
  await listening.close();
  expect(readFileSync(path.join(place.home, '.helper/session'), 'utf8')).toBe('kept\n');
  expect([place.project, place.other].map((folder) => readdirSync(folder))).toEqual([['a.txt'], ['b.txt']]);
  expect(readdirSync(place.home).toSorted()).toEqual(['.helper', '.other', '.ssh']);
});

it('E05: an agent of another program is not started where there is no sandbox', async () => {
  const { foreign, tree } = await openTree();
  const program: ForeignProgram = {
    command: ['touch', path.join(tree, 'made')],
    agent: 'other',
    home: [],
    env: {},
    proxy: null,
  };
  const started = await startForeign({ ...foreign, sandbox: noSandbox('bubblewrap is missing') }, program);
  expect([started, readdirSync(tree).includes('made')]).toEqual([fail('bubblewrap is missing'), false]);
});

it('E06: the program of an agent is not taken from the project, wherever PATH leads', () => {
  const place = openPlace(isRoot ? 'root' : 'ordinary');
  const bin = path.join(place.project, 'bin');
  writeFiles(bin, { helper: '#!/bin/sh\n' });
  chmodSync(path.join(bin, 'helper'), 0o755);
  const found = (PATH: string, root = place.project): string | null =>
    foreignFile(toolEnvironment(root, { PATH }), 'helper');
  expect([found(`${bin}:/usr/bin`), found('bin:/usr/bin'), found(`${bin}:/usr/bin`, place.other)]).toEqual([
    null,
    null,
    path.join(bin, 'helper'),
  ]);
});
