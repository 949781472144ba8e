/**
 * The home and `/tmp` of commands: packages of the person's toolchains without what lies beside them, caches that agents
 * share and who judges work never sees, and nothing that could carry one agent's text into the commands of another.
 */
import { chmodSync, existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { mountsIn } from '../../src/tools/sandbox/socket-mount.ts';
import { toolEnvironment } from '../../src/tools/process/environment.ts';
import { openSandbox, type Sandbox } from '../../src/tools/index.ts';
import type { PathRules } from '../../src/tools/paths/root.ts';
import type { SandboxOptions } from '../../src/tools/sandbox/sandbox.ts';
import type { SandboxedCommand } from '../../src/tools/sandbox/sandbox.ts';
import { runSandboxed } from '../../src/tools/sandbox/sandbox.ts';
import { openPlace, type Place, USERS } from '../support/boxes.ts';
import type { Files } from '../support/repos.ts';
import { freshFolder, writeFiles } from '../support/repos.ts';

/** What a home may hold: packages, and what proves who somebody is. */
const PACKAGES: Files = {
  '.cargo/registry/index/i': '',
  '.cargo/registry/cache/c.crate': '',
  '.cargo/git/db/d': '',
  'go/pkg/mod/m': '',
  '.m2/repository/r.jar': 'one\n',
  '.npm/_cacache/n': '',
};
const SECRETS: Files = {
  '.cargo/credentials.toml': 'canary\n',
  '.cargo/registry/src/s': 'canary\n',
  '.npmrc': 'canary\n',
  '.npm/_logs/l': 'canary\n',
  '.m2/settings.xml': 'canary\n',
  '.netrc': 'canary\n',
  '.config/go/env': 'canary\n',
  'go/pkg/mod/cache/vcs/v/config': 'canary\n',
  '.gitconfig': 'canary\n',
};

/**
 * `ls /tmp` of a command that made `names` there: beside them lie the home, and the ways to this checkout and to the project where these
 * are below `/tmp`, as the project of an ordinary user is.
 */
const tmpWith = (...names: readonly string[]): string => {
  const ways = [import.meta.dirname, ...(process.getuid?.() === 0 ? [] : [tmpdir()])].flatMap((folder) => {
    const [, first, top = ''] = folder.split('/');
    return first === 'tmp' ? [top] : [];
  });
  return [...new Set([...names, 'home', ...ways])].toSorted().join('\n');
};

/** A project whose machine has these toolchains, as far as anybody looks. */
function placeWith(files?: Files): Place & { readonly PATH: string } {
  const place = openPlace(USERS[0] ?? 'ordinary', files);
  writeFiles(place.home, { ...PACKAGES, ...SECRETS });
  const bin = path.join(place.other, 'bin');
  for (const name of ['cargo', 'go', 'mvn', 'npm']) {
    writeFiles(bin, { [name]: '#!/bin/sh\n' });
    chmodSync(path.join(bin, name), 0o755);
  }
  return { ...place, PATH: `${bin}:/usr/bin:/bin` };
}

interface Commands {
  /** What it printed, both streams. */
  (command: string, how?: Partial<SandboxedCommand>): Promise<string>;
  readonly sandbox: Sandbox;
}

/** A process of Mimir's, as far as the sandbox goes. */
async function commandsIn(
  place: Place & { readonly PATH: string },
  more: { readonly paths?: PathRules; readonly bounds?: NonNullable<SandboxOptions['bounds']> } = {},
): Promise<Commands> {
  const { project: root, home, state: stateDir, PATH } = place;
  const environment = toolEnvironment(root, { PATH });
  const sandbox = await openSandbox({ root, home, stateDir, environment, ...more });
  const run = async (command: string, how: Partial<SandboxedCommand> = {}): Promise<string> => {
    const what = { file: '/bin/bash', args: ['-c', command], cwd: root, env: environment };
    const spec = { ...what, box: 'read-write', agent: 'a', ...how } as const;
    const { stdout, stderr, note } = await runSandboxed(sandbox, spec, { timeLimit: 60_000 });
    return `${note === undefined ? '' : `${note}\n`}${stdout}${stderr}`.trim();
  };
  return Object.assign(run, { sandbox });
}

const FILES = 'cd ~ && find . -type f | sort';
const paths = (rules: Partial<PathRules>): PathRules => ({ denyRead: [], denyWrite: [], allowWrite: [], ...rules });
const rule = (name: string) => ({ path: name, rule: `rule on ${name}` });
const shown = ['.cargo/git/db/d', '.cargo/registry/cache/c.crate', '.cargo/registry/index/i', '.m2/repository/r.jar'];

describe('the home of a command', () => {
  it('has the packages of the machine and no credential, whether it may write or not', async () => {
    const place = placeWith();
    const run = await commandsIn(place);
    const all = [...shown, '.npm/_cacache/n', 'go/pkg/mod/m'].map((name) => `./${name}`);
    expect((await run(FILES)).split('\n')).toEqual(['./.cargo/.package-cache', ...all].sort());
    expect((await run(FILES, { box: 'read-only' })).split('\n')).toEqual(all);
    expect(
      await run(
        `cat ${Object.keys(SECRETS)
          .map((name) => `~/${name} ${place.home}/${name}`)
          .join(' ')}`,
      ),
    ).not.toContain('canary\n');
    expect(
      await run('echo x > ~/go/pkg/mod/m; echo x > ~/.npm/_cacache/x; echo x > ~/.cargo/registry/index/i'),
    ).toMatch(/^(?:.*Read-only file system\n?){3}$/);
  });

  it('has no packages that a rule hides', async () => {
    const place = placeWith();
    const run = await commandsIn(place, { paths: paths({ denyRead: [rule('~/.m2'), rule('~/go/pkg/mod/m')] }) });
    const files = await run(FILES, { box: 'read-only' });
    expect(files.split('\n')).toEqual([...shown.slice(0, 3), '.npm/_cacache/n'].map((name) => `./${name}`));
  });

  it('has nothing of what another command wrote there but caches, which last from run to run', async () => {
    const place = placeWith();
    const run = await commandsIn(place);
    const names = [
      '.bashrc',
      '.profile',
      '.gitconfig',
      '.npmrc',
      '.cargo/config.toml',
      '.m2/settings.xml',
      '.config/go/env',
    ];
    await run(`mkdir -p ~/.config/go; for f in ${names.join(' ')}; do echo x > ~/$f; done`);
    await run('echo kept > ~/.cache/go-build/x; echo kept > ~/.cargo/registry/src/x');
    const next = await commandsIn(place);
    for (const each of [run, next]) {
      const files = await each(FILES);
      expect(names.filter((name) => files.includes(name))).toEqual([]);
      expect(await each('cat ~/.cache/go-build/x ~/.cargo/registry/src/x', { agent: 'b' })).toBe('kept\nkept');
    }
  });

  it('shows no cache that other commands filled to who only reads, or judges', async () => {
    const place = placeWith();
    const run = await commandsIn(place);
    await run('echo planted > ~/.cache/go-build/x; echo planted > ~/.cargo/registry/src/x');
    const look = 'cat ~/.cache/go-build/x ~/.cargo/registry/src/x';
    expect(await run(look)).toBe('planted\nplanted');
    expect(await run(look, { box: 'read-only' })).not.toContain('planted');
    expect(await run(look, { judges: true })).not.toContain('planted');
    expect(
      await run(`${FILES}; mkdir -p ~/.cache/go-build && echo x > ~/.cache/go-build/x`, { judges: true }),
    ).not.toContain('planted');
    expect(await run(look)).toBe('planted\nplanted');
  });

  it('gives a tool that writes into its packages a copy, and leaves the person’s own as they are', async () => {
    const place = placeWith({ 'pom.xml': '<project/>\n' });
    const run = await commandsIn(place);
    expect(
      await run('cat ~/.m2/repository/r.jar; echo two > ~/.m2/repository/r.jar; echo new > ~/.m2/repository/n.jar'),
    ).toBe('one');
    expect(await run('cat ~/.m2/repository/*', { agent: 'b' })).toBe('new\ntwo');
    expect(await run('cat ~/.m2/repository/*; echo x > ~/.m2/repository/r.jar', { box: 'read-only' })).toMatch(
      /^one\n.*Read-only/,
    );
    expect(readdirSync(path.join(place.home, '.m2/repository'))).toEqual(['r.jar']);
    // What the person fetched since is there for the next process.
    writeFiles(place.home, { '.m2/repository/later.jar': 'later\n' });
    const next = await commandsIn(place);
    expect(await next('cat ~/.m2/repository/*')).toBe('later\nnew\ntwo');
  });

  it('is emptied when its caches have grown over their bound, which the next command is told; links in them harm nothing', async () => {
    const place = placeWith();
    const run = await commandsIn(place, { bounds: { home: 1024 * 1024, tmp: 1024 * 1024 } });
    await run(
      `head -c 3M /dev/zero > ~/.cache/go-build/x; ln -s ${place.other} ~/.cache/go-build/out; mkdir -m 0 ~/.cache/go-build/shut`,
    );
    expect(await run('ls -A ~/.cache/go-build')).toBe(
      'The build caches exceeded their limit (4 GiB) and were emptied before this command.',
    );
    await run(`head -c 3M /dev/zero > /tmp/x; ln -s ${place.other} /tmp/out`, { agent: 'b' });
    expect(await run('ls -A /tmp', { agent: 'b' })).toBe(
      `/tmp exceeded its limit (2 GiB) and was emptied before this command.\n${tmpWith()}`,
    );
    expect(readFileSync(path.join(place.other, 'b.txt'), 'utf8')).toBe('other\n');
    expect(readdirSync(path.join(place.state, 'homes')).filter((name) => name.includes('gone'))).toEqual([]);
  });
});

describe('/tmp of an agent', () => {
  it('stays from command to command, is nobody else’s, and is gone when the agent has ended', async () => {
    const place = placeWith();
    const run = await commandsIn(place);
    await run(`echo mine > /tmp/x; ln -s ${place.other} /tmp/out; ln -s /etc/passwd ~/link`);
    expect(await run('cat /tmp/x; ls -A ~')).toMatch(/^mine\n/);
    expect(await run('cat /tmp/x', { box: 'read-only' })).toBe('mine');
    expect(await run('cat /tmp/x', { agent: 'b' })).toContain('No such file');
    await run.sandbox.ended('a');
    expect(await run('cat /tmp/x')).toContain('No such file');
    await run.sandbox.ended(null);
    const scratch = path.join(place.state, 'scratch');
    expect(readdirSync(scratch).flatMap((name) => readdirSync(path.join(scratch, name)))).toEqual([]);
    expect(existsSync(path.join(place.other, 'b.txt'))).toBe(true);
  });

  it('lets nothing be put in the place of the home', async () => {
    const run = await commandsIn(placeWith());
    expect(
      await run('rm -rf ~; mv ~ /tmp/away; rmdir ~; ln -sfn /etc /tmp/home; readlink /tmp/home; echo end'),
    ).toMatch(/end/);
    expect(await run('readlink /tmp/home; ls /tmp; echo x > ~/x && echo written')).toBe(`${tmpWith()}\nwritten`);
  });
});

describe('/tmp of an agent whose project lies below it', () => {
  it('is its own too, and nothing can be put in the way to the project', async () => {
    const project = freshFolder();
    const run = await commandsIn({ ...placeWith(), project });
    const [, , top = ''] = project.split('/');
    const tries = `mv /tmp/${top} /tmp/away; rmdir /tmp/${top}; ln -sfnT /etc /tmp/${top}; echo note > /tmp/note`;
    expect(await run(`${tries}; echo made > made`)).toMatch(/busy/);
    expect(await run(`cat /tmp/note made; pwd; ls /tmp`)).toBe(`note\nmade\n${project}\n${tmpWith(top, 'note')}`);
    expect(readdirSync(project)).toEqual(['made']);
  });

  it('is an empty one where what the agent has there can not be used', () => {
    const folder = freshFolder();
    symlinkSync('/etc', path.join(folder, 'a'));
    writeFiles(folder, { b: '' });
    expect(mountsIn(folder, ['/usr'])).toEqual(['/tmp/home']);
    expect(['a', 'b'].map((name) => mountsIn(folder, [`/tmp/${name}/project`]))).toEqual([null, null]);
    expect(readdirSync(folder).sort()).toEqual(['a', 'b', 'home']);
  });
});

describe('a folder that a rule opens', () => {
  it('is read by commands, without the credentials and the hidden places in it, and never written', async () => {
    const place = placeWith();
    writeFiles(place.home, { 'shared/a': 'a\n', 'shared/hidden/b': 'b\n', 'closed/c': 'c\n', 'shut/d': 'd\n' });
    const rules = paths({
      allowRead: ['~/shared', '~/.cargo', '~/closed', '~/.ssh', '~', '/', place.state].map((name) => rule(name)),
      denyRead: [rule('~/shared/hidden'), rule('~/closed')],
    });
    const run = await commandsIn(place, { paths: rules });
    for (const box of ['read-write', 'read-only'] as const) {
      expect(await run(`cd ${place.home} && find . -type f -size +0 | sort; echo x > shared/x`, { box })).toMatch(
        /^\.\/\.cargo\/registry\/src\/s\n\.\/shared\/a\n.*Read-only file system$/,
      );
      expect(await run(`cat ${place.home}/.cargo/credentials.toml; ls ${place.state}`, { box })).not.toMatch(
        /canary|mimir\.db/,
      );
    }
  });
});
