/** Dialogs about agents: list, show, create with a form, delete; opened by a key or as `/agents …`. */
import { AGENTS_HELP, parseSentence } from '../../../app/agents/index.ts';
import { isOffline, type Line, span, toolsText } from '../../../app/views/index.ts';
import { AGENT_TOOLS, blankAgent } from '../../../domain/agents/form.ts';
import type { AgentInfo, AgentProposal, AgentRequest, ProjectInfo } from '../../../ports/project-service.ts';
import type { Choice, Dialog, DialogEffect, FormValues } from '../frame/screen.ts';
import { checksField, choice, choiceField, pickFrom, textField, textIn } from '../frame/screen.ts';
import { tint } from '../text/blocks.ts';

type Agents = ProjectInfo['agents'];

/** The value of the choice "new agent", which no agent can have as its name. */
const NEW = '+';

/** Lists all agents, custom ones first. Faulty files cannot be chosen and show their reason. */
export function agentsDialog(projectService: ProjectInfo): Dialog {
  const { agents } = projectService;
  const value = agents.all.find(({ source }) => source !== 'built-in')?.name ?? NEW;
  const then = (agent: AgentInfo): DialogEffect => ({
    dialog: agent.whyKept === null ? ownDialog(agent) : readDialog(agent),
  });
  const list = pickFrom('Agents', agents.all, infoChoice, then, value);
  return {
    ...list,
    choices: [
      choice(NEW, 'from a description or a form', 'new agent'),
      ...list.choices,
      ...agents.leftOut.map(leftOutChoice),
    ],
    then: (chosen: string) => (chosen === NEW ? { dialog: newDialog(projectService) } : list.then(chosen)),
  };
}

const infoChoice = ({ name, description, capabilities, source }: AgentInfo): Choice =>
  choice(name, [...ownerOf(source), capabilities.join(', ') || 'no tools', description].join('; '));

function ownerOf(source: string): readonly string[] {
  if (source === 'built-in') return [];
  return source.startsWith('/etc/') ? ['managed'] : [/^[~/]/.test(source) ? 'yours' : 'project'];
}

/** A choice for a file that was left out (`left out: FILE:LINE: why`), named after the file. */
function leftOutChoice(note: string): Choice {
  const [, stem = 'not loaded'] = /^(?:left out: )?\S*agents\/([^\s:/]+)\.(?:md|json):/.exec(note) ?? [];
  return { value: `- ${note}`, label: stem, note: '', whyNot: note.replace(/^left out: /, '') };
}

const ownDialog = (agent: AgentInfo): Dialog => ({
  is: 'pick',
  title: agent.name,
  value: 'show',
  choices: [choice('show', 'tools, models, prompt'), choice('delete', agent.source)],
  then: (value) => ({ dialog: value === 'delete' ? deleteDialog(agent) : readDialog(agent) }),
});

function readDialog(agent: AgentInfo): Dialog {
  const row = (name: string, text: string): Line => [tint(name.padEnd(9), 'muted'), span(text)];
  const may = agent.capabilities.join(', ') || 'nothing but messages and todos';
  return {
    is: 'read',
    title: agent.name,
    lines: [
      [span(agent.description, { bold: true })],
      [],
      row('tools', toolsText(agent.tools)),
      row('may', agent.capabilities.includes('spawn') ? may : `${may}; never Task`),
      row('models', agent.models.join(', ')),
      row('from', agent.source),
      [],
      ...agent.prompt.split('\n').map((line): Line => [span(line)]),
    ],
  };
}

const deleteDialog = ({ name, source }: AgentInfo): Dialog => ({
  is: 'confirm',
  title: `Delete ${name}?`,
  lines: [[span(`${source} is deleted. Running agents keep it; later plans cannot use it.`)]],
  yes: 'delete',
  no: 'keep',
  then: () => ({ app: { deleteAgent: name } }),
});

/** Asks for a description for a model, or opens the form directly. */
function newDialog(projectService: ProjectInfo, model: boolean = true): Dialog {
  if (!model || isOffline(projectService.provider)) return formFor('', projectService);
  return {
    is: 'text',
    title: 'New agent',
    hint: 'Describe the agent, and a model drafts it. Leave empty for an empty form.',
    value: '',
    lines: 3,
    yes: 'draft',
    check: () => null,
    then: (sentence) =>
      sentence.trim() === '' ? { dialog: formFor('', projectService) } : draftEffect(sentence, model, projectService),
  };
}

/** Opens the form with a model's draft, or with the sentence alone. Nothing is created before it is saved. */
function draftEffect(sentence: string, model: boolean, projectService: ProjectInfo): DialogEffect {
  if (model && !isOffline(projectService.provider)) return { app: { draftAgent: { sentence, model } } };
  return {
    dialog: formFor(sentence, projectService, model ? `No model wrote a draft: ${projectService.provider}.` : ''),
  };
}

const formFor = (sentence: string, projectService: ProjectInfo, said = ''): Dialog =>
  draftedForm({ draft: blankAgent(sentence), said }, projectService);

/** The form of an agent with a note about its draft. */
export function draftedForm({ draft, said }: Pick<AgentProposal, 'draft' | 'said'>, { agents }: ProjectInfo): Dialog {
  const taken = agents.all.map(({ name }) => name);
  return {
    is: 'form',
    title: 'New agent',
    ...(said === '' ? {} : { note: said }),
    fields: [
      textField('name', 'Name', draft.name, 'letters, digits, "-": code-review'),
      textField('description', 'Description', draft.description, 'when to use it'),
      checksField(
        'tools',
        'Tools',
        draft.tools,
        AGENT_TOOLS.map(({ name, words }) => choice(name, whyOf(name, draft.because) ?? words)),
      ),
      textField('prompt', 'Prompt', draft.prompt, 'its instructions', 5),
      choiceField('for', 'For', 'project', [
        choice('project', '.mimir/agents', 'this project'),
        choice('user', 'your own folder', 'all my projects'),
      ]),
    ],
    check: (values) => problemIn(values, taken),
    then: (values) => ({ app: { createAgent: requestOf(values) } }),
  };
}

/** Handles a typed line that starts with `/agents`; null for a task. */
export function typedAgentsCommand(typed: string, projectService: ProjectInfo): DialogEffect | null {
  const { agents } = projectService;
  const [whole, what = 'list', rest = ''] = /^\/agents(?:\s+(\S+)\s*([^]*))?$/.exec(typed.trim()) ?? [];
  if (whole === undefined) return null;
  switch (what) {
    case 'list':
      return { dialog: agentsDialog(projectService) };
    case 'help':
      return { dialog: { is: 'read', title: 'Agents', lines: AGENTS_HELP.map((line): Line => [span(line)]) } };
    case 'create':
      return createEffect(rest, projectService);
    case 'show':
    case 'delete':
      return oneAgentEffect(what, rest.trim(), agents);
    default:
      return { toast: { level: 'warn', text: `/agents ${what}: list, show, create, delete or help` } };
  }
}

function createEffect(rest: string, projectService: ProjectInfo): DialogEffect {
  const { sentence, model } = parseSentence(rest);
  return sentence === '' ? { dialog: newDialog(projectService, model) } : draftEffect(sentence, model, projectService);
}

function oneAgentEffect(what: 'show' | 'delete', name: string, agents: Agents): DialogEffect {
  const agent = agents.all.find((one) => one.name === name);
  if (agent === undefined)
    return { toast: { level: 'warn', text: name === '' ? `/agents ${what} NAME` : `There is no agent ${name}.` } };
  if (what === 'show') return { dialog: readDialog(agent) };
  if (agent.whyKept === null) return { dialog: deleteDialog(agent) };
  return { toast: { level: 'warn', text: `${name}: ${agent.whyKept}` } };
}

/** Why the draft has or lacks a tool, such as `chosen by sonnet`; null if it gives no reason. */
function whyOf(tool: string, because: readonly string[]): string | null {
  const line = because.find((each) => (each.split(':')[0] ?? '').split(', ').includes(tool));
  const why = line?.slice(line.indexOf(':') + 1).trim() ?? '';
  return /^(?:chosen by |left out)/.test(why) ? why : null;
}

function problemIn(values: FormValues, names: readonly string[]): string | null {
  const name = textIn(values, 'name');
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,39}$/.test(name))
    return 'Name: start with a letter, then up to 39 letters, digits, "_" or "-", for example code-review';
  if (names.includes(name)) return `Name: the agent ${name} already exists`;
  if (textIn(values, 'description') === '') return 'Description: say in a sentence when to use it';
  if ((values.checks['tools'] ?? []).length === 0) return 'Tools: choose at least one';
  return textIn(values, 'prompt') === '' ? 'Prompt: enter its instructions' : null;
}

const requestOf = (values: FormValues): AgentRequest => ({
  name: textIn(values, 'name'),
  description: textIn(values, 'description'),
  // In the order of the list, not of ticking.
  tools: AGENT_TOOLS.map(({ name }) => name).filter((name) => (values.checks['tools'] ?? []).includes(name)),
  prompt: textIn(values, 'prompt'),
  for: textIn(values, 'for') === 'user' ? 'user' : 'project',
});
