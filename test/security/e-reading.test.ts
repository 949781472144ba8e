/** Commands that only read run without a question: in a box that shows less, and in which nothing of theirs could be written. */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { moreThanReading } from '../../src/policy/commands/reading/reading.ts';
import { openSandbox, openTools, type PathRules } from '../../src/tools/index.ts';
import { giveTo, type How, openPlace, type Place, printed, runCommands, USERS } from '../support/boxes.ts';
import { git, writeFiles } from '../support/repos.ts';
import { anyCommand, ASKING, READING } from '../support/reading-commands.ts';

const READS = { box: 'read-only', reads: true } as const;
const FILES = {
  'a.txt': 'one\ntwo\n',
  'src/b.ts': 'one();\n',
  list: 'a.txt\nsrc/b.ts\n',
  'package.json': '{"name":"x"}\n',
};

function repositoryIn(place: Place): void {
  owned(place, 'init', '--quiet', '--initial-branch=main');
  owned(place, 'add', '--all');
  owned(place, 'commit', '--quiet', '--message=Begin');
  giveTo(place, place.project);
}

/** Also where the folder is another user's. */
const owned = ({ project }: Place, ...args: readonly string[]): string =>
  git(project, '-c', 'safe.directory=*', ...args);

/** Names, kinds and contents of everything in the folder. */
function treeOf(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !name.startsWith('.git/index'),
  );
  return names.toSorted().map((name) => {
    const place = path.join(folder, name);
    const stat = lstatSync(place);
    const content = stat.isFile() ? createHash('sha256').update(readFileSync(place)).digest('hex') : '';
    return `${name} ${stat.mode} ${content}`;
  });
}

/** One after the other, each in a shell of its own. */
const inTurn = (commands: readonly string[]): string =>
  commands.map((command) => `bash -c ${quoted(command)} 2>&1; echo "exit $?"`).join('\necho "== next"\n');

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const missing = /command not found/;

describe.each(USERS)('a reading command of the user %s', (user) => {
  it('runs in the stricter box as anywhere else, and leaves the project as it was', async () => {
    const place = openPlace(user, FILES);
    repositoryIn(place);
    const before = treeOf(place.project);
    const told = async (how: How): Promise<readonly string[]> => {
      const [text = ''] = (await runCommands(place, [inTurn(READING)], how)).texts;
      const all = text.split('== next\n').filter((one) => !missing.test(one));
      // The folder above is another one there.
      return all.map((one) => one.replaceAll(/^total.*\n|^d.* \.\.\n/gm, ''));
    };
    const reading = await told(READS);
    expect(reading.length).toBeGreaterThan(40);
    expect(reading).toEqual(await told({ box: 'none' }));
    expect(treeOf(place.project)).toEqual(before);
  });

  it('writes nothing even where the list was wrong: what asks is run there all the same', async () => {
    const place = openPlace(user, { ...FILES, x: '#!/bin/sh\ntouch made\n', script: 'w made\n', order: 'a.txt\n' });
    chmodSync(path.join(place.project, 'x'), 0o755);
    repositoryIn(place);
    const before = treeOf(place.project);
    const all = Object.values(ASKING)
      .flat()
      .map((command) => `timeout 1 bash -c ${quoted(command)}`);
    const [text] = (await runCommands(place, [inTurn(all)], { ...READS, timeout: 300 })).texts;
    expect(text).toContain('Read-only file system');
    expect(treeOf(place.project)).toEqual(before);
    expect(existsSync(path.join(place.project, 'made'))).toBe(false);
  });

  it('sees the project and the system, but no other folder of the machine', async () => {
    const place = openPlace(user, FILES);
    // The way to this checkout, whose Node runs the tools, is there.
    const [, , way = ''] = import.meta.dirname.split('/');
    const look = [
      `ls /srv /opt /var /home /root /run 2>/dev/null | grep -v :$ | grep -vxF ${quoted(way)} | grep .`,
      `ls ${place.other}`,
      'cat /etc/fstab /etc/hosts /etc/hostname /etc/shadow /etc/ssh/ssh_config 2>/dev/null',
      'touch a.txt /etc/x /var/x 2>/dev/null && echo wrote',
    ];
    const texts = (await runCommands(place, look, READS)).texts.map((text) => text.split('\n')[1] ?? '');
    const parents = path.relative('/', place.project).split('/')[0] ?? '';
    expect(texts).toEqual([parents === 'var' ? expect.stringContaining('mimir-box-') : '', '--- stderr ---', '', '']);
    expect(await printed(place, 'cat a.txt | awk "{print}"; id -un >/dev/null && echo named', READS)).toEqual([
      'one',
      'two',
      'named',
    ]);
  });

  it('reads no .env file, however deep it lies and however many folders there are', async () => {
    const seven = 'a/b/c/d/e/f/g/.env';
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`many/${at}/x.txt`, '']));
    const place = openPlace(user, {
      ...FILES,
      ...many,
      [seven]: 'SECRET=1\n',
      'many/499/.env.local': 'SECRET=2\n',
      'node_modules/x/y/z/.ENV': 'SECRET=3\n',
      '.envs/live/key': 'SECRET=4\n',
      'z/real': 'SECRET=5\n',
    });
    symlinkSync('../z/real', path.join(place.project, 'src/.env.link'));
    giveTo(place, place.project);
    for (const how of [READS, { box: 'read-write' }] as const) {
      expect(await printed(place, `cat ${seven} 2>&-; grep -rs SECRET . ; ls | wc -l`, how)).toEqual([
        expect.any(String),
      ]);
    }
  });

  it('sees no variable that is passed to commands by name', async () => {
    const place = openPlace(user, { ...FILES, list: '/proc/self/environ\n' });
    const how = { env: { TOKEN: 'SECRET' }, passthrough: ['TOKEN'] } as const;
    const commands = ['xargs cat < list'];
    expect((await runCommands(place, commands, { ...how, box: 'read-only' })).texts[0]).toContain('SECRET');
    expect((await runCommands(place, commands, { ...how, ...READS })).texts[0]).not.toContain('SECRET');
  });

  it('shows no content of a committed .env file, by git either', async () => {
    const place = openPlace(user, { ...FILES, 'config/.env.live': 'SECRET=1\n', '.ENV/key': 'SECRET=2\n' });
    repositoryIn(place);
    const commands = [
      'git show',
      'git log -p',
      'git grep SECRET',
      'git grep SECRET HEAD',
      'git diff',
      'git status --short',
    ];
    const { texts } = await runCommands(place, commands, READS);
    expect(texts.filter((text) => text.includes('SECRET='))).toEqual([]);
    expect(texts[0]).toContain('config/.env.live');
  });

  it('starts nothing that the repository names', async () => {
    const place = openPlace(user, FILES);
    const evil = path.join(place.project, 'evil');
    writeFileSync(evil, '#!/bin/sh\necho RAN >&2\ncat "$@"\n');
    chmodSync(evil, 0o755);
    writeFiles(place.project, { '.gitattributes': '*.ts filter=x diff=x\n*.txt diff=y\n' });
    repositoryIn(place);
    for (const [name, value] of HOSTILE) owned(place, 'config', name, value.replace('EVIL', evil));
    writeFiles(place.project, { 'src/b.ts': 'two();\n', 'a.txt': 'three\n' });
    giveTo(place, place.project);
    const commands = [
      inTurn(READING.filter((command) => command.includes('git'))),
      'git diff',
      'git log -p',
      'git show',
      'git status',
      'git log --format=%G?',
      'git blame src/b.ts',
      'git grep one',
      'git stash list',
      "g''it diff",
      String.raw`\git diff`,
      "$'\\x67it' diff",
      'find a.txt -exec timeout 5 g\\it diff {} +',
    ];
    const hardened = await runCommands(place, commands, READS);
    expect(hardened.texts.filter((text) => text.includes('RAN'))).toEqual([]);
    // The same in the box of others: what is named there would run.
    const plain = await runCommands(place, ['git status', 'git diff', 'git log -p', 'git blame src/b.ts'], {
      box: 'read-only',
    });
    expect(plain.texts.filter((text) => text.includes('RAN')).length).toBeGreaterThan(1);
  });
});

const HOSTILE = [
  ['core.fsmonitor', 'EVIL'],
  ['filter.x.clean', 'EVIL'],
  ['filter.x.smudge', 'EVIL'],
  ['filter.x.process', 'EVIL'],
  ['filter.x.required', 'true'],
  ['diff.external', 'EVIL'],
  ['diff.x.command', 'EVIL'],
  ['diff.y.textconv', 'EVIL'],
  ['core.pager', 'EVIL'],
  ['pager.log', 'EVIL'],
  ['core.sshCommand', 'EVIL'],
  ['gpg.program', 'EVIL'],
  ['log.showSignature', 'true'],
  ['alias.status', '!EVIL'],
  ['core.hooksPath', '.'],
  ['core.alternateRefsCommand', 'EVIL'],
] as const;

describe('what the project holds', () => {
  const obstacle = async (place: Place, command: string, paths?: PathRules): Promise<string | null> => {
    const where = { root: place.project, home: place.home, stateDir: place.state, ...(paths ? { paths } : {}) };
    const tools = openTools({ ...where, sandbox: await openSandbox(where) });
    if (!tools.ok) throw new Error(tools.fault);
    const bash = tools.value.tools.find(({ name }) => name === 'bash');
    return (await bash?.reading?.(bash.input.parse({ command }), {}).obstacle()) ?? null;
  };

  it('makes git ask where a repository lies in another, or where there is none', async () => {
    const place = openPlace(USERS[0] ?? 'ordinary', FILES);
    expect(await obstacle(place, 'ls')).toBeNull();
    expect(await obstacle(place, 'git status')).toBe('this folder is not the top of a git repository');
    repositoryIn(place);
    expect(await obstacle(place, 'git status')).toBeNull();
    mkdirSync(path.join(place.project, 'deep/inner'), { recursive: true });
    git(path.join(place.project, 'deep/inner'), 'init', '--quiet');
    expect(await obstacle(place, 'ls; git -P log')).toBe('deep/inner is a separate git repository');
    expect(await obstacle(place, 'ls')).toBeNull();
  });

  it('makes git ask where a rule hides something of the project', async () => {
    const place = openPlace(USERS[0] ?? 'ordinary', { ...FILES, 'keys/one': 'SECRET\n' });
    repositoryIn(place);
    const paths = { denyRead: [{ path: 'keys', rule: 'rule on keys' }], denyWrite: [], allowWrite: [] };
    expect(await obstacle(place, 'git show', paths)).toBe('policy hides keys, which git would show from its commits');
    expect(await obstacle(place, 'cat a.txt', paths)).toBeNull();
  });

  it('makes git ask where an id is that of a content, which no name protects', async () => {
    const place = openPlace(USERS[0] ?? 'ordinary', { ...FILES, '.env': 'SECRET=1\n' });
    repositoryIn(place);
    const secret = git(place.project, 'rev-parse', 'HEAD:.env').trim();
    const commit = git(place.project, 'rev-parse', 'HEAD').trim();
    git(place.project, 'tag', '-a', '-m', 'a release', 'v1');
    const asks = (id: string): string => `${id} is the content of a file without its name`;
    const short = secret.slice(0, 9);
    for (const [command, why] of [
      [`git show ${secret}`, asks(secret)],
      [`git show ${short}`, asks(short)],
      [`git show ${short.slice(0, 4)}''${short.slice(4)}`, asks(short)],
      [`git log -1; git diff ${commit} ${short}`, asks(short)],
      ...[
        `git show ${short.slice(0, 3)}{${short.slice(3)},}`,
        `git show ${short}?`,
        String.raw`git show $'\x61${short}'`,
        `for i in ${short.slice(0, 3)}; do git show $\{i}${short.slice(3)}; done`,
        `for i in ${short.slice(0, 3)}; do for j in ${short.slice(3, 6)}; do git show $i$j; done; done`,
      ].map((command) => [command, 'git may be given an id that the shell composes'] as const),
      ['for f in a.txt src/*.ts; do git log --oneline -1 -- $f; done; git diff HEAD~1 -- *.txt', null],
      [`git show ${commit}; git show ${commit.slice(0, 9)} --stat; git log deadbeefdead; git show v1`, null],
    ] as const)
      expect(await obstacle(place, command), command).toBe(why);
    const annotated = ['-a', '-m', 'a content'];
    git(place.project, 'tag', ...annotated, 'inner', secret);
    const inner = git(place.project, 'rev-parse', 'inner').trim();
    git(place.project, 'tag', '-d', 'inner');
    for (const tag of [
      ['light', secret],
      [...annotated, 'kept', secret],
      [...annotated, 'nested', inner],
    ]) {
      git(place.project, 'tag', ...tag);
      const name = tag.at(-2) ?? '';
      expect(await obstacle(place, 'git show $name')).toBe(asks(`refs/tags/${name}`));
      git(place.project, 'tag', '-d', name);
    }
    expect(await obstacle(place, 'ls')).toBeNull();
  });

  it('makes every command ask where there are more .env files than can be covered, and runs none of them', async () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`p/${at}/.env`, 'SECRET\n']));
    const place = openPlace(USERS[0] ?? 'ordinary', { ...FILES, ...many });
    expect(await obstacle(place, 'ls')).toBe('the project is too large to be searched for .env files');
    expect((await runCommands(place, ['cat p/299/.env'], READS)).texts).toEqual([
      'not run: the sandbox could not start the command: the project is too large to be searched for .env files',
    ]);
  });
});

it('any command that is judged to only read leaves a project as it was, even where it could write', async () => {
  const place = openPlace(USERS[0] ?? 'ordinary', { ...FILES, evil: '#!/bin/sh\ntouch made\n' });
  chmodSync(path.join(place.project, 'evil'), 0o755);
  repositoryIn(place);
  const before = treeOf(place.project);
  const where = { root: place.project, folder: place.project };
  const all = fc.sample(anyCommand(), { numRuns: 40_000, seed: 39 });
  const reading = [...new Set(all)].filter((command) => moreThanReading(command, where) === null);
  expect(reading.length).toBeGreaterThan(300);
  const script = reading
    .slice(0, 600)
    .map((command) => `timeout 2 bash -c ${quoted(command)} </dev/null >/dev/null 2>&1`);
  await runCommands(
    place,
    chunks(script, 250).map((part) => part.join('\n')),
    { box: 'read-write', timeout: 120 },
  );
  expect(treeOf(place.project)).toEqual(before);
});

const chunks = <T>(all: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));
