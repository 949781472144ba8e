/** Custom agents at work: used by Task as built-in ones are, with the tools of their file and no others. */
import { toolsFor } from '../src/domain/agents/tool-facts.ts';
import { describe, expect, it } from 'vitest';
import type { Loaded } from '../src/config/settings/load.ts';
import { scriptedModel } from './support/scripted.ts';
import { ALIASES } from '../src/policy/models.ts';
import { openTools } from '../src/tools/index.ts';
import { load, somePlace } from './config/some-place.ts';
import { freshFolder } from './support/folder.ts';
import type { TestRun } from './support/run.ts';
import { testRun } from './support/run.ts';

const catalogue = [...ALIASES].map(([alias, id]) => scriptedModel(id, { aliases: [alias] }));

const agent = (name: string, tools: readonly string[]): string =>
  JSON.stringify({ name, description: `Is a ${name}.`, tools, prompt: `Be a ${name}.` });
const FILES = {
  'work/.mimir/agents/critic.json': agent('critic', ['bash', 'read_file']),
  'work/.mini-cc/agents/old.json': agent('old', ['read_file']),
  '.config/mimir/agents/all.json': agent('all', ['*']),
};

function config(): Loaded {
  const result = load(somePlace({ files: FILES }), {}, { trusted: true });
  if (!result.ok) throw new Error('the configuration has a fault');
  return result.value;
}

/** ROOT calls for each of these by Task, in turn; what models were told is kept by role. */
function runWith(
  types: readonly string[],
  told: Map<string, { readonly tools: string; readonly turns: number }>,
): TestRun {
  const { roles, rules, prompts } = config();
  const tools = openTools({ root: freshFolder(), home: '/nowhere/home', stateDir: freshFolder() });
  if (!tools.ok) throw new Error(tools.fault);
  return testRun({
    roles,
    rules,
    prompts,
    catalogue,
    port: tools.value,
    toolsOf: toolsFor,
    mode: 'yolo',
    file: {
      draft: { reason: '', tasks: [{ id: 'a', description: 'lead', role: 'oracle', maySpawn: true, writes: ['**'] }] },
      from: 'a file',
    },
    record: ({ agent: who, purpose, tools: given, turns }) => {
      if (purpose.is === 'work' && !told.has(`${who} ${purpose.role}`))
        told.set(`${who} ${purpose.role}`, { tools: given.map(({ name }) => name).join(' '), turns: turns.length });
    },
    script: ({ purpose }, n) => {
      if (purpose.is !== 'work') return undefined;
      if (purpose.role !== 'oracle') return { text: `the answer of ${purpose.role}` };
      if (n > 0) return { text: 'done' };
      const calls = types.map((type) => ({
        tool: 'Task',
        input: { description: 'look', prompt: `Ask ${type}`, agent_type: type },
      }));
      return { text: '', calls };
    },
  });
}

describe('custom agents', () => {
  it('T011, T013, T036: are used like built-in ones, by Task(critic), and only their answer comes back', async () => {
    const told = new Map<string, { readonly tools: string; readonly turns: number }>();
    const run = runWith(['critic', 'explore', 'old'], told);
    await run.result;
    const answers = run.events().filter((event) => event.type === 'tool.finished' && event.tool === 'Task');
    expect(answers).toMatchObject([
      { ok: true, output: 'the answer of critic' },
      { ok: true, output: 'the answer of explore' },
      { ok: true, output: 'the answer of old' },
    ]);
  });

  it('T005, T006, T007, T009, T010, T022, T023, T024, T025, T037: have the tools of their file, and never Task', async () => {
    const told = new Map<string, { readonly tools: string; readonly turns: number }>();
    await runWith(['critic', 'old', 'all', 'explore', 'plan', 'code'], told).result;
    const byRole: Record<string, string> = {};
    for (const [who, { tools }] of told) byRole[who.split(' ')[1] ?? ''] = tools;
    const own = 'update_todos send_message ask_user';
    expect(byRole).toMatchObject({
      critic: `read_file list_files search bash ${own}`,
      old: `read_file list_files search ${own}`,
      all: `read_file list_files search edit_file write_file bash git ${own}`,
      explore: `read_file list_files search bash ${own}`,
      plan: `read_file list_files search bash ${own}`,
      code: `read_file list_files search edit_file write_file bash git ${own}`,
    });
    // T018: each begins with its prompt alone.
    expect([...told].filter(([who]) => !who.endsWith('oracle')).map(([, { turns }]) => turns)).toEqual(
      Array(6).fill(1),
    );
  });

  it('T037: that only read can not write, whatever they try: there is no such tool for them', async () => {
    const { roles } = config();
    const critic = roles.find(({ name }) => name === 'critic');
    expect(critic?.capabilities).toEqual(['read', 'shell']);
    expect(toolsFor(critic?.capabilities ?? [])).not.toContain('edit_file');
  });

  it('T008: stand in one list with the built-in ones: name, description, tools and prompt', () => {
    const { roles } = config();
    expect(
      roles.filter(({ source }) => source !== 'built-in').map(({ name, description }) => [name, description]),
    ).toEqual([
      ['all', 'Is a all.'],
      ['critic', 'Is a critic.'],
      ['old', 'Is a old.'],
    ]);
    expect(roles.every(({ description, prompt }) => description !== '' && prompt !== '')).toBe(true);
  });
});
