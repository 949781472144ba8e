/** `mimir agents`: lists agents, shows one, creates and deletes custom ones. */
import * as agents from '../../app/agents/index.ts';
import * as cli from '../../app/process/index.ts';
import {
  environmentOf,
  type ProjectConfig,
  projectConfigOf,
  readConfig,
  openProviders,
  projectOf,
  type ProjectPlace,
} from '../../app/workspace/index.ts';
import { agentNameProblem, type Loaded } from '../../config/index.ts';
import type { AgentText } from '../../domain/agents/form.ts';
import { fail, ok } from '../../domain/result.ts';
import type { AgentInfo, AgentRequest } from '../../ports/project-service.ts';
import { openLog } from '../../store/index.ts';
import { tell, type Verb } from '../verb.ts';

export const agentsVerb: Verb = {
  usage: 'mimir agents [list|show NAME|create ["<description>"]|delete NAME|help]',
  summary: 'Lists agents, shows the prompt of one, creates and deletes custom agents.',
  example: [
    'mimir agents create "a code review agent with read-only access, focusing on code quality"',
    '  mimir agents show code-review',
    '  mimir agents delete code-review',
  ].join('\n'),
  words: 200,
  flags: {
    user: { value: '', help: 'create it in your own folder, for all projects' },
    name: { value: 'NAME', help: 'create it under this name' },
    model: { value: 'M', help: 'let this model draft it (default: the model of the role main)' },
    'no-model': { value: '', help: 'ask for name, tools and prompt; use no model' },
    yes: { value: '', help: 'delete it without a question' },
    ...cli.JSON_FLAG,
    ...cli.CWD,
  },
  notes: [
    'create lets the model of the role main draft the agent and reports its cost. Without a model it asks for each field, which needs a terminal.',
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
  },
};

/** A name that would be passed over is another wish. */
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
  const { all, leftOut } = agents.listAgents(project, config);
  tell(args, io, { agents: all.map(briefly), leftOut }, agents.listLines(all, leftOut, io.paint).map(cli.sanitise));
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
  const config = configIfSound(project, io);
  const file = agents.findAgentFile(project, config, name);
  if (!file.ok) throw cli.wrongUse(file.fault);
  if (!args.has('yes') && !(await agreed(file.value.shown, io))) return notDone(io, 'Nothing was deleted.');
  const gone = agents.deleteAgent(project, config, name);
  if (!gone.ok) throw new cli.Exit(cli.EXIT.refused, gone.fault.text);
  tell(args, io, { deleted: name, file: gone.value.file }, [cli.sanitise(gone.value.text)]);
  return cli.EXIT.done;
}

/** A file with a fault keeps the configuration from being read, and must be deletable all the same. */
function configIfSound(project: ProjectPlace, io: cli.Io): ProjectConfig['config'] | null {
  const here = readConfig(project, environmentOf(project, io), {}, 'look');
  return here.ok ? here.value.config : null;
}

async function agreed(file: string, io: cli.Io): Promise<boolean> {
  if (!io.terminal) throw new cli.Exit(cli.EXIT.notApproved, `delete ${file}?\n  in a script: --yes`);
  const typed = await cli.askOnce(cli.sanitise(`Delete ${file}? yes deletes it, anything else keeps it: `), 'fresh');
  return typed !== null && cli.IS_YES.test(typed);
}

// `mimir agents create`: a custom agent from one sentence, or asked for line by line on a terminal.

/** Creates an agent from a sentence, or from answers on a terminal; returns the exit code. */
async function create(sentence: string, project: ProjectPlace, args: cli.Arguments, io: cli.Io): Promise<number> {
  const drafting = prepared(project, args, io);
  const drafts = draftsFor(args, io, drafting);
  const drafted = sentence === '' ? undefined : await drafts.ask(sentence);
  const asks = drafted?.why !== null;
  const agent = asks ? await byQuestions(io, drafting.nameProblem, drafts, sentence, drafted) : drafted.draft;
  const signal = drafts.interrupted();
  if (signal !== null) return stopped(signal, io);
  if (agent === null) return notDone(io, 'Nothing was created.');
  const { name, description, tools, prompt } = agent;
  const wish = { name, description, tools, prompt, for: drafting.owner };
  const made = agents.createAgent(project, drafting.config, wish);
  if (!made.ok) throw new cli.Exit(cli.EXIT.refused, made.fault.text);
  const draft = drafts.made();
  const because = asks ? [] : (draft?.draft.because ?? []);
  tell(
    args,
    io,
    createdJson(wish, made.value.file, because, draft),
    createdLines(wish, made.value.text, because, draft),
  );
  return cli.EXIT.done;
}

/** Refused before anybody is asked: what that costs would be lost. */
function prepared(project: ProjectPlace, args: cli.Arguments, io: cli.Io): Drafting {
  const model = args.get('model');
  const how = args.has('no-model') ? 'look' : 'record';
  const { config } = projectConfigOf(project, io, model === undefined ? {} : { model }, how);
  const others = agents.takenNames(project, config);
  const nameProblem = (name: string): string | null => agentNameProblem(name, others);
  const named = args.get('name');
  const owner = args.has('user') ? 'user' : 'project';
  const problem = agents.whyNoAgent(project, owner, named === undefined ? null : nameProblem(named));
  if (problem !== null) throw new cli.Exit(cli.EXIT.refused, problem);
  return { project, config, nameProblem, named, owner };
}

function stopped(signal: cli.EndSignal, io: cli.Io): number {
  io.complain('mimir: stopped; nothing was created');
  return cli.signalCode(signal);
}

const createdJson = (
  wish: AgentRequest,
  file: string,
  because: readonly string[],
  made: agents.DraftResult | null,
): object => ({
  ...wish,
  file,
  because,
  ...(made === null ? {} : { drafted: agents.draftJson(made) }),
});

function createdLines(
  wish: AgentRequest,
  text: string,
  because: readonly string[],
  made: agents.DraftResult | null,
): string[] {
  return [
    text,
    `  tools: ${wish.tools.join(', ')}`,
    ...because.map((why) => `  ${why}`),
    ...(made === null ? [] : [agents.draftSummary(made)]),
    `\`mimir agents show ${wish.name}\` shows its prompt; you can edit the file. Plans can use it, and agents call it by Task.`,
  ].map(cli.sanitise);
}

interface Drafts {
  /** Null when the person stopped it. */
  ask(sentence: string): Promise<agents.DraftResult | null>;
  /** The draft that was made last. */
  made(): agents.DraftResult | null;
  interrupted(): cli.EndSignal | null;
}

interface Drafting {
  readonly project: ProjectPlace;
  readonly config: Loaded;
  readonly nameProblem: (name: string) => string | null;
  readonly named: string | undefined;
  readonly owner: AgentRequest['for'];
}

/** Announces the model on stderr before the call; stdout is only for the result. */
function draftsFor(args: cli.Arguments, io: cli.Io, { project, config, nameProblem, named }: Drafting): Drafts {
  let made: agents.DraftResult | null = null;
  let watch: ReturnType<typeof cli.watchSignals> | null = null;
  return {
    async ask(sentence) {
      const control = new AbortController();
      const [open, close] = draftContextOf(args, project, config);
      watch = cli.watchSignals((signal) => control.abort(signal));
      try {
        made = await agents.makeDraft(open, {
          sentence,
          isTaken: (name) => nameProblem(name) !== null,
          named,
          signal: control.signal,
          asking: (drafter) =>
            io.complain(cli.sanitise(`${agents.askingText(drafter)}; Ctrl-C stops it, --no-model asks you instead.`)),
        });
      } finally {
        watch.end();
        close();
      }
      return control.signal.aborted ? null : made;
    },
    made: () => made,
    interrupted: () => watch?.received() ?? null,
  };
}

/** The context of a draft by a model, and the function that closes the log it opened. */
function draftContextOf(
  args: cli.Arguments,
  project: ProjectPlace,
  config: Loaded,
): readonly [agents.OpenDraftContext, () => void] {
  let log: ReturnType<typeof openLog> | null = null;
  const open: agents.OpenDraftContext = async () => {
    if (args.has('no-model')) return fail('--no-model');
    const providers = await cli.attempt(() => openProviders(args, config));
    if (!providers.ok) return fail(providers.fault.text);
    const every = config.preferences.audit?.checkpointEvery;
    const opened = await cli.attempt(async () =>
      cli.exitOnFault(() => openLog({ stateDir: project.places.state, project: project.root }, undefined, every)),
    );
    if (!opened.ok) return fail(opened.fault.text);
    log = opened.value;
    return ok({
      project,
      config,
      log,
      providers: providers.value,
      model: args.get('model') ?? null,
      roleModels: new Map(),
    });
  };
  return [open, () => log?.close()];
}

/** Asks for each field on a terminal. `made` is the draft so far: undefined if no model was called yet, null if the person interrupted it. */
async function byQuestions(
  io: cli.Io,
  nameProblem: (name: string) => string | null,
  drafts: Drafts,
  sentence: string,
  made: agents.DraftResult | null | undefined,
): Promise<AgentText | null> {
  if (made === null) return null;
  if (!io.terminal) throw notHere(made);
  const asker = cli.openAsker();
  const say = (...lines: readonly string[]): void => {
    for (const line of lines) io.say(cli.sanitise(line));
  };
  const draft = async (description: string): Promise<agents.DraftResult['draft'] | null> => {
    const drafted = made ?? (await drafts.ask(description));
    if (drafted !== null) say(agents.draftSummary(drafted));
    return drafted?.draft ?? null;
  };
  const person = { say, ask: (prompt: string) => asker.ask(cli.sanitise(prompt)), nameProblem, draft };
  const agent = await agents.askAgent(person, sentence);
  asker.close();
  return agent;
}

const notHere = (made: agents.DraftResult | undefined): cli.Exit =>
  made === undefined
    ? cli.wrongUse('describe it in a sentence: mimir agents create "<description>"')
    : new cli.Exit(
        cli.EXIT.noProvider,
        `${agents.draftSummary(made)}\n  on a terminal \`mimir agents create\` asks for name, tools and prompt; \`mimir agents help\` describes the file`,
      );

/** Prints why nothing was done; returns the exit code. */
function notDone(io: cli.Io, words: string): number {
  io.say(words);
  return cli.EXIT.notApproved;
}
