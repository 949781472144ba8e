/** What `mimir doctor` says of policy, with a managed one at /etc/mimir. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { homeFolder } from '../../../src/tools/sandbox/home.ts';
import { acpCommand, type AcpScript } from '../../support/acp-agent.ts';
import type { Home, How } from '../../support/cli.ts';
import { openHome } from '../../support/cli.ts';
import { toolProcessesBelow } from '../../support/invariants.ts';
import { holding, like, part } from '../../support/like.ts';
import { managed } from '../../support/managed.ts';
import { needs } from '../../support/needs.ts';

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

  describe('of agents of other programs', () => {
    needs('git', 'bubblewrap');

    const program = (name: string, lines: string): string => {
      const file = join(home.root, name);
      writeFileSync(file, `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
      return file;
    };
    const NODE = basename(process.execPath);
    const scripted = (more: Partial<AcpScript>): string => JSON.stringify(acpCommand({ prompts: [], ...more }));
    /** What is said of the agent `one`, which is configured like this. */
    const said = async (setup: string): Promise<unknown> => {
      writeFileSync(join(home.config, 'config.yml'), `agents:\n  one: { ${setup} }\n`);
      const { PATH } = process.env;
      const found = await findings({ env: { PATH, ONE_KEY: 'a-key-of-the-agent', ONE_CERTS: '/etc/certs' } });
      const [finding, ...others] = found.filter(({ what }) => what === 'one');
      expect(others).toEqual([]);
      return { ...finding, words: String(finding?.['words']).replace(process.execPath, NODE) };
    };

    it('asks by the protocol in the sandbox: version, protocol, whose account pays, what it reaches', async () => {
      mkdirSync(join(home.env['HOME'] ?? '', '.one'));
      const more = 'home: [.one], env: [ONE_KEY, ONE_CERTS], hosts: [example.org]';
      expect(await said(`acp: ${scripted({})}, ${more}`)).toEqual({
        what: 'one',
        state: 'ok',
        words: `${NODE} (scripted 1.0.0), by the Agent Client Protocol, version 1; opens a session; its login in ~/.one or ONE_KEY pays; reaches example.org`,
      });
      const look = `const of = (at) => { try { return fs.readdirSync(at).join() } catch (e) { return e.code } }; console.error([process.cwd(), os.homedir(), process.argv[1]].map(of).join(';')); process.exit(1)`;
      const looks = JSON.stringify([process.execPath, '-e', look, home.project]);
      expect(await said(`acp: ${looks}, ${more}`)).toEqual(
        part({ state: 'problem', words: like(/one ended: exit code 1: [.,a-z]*;[^;]*\.one\b[^;]*;ENOENT$/) }),
      );
      expect(readdirSync(tmpdir()).filter((name) => name.startsWith('mimir-doctor-'))).toEqual([]);
    });

    it.each<[string, () => string, string]>([
      [
        'is not logged in',
        () => scripted({ needsLogin: true }),
        `${NODE} cannot be used: one (scripted 1.0.0) is not logged in: Authentication required; start it once in a terminal and log in (it offers Log in with Ana)`,
      ],
      [
        'speaks another version',
        () => scripted({ version: 2 }),
        `${NODE} cannot be used: one speaks version 2 of the protocol, and Mimir version 1`,
      ],
      [
        'prints garbage',
        () => scripted({ garbage: true }),
        `${NODE} cannot be used: one does not speak the protocol: it printed "Welcome to the agent, line 0"`,
      ],
      ['is not there', () => '[not-there]', 'not-there is not on the PATH'],
    ])('says in one line that it %s, and leaves nothing of it', async (_, command, words) => {
      expect(await said(`acp: ${command()}`)).toEqual({ what: 'one', state: 'problem', words });
      expect(toolProcessesBelow(join(tmpdir(), 'mimir-doctor-'))).toEqual([]);
    });

    it('tells the version of one in a terminal, which is not started', async () => {
      const telling = program('telling', '[ "$1" = --version ] && echo Loading && echo "telling 1.4.2 (stable)"');
      expect(await said(`tmux: [${telling}], home: [.one]`)).toEqual({
        what: 'one',
        state: 'ok',
        words: `${telling} (telling 1.4.2 (stable)), in a terminal (tmux); no login folder was found; reaches no host`,
      });
    });

    it('asks none that are forbidden', async () => {
      const touches = program('touches', `touch ${home.root}/touched`);
      expect(await said(`acp: [${touches}] }\nenforcement: { foreignAgents: deny`)).toMatchObject({ state: 'problem' });
      expect(existsSync(join(home.root, 'touched'))).toBe(false);
    });
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
