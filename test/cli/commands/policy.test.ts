/** `mimir policy` in the real program, under a managed policy at /etc/mimir. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openLog } from '../../../src/store/log.ts';
import type { Home, Ran } from '../../support/cli.ts';
import { jsonLines, openHome } from '../../support/cli.ts';
import { FAMILY, RUN } from '../../support/family-story.ts';
import { holding, part } from '../../support/like.ts';
import type { ManagedHome } from '../../support/managed.ts';
import { managed } from '../../support/managed.ts';
import { skipWithout } from '../../support/needs.ts';

const POLICY = `enforcement:
  deniedModels: [opus-4.5]
  allowedSubAgents: [finder, tester]
mode: { max: confirm }
commands:
  deny: ["curl **"]
`;
const PLACE = '/etc/mimir/policy.yml';

let home: Home;
let ruled: ManagedHome;
beforeAll(() => {
  home = openHome({ '.mimir/config.yml': 'agentOrchestration: { maxParallelAgents: 2 }\n', 'src/a.ts': '' });
  writeFileSync(join(home.config, 'config.yml'), 'commands: { allow: ["curl **", "npm test"] }\n');
  ruled = managed(home, { files: { 'policy.yml': POLICY } });
});
afterAll(() => {
  home.remove();
});

const explain = (...args: readonly string[]): Promise<Ran> => home.run(['policy', 'explain', ...args], ruled);
const explained = async (...args: readonly string[]): Promise<readonly Record<string, unknown>[]> =>
  jsonLines((await explain(...args, '--json')).out);

describe('mimir policy show', () => {
  it('says who rules, which files were read, and of each rule where it is written', async () => {
    const { code, out, err } = await home.run(['policy', 'show'], ruled);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const [hash = '', who, read] = out.split('\n');
    expect(hash).toMatch(/^policy {2}[0-9a-f]{64}$/);
    expect(who).toBe(`set by  ${PLACE}: only an administrator can loosen it`);
    expect(read).toContain(`${PLACE} (managed)`);
    expect(read).toContain('.mimir/config.yml (project)');
    expect(out).toMatch(/^mode\.max +confirm +managed \(\/etc\/mimir\/policy\.yml:4\)$/m);
    expect(out).toMatch(/^commands\.allow +\[curl \*\*, npm test\] +user \(.*config\.yml:1\)$/m);
    expect(out).toContain('opus-4.5 resolves to anthropic/claude-opus-4-5-20251101\n');
  });

  it('says the same in one object with --json', async () => {
    const [said] = jsonLines((await home.run(['policy', 'show', '--json'], ruled)).out);
    expect(said).toMatchObject({
      managed: [{ file: PLACE }],
      trust: 'nothing',
      resolved: [{ written: 'opus-4.5', id: 'anthropic/claude-opus-4-5-20251101' }],
    });
    expect(said?.['rules']).toContainEqual({
      key: 'agentOrchestration.maxParallelAgents',
      value: 2,
      layer: 'project',
      file: '.mimir/config.yml',
      line: 1,
      said: [
        { value: 4, layer: 'default', file: null, line: null },
        { value: 2, layer: 'project', file: '.mimir/config.yml', line: 1 },
      ],
    });
  });

  it('says that nobody else rules where there is no managed policy', async () => {
    expect((await home.run(['policy', 'show'])).out).toContain('set by  you: there is no managed policy\n');
  });
});

describe('mimir policy explain', () => {
  it('names the rule, the one that loses, and what would change it', async () => {
    const { code, out } = await explain('--command', 'cd src && /usr/bin/curl x', '--role', 'tester');
    expect({ code, lines: out.split('\n') }).toEqual({
      code: 0,
      lines: [
        'deny  command cd src && /usr/bin/curl x',
        '  as              role tester, mode confirm',
        `  decided by      commands.deny: "curl **" (managed, ${PLACE}:6)`,
        `  to change       remove "curl **" from commands.deny (managed, by an administrator, ${PLACE}:6)`,
        '',
      ],
    });
    const [curl] = await explained('--command', 'curl x');
    expect(curl?.['rules']).toContainEqual(part({ says: 'allow', decides: false }));
  });

  it('says of a command that it only reads', async ({ skip }) => {
    skipWithout('bubblewrap', skip);
    // An ordinary user gets the policy in a namespace in which no further sandbox starts.
    skipWithout('root', skip);
    const [reads, writes] = await Promise.all([
      explained('--command', 'cat src/a.ts | head', '--role', 'tester'),
      explained('--command', 'cat src/a.ts > b', '--role', 'tester'),
    ]);
    expect(reads[0]).toMatchObject({ decision: 'allow', because: { rule: 'mode confirm: reads only' } });
    expect(writes[0]).toMatchObject({ decision: 'ask', because: { rule: 'mode confirm: shell needs approval' } });
    const reason: unknown = part({ rule: 'it may do more than read: it writes to a file' });
    const more = part({ reason, says: 'ask', decides: false });
    expect(writes[0]?.['rules']).toContainEqual(more);
  });

  it('answers for models, roles, tools and paths', async () => {
    const answers = await Promise.all([
      explained('--model', 'claude-opus-4-5'),
      explained('--role', 'oracle'),
      explained('--tool', 'write_file', '--role', 'finder'),
      explained('--path', '.mimir/config.yml'),
      explained('--path', '../else'),
    ]);
    expect(answers.flat().map(({ subject, decision }) => `${String(decision)}: ${String(subject)}`)).toEqual([
      'substitute: model claude-opus-4-5',
      'deny: role oracle',
      'deny: tool write_file',
      'allow: reading .mimir/config.yml',
      'deny: writing .mimir/config.yml',
      'deny: reading ../else',
      'deny: writing ../else',
    ]);
    expect(answers[0]).toEqual([
      part({
        resolved: [
          { written: 'claude-opus-4-5', id: 'anthropic/claude-opus-4-5-20251101' },
          { written: 'opus-4.5', id: 'anthropic/claude-opus-4-5-20251101' },
        ],
        because: { rule: 'enforcement.deniedModels: [opus-4.5]', layer: 'managed', file: PLACE, line: 2 },
      }),
    ]);
  });

  it('takes mode and tools of an agent from the log', async () => {
    const ran = await home.run(['run', 'Find balanceOf', '--yes', '--mode', 'confirm'], ruled);
    expect(ran).toMatchObject({ code: 0 });
    // The plan of the offline analyst changes nothing, so its agent has no tool that writes.
    const as = 'agent ROOT::S1, role main, mode confirm';
    const answers = [
      ...(await explained('--tool', 'edit_file', '--agent', 'ROOT::S1')),
      ...(await explained('--tool', 'bash', '--agent', 'ROOT::S1')),
    ];
    expect(answers).toMatchObject([
      { decision: 'deny', as },
      { decision: 'ask', as },
    ]);
    expect((await explain('--tool', 'bash', '--agent', 'ROOT::S9')).code).toBe(2);
  });

  it('refuses options of another question, and says what is missing', async () => {
    const wrong = await Promise.all(
      [['show', '--as', 'user'], ['check', 'p.yml', '--model', 'o3'], ['check'], ['shwo'], ['show', 'x'], []].map(
        (args) => home.run(['policy', ...args]),
      ),
    );
    expect(wrong.map(({ code, err }) => `${code} ${err.split('\n')[0]}`)).toEqual([
      '2 mimir: --as cannot be used with `mimir policy show`',
      '2 mimir: --model cannot be used with `mimir policy check`',
      '2 mimir: missing argument: FILE',
      '2 mimir: there is no "policy shwo"',
      '2 mimir: unexpected argument: "x"',
      '2 mimir: policy needs a subcommand: show, check or explain',
    ]);
  });

  it('names the endpoint that may not be called, not the list that allows the model', async () => {
    const policy = 'enforcement: { allowedModels: [haiku-4.5], allowedEndpoints: [api.anthropic.com] }\n';
    const env = { ANTHROPIC_API_KEY: 'sk-ant-none', ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' };
    const how = { ...managed(home, { files: { 'policy.yml': policy } }), env };
    const { out } = await home.run(['policy', 'explain', '--model', 'haiku-4.5'], how);
    expect(out).toMatch(
      /decided by +127\.0\.0\.1:9 is not allowed: enforcement\.allowedEndpoints.*\/etc\/mimir\/policy\.yml:1/,
    );
    expect(out).toMatch(/to change +a usable provider for it/);
  });

  it('suggests the role that was meant', async () => {
    expect((await explain('--role', 'libarian')).out).toMatch(/to change +did you mean "librarian"\?/);
  });

  it('refuses wrong questions with words', async () => {
    const wrong = await Promise.all([
      explain(),
      explain('--model', 'a', '--path', 'b'),
      explain('--tool', 'bsh'),
      explain('--path', 'x', '--role', 'findr'),
    ]);
    expect(wrong.map(({ code }) => code)).toEqual([2, 2, 2, 2]);
    expect(wrong[2]?.err).toContain('did you mean "bash"?');
    expect(wrong[3]?.err).toContain('did you mean "finder"?');
  });
});

describe('mimir policy check', () => {
  const check = (text: string, ...args: readonly string[]): Promise<Ran> => {
    writeFileSync(join(home.root, 'p.yml'), text);
    return home.run(['policy', 'check', join(home.root, 'p.yml'), ...args]);
  };

  it('finds a policy good, and says what names are taken for', async () => {
    expect(await check(POLICY)).toMatchObject({
      code: 0,
      out: [
        '· opus-4.5 resolves to anthropic/claude-opus-4-5-20251101',
        `✓ ${home.root}/p.yml is a valid managed policy by itself`,
        '  Not checked: its owner and mode, and the files beside it. `mimir doctor` does that once it is in /etc/mimir.',
        '',
      ].join('\n'),
    });
  });

  it('tells all faults with their places, syntax and meaning', async () => {
    const { code, out } = await check('enforcement: { allowedModel: [haiku-4.5] }\nmode: { max: yolp }\n', '--json');
    const [said] = jsonLines(out);
    expect({ code, said }).toEqual({
      code: 3,
      said: part({
        valid: false,
        faults: [
          part({ line: 1, column: 16, remedy: 'did you mean "allowedModels"?' }),
          part({ line: 2, column: 9, remedy: 'did you mean "yolo"?' }),
        ],
      }),
    });
    expect((await check('enforcement: { allowedSubAgents: [findr] }\n')).out).toContain(
      'p.yml:1:35: there is no role "findr"',
    );
    expect((await check('enforcement: { deniedModels: [opus-5.4] }\n')).code).toBe(3);
    expect((await home.run(['policy', 'check', 'nowhere.yml'])).code).toBe(3);
  });

  it('says of a policy for a newer Mimir just that, of names only once what they are taken for, and of an empty file that it is', async () => {
    const newer = await check('minVersion: "99.1"\nfuture: 1\n');
    expect(newer).toMatchObject({
      code: 3,
      out: holding('p.yml:1:1: this policy requires Mimir 99.1 or later; this is '),
    });
    expect(newer.out.split('\n')).toHaveLength(2);
    const twice = await check('enforcement: { deniedModels: [o3] }\nbudgets: { model: { o3: { maxCost: 1 } } }\n');
    expect(twice.out.split('\n').filter((line) => line.includes('resolves to'))).toHaveLength(1);
    expect((await check('# later\n')).out).toContain('p.yml sets no rule');
  });

  it('judges as another layer: what a project may not say, and roles beside the policy', async () => {
    expect((await check('providers: {}\ncommands: { allow: [x] }\n', '--as', 'project')).out).toContain(
      'commands.allow cannot be set by a project',
    );
    expect((await check(POLICY, '--as', 'everybody')).code).toBe(2);
    mkdirSync(join(home.root, 'agents'));
    writeFileSync(join(home.root, 'agents/audit.md'), '');
    expect((await check('enforcement: { allowedSubAgents: [audit] }\n')).code).toBe(0);
  });
});

describe('mimir policy explain of children that agents spawn', () => {
  const RULES = 'childAgents: { maxPerParent: 1 }\n';
  const openFamily = (rules: string): Home => {
    const own = openHome({ '.mimir/config.yml': rules });
    onTestFinished(() => own.remove());
    const log = openLog({ stateDir: own.state, project: own.project });
    for (const { at, body } of FAMILY) log.append(RUN, new Date(at).toISOString(), [body]);
    log.close();
    return own;
  };
  const decisionOf = async (own: Home, agent: string): Promise<readonly string[]> => {
    const { out } = await own.run(['policy', 'explain', '--tool', 'spawn', '--agent', agent]);
    return out.split('\n').filter((line) => !line.startsWith('  as') && line !== '');
  };

  it('answers to the name of the capability, with the rule and its place', async () => {
    const own = openFamily('childAgents: { mode: manual }\n');
    const { code, out } = await own.run(['policy', 'explain', '--tool', 'spawn']);
    expect(code).toBe(0);
    expect(out.split('\n')).toEqual([
      'deny  tool spawn',
      '  as              role main, mode confirm',
      '  decided by      childAgents.mode: manual: only a person may spawn (project, .mimir/config.yml:1)',
      '  to change       set childAgents.mode: auto (project, .mimir/config.yml:1)',
      '',
    ]);
  });

  it('S152: counts the children that an agent has, and how deep it stands', async () => {
    const own = openFamily(RULES);
    const place = 'project, .mimir/config.yml';
    expect(await decisionOf(own, 'ROOT')).toEqual([
      'deny  tool spawn',
      `  decided by      childAgents.maxPerParent: 1: 1 child of this agent is not done (${place}:1)`,
      `  to change       only together: set a higher childAgents.maxPerParent (${place}:1); an agent whose role has "spawn"`,
    ]);
    expect(await decisionOf(own, 'ROOT::S1::S1')).toEqual([
      'deny  tool spawn',
      '  decided by      Max nesting depth (2) exceeded. Cannot create nested agent. (default)',
      '  to change       only together: set a higher agentOrchestration.maxNestingDepth in your own config; an agent whose role has "spawn"',
    ]);
  });
});
