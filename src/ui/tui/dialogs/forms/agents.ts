/** The agents of this place: to look at, to make by a form, to delete; by a key, or typed as `/agents …`. */
import { AGENTS_HELP, sentenceIn } from '../../../../app/agents/typed.ts';
import { span } from '../../../../app/views/text/clip.ts';
import type { Line } from '../../../../app/views/text/line.ts';
import { type AgentText, AGENT_TOOLS, draftAgent } from '../../../../domain/agents/draft.ts';
import type { AgentInfo, AgentProposal, AgentWish, LobbyInfo } from '../../../../ports/project-service.ts';
import type { Choice, Dialog, DialogEffect, FormValues } from '../../frame/screen.ts';

type Agents = NonNullable<LobbyInfo['agents']>;

/** No agent has this name. */
const NEW = '+';

/** All of them, the custom ones first; files that describe none can't be chosen and say why. */
export const agentsDialog = (agents: Agents, lobby: LobbyInfo): Dialog => ({
  is: 'pick',
  title: 'Agents',
  value: agents.all.find(({ source }) => source !== 'built-in')?.name ?? NEW,
  choices: [
    { value: NEW, label: 'new agent', note: 'from a sentence, or by a form', whyNot: null },
    ...agents.all.map(choiceOf),
    ...agents.leftOut.map(leftOutChoice),
  ],
  then: (value) => {
    if (value === NEW) return { dialog: sentenceDialog(agents, lobby) };
    const agent = agents.all.find(({ name }) => name === value);
    return agent === undefined ? {} : { dialog: agent.whyKept === null ? ownDialog(agent) : readDialog(agent) };
  },
});

const choiceOf = ({ name, description, capabilities, source }: AgentInfo): Choice => ({
  value: name,
  label: name,
  note: [...whose(source), capabilities.join(', ') || 'no tools', description].join('; '),
  whyNot: null,
});

/** Whose file it is, in a word; the file itself stands where one looks at it. */
function whose(source: string): readonly string[] {
  if (source === 'built-in') return [];
  if (source.startsWith('/etc/')) return ['managed'];
  return [/^[~/]/.test(source) ? 'yours' : 'project'];
}

/** `left out: FILE:LINE: why`, or another note about such a file: by the file's own name, with the place in the reason. */
function leftOutChoice(note: string): Choice {
  const [, stem = 'not loaded'] = /^(?:left out: )?\S*agents\/([^\s:/]+)\.(?:md|json):/.exec(note) ?? [];
  return { value: `- ${note}`, label: stem, note: '', whyNot: note.replace(/^left out: /, '') };
}

const ownDialog = (agent: AgentInfo): Dialog => ({
  is: 'pick',
  title: agent.name,
  value: 'show',
  choices: [
    { value: 'show', label: 'look at it', note: 'tools, models, what it is told', whyNot: null },
    { value: 'delete', label: 'delete it', note: agent.source, whyNot: null },
  ],
  then: (value) => ({ dialog: value === 'delete' ? deleteDialog(agent) : readDialog(agent) }),
});

/** What one is, and what it is told. */
function readDialog(agent: AgentInfo): Dialog {
  const row = (name: string, text: string): Line => [span(name.padEnd(9), { fg: 'muted' }), span(text)];
  const may = agent.capabilities.join(', ') || 'nothing but messages and todos';
  return {
    is: 'read',
    title: agent.name,
    lines: [
      [span(agent.description, { bold: true })],
      [],
      row('tools', agent.tools.join(', ') || 'none'),
      row('may', agent.capabilities.includes('spawn') ? may : `${may}; never Task`),
      row('models', agent.models.join(', ')),
      row('from', agent.source),
      [],
      ...agent.prompt.split('\n').map((line): Line => [span(line)]),
    ],
  };
}

function deleteDialog({ name, source }: AgentInfo): Dialog {
  return {
    is: 'confirm',
    title: `Delete ${name}?`,
    lines: [[span(`${source} is deleted. What is running keeps it; later plans and Task can't use it any more.`)]],
    yes: 'delete it',
    no: 'keep it',
    word: '',
    then: () => ({ app: { deleteAgent: name } }),
  };
}

const sentenceDialog = (agents: Agents, lobby: LobbyInfo, model: boolean = true): Dialog => ({
  is: 'text',
  title: 'New agent',
  hint: `What should it do? A sentence${model && !isOffline(lobby) ? ', of which a model drafts it' : ''}; empty for an empty form.`,
  value: '',
  lines: 3,
  yes: model && !isOffline(lobby) ? 'draft it' : 'fill the form',
  check: () => null,
  then: (sentence) => (sentence.trim() === '' ? { dialog: emptyForm(agents) } : drafted(sentence, model, lobby)),
});

/** Nobody can be asked then, and nobody is waited for. */
const isOffline = ({ provider }: LobbyInfo): boolean => provider.startsWith('offline');

/** Leads to the form with what the sentence asks for; nothing is made before it is saved. */
function drafted(sentence: string, model: boolean, lobby: LobbyInfo): DialogEffect {
  if (model && !isOffline(lobby)) return { app: { draftAgent: { sentence, model } } };
  const names = namesOf(lobby);
  const why = model ? lobby.provider : '--no-model';
  const draft = draftAgent(sentence, (name) => names.includes(name));
  return { dialog: draftedForm({ draft, said: `Drafted by fixed rules: ${why}.` }, lobby) };
}

const namesOf = ({ agents }: LobbyInfo): readonly string[] => agents?.all.map(({ name }) => name) ?? [];

/** The form of an agent that was drafted: who did it stands above its fields. */
export function draftedForm({ draft: { because, ...draft }, said }: AgentProposal, lobby: LobbyInfo): Dialog {
  return agentForm(draft, namesOf(lobby), because, said);
}

const emptyForm = (agents: Agents): Dialog =>
  agentForm(
    EMPTY,
    agents.all.map(({ name }) => name),
    [],
  );

const EMPTY: AgentText = { name: '', description: '', tools: ['read_file', 'search'], prompt: '' };

/** What a line typed into the field means, when it is about agents; null when it is a task. */
export function agentsTyped(typed: string, lobby: LobbyInfo): DialogEffect | null {
  const { agents } = lobby;
  const [whole, what = 'list', rest = ''] = /^\/agents(?:\s+(\S+)\s*([^]*))?$/.exec(typed.trim()) ?? [];
  if (whole === undefined) return null;
  if (agents === undefined) return { toast: { level: 'warn', text: 'The agents are not known here.' } };
  switch (what) {
    case 'list':
      return { dialog: agentsDialog(agents, lobby) };
    case 'help':
      return { dialog: { is: 'read', title: 'Agents', lines: AGENTS_HELP.map((line): Line => [span(line)]) } };
    case 'create':
      return created(rest, agents, lobby);
    case 'show':
    case 'delete':
      return aboutOne(what, rest.trim(), agents);
    default:
      return { toast: { level: 'warn', text: `/agents ${what}: list, show, create, delete or help` } };
  }
}

function created(rest: string, agents: Agents, lobby: LobbyInfo): DialogEffect {
  const { sentence, model } = sentenceIn(rest);
  return sentence === '' ? { dialog: sentenceDialog(agents, lobby, model) } : drafted(sentence, model, lobby);
}

function aboutOne(what: 'show' | 'delete', name: string, agents: Agents): DialogEffect {
  const agent = agents.all.find((one) => one.name === name);
  if (agent === undefined)
    return { toast: { level: 'warn', text: name === '' ? `/agents ${what} NAME` : `There is no agent ${name}.` } };
  if (what === 'show') return { dialog: readDialog(agent) };
  if (agent.whyKept === null) return { dialog: deleteDialog(agent) };
  return { toast: { level: 'warn', text: `${name}: ${agent.whyKept}` } };
}

// A custom agent as a form: its name, when it is of use, its tools, what it is told, and for which projects.

/** `because`: what a sentence led to, shown with the tools. `names`: those that are taken. `said`: who drafted it. */
function agentForm(draft: AgentText, names: readonly string[], because: readonly string[], said: string = ''): Dialog {
  const text = (name: string, label: string, value: string, lines: number, hint: string) =>
    ({ is: 'text', name, label, value, lines, hint }) as const;
  return {
    is: 'form',
    title: 'New agent',
    ...(said === '' ? {} : { note: said }),
    fields: [
      text('name', 'Name', draft.name, 1, 'letters, digits, "-": code-review'),
      text('description', 'Description', draft.description, 1, 'a sentence that says when it is of use'),
      {
        is: 'checks',
        name: 'tools',
        label: 'Tools',
        values: draft.tools,
        choices: AGENT_TOOLS.map(
          ({ name, words }): Choice => ({
            value: name,
            label: name,
            note: whyOf(name, because) ?? words,
            whyNot: null,
          }),
        ),
      },
      text('prompt', 'Prompt', draft.prompt, 5, 'what it is told to do'),
      {
        is: 'choice',
        name: 'for',
        label: 'For',
        value: 'project',
        choices: [
          { value: 'project', label: 'this project', note: '.mimir/agents', whyNot: null },
          { value: 'user', label: 'all my projects', note: 'your own folder', whyNot: null },
        ],
      },
    ],
    check: (values) => problemIn(values, names),
    then: (values) => ({ app: { createAgent: wishOf(values) } }),
  };
}

/** `edit_file, write_file: "fixes"` -> `asked for by "fixes"`, `chosen by …`, `left out, …`; null for a tool that no word asked for. */
function whyOf(tool: string, because: readonly string[]): string | null {
  const line = because.find((each) => (each.split(':')[0] ?? '').split(', ').includes(tool));
  const why = line?.slice(line.indexOf(':') + 1).trim() ?? '';
  if (why.startsWith('chosen by ')) return why.split(';')[0] ?? why;
  if (why.startsWith('left out')) return why;
  return why.startsWith('"') ? `asked for by ${why}` : null;
}

function problemIn({ texts, checks }: FormValues, names: readonly string[]): string | null {
  const name = (texts['name'] ?? '').trim();
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,39}$/.test(name))
    return 'Name: up to 40 letters, digits, "_" or "-", a letter first, such as code-review';
  if (names.includes(name)) return `Name: there is an agent ${name} already`;
  if ((texts['description'] ?? '').trim() === '') return 'Description: a sentence that says when it is of use';
  if ((checks['tools'] ?? []).length === 0) return 'Tools: at least one, such as read_file';
  return (texts['prompt'] ?? '').trim() === '' ? 'Prompt: say what it is to do' : null;
}

const wishOf = ({ texts, checks }: FormValues): AgentWish => ({
  name: (texts['name'] ?? '').trim(),
  description: (texts['description'] ?? '').trim(),
  // In the order of the list, whatever they were ticked in.
  tools: AGENT_TOOLS.map(({ name }) => name).filter((name) => (checks['tools'] ?? []).includes(name)),
  prompt: (texts['prompt'] ?? '').trim(),
  for: texts['for'] === 'user' ? 'user' : 'project',
});
