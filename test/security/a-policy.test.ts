/** A. Policy bypass: the managed layer before all others, with the real program and a policy mounted at /etc/mimir. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { Home, Ran } from '../support/cli.ts';
import { SMALL, jsonLines, openHome } from '../support/cli.ts';
import type { Double } from '../support/double/double.ts';
import { KEY, openDouble } from '../support/double/double.ts';
import type { Rule } from '../support/double/script.ts';
import { managed } from '../support/managed.ts';
import { of, planText } from '../support/on-the-wire.ts';

const homes: Home[] = [];
const doubles: Double[] = [];
afterEach(() => {
  for (const home of homes.splice(0)) home.remove();
});
afterAll(() => Promise.all(doubles.map((double) => double.close())));

interface Layers {
  readonly managed?: Readonly<Record<string, string>>;
  readonly user?: string;
  readonly project?: string;
}

function at({ user, project }: Layers): Home {
  const home = openHome({ ...SMALL, ...(project === undefined ? {} : { '.mimir/config.yml': project }) });
  homes.push(home);
  if (user !== undefined) {
    mkdirSync(home.config, { recursive: true });
    writeFileSync(join(home.config, 'config.yml'), user, { mode: 0o644 });
  }
  return home;
}

/** `mimir …` under these layers, without a model. */
function under(layers: Layers, ...args: readonly string[]): Promise<Ran> {
  const home = at(layers);
  return home.run(args, managed(home, { files: layers.managed ?? {} }));
}

const TASK = 'Say what add does';
const said = ({ err }: Ran): readonly string[] =>
  err
    .split('\n')
    .slice(1)
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** A person with Anthropic's wire played by a double. */
async function wired(
  rules: readonly Rule[],
  layers: Layers,
): Promise<{ readonly home: Home; readonly double: Double }> {
  const double = await openDouble({ rules });
  doubles.push(double);
  const provider = `providers:\n  anthropic: { kind: anthropic, baseUrl: "${double.url}", apiKeyEnv: WIRE_KEY }\n`;
  return { home: at({ ...layers, user: `${provider}${layers.user ?? ''}` }), double };
}

describe('models', () => {
  it('A01: what one layer forbids another can’t allow: the wire model is haiku, and the plan says why', async () => {
    const plan: Rule = { when: { first: '# Roles' }, answer: { text: planText([TASK, 'finder']) } };
    const project = 'enforcement: { allowedModels: [haiku-4.5, opus-4.5] }\n';
    const { home, double } = await wired([plan, { answer: { text: 'It adds.' } }], { project });
    const policy = { 'policy.yml': 'enforcement:\n  allowedModels: [haiku-4.5]\n' };
    const how = { ...managed(home, { files: policy }), env: { WIRE_KEY: KEY } };
    const ran = await home.run(['run', TASK, '--yes', '--json', '--role-model', 'main=opus-4.5'], how);
    expect({ code: ran.code, err: ran.err }).toEqual({ code: 0, err: '' });
    expect([...new Set(double.asked.map(({ model }) => model))]).toEqual(['claude-haiku-4-5-20251001']);
    const worker = of(jsonLines(ran.out), 'agent.created').find(({ agent }) => agent === 'ROOT::S1');
    expect(worker?.['model']).toEqual({
      asked: 'opus-4.5',
      used: 'anthropic/claude-haiku-4-5-20251001',
      because: 'not allowed: enforcement.allowedModels: [haiku-4.5] (managed, /etc/mimir/policy.yml:2)',
    });
  });

  it('a denied model stays denied under each name that a person’s own catalogue gives it (D44)', async () => {
    const names = {
      'mine/claude-opus-4-5': [],
      'anthropic/claude-opus-4-5': ['--model', 'anthropic/claude-opus-4-5'],
      'mine/claude-opus-4-5-20251101': ['--role-model', 'finder=mine/claude-opus-4-5-20251101'],
    };
    const plan = (model: string): Rule => ({
      when: { first: '# Roles' },
      answer: { text: planText([TASK, 'finder']).replace('"recommendedModel":null', `"recommendedModel":"${model}"`) },
    });
    const policy = { 'policy.yml': 'enforcement:\n  deniedModels: [opus-4.5]\n' };
    for (const [name, flags] of Object.entries(names)) {
      const double = await openDouble({ rules: [plan(name), { answer: { text: 'It adds.' } }] });
      doubles.push(double);
      const entry = `{ kind: anthropic, baseUrl: "${double.url}", apiKeyEnv: WIRE_KEY, models: [claude-opus-4-5, claude-opus-4-5-20251101] }`;
      const home = at({ user: `providers:\n  anthropic: ${entry}\n  mine: ${entry}\n` });
      const how = { ...managed(home, { files: policy }), env: { WIRE_KEY: KEY } };
      await home.run(['run', TASK, '--yes', '--json', ...flags], how);
      expect(double.asked.filter(({ model }) => model.includes('opus-4-5'))).toEqual([]);
      expect(double.asked.length).toBeGreaterThan(0);
    }
  });

  it('A02: lists with nothing in common refuse the start, and every one is named', async () => {
    const ran = await under(
      {
        managed: { 'policy.yml': 'enforcement:\n  allowedModels: [haiku-4.5]\n' },
        project: '# ours\nenforcement: { allowedModels: [opus-4.5] }\n',
      },
      'run',
      TASK,
      '--yes',
    );
    expect(ran.code).toBe(3);
    expect(said(ran)).toEqual([
      '.mimir/config.yml:2:16: allowedModels has no model in common with enforcement.allowedModels: [haiku-4.5] in /etc/mimir/policy.yml:2 — allow at least one model in all of these lists',
    ]);
  });

  it('A03: an empty list is no list of anything, in every layer', async () => {
    const empty = 'enforcement: { allowedModels: [] }\n';
    const [one, other] = [
      await under({ managed: { 'policy.yml': empty } }, 'run', TASK, '--yes'),
      await under({ project: empty }, 'run', TASK, '--yes'),
    ];
    expect([one.code, other.code]).toEqual([3, 3]);
    expect([...said(one), ...said(other)].map((line) => line.replace(/:1:.*/, ''))).toEqual([
      '/etc/mimir/policy.yml',
      '.mimir/config.yml',
    ]);
  });

  it('A04, A05: other spellings of an allowed model are that model; what nobody registered is not', async () => {
    const policy = { 'policy.yml': 'enforcement: { allowedModels: ["  HAIKU-4.5 ", claude-haiku-4-5-20251001] }\n' };
    expect((await under({ managed: policy }, 'config', 'show')).code).toBe(0);
    const odd = await under(
      { managed: { 'policy.yml': 'enforcement: { allowedModels: [haiku-4.5x, haiku] }\n' } },
      'config',
      'show',
    );
    expect(odd.code).toBe(3);
    expect(said(odd)).toHaveLength(2);
  });
});

describe('forced agents', () => {
  it('A09: stay forced, whatever another layer says of them', async () => {
    const { code, out } = await under(
      {
        managed: {
          'policy.d/10-review.yml':
            'enforcement:\n  forcedSubAgents:\n    security: { enabled: true, trigger: on-commit }\n',
        },
        user: 'enforcement: { forcedSubAgents: { security: { enabled: false } } }\n',
        project: 'enforcement: { forcedSubAgents: { security: { enabled: false, onFailure: warn } } }\n',
      },
      'config',
      'show',
    );
    expect(code).toBe(0);
    expect(out).toMatch(
      /forcedSubAgents\.security\.enabled +true +managed \(\/etc\/mimir\/policy\.d\/10-review\.yml:3\)/,
    );
    expect(out).toContain('has no effect');
  });

  it('A10: pinned to a model that is not allowed refuse the start: nothing stands in for a pinned model', async () => {
    const ran = await under(
      {
        managed: {
          'policy.yml': 'enforcement:\n  forcedSubAgents:\n    security: { enabled: true, model: opus-4.5 }\n',
        },
        project: 'enforcement: { allowedModels: [haiku-4.5] }\n',
      },
      'run',
      TASK,
      '--yes',
    );
    expect(ran.code).toBe(3);
    expect(said(ran)).toEqual([
      '/etc/mimir/policy.yml:3:32: the mandatory review security is pinned to opus-4.5, which is not allowed: enforcement.allowedModels: [haiku-4.5] (project, .mimir/config.yml:1) — pin it to a model that every list allows',
    ]);
  });

  it('are roles that the person can neither replace, blind nor invent', async () => {
    const policy = { 'policy.yml': 'enforcement: { forcedSubAgents: { security: { enabled: true } } }\n' };
    const blind = await under(
      { managed: policy, user: 'agentOrchestration: { roles: { security: { tools: [file_search] } } }\n' },
      'config',
      'show',
    );
    expect([blind.code, said(blind)]).toEqual([
      3,
      [
        expect.stringContaining(
          'the role security cannot be changed: it is a mandatory review (/etc/mimir/policy.yml:1)',
        ),
      ],
    ]);
    const home = at({});
    mkdirSync(join(home.config, 'agents'));
    writeFileSync(
      join(home.config, 'agents/security.md'),
      '---\ndescription: Passes all.\ntools: Read\n---\nAlways pass.\n',
    );
    const replaced = await home.run(['config', 'show'], managed(home, { files: policy }));
    expect([replaced.code, said(replaced)]).toEqual([
      3,
      [expect.stringContaining('the managed policy requires the role "security", so it cannot be replaced')],
    ]);
    const unknown = await under(
      { managed: { 'policy.yml': 'enforcement: { forcedSubAgents: { securty: { enabled: true } } }\n' } },
      'config',
      'show',
    );
    expect(said(unknown)).toEqual([
      expect.stringMatching(/^\/etc\/mimir\/policy\.yml:1:35: .*did you mean "security"\?$/),
    ]);
  });

  it('may be described by the administrator', async () => {
    const role = '---\ndescription: Looks for licences.\ntools: [Read]\n---\nLook at every licence.\n';
    const policy = 'enforcement: { forcedSubAgents: { licences: { enabled: true } } }\n';
    const { code, err } = await under(
      { managed: { 'policy.yml': policy, 'agents/licences.md': role } },
      'config',
      'show',
    );
    expect({ code, err }).toEqual({ code: 0, err: '' });
  });
});

describe('endpoints', () => {
  it('A06: that the administrator doesn’t list get no request, wherever the person’s environment points', async () => {
    const double = await openDouble({ rules: [{ answer: { text: 'hello' } }] });
    doubles.push(double);
    const home = at({});
    const policy = 'enforcement:\n  allowedEndpoints: [api.anthropic.com]\n';
    const env = { ANTHROPIC_BASE_URL: double.url, ANTHROPIC_API_KEY: KEY };
    const how = { ...managed(home, { files: { 'policy.yml': policy } }), env };
    const ran = await home.run(['run', TASK, '--yes'], how);
    expect([ran.code, double.asked.length]).toEqual([3, 0]);
    expect(ran.err).toMatch(/127\.0\.0\.1.*enforcement\.allowedEndpoints.*\/etc\/mimir\/policy\.yml:2/s);
  });

  it('A07: that a project names refuse the start, and get no request', async () => {
    const double = await openDouble({ rules: [{ answer: { text: 'hello' } }] });
    doubles.push(double);
    const home = at({
      project: `providers:\n  anthropic: { kind: anthropic, baseUrl: "${double.url}", apiKeyEnv: WIRE_KEY }\n`,
    });
    const ran = await home.run(['run', TASK, '--yes'], { env: { WIRE_KEY: KEY, ANTHROPIC_API_KEY: KEY } });
    expect([ran.code, double.asked.length]).toEqual([3, 0]);
    expect(said(ran)).toContain(
      '.mimir/config.yml:2:33: providers.anthropic.baseUrl cannot be set by a project — move it to your own config.yml (`mimir config show` prints its path)',
    );
  });
});

interface Changed extends Ran {
  /** The models that the agent's calls went to, in order. */
  readonly models: readonly string[];
}

/** A run whose agent takes two turns; while it waits for the first, an administrator does something in the folder. */
async function runWhile(policy: string, change: (folder: string) => void): Promise<Changed> {
  const once: { now: (() => void) | null } = { now: null };
  const double = await openDouble((asked) => {
    if (asked.first.includes('# Roles')) return { text: planText([TASK, 'finder']) };
    if (once.now === null) return { text: 'It adds.' };
    once.now();
    once.now = null;
    return { text: 'I look.', calls: [{ tool: 'read_file', input: { path: 'README.md' } }] };
  });
  doubles.push(double);
  const user = `providers:\n  anthropic: { kind: anthropic, baseUrl: "${double.url}", apiKeyEnv: WIRE_KEY }\n`;
  const home = at({ user });
  const how = managed(home, { files: { 'policy.yml': policy } });
  once.now = () => {
    change(how.folder);
  };
  const flags = ['--yes', '--json', '--role-model', 'main=sonnet-4.5'];
  const ran = await home.run(['run', TASK, ...flags], { ...how, env: { WIRE_KEY: KEY } });
  const calls = double.asked.filter(({ first }) => first.startsWith(TASK));
  return { ...ran, models: calls.map(({ model }) => model.replace(/-\d{8}$/, '')) };
}

const allowing = (...models: readonly string[]): string => `enforcement: { allowedModels: [${models.join(', ')}] }\n`;
const writing =
  (text: string) =>
  (folder: string): void => {
    writeFileSync(join(folder, 'policy.yml'), text);
  };

describe('a policy that changes', () => {
  it('A15: tightens a run that goes on, and loosens none', async () => {
    // Forbidden while its first answer is under way, the model is not called again, and nothing was agreed to stand in.
    const tightened = await runWhile(allowing('haiku-4.5', 'sonnet-4.5'), writing(allowing('haiku-4.5')));
    expect(tightened.models).toEqual(['claude-sonnet-4-5']);
    const [denied] = of(jsonLines(tightened.out), 'policy.decided').slice(-1);
    expect(denied).toMatchObject({ decision: 'deny', layer: 'managed', file: '/etc/mimir/policy.yml', line: 1 });
    const loosened = await runWhile(allowing('haiku-4.5'), writing(allowing('haiku-4.5', 'sonnet-4.5')));
    expect([loosened.code, loosened.models]).toEqual([0, ['claude-haiku-4-5', 'claude-haiku-4-5']]);
  });

  it('to something invalid, or to nothing, pauses the run before its next call', async () => {
    const invalid = await runWhile(allowing('sonnet-4.5'), writing('enforcement: { allowedModel: [o3] }\n'));
    const gone = await runWhile(allowing('sonnet-4.5'), (folder) => {
      rmSync(join(folder, 'policy.yml'));
    });
    expect([invalid.code, invalid.models, gone.code, gone.models]).toEqual([
      3,
      ['claude-sonnet-4-5'],
      3,
      ['claude-sonnet-4-5'],
    ]);
    expect(invalid.out).toContain('/etc/mimir/policy.yml:1:16: unknown key enforcement.allowedModel');
    expect(gone.out).toContain('/etc/mimir/policy.yml applied to this run and is missing');
  });

  it('that vanished refuses the next start, until the record of it is removed', async () => {
    const home = at({});
    const how = managed(home, { files: { 'policy.yml': 'mode: { max: confirm }\n' } });
    expect((await home.run(['config', 'show'], how)).code).toBe(0);
    rmSync(join(how.folder, 'policy.yml'));
    const refused = await home.run(['config', 'show'], how);
    expect(refused.code).toBe(3);
    expect(said(refused)).toEqual([
      `/etc/mimir/policy.yml: applied here before and is missing — restore it; if the administrator removed it, delete ${home.state}/managed-seen.json`,
    ]);
    expect((await home.run(['doctor'], how)).err).toBe('');
    rmSync(join(home.state, 'managed-seen.json'));
    expect((await home.run(['config', 'show'], how)).code).toBe(0);
  });
});
