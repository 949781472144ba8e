import { chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { faultText } from '../../../src/config/files/read-text.ts';
import { faults, load, loaded, somePlace } from '../some-place.ts';

const USER = '~/.config/mimir/config.yml';
const PROJECT = '.mimir/config.yml';
const both = (text: string): readonly string[] => [faults({ user: text }), faults({ project: text })].flat();

describe('wrong values', () => {
  it('are refused with their place, in every layer, and never converted (B06)', () => {
    const text = 'agentOrchestration:\n  enabled: "false"\n  maxNestingDepth: "2"\n  maxParallelAgents: 2.5\n';
    const told = (file: string): readonly string[] => [
      `${file}:2:3: agentOrchestration.enabled is "false" — use true or false, without quotes`,
      `${file}:3:3: agentOrchestration.maxNestingDepth is "2" — use a number, without quotes`,
      `${file}:4:3: agentOrchestration.maxParallelAgents is 2.5 — use a whole number, without quotes`,
    ];
    expect(both(text)).toEqual([...told(USER), ...told(PROJECT)]);
    expect(loaded({ user: 'agentOrchestration: { maxParallelAgents: 4.0 }' }).rules.maxParallelAgents.value).toBe(4);
  });

  it.each([
    ['agentOrchestration: { maxNestingDepth: 9 }', '1:23: agentOrchestration.maxNestingDepth is 9 — use at most 8'],
    [
      'agentOrchestration: { maxParallelAgents: 0 }',
      '1:23: agentOrchestration.maxParallelAgents is 0 — use at least 1',
    ],
    ['mode: { max: yollo }', '1:9: mode.max is "yollo" — did you mean "yolo"?'],
    ['mode: { max: loud }', '1:9: mode.max is "loud" — use one of: human, confirm, yolo'],
    [
      'budgets: { run: { maxDuration: soon } }',
      '1:19: budgets.run.maxDuration is "soon" — use a duration such as 500ms, 30s, 10m, 1h or 90d',
    ],
    ['budgets: { run: { maxCost: -1 } }', '1:19: budgets.run.maxCost is -1 — use at least 0'],
    [
      'enforcement: { allowedModels: haiku-4.5 }',
      '1:16: enforcement.allowedModels is "haiku-4.5" — use a list: [a, b]',
    ],
    ['enforcement:', '1:1: enforcement is empty — use keys and values, or remove it'],
    ['- a', '1:1: the file is a list — use keys and values, or remove it'],
  ])('are told with what to write instead: %s', (text, expected) => {
    expect(faults({ user: text })).toEqual([`${USER}:${expected}`]);
  });

  it('of limits are refused however they are written (G02)', () => {
    const odd = ['-1', '.inf', '-.inf', '.nan', '1e999', '"100"', 'null', '~', 'true', '[1]'];
    const taken = ['maxCost', 'maxTokens', 'maxDuration'].flatMap((limit) =>
      odd
        .filter((value) => faults({ user: `budgets: { run: { ${limit}: ${value} } }` }).length !== 1)
        .map((value) => `${limit}: ${value}`),
    );
    expect(taken).toEqual([]);
  });
});

describe('unknown keys', () => {
  it('are refused in every layer, wherever they stand (B09)', () => {
    expect(both('enforcement: { allowedModel: [haiku-4.5] }')).toEqual([
      `${USER}:1:16: unknown key enforcement.allowedModel — did you mean "allowedModels"?`,
      `${PROJECT}:1:16: unknown key enforcement.allowedModel — did you mean "allowedModels"?`,
    ]);
    expect(both('ui: { teme: x }')).toEqual([
      `${USER}:1:7: unknown key ui.teme — did you mean "theme"?`,
      `${PROJECT}:1:7: unknown key ui.teme — did you mean "theme"?`,
    ]);
  });

  it('are all told at once, with what stands there instead where nothing is near', () => {
    expect(
      faults({ user: 'provider: { a: {} }\ncolour: red\nbudgets: { role: { oracle: { maxCosts: 1 } } }' }),
    ).toEqual([
      `${USER}:1:1: unknown key provider — did you mean "providers"?`,
      `${USER}:2:1: unknown key colour — use one of: agentOrchestration, enforcement, budgets, limits, mode, commands, permissions, sandbox, env, childAgents, agents, providers, …`,
      `${USER}:3:30: unknown key budgets.role.oracle.maxCosts — did you mean "maxCost"?`,
    ]);
  });

  it('for a key of a provider name the variable that belongs there', () => {
    expect(faults({ user: 'providers: { a: { kind: anthropic, apiKey: abc } }' })).toEqual([
      `${USER}:1:36: unknown key providers.a.apiKey — set a variable and give its name, as in "apiKeyEnv: ANTHROPIC_API_KEY"; keys are not accepted in files`,
    ]);
  });

  it('of what is not built yet are unknown', () => {
    expect(faults({ user: 'notifications: { matrix: "@me" }' })).toEqual([
      `${USER}:1:18: unknown key notifications.matrix — use one of: bell, desktop, webhook, ntfy, telegram, quietHours`,
    ]);
  });

  it('named like members of objects are unknown as well', () => {
    expect(faults({ project: 'constructor: 1' })).toHaveLength(1);
    expect(faults({ project: 'toString: 1' })).toHaveLength(1);
  });
});

describe('the file of a project', () => {
  it('can grant nothing (A07)', () => {
    const text =
      'providers:\n  anthropic: { kind: anthropic, baseUrl: "https://evil.example" }\ncommands: { allow: ["curl **"] }\ntrust: ["/"]\nminVersion: "9"\n';
    expect(faults({ project: text })).toEqual([
      `${PROJECT}:2:16: providers.anthropic.kind cannot be set by a project — move it to your own config.yml (\`mimir config show\` prints its path)`,
      `${PROJECT}:2:33: providers.anthropic.baseUrl cannot be set by a project — move it to your own config.yml (\`mimir config show\` prints its path)`,
      `${PROJECT}:3:13: commands.allow cannot be set by a project — move it to your own config.yml (\`mimir config show\` prints its path)`,
      `${PROJECT}:4:1: trust cannot be set by a project — move it to your own config.yml (\`mimir config show\` prints its path)`,
      `${PROJECT}:5:1: minVersion is only allowed in the managed policy — remove it`,
    ]);
  });

  it('loosens nothing and prefers nothing before it is trusted (B14)', () => {
    const text =
      'mode: { max: yolo, default: yolo }\nagentOrchestration:\n  promptForApproval: false\n  maxParallelAgents: 99\n  roles: { finder: { defaultModel: opus-4.5 } }\n';
    const { rules, roles, notes } = loaded({ project: text, user: 'mode: { max: confirm }' });
    expect([rules.mode, rules.maxMode.value, rules.promptForApproval.value, rules.maxParallelAgents.value]).toEqual([
      'confirm',
      'confirm',
      true,
      4,
    ]);
    expect(roles.find(({ name }) => name === 'finder')?.models).toEqual(['haiku-4.5', 'qwen-3', 'sonnet-4.5']);
    expect(notes).toEqual([
      `${PROJECT}: ignored because this project is not trusted: mode.default, agentOrchestration.roles.finder.defaultModel`,
      `agentOrchestration.promptForApproval: false (project, ${PROJECT}:3) has no effect: agentOrchestration.promptForApproval: true (default) is tighter`,
      `agentOrchestration.maxParallelAgents: 99 (project, ${PROJECT}:4) has no effect: agentOrchestration.maxParallelAgents: 4 (default) is tighter`,
      `mode.max: yolo (project, ${PROJECT}:1) has no effect: mode.max: confirm (user, ${USER}:1) is tighter`,
    ]);
  });

  it('tightens, and every rule knows its file and line', () => {
    const { rules } = loaded({
      project: 'agentOrchestration:\n  maxParallelAgents: 2\nenforcement:\n  allowedSubAgents:\n    - finder\n',
    });
    expect(rules.maxParallelAgents).toEqual({
      value: 2,
      from: { rule: 'agentOrchestration.maxParallelAgents: 2', layer: 'project', file: PROJECT, line: 2 },
    });
    expect(rules.allowedSubAgents).toEqual([
      {
        value: ['finder'],
        from: { rule: 'enforcement.allowedSubAgents: [finder]', layer: 'project', file: PROJECT, line: 4 },
      },
    ]);
  });
});

describe('files that are odd', () => {
  it('are refused when they are too large, read no further than the cap (B08)', () => {
    const large = somePlace({ user: `#${'x'.repeat(64 * 1024)}` });
    expect(load(large)).toEqual({
      ok: false,
      fault: [{ file: USER, line: null, column: null, problem: 'is larger than 64 KiB', remedy: 'shorten it' }],
    });
    const sparse = somePlace({ project: '' });
    truncateSync(path.join(sparse.project, PROJECT), 100 * 1024 * 1024);
    const began = performance.now();
    expect(load(sparse).ok).toBe(false);
    expect(performance.now() - began).toBeLessThan(20_000);
    expect(load(somePlace({ user: `#${'x'.repeat(64 * 1024 - 1)}` })).ok).toBe(true);
  });

  it('are refused when they are links, directories, not UTF-8, or anybody’s', () => {
    const told = (change: (place: ReturnType<typeof somePlace>) => void): readonly string[] => {
      const place = somePlace({ user: '' });
      change(place);
      const result = load(place);
      return result.ok ? [] : result.fault.map(faultText);
    };
    const mimir = (project: string): string => path.join(project, '.mimir');
    expect(told(({ project, home }) => symlinkSync(home, mimir(project)))).toEqual([
      '.mimir: is a symbolic link — replace it with the directory itself, or remove it',
    ]);
    expect(told(({ project }) => writeFileSync(mimir(project), ''))).toEqual([
      '.mimir: is a file, not a directory — replace it with the directory itself, or remove it',
    ]);
    expect(
      told(({ project }) => {
        mkdirSync(mimir(project));
        symlinkSync('/etc/passwd', path.join(project, PROJECT));
      }),
    ).toEqual([`${PROJECT}: is a symbolic link — replace it with the file itself`]);
    expect(told(({ project }) => mkdirSync(path.join(project, PROJECT), { recursive: true }))).toEqual([
      `${PROJECT}: is not a regular file — replace it with a plain file, or remove it`,
    ]);
    expect(
      told(({ home }) => writeFileSync(path.join(home, '.config/mimir/config.yml'), Buffer.from([0x61, 0xff]))),
    ).toEqual([`${USER}: is not UTF-8 text — save it as UTF-8`]);
    expect(told(({ home }) => chmodSync(path.join(home, '.config/mimir/config.yml'), 0o666))).toEqual([
      `${USER}: belongs to another user, or is writable by others — make yourself its owner and run chmod go-w on it`,
    ]);
  });
});
