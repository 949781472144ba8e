/** Commands before a run: a task, earlier tasks and sessions by number, templates, trust and custom agents. */
import { world, wrongUse } from '../../../app/process/index.ts';
import { attachTo } from '../../../app/client/index.ts';
import { plural } from '../../../app/views/index.ts';
import { fail } from '../../../domain/result.ts';
import type { ProjectInfo, TemplateInfo } from '../../../ports/project-service.ts';
import { firstLine } from '../agents.ts';
import type { LineCommand, LineSession } from '../session.ts';
import { at, cancelled, mimirCommand, NOT_HERE } from './perform.ts';

export const START_COMMANDS: readonly LineCommand[] = at(
  ['start'],
  {
    name: 'task',
    arguments: 'TEXT',
    help: 'Plan this task. A line that is not a command is a task, too.',
    run: (text, session) => session.begin(session.service.start(required(text, 'task'))),
  },
  {
    name: 'direct',
    arguments: 'TEXT',
    help: 'Ask main directly: one task without a planner; this command approves it.',
    run: (text, session) => session.begin(session.service.start(required(text, 'task'), 'direct')),
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
    run: (_, session) => {
      const lines = sessionsOf(session).map(
        ({ id, task, when, state }) => `${state}, ${when}, ${id}: ${firstLine(task)}`,
      );
      sayNumbered(lines, 'sessions', session);
    },
  },
  {
    name: 'resume',
    short: ['r', 'attach'],
    arguments: 'N',
    help: 'Resume session N of the list; one that runs in another process is followed, and quitting does not stop it.',
    run(typed, session) {
      const { id, state } = chosen(sessionsOf(session), typed, 'session', (one) => one.id);
      return state === 'running' ? session.begin(attachTo(session.service, id), world.now()) : session.resume(id);
    },
  },
  {
    name: 'templates',
    short: ['template'],
    arguments: '[N]',
    help: 'List templates and their variables; with a number or name: start that one, which asks for its variables.',
    run: templates,
  },
  mimirCommand('trust', '', 'Print what this project wants to add, and ask whether you trust it.'),
  mimirCommand(
    'agents',
    '[list|show|create|delete|help] [NAME]',
    'List the agents; show, create or delete one. /agents create DESCRIPTION drafts one.',
  ),
);

function sayNumbered(lines: readonly string[], what: string, session: LineSession): void {
  session.sayLong(lines.length === 0 ? [`No ${what} yet.`] : lines.map((line, index) => `${index + 1}. ${line}`));
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

const sessionsOf = ({ service }: LineSession): ProjectInfo['sessions'] => service.info().sessions;

function history(typed: string, session: LineSession): Promise<void> | void {
  const tasks = [...new Set(sessionsOf(session).map(({ task }) => task))];
  if (typed === '') return sayNumbered(tasks.map(firstLine), 'earlier tasks', session);
  const task = tasks[Number(typed) - 1];
  if (task === undefined) throw wrongUse(`there is no earlier task ${typed}`);
  return session.begin(session.service.start(task));
}

function templates(typed: string, session: LineSession): Promise<void> | void {
  const all = session.service.info().templates ?? [];
  if (typed !== '') {
    const template = chosen(all, typed, 'template', ({ name }) => name);
    return startTemplate(template, session);
  }
  const lines = all.map(({ name, description, tasks, arguments: wanted, from }) => {
    const asks = wanted.length === 0 ? '' : `; variables: ${wanted.map((one) => one.name).join(', ')}`;
    return `${name}: ${description === '' ? '' : `${description}, `}${plural(tasks, 'task')}${asks} (${from})`;
  });
  sayNumbered(lines, 'templates', session);
}

async function startTemplate({ name, arguments: wanted }: TemplateInfo, session: LineSession): Promise<void> {
  const values: Record<string, string> = {};
  for (const { name: variable, description, default: preset } of wanted) {
    const what = description === '' ? variable : `${variable}, ${description}`;
    const given = await session.ask(`${what}${preset === '' ? '' : ` (Enter is ${preset})`}: `);
    if (given === null) throw cancelled('Nothing started.');
    values[variable] = required(given.trim() || preset, variable);
  }
  await session.begin(session.service.startTemplate?.(name, values) ?? Promise.resolve(fail(NOT_HERE)));
}
