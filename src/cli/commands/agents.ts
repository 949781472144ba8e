/** `mimir agents`: lists agents, shows one, creates and deletes custom ones. */
import * as agents from '../../app/agents/index.ts';
import * as cli from '../../app/process/index.ts';
import type { ProjectPlace } from '../../app/workspace/index.ts';
import { environmentOf, projectConfigOf, readConfig, openProjectLog } from '../../app/workspace/index.ts';
import { openProviders, projectOf } from '../../app/workspace/index.ts';
import { agentNameProblem } from '../../config/index.ts';
import type { AgentText } from '../../domain/agents/form.ts';
import { fail } from '../../domain/result.ts';
import type { AgentInfo } from '../../ports/project-service.ts';
import { command, tell } from '../verb.ts';

export const agentsVerb = command('agents', async (args, io) => {
  const [what = 'list', ...rest] = args.words;
  const project = projectOf(args, io);
  switch (what) {
    case 'list':
      alone(what, rest);
      return list(project, args, io);
    case 'show':
      return show(oneName(what, rest), project, args, io);
    case 'create':
      return create(rest.join(' ').trim(), project, args, io);
    case 'delete':
      return remove(oneName(what, rest), project, args, io);
    case 'help':
      alone(what, rest);
      for (const line of agents.AGENTS_HELP) io.say(line);
      return cli.EXIT.done;
    default:
      throw cli.wrongUse(`mimir agents ${what}\n  expected list, show, create, delete or help`);
  }
});

/** An extra argument would be ignored, so it is refused. */
function alone(what: string, [name]: readonly string[]): void {
  if (name === undefined) return;
  throw cli.wrongUse(`mimir agents ${what} takes no name: "${name}"\n  mimir agents show ${name}`);
}

function oneName(what: string, words: readonly string[]): string {
  const [name, ...more] = words;
  if (name !== undefined && more.length === 0) return name;
  throw cli.wrongUse(`mimir agents ${what} NAME\n  \`mimir agents\` lists them`);
}

function list(project: ProjectPlace, args: cli.Arguments, io: cli.Io): number {
  const { config } = projectConfigOf(project, io, {}, 'look');
  const here = agents.listAgents(project, config);
  const json = { agents: here.all.map(briefly), leftOut: here.leftOut };
  tell(args, io, json, agents.listLines(here, io.paint).map(cli.sanitise));
  return cli.EXIT.done;
}

/** Without the prompt, which `show` prints. */
function briefly(agent: AgentInfo): object {
  const { prompt: _, ...rest } = agent;
  return rest;
}

function show(name: string, project: ProjectPlace, args: cli.Arguments, io: cli.Io): number {
  const { config } = projectConfigOf(project, io, {}, 'look');
  const found = agents.findAgent(name, agents.listAgents(project, config));
  if (!found.ok) throw cli.wrongUse(found.fault);
  tell(args, io, found.value, agents.showLines(found.value).map(cli.sanitise));
  return cli.EXIT.done;
}

async function remove(name: string, project: ProjectPlace, args: cli.Arguments, io: cli.Io): Promise<number> {
  // A file with a fault keeps the configuration from being read, and must be deletable all the same.
  const here = readConfig(project, environmentOf(project, io), {}, 'look');
  const config = here.ok ? here.value.config : null;
  const file = agents.findAgentFile(project, config, name);
  if (!file.ok) throw cli.wrongUse(file.fault);
  if (!args.has('yes')) await requireYes(file.value.shown, io);
  const gone = agents.deleteAgent(project, config, name);
  if (!gone.ok) throw new cli.Exit(cli.EXIT.refused, gone.fault.text);
  tell(args, io, { deleted: name, file: gone.value.file }, [cli.sanitise(gone.value.text)]);
  return cli.EXIT.done;
}

async function requireYes(file: string, io: cli.Io): Promise<void> {
  if (!io.terminal)
    throw new cli.Exit(
      cli.EXIT.notApproved,
      `cannot ask whether to delete ${file} without a terminal\n  in a script: --yes`,
    );
  const typed = await io.ask(cli.sanitise(`Delete ${file}? yes deletes it, anything else keeps it: `), 'fresh');
  if (!cli.IS_YES.test(typed?.trim() ?? '')) throw new cli.Exit(cli.EXIT.notApproved, 'Nothing was deleted.');
}

/** Creates an agent from a sentence, which a model turns into a draft; returns the exit code. Without a sentence or a model a person at the
 * terminal is asked for each field. */
async function create(sentence: string, project: ProjectPlace, args: cli.Arguments, io: cli.Io): Promise<number> {
  const wanted = wantedBy(args, project, io);
  const person: agents.Questioner = {
    say: (...lines) => {
      for (const line of lines) io.say(cli.sanitise(line));
    },
    ask: (prompt) => io.ask(cli.sanitise(prompt)),
    nameProblem: wanted.nameProblem,
  };
  if (sentence === '' && !io.terminal)
    throw cli.wrongUse('describe it in a sentence: mimir agents create "<description>"');
  const described = sentence === '' ? await agents.askDescription(person) : sentence;
  const { made, signal } = await draft(described, wanted, args, io);
  if (signal !== null) {
    io.complain('mimir: stopped; nothing was created');
    return cli.signalCode(signal);
  }
  if (sentence !== '' && made.why === null) return save(made.draft, made.draft.because, made, wanted, args, io);
  const summary = agents.draftSummary(made);
  if (!io.terminal) throw new cli.Exit(cli.EXIT.noProvider, `${summary}\n  ${ON_A_TERMINAL}`);
  person.say(summary);
  return save(await agents.askAgent(person, made.draft, described), [], made, wanted, args, io);
}

const ON_A_TERMINAL =
  'in a terminal `mimir agents create` asks for name, tools and prompt; `mimir agents help` describes the file';

/** Writes the file of the agent, and prints what it may do, why, and what its draft cost; returns the exit code. */
function save(
  { name, description, tools, prompt }: AgentText,
  because: readonly string[],
  made: agents.DraftResult,
  { project, config, owner }: ReturnType<typeof wantedBy>,
  args: cli.Arguments,
  io: cli.Io,
): number {
  const request = { name, description, tools, prompt, for: owner };
  const created = agents.createAgent(project, config, request);
  if (!created.ok) throw new cli.Exit(cli.EXIT.refused, created.fault.text);
  const { file, text } = created.value;
  const lines = [
    text,
    `  tools: ${tools.join(', ')}`,
    ...because.map((why) => `  ${why}`),
    agents.draftSummary(made),
    `\`mimir agents show ${name}\` shows its prompt; you can edit the file. Plans can use it, and agents call it with Task.`,
  ];
  tell(args, io, { ...request, file, because, drafted: agents.draftJson(made) }, lines.map(cli.sanitise));
  return cli.EXIT.done;
}

/** What the flags ask for. Refused before anybody is asked: what that costs would be lost. */
function wantedBy(args: cli.Arguments, project: ProjectPlace, io: cli.Io) {
  const model = args.get('model');
  const how = args.has('no-model') ? 'look' : 'record';
  const { config } = projectConfigOf(project, io, model === undefined ? {} : { model }, how);
  const others = agents.takenNames(project, config);
  const nameProblem = (name: string): string | null => agentNameProblem(name, others);
  const named = args.get('name');
  const owner: 'user' | 'project' = args.has('user') ? 'user' : 'project';
  const problem = agents.whyNoAgent(project, owner, named === undefined ? null : nameProblem(named));
  if (problem !== null) throw new cli.Exit(cli.EXIT.refused, problem);
  return { project, config, nameProblem, named, owner };
}

/** Lets a model draft it, and announces that on stderr: stdout is only for the result. A signal stops the model. */
async function draft(
  sentence: string,
  { project, config, nameProblem, named }: ReturnType<typeof wantedBy>,
  args: cli.Arguments,
  io: cli.Io,
): Promise<{ readonly made: agents.DraftResult; readonly signal: cli.EndSignal | null }> {
  const control = new AbortController();
  const watch = cli.watchSignals((signal) => control.abort(signal));
  const opened = await cli.attempt(async () => {
    if (args.has('no-model')) throw cli.wrongUse('--no-model');
    const providers = await openProviders(args, config);
    const log = openProjectLog(project, config);
    return { project, config, log, providers, model: args.get('model') ?? null, roleModels: new Map<string, string>() };
  });
  try {
    const made = await agents.makeDraft(opened.ok ? opened : fail(opened.fault.text), {
      sentence,
      isTaken: (name) => nameProblem(name) !== null,
      named,
      signal: control.signal,
      asking: (drafter) =>
        io.complain(cli.sanitise(`${agents.askingText(drafter)}; Ctrl-C stops it, --no-model asks you instead.`)),
    });
    return { made, signal: watch.received() };
  } finally {
    watch.end();
    if (opened.ok) opened.value.log.close();
  }
}
