/**
 * What an agent of another program can reach in its sandbox, over a whole run of the real program: the cases of an own agent's commands again. All
 * are tried in one session of the agent, which asks for nothing. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { acpCommand, type AcpStep } from '../support/acp-agent.ts';
import { allFailed, attempts } from '../support/boxes.ts';
import { LEDGER, type Machine } from '../support/journey.ts';
import { needs } from '../support/needs.ts';
import { ownModel, planText, runOn } from '../support/on-the-wire.ts';

needs('git', 'bubblewrap');

/** Not `.git`: that of its tree is its own, and no part of the person's repository. */
const PROTECTED = ['.mimir', '.vscode', '.idea', '.zed', '.fleet', '.devcontainer'];
const CANARY = `canary-${process.pid}-key`;

interface Tried {
  readonly machine: Machine;
  /** What the agent has printed in each group of attempts. */
  readonly said: ReadonlyMap<string, readonly string[]>;
  /** Connections that were made from within. */
  readonly heard: readonly string[];
}

const node = (code: string): string => `node -e '${code}'`;
const connect = (to: string): string =>
  node(`require("net").connect(${to}).on("connect",()=>process.exit(0)).on("error",()=>process.exit(1))`);

/** The attempts of each case; all of them have to fail. */
const cases = (
  { home, project }: Machine,
  port: number,
): Readonly<Record<string, Readonly<Record<string, string>>>> => ({
  E01: {
    etc: 'echo x > /etc/mimir-x',
    run: 'echo x > /run/x',
    dev: 'echo x > /dev/x',
    'read key': `cat ${home}/.ssh/id`,
    'read configuration': `cat ${home}/config/mimir/config.yml`,
    'read state': `ls ${home}/state/mimir/projects`,
    'read project': `cat ${project}/README.md`,
    'read shadow': 'cat /etc/shadow',
    umount: `umount ${home}`,
    remount: 'mount -o remount,rw /',
  },
  E02: {
    tcp: connect(`${port},"127.0.0.1"`),
    'dev tcp': `exec 3<>/dev/tcp/127.0.0.1/${port}`,
    unix: connect(`"${home}/s"`),
    abstract: connect(String.raw`"\0mimir-e-foreign-${process.pid}"`),
    dns: node(
      'const r=new(require("dns").Resolver)({timeout:200,tries:1});r.resolve4("a.example",(e)=>process.exit(e?1:0))',
    ),
    raw: 'perl -MSocket -e "socket(S, PF_INET, SOCK_RAW, 1) or exit 1"',
    packet: 'perl -e "socket(S, 17, 3, 768) or exit 1"',
  },
  E04: Object.fromEntries(
    PROTECTED.flatMap((name) => [
      [`in ${name}`, `mkdir -p ${name} && echo x > ${name}/x`],
      [`away with ${name}`, `mv ${name} gone`],
    ]),
  ),
  E07: { terminal: `perl -e '$c = "x"; open(T, "+<", "/dev/tty") && ioctl(T, 0x5412, $c) or exit 1'` },
  E08: {
    'open files': String.raw`perl -e 'for (1..10000) { open(my $f, "<", "/dev/null") or exit 1; push @f, $f }'`,
    memory: `perl -e '$x = "a" x 3_000_000_000; exit 0'`,
    'file size': 'truncate -s 5G ~/.helper/big',
  },
});

/** What works there, so that the attempts fail for what they try. */
const CONTROL = {
  node: node('process.exit(0)'),
  perl: 'perl -MSocket -e "exit 0"',
  tree: 'echo x > made && rm made',
  'login folder': 'echo x > ~/.helper/kept',
};

let tried: Tried | null = null;
beforeAll(async () => {
  const heard: string[] = [];
  const server = createServer((socket) => {
    heard.push('tcp');
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const rules = [
    { when: { first: '# Roles' }, answer: { text: planText(['Rename the cache', 'helper']) } },
    { answer: { text: 'All is done.' } },
  ];
  const env = { SOME_API_KEY: CANARY, SSH_AUTH_SOCK: '/run/agent', NODE_EXTRA: CANARY };
  const { machine } = await ownModel('anthropic', { script: { rules }, files: LEDGER, env });
  const { home, project } = machine;
  const sockets = [path.join(home, 's'), `\0mimir-e-foreign-${process.pid}`];
  const others = sockets.map((place) => createServer((socket) => (heard.push(place), socket.destroy())).listen(place));
  // Each group is a script that the agent runs with bash; what it prints is kept in its tree, which is merged.
  const groups: Readonly<Record<string, string>> = {
    ...Object.fromEntries(Object.entries(cases(machine, port)).map(([name, all]) => [name, attempts(all)])),
    control: attempts(CONTROL),
    // These may seem to work, in a /tmp that is only the agent's.
    outside: [home, project, path.join(home, 'state')].map((place) => `echo x > ${place}/x`).join('; '),
    E03: 'env; cat /proc/1/environ /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr "\\0" "\\n"',
    E09: 'cp /usr/bin/id sid; chmod 4755 sid; ./sid -u; id -u; rm sid; grep NoNewPrivs /proc/self/status | cut -f2; grep -c "Cap.*0000000000000000" /proc/self/status',
  };
  const folder = path.join(home, '.helper');
  mkdirSync(folder);
  mkdirSync(path.join(home, '.ssh'));
  writeFileSync(path.join(home, '.ssh/id'), 'key\n');
  const run = (command: string): AcpStep => ({ do: 'run', command });
  // The scripts are in its login folder, which it may read: they are too long for its arguments.
  for (const [name, text] of Object.entries(groups)) writeFileSync(path.join(folder, `${name}.sh`), text);
  const steps = Object.keys(groups).map((name) =>
    run(`timeout 20 bash ~/.helper/${name}.sh > ~/.helper/${name}.out 2>&1 || true`),
  );
  const command = acpCommand({ prompts: [[...steps, { do: 'say', text: 'Tried.' }]] });
  const file = path.join(home, 'config/mimir/config.yml');
  const agent = `agents:\n  helper: { acp: ${JSON.stringify(command)}, home: [.helper] }\n`;
  writeFileSync(file, `${readFileSync(file, 'utf8')}${agent}`);
  const { code, err } = await runOn(machine, 'Rename the cache', '--mode', 'yolo');
  for (const one of [server, ...others]) one.close();
  expect([code, err]).toEqual([0, '']);
  const said = Object.keys(groups).map((name): readonly [string, readonly string[]] => [
    name,
    readFileSync(path.join(folder, `${name}.out`), 'utf8')
      .trimEnd()
      .split('\n'),
  ]);
  tried = { machine, said: new Map(said), heard };
}, 100_000);

const outcome = (): Tried => {
  if (tried === null) throw new Error('nothing was tried');
  return tried;
};

describe('an agent of another program', () => {
  it.each([
    ['E01', 'writes nothing outside of its tree, and reads neither home, state nor project'],
    ['E02', 'reaches no network and no socket'],
    ['E04', 'makes no protected folder and moves none'],
    ['E07', 'has no terminal to type into'],
    ['E08', 'is limited in files, memory and size'],
  ])('%s: %s', (name) => {
    const { machine, said } = outcome();
    expect(said.get(name)?.filter((line) => /: (?:failed|worked)$/.test(line))).toEqual(
      allFailed(cases(machine, 0)[name] ?? {}),
    );
  });

  it('has the programs of the attempts, its tree and its login folder', () => {
    expect(outcome().said.get('control')).toEqual(Object.keys(CONTROL).map((name) => `${name}: worked`));
  });

  it('E02: is heard by nobody outside', () => {
    expect(outcome().heard).toEqual([]);
  });

  it('E03: sees no key, in no environment and no command line', () => {
    const text = (outcome().said.get('E03') ?? []).join('\n');
    expect(text).toContain('HOME=');
    expect(['test-key', CANARY, '/run/agent'].filter((secret) => text.includes(secret))).toEqual([]);
  });

  it('E01, E04: leaves no protected folder and no file on the host', () => {
    const { project, home } = outcome().machine;
    expect(readdirSync(project).sort()).toEqual(['.git', 'README.md', 'package.json', 'src', 'test']);
    expect(['/etc/mimir-x', `${home}/x`, `${home}/state/x`].filter((file) => existsSync(file))).toEqual([]);
  });

  it('E09: gains nothing by a program that is set-user-id', () => {
    const [first, second, privileges, capabilities] = outcome().said.get('E09') ?? [];
    expect({ first, privileges, capabilities }).toEqual({ first: second, privileges: '1', capabilities: '5' });
  });
});
