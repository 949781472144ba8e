/** Commands before a run: a task, suggestions and sessions by number, templates, trust, files of the project, custom agents. */
import {
  AGENTS_HELP,
  agentLines,
  askAgent,
  findAgent,
  listLines,
  parseSentence,
  showLines,
} from '../../../app/agents/index.ts';
import { IS_YES, wrongUse } from '../../../app/process/index.ts';
import { isOpen, plural, TRUST_WORDS } from '../../../app/views/index.ts';
import { agentNameProblem } from '../../../config/index.ts';
import type { AgentText } from '../../../domain/agents/form.ts';
import type { AgentProposal, ProjectInfo, TemplateInfo } from '../../../ports/project-service.ts';
import { firstLine } from '../agents.ts';
import {
  askText,
  at,
  cancelled,
  headOf,
  type LineCommand,
  type LineContext,
  printReceipt,
  sayLong,
} from '../command.ts';
import { NOT_TRUSTED, trustLines, trusts } from '../questions.ts';

export const START_COMMANDS: readonly LineCommand[] = [
  ...at(
    ['start'],
    {
      name: 'task',
      arguments: 'TEXT',
      help: 'Plan this task. A line that is not a command is a task, too.',
      run: (text, context) => context.go({ start: required(text, 'task') }),
    },
    {
      name: 'direct',
      arguments: 'TEXT',
      help: 'Ask main directly: one task without a planner; this command approves it.',
      run: (text, context) => context.go({ start: required(text, 'task'), direct: 'direct' }),
    },
    {
      name: 'suggestions',
      short: ['take'],
      arguments: '[N]',
      help: 'List suggested tasks; with a number, or by a number alone: plan that one.',
      run: (typed, context) =>
        typed === ''
          ? sayNumbered(suggestionsOf(context), 'suggestions', context)
          : takeSuggestion(Number(typed), context),
    },
    {
      name: 'history',
      arguments: '[N]',
      help: 'List earlier tasks, newest first; with a number: plan that one again.',
      run: history,
    },
    {
      name: 'sessions',
      help: 'List earlier sessions.',
      run: (_, context) => {
        const lines = sessionsOf(context).map(
          ({ id, task, when, state }) => `${state}, ${when}, ${id}: ${firstLine(task)}`,
        );
        sayNumbered(lines, 'sessions', context);
      },
    },
    {
      name: 'resume',
      short: ['r', 'attach'],
      arguments: 'N',
      help: 'Resume session N of the list; one that runs in another process is followed, and quitting does not stop it.',
      run(typed, context) {
        const { id, state } = chosen(sessionsOf(context), typed, 'session', (one) => one.id);
        return context.go(state === 'running' ? { attach: id } : { resume: id });
      },
    },
    {
      name: 'templates',
      short: ['template'],
      arguments: '[N]',
      help: 'List templates and their variables; with a number or name: start that one, which asks for its variables.',
      run: templates,
    },
  ),
  ...at(['start', 'run'], {
    name: 'files',
    short: ['@'],
    arguments: '[WORDS]',
    help: 'List project files by a part of their path, for use in a task as @path.',
    run: sayFiles,
  }),
  ...at(
    ['start'],
    {
      name: 'trust',
      help: 'Print what this project wants to add, and ask whether you trust it.',
      run: trust,
    },
    {
      name: 'agents',
      arguments: '[list|show|create|delete|help] [NAME]',
      help: 'List the agents; show, create or delete one. /agents create DESCRIPTION drafts one.',
      run: agentsCommand,
    },
  ),
];

/** The welcome: version, project, policy, and what can be started. */
export function startLines(info: ProjectInfo): readonly string[] {
  const { project, cwd, version, provider, sandbox, mode, policy = '', notes } = info;
  const { suggestions, sessions, templates: all = [] } = info;
  const counts = [
    ...(suggestions.length === 0 ? [] : ['a number plans a suggestion']),
    ...(sessions.length === 0 ? [] : ['sessions lists earlier ones']),
    ...(all.length === 0 ? [] : ['templates lists templates']),
  ];
  const facts = [
    `Mimir ${version}, ${project} in ${cwd}. ${provider}`,
    `mode ${mode}`,
    ...(sandbox === '' ? [] : [`sandbox ${sandbox}`]),
    ...(policy === '' ? [] : [policy]),
  ];
  return [
    `${facts.join(', ')}.`,
    ...notes.map((note) => `note: ${note}`),
    ...(isOpen(info.trust)
      ? ['This project is not trusted: only its restrictions apply. trust shows what it wants to add.']
      : []),
    ...(suggestions.length === 0 ? [] : ['Suggestions:', ...suggestions.map(numberedLine)]),
    ['Type a task', ...counts, 'help lists the commands', 'quit quits'].join('; ').concat('.'),
  ];
}

const numberedLine = (text: string, index: number): string => `${index + 1}. ${text}`;

function sayNumbered(lines: readonly string[], what: string, context: LineContext): void {
  sayLong(context, lines.length === 0 ? [`No ${what} yet.`] : lines.map(numberedLine));
}

function required(text: string, what: string): string {
  if (text === '') throw wrongUse(`missing argument: ${what}`);
  return text;
}

/** The item of a typed number or name. */
function chosen<T>(all: readonly T[], typed: string, what: string, nameOf: (one: T) => string): T {
  const found = all[Number(typed) - 1] ?? all.find((one) => nameOf(one) === typed);
  if (found !== undefined) return found;
  throw wrongUse(`${typed === '' ? `which ${what}?` : `there is no ${what} ${typed}:`} ${what}s lists them`);
}

const suggestionsOf = ({ projectService }: LineContext): readonly string[] => projectService?.info().suggestions ?? [];
const sessionsOf = ({ projectService }: LineContext): ProjectInfo['sessions'] => projectService?.info().sessions ?? [];

/** Plans the suggestion of a number. */
export async function takeSuggestion(number: number, context: LineContext): Promise<void> {
  const task = suggestionsOf(context)[number - 1];
  if (task === undefined) return context.refuse(`there is no suggestion ${number}: suggestions lists them`);
  context.say(`Task: ${task}`);
  await context.go({ start: task });
}

function history(typed: string, context: LineContext): Promise<void> | void {
  const tasks = [...new Set(sessionsOf(context).map(({ task }) => task))];
  if (typed === '') return sayNumbered(tasks.map(firstLine), 'earlier tasks', context);
  const task = tasks[Number(typed) - 1];
  if (task === undefined) throw wrongUse(`there is no earlier task ${typed}`);
  return context.go({ start: task });
}

function templates(typed: string, context: LineContext): Promise<void> | void {
  const all = context.projectService?.info().templates ?? [];
  if (typed !== '')
    return startTemplate(
      chosen(all, typed, 'template', ({ name }) => name),
      context,
    );
  const lines = all.map(({ name, description, tasks, arguments: wanted, from }) => {
    const asks = wanted.length === 0 ? '' : `; variables: ${wanted.map((one) => one.name).join(', ')}`;
    return `${name}: ${description === '' ? '' : `${description}, `}${plural(tasks, 'task')}${asks} (${from})`;
  });
  sayNumbered(lines, 'templates', context);
}

async function startTemplate({ name, arguments: wanted }: TemplateInfo, context: LineContext): Promise<void> {
  const values: Record<string, string> = {};
  for (const { name: variable, description, default: preset } of wanted) {
    const what = description === '' ? variable : `${variable}, ${description}`;
    const given = await context.ask(`${what}${preset === '' ? '' : ` (Enter is ${preset})`}: `);
    if (given === null) throw cancelled('Nothing started.');
    values[variable] = required(given.trim() || preset, variable);
  }
  await context.go({ template: name, values });
}

const MOST_FILES = 20;

async function sayFiles(words: string, context: LineContext): Promise<void> {
  const found = (await context.projectService?.files?.(words.replace(/^@/, ''), MOST_FILES)) ?? null;
  if (found === null) throw wrongUse('files can be listed only in a session');
  sayLong(context, found.length === 0 ? ['No matching files.'] : found.map((file, at) => numberedLine(`@${file}`, at)));
}

async function trust(_: string, context: LineContext): Promise<void> {
  const question = context.projectService?.info().trust;
  if (!isOpen(question) || context.projectService?.trust === undefined) return context.say(TRUST_WORDS.nothing);
  context.say(...trustLines(question));
  if (!(await trusts((prompt) => context.ask(prompt)))) throw cancelled(NOT_TRUSTED);
  printReceipt(await context.projectService.trust(question.digest), context);
}

// The command `agents`, before a run.

type Agents = NonNullable<ProjectInfo['agents']>;

async function agentsCommand(typed: string, context: LineContext): Promise<void> {
  const [what, rest] = headOf(typed);
  const { projectService } = context;
  const agents = projectService?.info().agents;
  if (agents === undefined || projectService?.agents === undefined)
    throw wrongUse('agents can be used only in a session');
  const actions: Readonly<Record<string, () => Promise<void> | void>> = {
    '': () => sayLong(context, listLines(agents.all, agents.leftOut, PLAIN)),
    list: () => sayLong(context, listLines(agents.all, agents.leftOut, PLAIN)),
    show: () => sayLong(context, showLines(agentOf(rest, agents))),
    create: () => create(rest, agents, context),
    delete: () => remove(rest, agents, context),
    help: () => context.say(...AGENTS_HELP),
  };
  const action = Object.hasOwn(actions, what) ? actions[what] : undefined;
  if (action === undefined)
    throw wrongUse(`agents ${what}: list, show, create, delete or help. As a task: task agents ${typed.trim()}`);
  await action();
}

const unchanged = (text: string): string => text;
const PLAIN = { bold: unchanged, dim: unchanged, yellow: unchanged };

function agentOf(name: string, agents: Agents): Agents['all'][number] {
  if (name === '') throw wrongUse('which agent? agents lists them');
  const found = findAgent(name, agents);
  if (!found.ok) throw wrongUse(found.fault);
  return found.value;
}

/** A model drafts the agent; without one the person is asked for each field. */
async function create(typed: string, { all }: Agents, context: LineContext): Promise<void> {
  const { sentence, model } = parseSentence(typed);
  const first = sentence === '' ? null : await draft(sentence, model, context);
  const person = {
    say: context.say.bind(context),
    ask: context.ask.bind(context),
    nameProblem: (name: string) => agentNameProblem(name, all),
    async draft(description: string) {
      const made = first ?? (await draft(description, model, context));
      context.say(made.said);
      return made.draft;
    },
  };
  const agent = first?.drafted === true ? first.draft : await askAgent(person, sentence);
  if (agent === null) throw cancelled(NONE_CREATED);
  if (first?.drafted === true) context.say(...agentLines(first.draft), ...first.draft.because, first.said);
  const { name, description, tools, prompt }: AgentText = agent;
  const done = await context.projectService?.agents?.create({ name, description, tools, prompt, for: 'project' });
  if (done !== undefined) printReceipt(done, context);
}

const NONE_CREATED = 'Nothing was created.';

async function draft(sentence: string, model: boolean, context: LineContext): Promise<AgentProposal> {
  const made = await context.stoppable.run(async (signal) => {
    const asking = (line: string): void => context.say(`${line}; Ctrl-C stops it.`);
    const proposal = await context.projectService?.agents?.draft(sentence, { model, signal, asking });
    return signal.aborted ? undefined : proposal;
  });
  if (made === undefined) throw cancelled(NONE_CREATED);
  return made;
}

async function remove(name: string, agents: Agents, context: LineContext): Promise<void> {
  const { source, whyKept } = agentOf(name, agents);
  if (whyKept !== null) throw wrongUse(`${name}: ${whyKept}`);
  const typed = await askText(`Delete ${source}? yes deletes it, anything else keeps it: `, KEPT, context);
  if (!IS_YES.test(typed)) throw cancelled(KEPT);
  const done = await context.projectService?.agents?.delete(name);
  if (done !== undefined) printReceipt(done, context);
}

const KEPT = 'Nothing was deleted.';
