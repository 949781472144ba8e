/** `mimir agents create`: a custom agent from one sentence, or asked for line by line on a terminal. */
import { agentNameProblem } from '../../config/roles/agent-files.ts';
import type { Loaded } from '../../config/settings/load.ts';
import type { AgentText } from '../../domain/agents/draft.ts';
import { fail, ok } from '../../domain/result.ts';
import type { AgentWish } from '../../ports/project-service.ts';
import { openLog } from '../../store/log.ts';
import { askedAgent } from '../../app/agents/questions.ts';
import type { MadeDraft, OpenGround } from '../../app/agents/draft.ts';
import { askingWords, draftedJson, draftedWords, madeDraft } from '../../app/agents/draft.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import type { EndSignal } from '../../app/process/exit-codes.ts';
import { codeOfSignal } from '../../app/process/exit-codes.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { harmless } from '../../app/process/io.ts';
import { createAgent, namesHere, whyNoneHere } from '../../app/agents/keep.ts';
import { orExit } from '../../app/client/log-of.ts';
import { hereOf } from '../../app/project/project.ts';
import type { ProjectPlace } from '../../app/project/project.ts';
import { openProviders } from '../../app/project/providers.ts';
import { settled } from '../../app/process/exit-to-result.ts';
import { watchSignals } from '../../app/process/signals.ts';

interface Making {
  /** Empty: it is asked for. */
  readonly sentence: string;
  readonly project: ProjectPlace;
}

/** The exit code. */
export async function create({ sentence, project }: Making, args: Arguments, io: Io): Promise<number> {
  const drafting = prepared(project, args, io);
  const drafts = draftsFor(args, io, drafting);
  const asks = sentence === '';
  const agent = asks ? await byQuestions(io, drafting.nameProblem, drafts) : (await drafts.ask(sentence))?.draft;
  const signal = drafts.interrupted();
  if (signal !== null) return stopped(signal, io);
  if (agent === null || agent === undefined) return notDone(io, 'Nothing was created.');
  const { name, description, tools, prompt } = agent;
  const wish = { name, description, tools, prompt, for: drafting.owner };
  const made = createAgent(project, drafting.config, wish);
  if (!made.ok) throw new Exit(EXIT.refused, made.fault.text);
  const draft = drafts.made();
  tell(wish, { ...made.value, because: asks ? [] : (draft?.draft.because ?? []) }, draft, args, io);
  return EXIT.done;
}

/** Refused before anybody is asked: what that costs would be lost. */
function prepared(project: ProjectPlace, args: Arguments, io: Io): Drafting {
  const model = args.get('model');
  const how = args.has('no-model') ? 'look' : 'record';
  const { config } = hereOf(project, io, model === undefined ? {} : { model }, how);
  const others = namesHere(project, config);
  const nameProblem = (name: string): string | null => agentNameProblem(name, others);
  const named = args.get('name');
  const owner = args.has('user') ? 'user' : 'project';
  const problem = whyNoneHere(project, owner, named === undefined ? null : nameProblem(named));
  if (problem !== null) throw new Exit(EXIT.refused, problem);
  return { project, config, nameProblem, named, owner };
}

function stopped(signal: EndSignal, io: Io): number {
  io.complain('mimir: stopped; nothing was created');
  return codeOfSignal(signal);
}

interface Told {
  readonly text: string;
  readonly file: string;
  readonly because: readonly string[];
}

function tell(wish: AgentWish, { text, file, because }: Told, made: MadeDraft | null, args: Arguments, io: Io): void {
  const drafted = made === null ? {} : { drafted: draftedJson(made) };
  if (args.has('json')) return io.json({ ...wish, file, because, ...drafted });
  const lines = [
    text,
    `  tools: ${wish.tools.join(', ')}`,
    ...because.map((why) => `  ${why}`),
    ...(made === null ? [] : [draftedWords(made)]),
    `\`mimir agents show ${wish.name}\` shows what it is told; the file can be changed in any editor. A plan can use it, and an agent calls it by Task.`,
  ];
  for (const line of lines) io.say(harmless(line));
}

interface Drafts {
  /** Null when the person stopped it. */
  ask(sentence: string): Promise<MadeDraft | null>;
  /** The draft that was made last. */
  made(): MadeDraft | null;
  interrupted(): EndSignal | null;
}

interface Drafting extends Pick<Making, 'project'> {
  readonly config: Loaded;
  readonly nameProblem: (name: string) => string | null;
  readonly named: string | undefined;
  readonly owner: AgentWish['for'];
}

/** Who drafts is said on stderr before the call: stdout is for what was made. */
function draftsFor(args: Arguments, io: Io, { project, config, nameProblem, named }: Drafting): Drafts {
  let made: MadeDraft | null = null;
  let watch: ReturnType<typeof watchSignals> | null = null;
  return {
    async ask(sentence) {
      const control = new AbortController();
      const [open, close] = groundOf(args, project, config);
      watch = watchSignals((signal) => control.abort(signal));
      try {
        made = await madeDraft(open, {
          sentence,
          isTaken: (name) => nameProblem(name) !== null,
          named,
          signal: control.signal,
          asking: (drafter) =>
            io.complain(harmless(`${askingWords(drafter)}; Ctrl-C stops it, --no-model does without.`)),
        });
      } finally {
        watch.end();
        close();
      }
      return control.signal.aborted ? null : made;
    },
    made: () => made,
    interrupted: () => watch?.got() ?? null,
  };
}

/** What a model is asked from; the log it opened is closed by the second. */
function groundOf(args: Arguments, project: ProjectPlace, config: Loaded): readonly [OpenGround, () => void] {
  let log: ReturnType<typeof openLog> | null = null;
  const open: OpenGround = async () => {
    if (args.has('no-model')) return fail('--no-model');
    const providers = await settled(() => openProviders(args, config));
    if (!providers.ok) return fail(providers.fault.text);
    const every = config.preferences.audit?.checkpointEvery;
    const opened = await settled(async () =>
      orExit(() => openLog({ stateDir: project.places.state, project: project.root }, undefined, every)),
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

/** On a terminal only: a script says the sentence. */
async function byQuestions(
  io: Io,
  nameProblem: (name: string) => string | null,
  drafts: Drafts,
): Promise<AgentText | null> {
  if (!io.terminal) throw new Exit(EXIT.wrongUse, 'describe it in a sentence: mimir agents create "<description>"');
  const { openAsker } = await import('../../app/process/asker.ts');
  const asker = openAsker();
  const say = (...lines: readonly string[]): void => {
    for (const line of lines) io.say(harmless(line));
  };
  const draft = async (description: string): Promise<MadeDraft['draft'] | null> => {
    const made = await drafts.ask(description);
    if (made !== null) say(draftedWords(made));
    return made?.draft ?? null;
  };
  const agent = await askedAgent({ say, ask: (prompt) => asker.ask(harmless(prompt)), nameProblem, draft });
  asker.close();
  return agent;
}

/** Says why nothing came of it; the exit code. */
export function notDone(io: Io, words: string): number {
  io.say(words);
  return EXIT.notApproved;
}
