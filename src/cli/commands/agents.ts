/**
 * `mimir agents`: the agents that there are, what one is told, and custom ones made and deleted. Lists go to
 * text.ts, making one to create.ts, files to keep.ts.
 */
import type { AgentInfo } from '../../ports/project-service.ts';
import { AGENTS_HELP } from '../../app/agents/typed.ts';
import { create, notDone } from '../agents/create.ts';
import { agentsHere } from '../../app/agents/list.ts';
import { agentNamed, listLines, showLines } from '../../app/agents/text.ts';
import { CWD, JSON_FLAG } from '../../app/process/flags/common.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { harmless } from '../../app/process/io.ts';
import { agentFileOf, deleteAgent } from '../../app/agents/keep.ts';
import { SAYS_YES } from '../../app/process/asker.ts';
import { loadHere } from '../../app/project/project-trust.ts';
import type { Here } from '../../app/project/project-trust.ts';
import type { ProjectPlace } from '../../app/project/project.ts';
import { environmentOf, hereOf, projectOf } from '../../app/project/project.ts';
import type { Verb } from '../verb.ts';

export const agentsVerb: Verb = {
  usage: 'mimir agents [list|show NAME|create ["<description>"]|delete NAME|help]',
  summary: 'Lists the agents that there are, shows what one is told; makes and deletes custom ones.',
  example: [
    'mimir agents create "a code review agent with read-only access, focusing on code quality"',
    '  mimir agents show code-review',
    '  mimir agents delete code-review',
  ].join('\n'),
  words: 200,
  flags: {
    user: { value: '', help: 'create it in your own folder, for all projects' },
    name: { value: 'NAME', help: 'create it under this name' },
    model: { value: 'M', help: 'let this model draft it (default: the one of the role main)' },
    'no-model': { value: '', help: 'draft it by fixed rules; no model is asked' },
    yes: { value: '', help: 'delete it without a question' },
    ...JSON_FLAG,
    ...CWD,
  },
  notes: [
    'create asks the model of the role main once, where one may be asked, and says which and what it cost; else fixed rules draft it, and it says why.',
    'JSON of create: name, description, tools, prompt, for, file, because, drafted (by, why, model, calls, tokens, cost, session).',
  ],
  async run(args, io) {
    const [what = 'list', ...rest] = args.words;
    const project = projectOf(args, io);
    switch (what) {
      case 'list':
        alone(what, rest);
        return list(project, args, io);
      case 'show':
        return show(oneName(what, rest), project, args, io);
      case 'create':
        return create({ sentence: rest.join(' ').trim(), project }, args, io);
      case 'delete':
        return remove(oneName(what, rest), project, args, io);
      case 'help':
        alone(what, rest);
        for (const line of AGENTS_HELP) io.say(line);
        return EXIT.done;
      default:
        throw new Exit(EXIT.wrongUse, `mimir agents ${what}\n  expected list, show, create, delete or help`);
    }
  },
};

/** A name that would be passed over is another wish. */
function alone(what: string, [name]: readonly string[]): void {
  if (name === undefined) return;
  throw new Exit(EXIT.wrongUse, `mimir agents ${what} takes no name: "${name}"\n  mimir agents show ${name}`);
}

function oneName(what: string, words: readonly string[]): string {
  const [name, ...more] = words;
  if (name !== undefined && more.length === 0) return name;
  throw new Exit(EXIT.wrongUse, `mimir agents ${what} NAME\n  \`mimir agents\` lists them`);
}

function list(project: ProjectPlace, args: Arguments, io: Io): number {
  const { config } = hereOf(project, io, {}, 'look');
  const { all, leftOut } = agentsHere(project, config);
  if (args.has('json')) io.json({ agents: all.map(briefly), leftOut });
  else for (const line of listLines(all, leftOut, io.paint)) io.say(harmless(line));
  return EXIT.done;
}

/** Without what it is told, which `show` has. */
const briefly = ({ name, description, tools, capabilities, models, source, whyKept }: AgentInfo): object => ({
  name,
  description,
  tools,
  capabilities,
  models,
  source,
  whyKept,
});

function show(name: string, project: ProjectPlace, args: Arguments, io: Io): number {
  const { config } = hereOf(project, io, {}, 'look');
  const found = agentNamed(name, agentsHere(project, config));
  if (!found.ok) throw new Exit(EXIT.wrongUse, found.fault);
  if (args.has('json')) io.json(found.value);
  else for (const line of showLines(found.value)) io.say(harmless(line));
  return EXIT.done;
}

async function remove(name: string, project: ProjectPlace, args: Arguments, io: Io): Promise<number> {
  const config = configIfSound(project, io);
  const file = agentFileOf(project, config, name);
  if (!file.ok) throw new Exit(EXIT.wrongUse, file.fault);
  if (!args.has('yes') && !(await agreed(file.value.shown, io))) return notDone(io, 'Nothing was deleted.');
  const gone = deleteAgent(project, config, name);
  if (!gone.ok) throw new Exit(EXIT.refused, gone.fault.text);
  if (args.has('json')) io.json({ deleted: name, file: gone.value.file });
  else io.say(harmless(gone.value.text));
  return EXIT.done;
}

/** A file with a fault keeps the configuration from being read, and must be deletable all the same. */
function configIfSound(project: ProjectPlace, io: Io): Here['config'] | null {
  const here = loadHere(project, environmentOf(project, io), {}, 'look');
  return here.ok ? here.value.config : null;
}

async function agreed(file: string, io: Io): Promise<boolean> {
  if (!io.terminal) throw new Exit(EXIT.notApproved, `delete ${file}?\n  in a script: --yes`);
  const { openAsker } = await import('../../app/process/asker.ts');
  const asker = openAsker();
  const typed = await asker.ask(harmless(`Delete ${file}? yes deletes it, anything else leaves it: `), 'fresh');
  asker.close();
  return typed !== null && SAYS_YES.test(typed.trim());
}
