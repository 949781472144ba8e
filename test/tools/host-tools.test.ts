/** Tools that ask the run: their names, their schemas, and what reaches the tool host. */
import { FOREIGN_TOOLS, toolsFor } from '../../src/domain/agents/tool-facts.ts';
import { z } from 'zod';
import { describe, expect, it } from 'vitest';
import { openTools } from '../../src/tools/index.ts';
import { CAPABILITIES } from '../../src/domain/agents/role.ts';
import { freshFolder, makeFolder } from '../support/repos.ts';
import { workbench } from './workbench.ts';

const port = () => {
  const opened = openTools({ root: makeFolder(), home: '/nowhere/home', stateDir: freshFolder() });
  if (!opened.ok) throw new Error(opened.fault);
  return opened.value;
};

describe('the tools of a project', () => {
  it('are those that capabilities stand for, and every agent has its own three; findings and verdicts are for those that the run gives them to', () => {
    const { tools, sandbox } = port();
    expect(tools.map(({ name }) => name).toSorted()).toEqual(
      [
        ...toolsFor(CAPABILITIES),
        'read_finding',
        'give_verdict',
        'agent_command',
        'agent_edit',
        'agent_did',
      ].toSorted(),
    );
    expect(toolsFor([])).toEqual(['update_todos', 'send_message', 'ask_user']);
    expect(toolsFor(['git-read', 'read'])).toEqual([
      'read_file',
      'list_files',
      'search',
      'git',
      'update_todos',
      'send_message',
      'ask_user',
    ]);
    for (const capability of CAPABILITIES) {
      const names = toolsFor([capability]).filter((name) => !toolsFor([]).includes(name));
      expect(
        tools
          .filter((tool) => tool.capability === capability && !FOREIGN_TOOLS.includes(tool.name))
          .map(({ name }) => name),
      ).toEqual(names);
    }
    expect(sandbox).toEqual({ is: 'none', because: 'not probed' });
  });

  it('describe themselves to models in JSON Schema, closed to unknown fields', () => {
    for (const { input, description } of port().tools) {
      const schema = z.toJSONSchema(input, { io: 'input' });
      expect(schema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(description.length).toBeGreaterThan(40);
    }
  });

  it('are not opened where no project can be', () => {
    expect(openTools({ root: '/', home: '/nowhere/home', stateDir: '/nowhere/state' })).toEqual({
      ok: false,
      fault: '/: the root of the file system cannot be a project; use a project folder',
    });
  });
});

describe('the Task tool', () => {
  const child = { description: 'find auth files', prompt: 'Find them.' };

  it('takes subagent_type or agent_type, by any of their names, with a description and a prompt (D22, I009, I012 to I015)', async () => {
    const tools = workbench(makeFolder());
    const role = async (input: object) => (await tools.use('Task', { ...child, ...input })).text;
    expect(await role({ subagent_type: 'Explore' })).toBe(JSON.stringify({ ...child, role: 'explore' }));
    expect(await role({ agent_type: 'code' })).toBe(JSON.stringify({ ...child, role: 'code' }));
    expect(await role({ subagent_type: 'general-purpose' })).toBe(JSON.stringify({ ...child, role: 'code' }));
    expect(await role({ agent_type: 'Plan' })).toBe(JSON.stringify({ ...child, role: 'plan' }));
    expect(await role({ agent_type: 'my-reviewer' })).toBe(JSON.stringify({ ...child, role: 'my-reviewer' }));
    await expect(tools.use('Task', { ...child, agent_type: 'code', prompt: '' })).rejects.toThrow('prompt');
    await expect(tools.use('Task', { prompt: 'Find.', agent_type: 'code' })).rejects.toThrow('description');
    await expect(tools.use('Task', child)).rejects.toThrow('give either subagent_type or agent_type');
    await expect(tools.use('Task', { ...child, agent_type: 'code', subagent_type: 'Plan' })).rejects.toThrow(
      'give either subagent_type or agent_type',
    );
    await expect(tools.use('Task', { ...child, agent_type: 'co de' })).rejects.toThrow('agent type');
    expect(await tools.preview('Task', { ...child, agent_type: 'code' })).toBe(
      'Task(code): find auth files\n\nFind them.',
    );
  });
});

describe('the agent tools', () => {
  it('hand todos, messages and questions to the tool host', async () => {
    const tools = workbench(makeFolder());
    const todos = [{ description: 'look', status: 'active' }];
    expect(await tools.use('update_todos', { todos })).toEqual({ ok: true, text: JSON.stringify(todos) });
    const message = { to: 'ROOT::S2', content: 'done' };
    expect(await tools.use('send_message', message)).toEqual({ ok: true, text: JSON.stringify(message) });
    expect(await tools.use('ask_user', { question: 'Which?' })).toEqual({
      ok: true,
      text: JSON.stringify({ question: 'Which?', options: [] }),
    });
    expect(await tools.use('read_finding', { task: '#2', from: 24_000 })).toEqual({
      ok: true,
      text: JSON.stringify({ task: '#2', from: 24_000, room: 61_440 }),
    });
    await expect(tools.use('update_todos', { todos: [{ description: 'x', status: 'doing' }] })).rejects.toThrow();
  });
});
