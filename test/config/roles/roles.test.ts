import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { faultText } from '../../../src/config/files/read-text.ts';
import { readRole } from '../../../src/config/roles/role-file.ts';
import { RoleName } from '../../../src/domain/ids.ts';
import type { Role } from '../../../src/domain/agents/role.ts';
import { resolveModel } from '../../../src/policy/models.ts';
import { plannableRoles } from '../../../src/policy/roles.ts';
import { PACKAGE, faults, load, loaded, somePlace } from '../some-place.ts';

const read = (text: string, kind: 'md' | 'json' = 'md', stem = 'mine'): ReturnType<typeof readRole> =>
  readRole({ file: `agents/${stem}.${kind}`, stem, kind, text, source: `agents/${stem}.${kind}` });
const told = (text: string, kind: 'md' | 'json' = 'md', stem = 'mine'): readonly string[] => {
  const result = read(text, kind, stem);
  return result.ok ? result.value.notes : result.fault.map(faultText);
};
const agent = (tools: string): string => `---\ndescription: Mine\n${tools}\n---\nDo it.\n`;
const roleIn = (roles: readonly Role[], name: string): Role | undefined => roles.find((role) => role.name === name);

describe('the built-in roles', () => {
  it('have the capabilities of the contract’s table', () => {
    const { roles } = loaded();
    expect(roles.map(({ name, capabilities }) => `${name}: ${capabilities.join(' ')}`)).toEqual([
      'main: read write shell git-read git-write spawn',
      'finder: read git-read',
      'oracle: read write shell git-read',
      'librarian: read',
      'refactoring: read write shell',
      'rush: read shell git-read',
      'reviewer: read git-read',
      'security: read git-read',
      'tester: read write shell git-read',
      'code: read write shell git-read',
      'explore: read shell',
      'plan: read shell',
    ]);
  });

  it('name their models in the order of fallback (O078 to O085, O087)', () => {
    const { roles } = loaded();
    expect(Object.fromEntries(roles.slice(0, 9).map(({ name, models }) => [name, models.join(' ')]))).toEqual({
      main: 'sonnet-4.5',
      finder: 'haiku-4.5 qwen-3 sonnet-4.5',
      oracle: 'o3 gpt-5 sonnet-4.5',
      librarian: 'sonnet-4.5 haiku-4.5',
      refactoring: 'sonnet-4.5',
      rush: 'haiku-4.5 qwen-3',
      reviewer: 'sonnet-4.5 o3',
      security: 'sonnet-4.5 o3',
      tester: 'sonnet-4.5',
    });
    expect(roles.flatMap(({ models }) => models).filter((name) => resolveModel(name, []) === null)).toEqual([]);
  });

  it('take 150 turns where they write, 60 where they read, rush 5 in half a minute, and are planned as decided (D8, D31, D37, D38, O155, O158)', () => {
    const { roles, rules } = loaded();
    expect(Object.fromEntries(roles.map(({ name, iterations }) => [name, iterations]))).toEqual({
      main: 150,
      finder: 60,
      oracle: 150,
      librarian: 60,
      refactoring: 150,
      rush: 5,
      reviewer: 60,
      security: 60,
      tester: 150,
      code: 150,
      explore: 60,
      plan: 60,
    });
    expect(roles.flatMap(({ name, budget }) => (budget === undefined ? [] : [[name, budget]]))).toEqual([
      ['rush', { maxDuration: 30_000 }],
    ]);
    expect(plannableRoles(rules, roles).map(({ name }) => name)).toEqual([
      'main',
      'finder',
      'oracle',
      'librarian',
      'refactoring',
      'rush',
      'reviewer',
      'tester',
      'code',
    ]);
  });

  it('are all the files there are, each with a prompt of its own (O002)', () => {
    const { roles } = loaded();
    expect(readdirSync(path.join(PACKAGE, '.mimir/agents'))).toHaveLength(roles.length);
    expect(new Set(roles.map(({ prompt }) => prompt)).size).toBe(roles.length);
    expect(roles.every(({ prompt, source }) => prompt.length > 300 && source === 'built-in')).toBe(true);
  });
});

describe('a role file', () => {
  it('is front matter and a prompt', () => {
    expect(
      read(
        '---\ndescription: Reads logs\ntools: [file_operations, git]\nmodels: [haiku-4.5]\niterations: 7\nmaxDuration: 90s\nwrites: true\nplanned: false\n---\n\nRead the logs.\n',
      ),
    ).toEqual({
      ok: true,
      value: {
        role: {
          name: RoleName.parse('mine'),
          description: 'Reads logs',
          prompt: 'Read the logs.',
          tools: ['file_operations', 'git'],
          capabilities: ['read', 'write', 'git-read'],
          models: ['haiku-4.5'],
          iterations: 7,
          budget: { maxDuration: 90_000 },
          planned: false,
          source: 'agents/mine.md',
        },
        notes: [],
      },
    });
  });

  it('may be JSON with its name inside (T031 to T035)', () => {
    const json = JSON.stringify({
      name: 'critic',
      description: 'Judges',
      tools: ['bash', 'read_file'],
      prompt: 'Judge.',
    });
    const result = read(json, 'json');
    expect(result.ok && [result.value.role.name, result.value.role.capabilities, result.value.role.prompt]).toEqual([
      'critic',
      ['read', 'shell'],
      'Judge.',
    ]);
  });

  it.each([
    ['tools: [Read, Grep, Glob]', 'read'],
    ['tools: Read, Edit', 'read write'],
    ['tools: [Edit]', 'write'],
    ['tools: [MultiEdit, Bash, read_file]', 'read write shell'],
    ['tools: [file_operations]', 'read'],
    ['tools: ["*"]', 'read write shell git-read'],
    ['tools: [Task, Read]', 'read'],
    ['tools: []', ''],
  ])('maps the names of other programs: %s', (tools, expected) => {
    const result = read(agent(tools));
    expect(result.ok && result.value.role.capabilities.join(' ')).toBe(expected);
  });

  it('without tools may only read, and is told so', () => {
    const result = read('---\ndescription: Mine\n---\nDo it.');
    expect(result.ok && result.value.role.capabilities).toEqual(['read']);
    expect(told('---\ndescription: Mine\n---\nDo it.')).toEqual([
      'agents/mine.md:2:1: lists no tools, so this role can only read — add "tools:" to give it more',
    ]);
  });

  it('with tools that nobody knows is loaded without them, and is told so (O077)', () => {
    expect(told(agent('tools: [Raed, file_search]\ncolour: red'))).toEqual([
      'agents/mine.md:3:1: unknown tool "Raed" is ignored — did you mean "Read"?',
      'agents/mine.md:4:1: unknown key colour is ignored — use one of: name, description, tools, models, iterations, maxDuration, effort, prefers, writes, planned, protocol, tree, …',
    ]);
  });

  it('works in trees of its own where it says so, also in the words of other programs', () => {
    const treeOf = (front: string) => {
      const result = read(agent(front));
      return result.ok && result.value.role.tree;
    };
    expect(['tree: own', 'isolation: worktree', 'isolation: none', ''].map(treeOf)).toEqual([
      'own',
      'own',
      undefined,
      undefined,
    ]);
  });

  it('has 150 turns where it may write and 60 where it may not, unless it says a number (D31)', () => {
    const turns = (front: string): number | null => {
      const result = read(agent(front));
      return result.ok ? result.value.role.iterations : null;
    };
    expect([
      turns('tools: [Read]'),
      turns('tools: [Read, Bash]'),
      turns('tools: [Read, Write]\nwrites: true'),
      turns('tools: [Read]\niterations: 500'),
    ]).toEqual([60, 60, 150, 500]);
  });

  it('of an earlier version may say minTokens, which no longer has an effect, and is told so (D17)', () => {
    expect(told(agent('tools: [Read]\nminTokens: 5000'))).toEqual([
      'agents/mine.md:4:1: minTokens no longer has an effect — remove it; budgets.role sets the limits for agents of this role',
    ]);
  });

  it('that is wrong is refused with its place', () => {
    expect([
      told('no front matter'),
      told('---\ntools: [Read]\n---\nx'),
      told('---\ndescription: x\niterations: 501\n---\nx'),
      told('---\ndescription: x\n---\n'),
      told('---\ndescription: x\nname: no way\n---\nx'),
      told('---\na: &x 1\n---\nx'),
    ]).toEqual([
      ['agents/mine.md: has no front matter — start the file with "---", the keys, and "---"'],
      ['agents/mine.md:2:1: description is empty — use text'],
      ['agents/mine.md:3:1: iterations is 501 — use at most 500'],
      ['agents/mine.md: has no prompt — write the instructions of the role below the front matter'],
      [
        'agents/mine.md:3:1: "no way" is not a valid role name — use up to 40 letters, digits, "_" or "-", starting with a letter',
      ],
      ['agents/mine.md:2:7: anchors (&name) are not accepted — write out the value where it is needed'],
    ]);
  });
});

describe('roles of a user', () => {
  const AGENTS = '.config/mimir/agents';

  it('come beside the built-in ones, with the models of main when they name none', () => {
    const { roles } = loaded({ files: { [`${AGENTS}/critic.md`]: agent('tools: [Read]') } });
    expect(roles.at(-1)).toMatchObject({
      name: 'critic',
      models: ['sonnet-4.5'],
      planned: true,
      source: '~/.config/mimir/agents/critic.md',
    });
  });

  it('may replace a built-in one with the same or fewer tools, never with more', () => {
    const fewer = loaded({ files: { [`${AGENTS}/oracle.md`]: agent('tools: [Read, Bash]') } });
    expect(roleIn(fewer.roles, 'oracle')?.capabilities).toEqual(['read', 'shell']);
    expect(faults({ files: { [`${AGENTS}/finder.md`]: agent('tools: [Read, Bash, Edit]') } })).toEqual([
      '~/.config/mimir/agents/finder.md: gives the built-in role "finder" more than it has: write, shell — remove those tools, or choose another name for the role',
    ]);
  });

  it('can not have the same name twice', () => {
    expect(
      faults({
        files: {
          [`${AGENTS}/a.md`]: agent('name: same\ntools: []'),
          [`${AGENTS}/b.md`]: agent('name: same\ntools: []'),
        },
      }),
    ).toEqual([
      '~/.config/mimir/agents/b.md: role "same" is also defined in ~/.config/mimir/agents/a.md — keep one of them',
    ]);
  });
});

describe('roles of a project', () => {
  it('are not loaded before it is trusted, and their files are named', () => {
    const place = somePlace({
      files: { 'work/.mimir/agents/evil.md': 'not even read', 'work/.mini-cc/agents/old.json': '{' },
      project: 'enforcement: { allowedSubAgents: [evil, finder] }',
    });
    const result = load(place);
    expect(result.ok && result.value.notes).toEqual([
      'not loaded because this project is not trusted: .mimir/agents/evil.md, .mini-cc/agents/old.json',
    ]);
    expect(result.ok && roleIn(result.value.roles, 'evil')).toBeUndefined();
  });
});

describe('settings of roles', () => {
  it('switch off, take tools away, and choose models and steps (O131 to O133)', () => {
    const { roles, rules } = loaded({
      user: 'agentOrchestration:\n  roles:\n    finder: { defaultModel: sonnet-4.5, iterations: 9 }\n    oracle: { defaultModel: o3-mini, fallbackModels: [opus-4.5], tools: [file_search, bash_execution] }\n    rush: { enabled: false }\n',
      project: 'agentOrchestration: { roles: { oracle: { tools: [file_operations] } } }',
    });
    expect(roleIn(roles, 'finder')).toMatchObject({ models: ['sonnet-4.5', 'haiku-4.5', 'qwen-3'], iterations: 9 });
    expect(roleIn(roles, 'oracle')).toMatchObject({
      models: ['o3-mini', 'opus-4.5'],
      capabilities: ['read'],
      tools: ['file_operations'],
    });
    expect(rules.disabledRoles).toEqual([
      {
        role: 'rush',
        from: {
          rule: 'agentOrchestration.roles.rush.enabled: false',
          layer: 'user',
          file: '~/.config/mimir/config.yml',
          line: 5,
        },
      },
    ]);
  });

  it('never give a role more than it has', () => {
    const { roles } = loaded({
      user: 'agentOrchestration: { roles: { finder: { tools: ["*"] }, reviewer: { tools: [bash_execution] } } }',
    });
    expect(roleIn(roles, 'finder')?.capabilities).toEqual(['read', 'git-read']);
    expect(roleIn(roles, 'reviewer')).toMatchObject({ capabilities: [], tools: [] });
  });

  it('put a model typed for all roles before every other', () => {
    const { roles } = loaded({}, { model: 'offline' });
    expect(roles.map(({ models }) => models[0])).toEqual(roles.map(() => 'offline'));
  });

  it('D23: may work by words where they have a shell', () => {
    const by = (tools: string): string => `---\ndescription: Mine\nprotocol: text\ntools: ${tools}\n---\nDo it.\n`;
    const role = read(by('[bash_execution]'));
    expect(role.ok && role.value.role.protocol).toBe('text');
    expect(told(by('[Read]'))).toEqual([
      'agents/mine.md:3:1: protocol: text needs a shell, which this role does not have — add bash_execution to its tools, or remove protocol',
    ]);
    expect(told(by('[bash_execution]').replace('text', 'voice'))).toEqual([
      expect.stringContaining('agents/mine.md:3:'),
    ]);
    expect(loaded().roles.some((each) => 'protocol' in each)).toBe(false);
  });
});
