/** Commands before a run: a task, suggestions and sessions by number, templates, trust, files of the project. */
import {
  agentLines,
  findAgent,
  AGENTS_HELP,
  askAgent,
  listLines,
  parseSentence,
  showLines,
} from '../../../app/agents/index.ts';
import { IS_YES } from '../../../app/process/index.ts';
import { isOpen, TRUST_WORDS } from '../../../app/views/index.ts';
import { agentNameProblem } from '../../../config/index.ts';
import type { AgentText } from '../../../domain/agents/form.ts';
import type { AgentProposal, ProjectInfo, TemplateInfo } from '../../../ports/project-service.ts';
import { at, type LineCommand, type LineContext, printReceipt, sayLong } from '../command.ts';
import { firstLine } from '../agents.ts';
import { NOT_TRUSTED, trustLines, trusts } from '../questions.ts';

export const START_COMMANDS: readonly LineCommand[] = [
  ...at(
    ['start'],
    {
      name: 'task',
      arguments: 'TEXT',
      help: 'Plan this task. A line that is not a command is a task, too.',
      actions: ['start.go', 'start.move', 'start.next', 'start.clear', 'start.editor'],
      run: async (text, context) => (text === '' ? context.refuse('which task?') : context.go({ start: text })),
    },
    {
      name: 'suggestions',
      help: 'List suggested tasks; a number alone plans one.',
      run: (_, context) => saySuggestions(context),
    },
    {
      name: 'take',
      arguments: 'N',
      help: 'Plan suggestion N.',
      run: take,
    },
    {
      name: 'direct',
      arguments: 'TASK',
      help: 'Ask main directly: one task without a planner; this command approves it.',
      actions: ['start.direct'],
      run: (typed, context) =>
        typed === '' ? context.refuse('missing argument: direct TASK') : context.go({ start: typed, direct: 'direct' }),
    },
    {
      name: 'history',
      arguments: '[N]',
      help: 'List earlier tasks, newest first; with a number: plan that one again.',
      actions: ['start.history'],
      run: history,
    },
    {
      name: 'sessions',
      help: 'List earlier sessions; resume N continues a stopped one, attach N shows an active one.',
      run: (_, context) => sayLong(context, sessionLines(context.projectService?.info())),
    },
    {
      name: 'resume',
      short: ['r'],
      arguments: 'N',
      help: 'Resume session N of the list.',
      run: resumeSession,
    },
    {
      name: 'attach',
      arguments: 'N',
      help: 'Follow session N, which runs in another process; quitting does not stop it.',
      run: async (typed, context) => {
        const chosen = sessionNamed(typed, context);
        if (chosen !== null) await context.go({ attach: chosen.id });
      },
    },
    {
      name: 'templates',
      help: 'List templates and their variables.',
      actions: ['start.templates'],
      run: (_, context) => sayLong(context, templateLines(context.projectService?.info())),
    },
    {
      name: 'template',
      arguments: 'N',
      help: 'Start template N (number or name); asks for its variables.',
      run: useTemplate,
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
      actions: ['start.trust'],
      run: trust,
    },
    {
      name: 'agents',
      arguments: '[list|show|create|delete|help] [NAME]',
      help: 'List the agents; show, create or delete one. /agents create DESCRIPTION drafts one.',
      actions: ['start.agents'],
      run: agentsCommand,
    },
  ),
];

/** The welcome: version, project, policy, and what can be started. */
export function startLines(info: ProjectInfo): readonly string[] {
  const {
    project,
    cwd,
    version,
    provider,
    sandbox,
    mode,
    policy = '',
    notes,
    suggestions,
    sessions,
    templates = [],
  } = info;
  const counts = [
    ...(suggestions.length === 0 ? [] : ['a number plans a suggestion']),
    ...(sessions.length === 0 ? [] : ['sessions lists earlier ones']),
    ...(templates.length === 0 ? [] : ['templates lists templates']),
  ];
  return [
    `Mimir ${version}, ${project} in ${cwd}. ${provider}, mode ${mode}${sandbox === '' ? '' : `, sandbox ${sandbox}`}${policy === '' ? '' : `, ${policy}`}.`,
    ...notes.map((note) => `note: ${note}`),
    ...(isOpen(info.trust)
      ? ['This project is not trusted: only its restrictions apply. trust shows what it wants to add.']
      : []),
    ...(suggestions.length === 0 ? [] : ['Suggestions:', ...suggestionLines(info)]),
    ['Type a task', ...counts, 'help lists the commands', 'quit quits'].join('; ').concat('.'),
  ];
}

const suggestionLines = ({ suggestions }: ProjectInfo): readonly string[] =>
  suggestions.map((task, index) => `${index + 1}. ${task}`);

function saySuggestions(context: LineContext): void {
  const info = context.projectService?.info();
  const lines = info === undefined ? [] : suggestionLines(info);
  if (lines.length === 0) return context.say('No suggestions yet.');
  context.say(...lines);
}

export async function take(typed: string, context: LineContext): Promise<void> {
  const task = context.projectService?.info().suggestions[Number(typed) - 1];
  if (task === undefined)
    return context.refuse(
      typed === ''
        ? 'which suggestion? suggestions lists them'
        : `there is no suggestion ${typed}: suggestions lists them`,
    );
  context.say(`Task: ${task}`);
  await context.go({ start: task });
}

const tasksOf = (info: ProjectInfo | undefined): readonly string[] => [
  ...new Set((info?.sessions ?? []).map(({ task }) => task)),
];

async function history(typed: string, context: LineContext): Promise<void> {
  const tasks = tasksOf(context.projectService?.info());
  if (typed !== '') {
    const task = tasks[Number(typed) - 1];
    return task === undefined ? context.refuse(`there is no earlier task ${typed}`) : context.go({ start: task });
  }
  if (tasks.length === 0) return context.say('No earlier tasks.');
  sayLong(
    context,
    tasks.map((task, index) => `${index + 1}. ${firstLine(task)}`),
  );
}

function sessionLines(info: ProjectInfo | undefined): readonly string[] {
  const sessions = info?.sessions ?? [];
  if (sessions.length === 0) return ['No earlier sessions.'];
  return sessions.map(
    ({ id, task, when, state }, index) => `${index + 1}. ${state}, ${when}, ${id}: ${firstLine(task)}`,
  );
}

async function resumeSession(typed: string, context: LineContext): Promise<void> {
  const chosen = sessionNamed(typed, context);
  if (chosen === null) return;
  await context.go(chosen.state === 'running' ? { attach: chosen.id } : { resume: chosen.id });
}

/** The session of a typed number or id; null after it was printed what can be typed. */
function sessionNamed(typed: string, context: LineContext): ProjectInfo['sessions'][number] | null {
  const sessions = context.projectService?.info().sessions ?? [];
  const chosen = sessions[Number(typed) - 1] ?? sessions.find(({ id }) => id === typed);
  if (chosen !== undefined) return chosen;
  context.refuse(
    typed === '' ? 'which session? sessions lists them' : `there is no session ${typed}: sessions lists them`,
  );
  return null;
}

function templateLines(info: ProjectInfo | undefined): readonly string[] {
  const templates = info?.templates ?? [];
  if (templates.length === 0) return ['No templates yet: keep NAME saves the shown plan as one.'];
  return templates.map(({ name, description, tasks, arguments: wanted, from }, index) => {
    const asks = wanted.length === 0 ? '' : `; variables: ${wanted.map((one) => one.name).join(', ')}`;
    return `${index + 1}. ${name}: ${description === '' ? '' : `${description}, `}${tasks === 1 ? '1 task' : `${tasks} tasks`}${asks} (${from})`;
  });
}

async function useTemplate(typed: string, context: LineContext): Promise<void> {
  const templates = context.projectService?.info().templates ?? [];
  const chosen = templates[Number(typed) - 1] ?? templates.find(({ name }) => name === typed);
  if (chosen === undefined)
    return context.refuse(
      typed === '' ? 'which template? templates lists them' : `there is no template ${typed}: templates lists them`,
    );
  const values: Record<string, string> = {};
  for (const one of chosen.arguments) {
    const value = await valueFor(one, context);
    if (value === null) return context.say('Nothing started.');
    values[one.name] = value;
  }
  await context.go({ template: chosen.name, values });
}

/** The typed or the default value of a variable; null when there is neither. */
async function valueFor(
  { name, description, default: preset }: TemplateInfo['arguments'][number],
  context: LineContext,
): Promise<string | null> {
  const what = description === '' ? name : `${name}, ${description}`;
  const given = await context.ask(`${what}${preset === '' ? '' : ` (Enter is ${preset})`}: `);
  const value = (given ?? '').trim() || preset;
  if (given !== null && value === '') context.refuse(`${name} is missing`);
  return given === null || value === '' ? null : value;
}

const MOST_FILES = 20;

async function sayFiles(words: string, context: LineContext): Promise<void> {
  const found = (await context.projectService?.files?.(words.replace(/^@/, ''), MOST_FILES)) ?? null;
  if (found === null) return context.refuse('files can be listed only in a session');
  if (found.length === 0) return context.say('No matching files.');
  sayLong(
    context,
    found.map((file, index) => `${index + 1}. @${file}`),
  );
}

async function trust(_: string, context: LineContext): Promise<void> {
  const question = context.projectService?.info().trust;
  if (!isOpen(question) || context.projectService?.trust === undefined) return context.say(TRUST_WORDS.nothing);
  context.say(...trustLines(question));
  if (!(await trusts((prompt) => context.ask(prompt)))) return context.say(NOT_TRUSTED);
  const done = await context.projectService.trust(question.digest);
  printReceipt(done, context);
}

// The command `agents`, before a run.

type Agents = NonNullable<ProjectInfo['agents']>;

async function agentsCommand(typed: string, context: LineContext): Promise<void> {
  const [, what = 'list', rest = ''] = /^(\S+)\s*([^]*)$/.exec(typed.trim()) ?? [];
  const agents = context.projectService?.info().agents;
  if (agents === undefined) return context.refuse('agents cannot be listed here');
  switch (what) {
    case 'list':
      return sayLong(context, listLines(agents.all, agents.leftOut, PLAIN));
    case 'show':
      return show(rest.trim(), agents, context);
    case 'create':
      return create(rest.trim(), agents, context);
    case 'delete':
      return remove(rest.trim(), agents, context);
    case 'help':
      return context.say(...AGENTS_HELP);
    default:
      return context.refuse(
        `agents ${what}: list, show, create, delete or help. As a task: task agents ${typed.trim()}`,
      );
  }
}

const unchanged = (text: string): string => text;
const PLAIN = { bold: unchanged, dim: unchanged, yellow: unchanged };

function show(name: string, agents: Agents, context: LineContext): void {
  const found = findAgent(name, agents);
  if (!found.ok) return context.refuse(name === '' ? 'which agent? agents lists them' : found.fault);
  sayLong(context, showLines(found.value));
}

async function create(rest: string, agents: Agents, context: LineContext): Promise<void> {
  const { sentence, model } = parseSentence(rest);
  const made = sentence === '' ? undefined : await proposed(sentence, model, context);
  const agent =
    made?.drafted === true ? drafted(made, context) : await asked(agents, { sentence, model, made }, context);
  if (agent === null) return context.say('Nothing was created.');
  const { name, description, tools, prompt } = agent;
  const done = await context.projectService?.agents?.create({ name, description, tools, prompt, for: 'project' });
  if (done === undefined) return context.refuse('agents cannot be created here');
  printReceipt(done, context);
}

interface RoleRequest extends ReturnType<typeof parseSentence> {
  /** The draft that was made of the sentence; null when the person stopped it, undefined when none was requested yet. */
  readonly made: AgentProposal | null | undefined;
}

async function asked(
  { all }: Agents,
  { sentence, model, made }: RoleRequest,
  context: LineContext,
): Promise<AgentText | null> {
  if (made === null) return null;
  const person = {
    say: (...lines: readonly string[]) => context.say(...lines),
    ask: (prompt: string) => context.ask(prompt),
    nameProblem: (name: string) => agentNameProblem(name, all),
    draft: async (description: string) => {
      const proposal = made ?? (await proposed(description, model, context));
      if (proposal !== null) context.say(proposal.said);
      return proposal?.draft ?? null;
    },
  };
  return askAgent(person, sentence);
}

function drafted({ draft, said }: AgentProposal, context: LineContext): AgentText {
  context.say(...agentLines(draft), ...draft.because, said);
  return draft;
}

/** Null when the person stopped the draft. */
async function proposed(sentence: string, model: boolean, context: LineContext): Promise<AgentProposal | null> {
  const agents = context.projectService?.agents;
  if (agents === undefined) return null;
  return context.stoppable.run(async (signal) => {
    const asking = (line: string): void => context.say(`${line}; Ctrl-C stops it.`);
    const made = await agents.draft(sentence, { model, signal, asking });
    return signal.aborted ? null : made;
  });
}

async function remove(name: string, agents: Agents, context: LineContext): Promise<void> {
  const found = findAgent(name, agents);
  if (!found.ok) return context.refuse(name === '' ? 'which agent? agents lists them' : found.fault);
  const { source, whyKept } = found.value;
  if (whyKept !== null) return context.refuse(`${name}: ${whyKept}`);
  const typed = await context.ask(`Delete ${source}? yes deletes it, anything else keeps it: `);
  if (typed === null || !IS_YES.test(typed.trim())) return context.say('Nothing was deleted.');
  const done = await context.projectService?.agents?.delete(name);
  if (done === undefined) return context.refuse('agents cannot be deleted here');
  printReceipt(done, context);
}
