/** Commands before a run: a task, suggestions and sessions by number, templates, files of the project, trust and custom agents. */
import { wrongUse } from '../../../app/process/index.ts';
import { isOpen, plural } from '../../../app/views/index.ts';
import type { ProjectInfo, TemplateInfo } from '../../../ports/project-service.ts';
import { firstLine } from '../agents.ts';
import { at, cancelled, type LineCommand, type LineContext, mimirCommand, sayLong } from '../command.ts';

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
    mimirCommand('trust', '', 'Print what this project wants to add, and ask whether you trust it.'),
    mimirCommand(
      'agents',
      '[list|show|create|delete|help] [NAME]',
      'List the agents; show, create or delete one. /agents create DESCRIPTION drafts one.',
    ),
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
