/** The JSON of a custom agent: what can be made here, under which names, and which files there are. */
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type AgentFolder,
  agentFiles,
  agentFolder,
  agentNameProblem,
  newAgent,
} from '../../../src/config/roles/agent-files.ts';
import type { AgentText } from '../../../src/domain/agents/form.ts';
import { like } from '../../support/like.ts';
import { loaded, somePlace } from '../some-place.ts';

const WISH: AgentText = {
  name: 'auditor',
  description: 'Reads ledgers.',
  tools: ['read_file', 'bash'],
  prompt: 'Read every ledger.',
};
const PROJECT: AgentFolder = { owner: 'project', directory: '/p/.mimir/agents', shown: '.mimir/agents' };
const USER: AgentFolder = { owner: 'user', directory: '/h/.config/mimir/agents', shown: '~/.config/mimir/agents' };
const told = (wish: Partial<AgentText>, folder = PROJECT): unknown => {
  const made = newAgent({ ...WISH, ...wish }, folder, [{ name: 'finder', source: 'built-in' }]);
  return made.ok ? made.value.file : made.fault;
};

describe('the file of a custom agent', () => {
  it('T031, T032, T033, T034, T035: is JSON with name, description, tools and prompt', () => {
    const made = newAgent(WISH, PROJECT, []);
    expect(made.ok && [made.value.file, JSON.parse(made.value.text)]).toEqual(['auditor.json', WISH]);
    expect(made.ok && made.value.role).toMatchObject({
      name: 'auditor',
      capabilities: ['read', 'shell'],
      source: '.mimir/agents/auditor.json',
    });
  });

  it('is read as the role that was promised, from either folder', () => {
    for (const [folder, at] of [
      [PROJECT, 'work/.mimir/agents'],
      [USER, '.config/mimir/agents'],
    ] as const) {
      const made = newAgent(WISH, folder, []);
      if (!made.ok) throw new Error(made.fault);
      const { home, project } = somePlace({ files: { [`${at}/${made.value.file}`]: made.value.text } });
      const places = { home, config: path.join(home, '.config/mimir'), state: '', runtime: '' };
      expect(agentFiles([agentFolder(folder.owner, project, places)])).toMatchObject([
        { name: 'auditor', file: 'auditor.json', fault: null, owner: folder.owner },
      ]);
    }
    const mine = newAgent(WISH, USER, []);
    const files = { '.config/mimir/agents/auditor.json': mine.ok ? mine.value.text : '' };
    expect(loaded({ files }).roles.find(({ name }) => name === 'auditor')).toMatchObject({ tools: WISH.tools });
  });

  it.each([
    [{ name: 'finder' }, 'the agent "finder" already exists (built-in): choose another name'],
    [{ name: 'f1nder' }, '"f1nder" looks like "finder" (built-in): choose another name'],
    [{ name: '../x' }, '"../x" is not a valid name: use up to 40 letters, digits, "_" or "-", starting with a letter'],
    [{ description: ' \n' }, 'it needs a description that says when to use it'],
    [{ tools: [] }, 'it needs at least one tool, such as read_file'],
    [{ prompt: ' ' }, 'it needs a prompt with its instructions'],
    [{ tools: ['read_fil'] }, 'unknown tool "read_fil" is ignored: did you mean "read_file"?'],
    [{ tools: ['*'] }, 'a role of a project cannot use "*" for its tools: list them one by one'],
    [{ prompt: 'x'.repeat(16_001) }, 'has a prompt of more than 16000 bytes: shorten it'],
  ] as const)('I08: is refused, in words: %j', (wish, words) => {
    expect(told(wish)).toBe(words);
  });

  it('T022, T023: may have "*" in a person’s own folder: every base tool, never Task', () => {
    const made = newAgent({ ...WISH, tools: ['*', 'Task'] }, USER, []);
    expect(made.ok && made.value.role.capabilities).toEqual(['read', 'write', 'shell', 'git-read']);
  });

  it('says what is wrong with one that was written by hand, with the line', () => {
    const { home, project } = somePlace({
      files: {
        'work/.mimir/agents/bad.json':
          '{\n  "name": "bad",\n  "description": "d",\n  "tools": ["Fly"],\n  "prompt": "p"\n}\n',
      },
    });
    const folder = agentFolder('project', project, { home, config: '', state: '', runtime: '' });
    expect(agentFiles([folder])).toMatchObject([
      { name: 'bad', fault: like(/^\.mimir\/agents\/bad\.json:4:3: unknown tool "Fly"/) },
    ]);
  });

  it('takes a name that is free', () => {
    expect(agentNameProblem('auditor', [])).toBe(null);
  });
});
