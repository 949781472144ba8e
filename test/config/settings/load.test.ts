import { appendFileSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig, showConfig } from '../../../src/config/settings/load.ts';
import { placesOf } from '../../../src/config/files/read-text.ts';
import { findProject } from '../../../src/config/trust/project.ts';
import { configSchemaJson, durationMs } from '../../../src/config/schema/schema.ts';
import { PACKAGE, faults, freshDirectory, loaded } from '../some-place.ts';

describe('loading', () => {
  it('needs no file of anybody: the package has the defaults', () => {
    const { rules, notes, prompts } = loaded();
    expect(notes).toEqual([]);
    expect([
      rules.mode,
      rules.maxMode.value,
      rules.maxParallelAgents.value,
      rules.maxNestingDepth.value,
      rules.onFailure.value,
    ]).toEqual(['confirm', 'yolo', 4, 2, 'ask']);
    expect(rules.runBudget.value).toEqual({ maxCost: 10, maxDuration: 3_600_000 });
    expect([rules.allowedModels, rules.deniedModels, rules.allowedSubAgents, rules.disabledRoles]).toEqual([
      [],
      [],
      [],
      [],
    ]);
    expect(rules.enabled.from).toEqual({
      rule: 'agentOrchestration.enabled: true',
      layer: 'default',
      file: null,
      line: null,
    });
    expect([prompts.common, prompts.plan, prompts.merge].every((text) => text.length > 200)).toBe(true);
  });

  it('refuses a file by the other ending: its restrictions would hold for nobody', () => {
    const files = { 'work/.mimir/config.yaml': 'mode: { max: human }\n', '.config/mimir/config.yaml': '' };
    expect(faults({ files })).toEqual([
      '~/.config/mimir/config.yaml: is not read under this name — rename it to config.yml',
      '.mimir/config.yaml: is not read under this name — rename it to config.yml',
    ]);
  });

  it('reads the package’s own .mimir once, as defaults, in Mimir’s own checkout too', () => {
    const env = { HOME: freshDirectory() };
    const own = loadConfig({ packageRoot: PACKAGE, projectRoot: PACKAGE, env });
    const elsewhere = loadConfig({ packageRoot: PACKAGE, projectRoot: freshDirectory(), env });
    expect(own.ok && own.value.rules).toEqual(elsewhere.ok && elsewhere.value.rules);
    expect(own.ok && own.value.notes).toEqual([]);
  });

  it('takes the defaults in another checkout of Mimir for what they are, until a byte of them is changed', () => {
    const projectRoot = freshDirectory();
    cpSync(path.join(PACKAGE, '.mimir'), path.join(projectRoot, '.mimir'), { recursive: true });
    const env = { HOME: freshDirectory() };
    const copy = loadConfig({ packageRoot: PACKAGE, projectRoot, env });
    const elsewhere = loadConfig({ packageRoot: PACKAGE, projectRoot: freshDirectory(), env });
    expect(copy.ok && copy.value.rules).toEqual(elsewhere.ok && elsewhere.value.rules);
    appendFileSync(path.join(projectRoot, '.mimir/config.yml'), '# changed\n');
    expect(loadConfig({ packageRoot: PACKAGE, projectRoot, env })).toMatchObject({ ok: false });
  });

  it('reads the user’s file below XDG_CONFIG_HOME when that is set', () => {
    const home = freshDirectory();
    const config = path.join(home, 'elsewhere');
    mkdirSync(path.join(config, 'mimir'), { recursive: true });
    writeFileSync(path.join(config, 'mimir/config.yml'), 'mode: { default: human }\n');
    const result = loadConfig({
      packageRoot: PACKAGE,
      projectRoot: freshDirectory(),
      env: { HOME: home, XDG_CONFIG_HOME: config },
    });
    expect(result.ok && result.value.rules.mode).toBe('human');
  });

  it('refuses a mode that a rule forbids, and lowers a default silently chosen elsewhere', () => {
    const user = 'mode:\n  max: confirm\n';
    expect(faults({ user }, { mode: 'yolo' })).toEqual([
      '--mode yolo: is less strict than mode.max: confirm allows (~/.config/mimir/config.yml:2) — use --mode confirm',
    ]);
    expect(loaded({ user: 'mode: { default: yolo, max: confirm }' }).rules.mode).toBe('confirm');
  });

  it('reads the spellings of other programs from one table (D30)', () => {
    const user =
      'child_agents:\n  mode: manual\n  auto_complete: { idle_timeout: 60 }\nclaude: { default_model: haiku-4.5 }\nsessions: { naming: { pattern: "x" } }\n';
    expect(loaded({ user }).preferences.childAgents).toEqual({
      mode: 'manual',
      orphans: 'adopt',
      messages: 'run',
      maxPerParent: 16,
      autoComplete: { idleTimeout: 60 },
      defaultModel: 'haiku-4.5',
      naming: { pattern: 'x' },
    });
    expect(faults({ user: 'child_agents: { modus: manual }' })).toHaveLength(1);
  });

  it('tells all faults of all files at once', () => {
    expect(faults({ user: 'mode: 1', project: 'limits: 2' })).toHaveLength(2);
  });
});

describe('showing the configuration', () => {
  it('names every key with its value, its layer and its place', () => {
    const lines = showConfig(
      loaded({ user: 'mode:\n  default: human\n', project: 'mode: { max: confirm }' }, { maxCost: 2 }),
    );
    const line = (key: string): string | undefined =>
      lines.find((each) => each.startsWith(`${key} `))?.replace(/ +/g, ' ');
    expect(line('mode.default')).toBe('mode.default human user (~/.config/mimir/config.yml:2)');
    expect(line('mode.max')).toBe('mode.max confirm project (.mimir/config.yml:1)');
    expect(line('budgets.run.maxCost')).toBe('budgets.run.maxCost 2 command line (--max-cost 2)');
    expect(line('agentOrchestration.enabled')).toBe('agentOrchestration.enabled true default');
  });

  it('shows lists that several layers name one below the other', () => {
    const lines = showConfig(
      loaded({
        user: 'enforcement: { allowedModels: [haiku-4.5, o3] }',
        project: 'enforcement: { allowedModels: [haiku-4.5] }',
      }),
    );
    expect(
      lines.filter((each) => each.startsWith('enforcement.allowedModels')).map((each) => each.replace(/ +/g, ' ')),
    ).toEqual([
      'enforcement.allowedModels [haiku-4.5, o3] user (~/.config/mimir/config.yml:1)',
      'enforcement.allowedModels [haiku-4.5] project (.mimir/config.yml:1)',
    ]);
  });

  it('ends with the notes', () => {
    const lines = showConfig(loaded({ project: 'ui: { theme: x }' }));
    expect(lines.at(-1)).toMatch(/not trusted: ui\.theme/);
  });

  it('has a JSON schema for editors', () => {
    const schema: unknown = JSON.parse(JSON.stringify(configSchemaJson()));
    expect(schema).toMatchObject({
      type: 'object',
      additionalProperties: false,
      properties: { mode: { type: 'object' } },
    });
  });
});

describe('durations', () => {
  it('are numbers with a unit, or milliseconds', () => {
    expect(['500ms', '30s', '10m', '1h', '90d', 250, '0s'].map(durationMs)).toEqual([
      500, 30_000, 600_000, 3_600_000, 7_776_000_000, 250, 0,
    ]);
    expect(['', '10', 'm', '1.5h', '10 m', '-1s'].map(durationMs)).toEqual([null, null, null, null, null, null]);
  });
});

describe('the project', () => {
  const made = (home: string, ...parts: readonly string[]): string => {
    const directory = path.join(home, ...parts);
    mkdirSync(directory, { recursive: true });
    return directory;
  };

  it('is the nearest directory with .mimir or .git', () => {
    const home = freshDirectory();
    const deep = made(home, 'a', 'b', 'c');
    made(home, 'a', '.git');
    expect(findProject(deep, home)).toEqual({ ok: true, value: { root: path.join(home, 'a'), by: '.git' } });
    made(home, 'a', 'b', '.mimir');
    expect(findProject(deep, home)).toEqual({ ok: true, value: { root: path.join(home, 'a', 'b'), by: '.mimir' } });
  });

  it('is never the home directory by its marks, nor anything above it', () => {
    const home = made(freshDirectory(), 'home');
    made(home, '.mimir');
    made(path.dirname(home), '.git');
    const work = made(home, 'work');
    expect(findProject(work, home)).toEqual({ ok: true, value: { root: work, by: 'directory' } });
    expect(findProject(home, home)).toEqual({ ok: true, value: { root: home, by: 'directory' } });
  });

  it('is refused with words when it is no directory, or its marks are links', () => {
    const home = freshDirectory();
    const file = path.join(home, 'file');
    writeFileSync(file, '');
    const fault = (directory: string): string => {
      const result = findProject(directory, home);
      return result.ok ? '' : `${result.fault.problem} — ${result.fault.remedy}`;
    };
    expect(fault(file)).toBe('is a file, not a directory — give the directory of the project');
    expect(fault(path.join(file, 'x'))).toBe(
      'has a file in its path where a directory is expected — give the directory of the project',
    );
    expect(fault(path.join(home, 'none'))).toBe('does not exist — check the path, or create the directory first');
    const linked = made(home, 'linked');
    symlinkSync(home, path.join(linked, '.git'));
    expect(fault(linked)).toBe('is a symbolic link — replace it with the directory itself');
  });
});

describe('places', () => {
  it('follow the XDG rules, and ignore relative ones', () => {
    expect(placesOf({ HOME: '/home/a' }, '/x')).toMatchObject({
      home: '/home/a',
      config: '/home/a/.config/mimir',
      state: '/home/a/.local/state/mimir',
      runtime: '/home/a/.local/state/mimir/run',
      // No project may hold one of these or lie in one.
      own: [
        '/home/a/.config/mimir',
        '/home/a/.local/state/mimir',
        '/home/a/.local/state/mimir/run',
        '/home/a/.cache/mimir',
        '/etc/mimir',
      ],
    });
    expect(placesOf({ XDG_CONFIG_HOME: 'rel', XDG_STATE_HOME: '/s', XDG_RUNTIME_DIR: '/run/1' }, '/x')).toMatchObject({
      home: '/x',
      config: '/x/.config/mimir',
      state: '/s/mimir',
      runtime: '/run/1/mimir',
    });
  });
});
