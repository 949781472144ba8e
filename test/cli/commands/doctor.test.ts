/** What `mimir doctor` says of policy, with a managed one at /etc/mimir. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { homeFolder } from '../../../src/tools/sandbox/home.ts';
import type { Home, How } from '../../support/cli.ts';
import { openHome } from '../../support/cli.ts';
import { holding, like, part } from '../../support/like.ts';
import { managed } from '../../support/managed.ts';

let home: Home;
beforeEach(() => {
  home = openHome({ 'src/a.ts': '' });
});
afterEach(() => {
  home.remove();
});

async function findings(how: How = {}): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { out } = await home.run(['doctor', '--json'], how);
  return z.array(z.record(z.string(), z.unknown())).parse(JSON.parse(out));
}

describe('mimir doctor', () => {
  it('names the managed files with owner and mode, what aliases are taken for, and a namespace in which owners prove nothing', async () => {
    const files = { 'policy.yml': 'enforcement: { deniedModels: [opus-4.5] }\n' };
    const found = await findings(managed(home, { files, as: 'mapped' }));
    expect(found.filter(({ what }) => what === 'policy')).toEqual([
      { what: 'policy', state: 'ok', words: 'managed by /etc/mimir/policy.yml (owner root, mode 0644)' },
      part({ state: 'note', words: holding('in a user namespace') }),
      { what: 'policy', state: 'ok', words: 'opus-4.5 is anthropic/claude-opus-4-5-20251101' },
    ]);
  });

  it('names files beside the managed ones that look like a policy and are not read', async () => {
    const files = { 'policy.yml': 'mode: { max: confirm }\n', 'policy.yml.bak': '', 'policy.d/.10-a.yml': '' };
    const found = await findings(managed(home, { files }));
    expect(found.filter(({ words }) => String(words).includes(' is ignored: only policy'))).toEqual(
      ['policy.yml.bak', 'policy.d/.10-a.yml'].map((name) =>
        part({
          what: 'policy',
          state: 'note',
          words: `/etc/mimir/${name} is ignored: only policy.yml and names ending in .yml are read`,
        }),
      ),
    );
  });

  it('says of a provider without models what to write', async () => {
    writeFileSync(
      join(home.config, 'config.yml'),
      'providers: { local: { kind: openai-compatible, baseUrl: "http://127.0.0.1:1/v1" } }\n',
    );
    expect((await findings()).filter(({ what }) => what === 'models')).toEqual([
      {
        what: 'models',
        state: 'problem',
        words:
          'local at http://127.0.0.1:1/v1 has no models: add their names to your config.yml, for example "providers: { local: { models: [NAME] } }"',
      },
    ]);
  });

  it('says of each agent of another program what it is, how it is talked to, whose login pays, and what it reaches', async () => {
    const program = (name: string, lines: string): string => {
      const file = join(home.root, name);
      writeFileSync(file, `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
      return file;
    };
    const telling = program('telling', 'echo Loading; echo "telling 1.4.2 (stable)"');
    const silent = program('silent', 'exit 1');
    writeFileSync(
      join(home.config, 'config.yml'),
      `agents:\n  one: { acp: [${telling}], hosts: [example.org] }\n  two: { tmux: [${silent}], home: [.two] }\n  three: { acp: [not-there] }\n`,
    );
    mkdirSync(join(home.env['HOME'] ?? '', '.two'));
    const { PATH } = process.env;
    const found = await findings({ env: { PATH } });
    expect(found.filter(({ what }) => ['one', 'two', 'three'].includes(String(what)))).toEqual([
      {
        what: 'one',
        state: 'ok',
        words: `${telling} (telling 1.4.2 (stable)), by the Agent Client Protocol; no login folder was found; reaches example.org`,
      },
      {
        what: 'two',
        state: 'ok',
        words: `${silent} (version not told), in a terminal (tmux); its login in ~/.two pays; reaches no host`,
      },
      { what: 'three', state: 'problem', words: 'not-there is not on the PATH' },
    ]);
  });

  it('says why a managed file is refused', async () => {
    const found = await findings(managed(home, { files: { 'policy.yml': { text: '', mode: 0o666 } } }));
    expect(found).toContainEqual(
      part({ what: 'config', state: 'problem', words: holding('/etc/mimir/policy.yml is writable by everyone') }),
    );
  });

  it('says what is trusted, and which .mimir counts for nothing', async () => {
    writeFileSync(join(home.project, 'AGENTS.md'), 'Use tabs.\n');
    mkdirSync(join(home.project, 'packages/a/.mimir'), { recursive: true });
    expect((await findings()).filter(({ what }) => what === 'trust')).toEqual([
      part({ state: 'note', words: holding('this project is not trusted') }),
      part({ state: 'note', words: 'packages/a/.mimir is ignored: only the file at the project root is used' }),
    ]);
  });

  it('names the templates that can be begun, and what is wrong with the others, with the place', async () => {
    const own = join(home.config, 'plans');
    mkdirSync(own, { recursive: true });
    const tasks = 'tasks: [{ id: a, description: "Look at {{target}}", role: finder }]\n';
    writeFileSync(join(own, 'look.yml'), `arguments: { target: {} }\n${tasks}`);
    writeFileSync(join(own, 'broken.yml'), tasks);
    const found = (await findings()).filter(({ what }) => what === 'templates');
    expect(found).toEqual([
      part({ state: 'ok', words: holding('look') }),
      part({ state: 'note', words: like(/left out: .*broken\.yml:1:\d+: there is no argument "target"/) }),
    ]);
  });

  it('says of a theme that is not there, and of keys of no action, where that is written and what was probably meant', async () => {
    writeFileSync(join(home.config, 'config.yml'), 'ui: { theme: mimir-drk }\nkeys: { run.kil: X }\n');
    expect((await findings()).filter(({ what }) => what === 'screen')).toEqual([
      {
        what: 'screen',
        state: 'problem',
        words: like(
          /^ui\.theme: mimir-drk \(user, .*config\.yml:1\): there is no theme "mimir-drk".*; did you mean mimir-dark\?$/,
        ),
      },
      {
        what: 'screen',
        state: 'problem',
        words: like(/config\.yml:2\): keys: unknown action "run\.kil"; did you mean run\.kill\?$/),
      },
    ]);
  });

  it('hides no character of a name', async () => {
    mkdirSync(join(home.project, '.mimir/agents'), { recursive: true });
    writeFileSync(join(home.project, '.mimir/agents/a\u001b[31m\u200bb.md'), 'x');
    expect((await home.run(['doctor'])).out).toContain(String.raw`.mimir/agents/a\x1b[31m\u{200b}b.md`);
  });

  it('names the toolchains that start in the sandbox, with their packages, and says of one that does not', async () => {
    // Not below /tmp: commands have their own.
    const bin = mkdtempSync('/var/tmp/mimir-tests-');
    const scripts = { cargo: 'echo cargo 1.2.3', go: 'echo go version go1.4.5 linux', uv: 'echo broken >&2; exit 3' };
    for (const [name, script] of Object.entries(scripts))
      writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    mkdirSync(join(home.root, 'home/.cargo/registry/cache'), { recursive: true });
    const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}` };
    const found = (await findings({ env })).filter(({ what }) => what === 'toolchain');
    rmSync(bin, { recursive: true });
    expect(found).toEqual(
      expect.arrayContaining([
        part({
          state: 'ok',
          words: 'cargo 1.2.3 starts in the sandbox, offline, with the packages of ~/.cargo/registry/cache',
        }),
        part({ state: 'ok', words: 'go 1.4.5 starts in the sandbox, offline; no packages on this machine' }),
        part({ state: 'note', words: 'uv does not start in the sandbox: broken' }),
      ]),
    );
  });

  it('says what commands of the project keep, and empties it where it is asked to', async () => {
    const caches = async (...words: readonly string[]): Promise<unknown> => {
      const { out } = await home.run(['doctor', '--json', ...words]);
      const all = z.array(z.record(z.string(), z.unknown())).parse(JSON.parse(out));
      return all.filter(({ what }) => what === 'caches').map(({ words }) => words);
    };
    expect(await caches()).toEqual(['no caches for this project']);
    const folder = homeFolder(home.state, realpathSync(home.project));
    mkdirSync(join(folder, 'cache-go-build'), { recursive: true });
    writeFileSync(join(folder, 'cache-go-build/x'), 'x'.repeat(2 * 1024 * 1024));
    expect(await caches()).toEqual([
      like(/^2 MiB of at most 4 GiB for commands of this project, in .*; mimir doctor --clear-caches empties it$/),
    ]);
    expect(await caches('--clear-caches')).toEqual(['emptied: 2 MiB removed']);
    expect(existsSync(folder)).toBe(false);
    expect(await caches()).toEqual(['no caches for this project']);
  });

  it('names the version of the sandbox', async () => {
    expect(await findings()).toContainEqual(
      part({ what: 'sandbox', state: 'ok', words: like(/^bubblewrap \d+\.\d+\S* works: /) }),
    );
  });

  it('says of a forced agent whether it can run, what days have used, and what others may open', async () => {
    writeFileSync(
      join(home.config, 'config.yml'),
      'enforcement: { forcedSubAgents: { security: { enabled: true, model: sonnet-4.5 } } }\nbudgets: { day: { maxCost: 3 } }\n',
    );
    mkdirSync(join(home.state, 'trust'), { recursive: true });
    chmodSync(join(home.state, 'trust'), 0o755);
    chmodSync(home.state, 0o700);
    const found = await findings();
    expect(found.filter(({ what }) => what === 'forced' || what === 'today')).toEqual([
      part({ state: 'problem', words: holding('its model sonnet-4.5 cannot be used here (no provider)') }),
      part({ state: 'ok', words: '$0.00 of $3.00 and 0 tokens used, by all runs' }),
    ]);
    expect(found).toContainEqual(
      part({ what: 'state', state: 'problem', words: `${home.state}/trust: others can open it: run chmod 700 on it` }),
    );
  });
});
