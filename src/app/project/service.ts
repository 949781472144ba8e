/** The project as a screen sees it: its facts, sessions, templates, agents and themes, and the runs that it starts or joins. */
import { reportText, saveReport } from '../reports/index.ts';
import { reachRun } from '../client/index.ts';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { loadTheme, themeNames } from '../../config/index.ts';
import type { AuthoredChanges } from '../../domain/changes/authorship.ts';
import type { AgentId, ModelId, SessionId } from '../../domain/ids.ts';
import type { RepositoryFacts } from '../../domain/repository.ts';
import { defined, fail, ok, type Result, tried } from '../../domain/result.ts';
import { serialQueue } from '../../domain/serial-queue.ts';
import { openRedactor } from '../../domain/text/redact.ts';
import type { Theme } from '../../domain/theme.ts';
import type { Run } from '../../engine/run/index.ts';
import type { RemoteRun } from '../../ports/control.ts';
import type { Controls, Receipt, Refusal } from '../../ports/controls.ts';
import { readOrNull } from '../../ports/log.ts';
import type { AgentFiles, ProjectInfo, ProjectService, ReportFormat, RunChanges } from '../../ports/project-service.ts';
import type { Marks, TemplateRequest, TrustQuestion } from '../../ports/project-service.ts';
import { folderOf } from '../../store/index.ts';
import { unifiedDiff } from '../../tools/files/diff.ts';
import { openAgentFiles, agentsOf } from '../agents/index.ts';
import type { Arguments, Io } from '../process/index.ts';
import { attempt, newSession, packageRoot, packageVersion, sanitise, world, writePrivate } from '../process/index.ts';
import { wrongUse } from '../process/index.ts';
import { isOpen, toLabel, withAuthors } from '../views/index.ts';
import type { ProjectPlace } from '../workspace/index.ts';
import { authorsIn, eventsOf, whyNotResume, pastRun, plannerModel, stateOf, trustOf } from '../workspace/index.ts';
import { checksNow, storeOf, trustNow } from '../workspace/index.ts';
import type { RunStart, Start } from './begin-run.ts';
import { openProjectFiles, type ProjectFiles } from './file-index.ts';
import { directApproval, type OpenProject, openProject } from './open-project.ts';
import { saveTemplate, planFromTemplate, listTemplates } from './templates.ts';

/** The sandbox and the suggestions follow shortly after the first frame, because they need other programs. */
export class LocalProjectService implements ProjectService {
  readonly hints: Marks;
  readonly #accepted = new Map<SessionId, Marks>();
  readonly agents: AgentFiles;
  readonly changes: RunChanges;
  readonly #args: Arguments;
  readonly #io: Io;
  readonly #pace: Start['pace'];
  /** The project from which runs are started now. */
  #opened: OpenProject;
  #question: TrustQuestion;
  #learned = NOTHING_YET;
  readonly #listeners: (() => void)[] = [];
  readonly #leaving = new AbortController();
  readonly #drafts = new Set<Promise<unknown>>();
  /** One after the other, so that the newest configuration stays. */
  readonly #renewals = serialQueue();
  readonly #files: ProjectFiles;
  /** Facts about the repository that the next planner uses, once. */
  #ahead: { readonly facts: RepositoryFacts; readonly since: number } | null = null;
  #current: Run | null = null;
  /** What runs that have ended could not deliver. */
  readonly #undelivered: Promise<readonly string[]>[] = [];
  #reached: RemoteRun | null = null;

  constructor(args: Arguments, io: Io, opened: OpenProject, pace: Start['pace'] = 'readable') {
    this.#args = args;
    this.#io = io;
    this.#pace = pace;
    this.#opened = opened;
    this.#question = questionOf(opened);
    this.hints = openMarks(join(opened.project.places.state, 'hints.json'));
    this.agents = openAgentFiles(
      () => this.#opened.drafting,
      () => this.reload(),
      this.#drafts,
      this.#leaving.signal,
    );
    const changes = async (): Promise<RunChanges> =>
      (await import('./after-run.ts')).openRunChanges(this.#opened, io, this.#leaving.signal);
    this.changes = {
      preview: async (...of) => flat(await attempt(async () => (await changes()).preview(...of))),
      carryOut: async (...of) => flat(await attempt(async () => (await changes()).carryOut(...of))),
    };
    // The sandbox lists the files, because it knows which ones rules hide.
    this.#files = openProjectFiles(async () => {
      const ready = await attempt(() => this.#opened.ready());
      return ready.ok ? ready.value.listing(this.#leaving.signal) : [];
    }, world);
    void this.#inspect();
  }

  accepted(session: SessionId): Marks {
    const file = join(folderOf(storeOf(this.#opened.project)), 'accepted', `${session}.json`);
    const marks = this.#accepted.get(session) ?? openMarks(file);
    this.#accepted.set(session, marks);
    return marks;
  }

  info(): ProjectInfo {
    return infoOf(this.#opened, this.#learned, this.#question);
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  async trust(digest: string): Promise<Result<Receipt, Refusal>> {
    const given = trustNow(this.#opened.project, digest);
    this.#question = questionOf(this.#opened);
    this.#learn({});
    if (!given.ok) return fail({ text: `not trusted: ${given.fault}` });
    const next = await this.#renewals(() => this.#renew());
    if (next.ok) return ok({ text: 'Trusted. Applies from the next run.' });
    if (next.is === 'not ready') return next;
    // The first line is an introduction, each further line a fault.
    const lines = next.fault.text.split('\n').slice(1);
    const unusable = lines.map((line) => line.trim());
    this.#learn({ unusable });
    const [first = next.fault.text, ...others] = unusable;
    const more = others.length === 0 ? '' : ` (and ${others.length} more: mimir doctor)`;
    return fail({ text: `Trusted, but not used in this session because of a fault. ${first}${more}` });
  }

  /** Reads the configuration again, which applies from the next run; refused where it has faults. */
  async reload(): Promise<Result<Receipt, Refusal>> {
    const next = await this.#renewals(() => this.#renew());
    if (next.ok) return ok({ text: '' });
    return fail({ text: `This session continues without the change: ${next.fault.text}` });
  }

  /** Opens the project again with its present configuration. `unusable`: it has faults, listed in the text. */
  async #renew(): Promise<
    { readonly ok: true } | { readonly ok: false; readonly is: 'unusable' | 'not ready'; readonly fault: Refusal }
  > {
    const next = await attempt(() => openProject(this.#args, this.#io, this.#opened.project));
    if (!next.ok) return { ...next, is: 'unusable' };
    const ready = await attempt(() => next.value.ready());
    if (!ready.ok) {
      next.value.close();
      return { ...ready, is: 'not ready' };
    }
    this.#opened.close();
    this.#opened = next.value;
    this.#question = questionOf(this.#opened);
    this.#learn({ sandbox: ready.value.sandbox, ...templatesOf(this.#opened) });
    return { ok: true };
  }

  files(query: string, most: number): Promise<readonly string[]> {
    return this.#files.find(query, most);
  }

  async exportReport(session: SessionId, format: ReportFormat): Promise<Result<Receipt, Refusal>> {
    const { project, config, log } = this.#opened;
    const state = await attempt(async () => stateOf(log, session));
    if (!state.ok) return state;
    const { clean } = openRedactor(config.secrets.map(({ value }) => value));
    const now = await checksNow(project, config.rules.box, state.value);
    const text = reportText(withAuthors(now, await this.authors(session)), format, clean);
    return saveReport(project, session, text, format);
  }

  async authors(session: SessionId): Promise<AuthoredChanges | null> {
    const { project, config, log } = this.#opened;
    const found = await attempt(() => authorsIn(project, config.rules.box, log, session));
    return found.ok ? found.value : null;
  }

  theme(name: string): Result<Theme, string> {
    return chosenTheme(this.#opened.project, isTrusted(this.#opened), name);
  }

  async startTemplate(name: string, values: Readonly<Record<string, string>>): Promise<Result<Controls, Refusal>> {
    const made = planFromTemplate(this.#opened.project, isTrusted(this.#opened), name, values);
    if (!made.ok) return made;
    const { draft, from, task } = made.value;
    return attempt(() => this.begin({ session: newSession(), task, plan: { draft, from } }));
  }

  async saveTemplate(wish: TemplateRequest): Promise<Result<Receipt, Refusal>> {
    const { project, config } = this.#opened;
    const kept = saveTemplate(project, config, wish);
    this.#learn(templatesOf(this.#opened));
    return kept;
  }

  look(session: SessionId): Promise<Result<Controls, Refusal>> {
    const { log } = this.#opened;
    const events = eventsOf(log, session, 0, { outputs: false });
    return attempt(async () => {
      for (const _ of events) return pastRun(session, events, (seq) => readOrNull(() => log.at(session, seq)));
      throw wrongUse(`there is no session ${session}`);
    });
  }

  /** Starts or resumes a run with a person; without `approval` as the rules have it. Rejects with an `Exit`. */
  async begin(what: Omit<RunStart, 'approval'> & Partial<Pick<RunStart, 'approval'>>): Promise<Controls> {
    const opened = this.#opened;
    const usual = opened.config.rules.promptForApproval.value ? 'person' : 'config';
    const approval = what.direct === true ? directApproval(opened.config) : usual;
    const repository = { facts: (signal: AbortSignal) => this.#factsFor(signal) };
    const run = await opened.start({ approval, ...what, repository, person: true, pace: this.#pace });
    this.#disconnect();
    this.#current = run;
    const keep = (): void => void this.#undelivered.push(run.undelivered.catch(() => []));
    void run.result.then(keep, keep);
    return run.controls;
  }

  start(task: string, direct?: 'direct'): Promise<Result<Controls, Refusal>> {
    return attempt(() => this.begin({ session: newSession(), task, plan: null, direct: direct !== undefined }));
  }

  /** Resumes a session from its last turn, or returns why that is impossible. */
  resume(session: SessionId, followUp?: string, followUpTo?: AgentId): Promise<Result<Controls, Refusal>> {
    return attempt(async () => {
      const one = this.#opened.log.sessions().find((known) => known.session === session);
      if (one === undefined) throw wrongUse(`there is no session ${session}`);
      const over = whyNotResume(this.#opened, one, followUp !== undefined);
      if (over !== null) throw wrongUse(`${over}: mimir report ${session}`);
      return this.begin({ session, task: one.task, plan: null, ...defined({ followUp, followUpTo }) });
    });
  }

  async attach(session: SessionId): Promise<Result<Controls, Refusal>> {
    const found = await reachRun(this.#opened.project, session);
    if (found === null) return fail({ text: `session ${session} is not running: mimir resume ${session}` });
    this.#disconnect();
    this.#reached = found;
    return ok(found.controls);
  }

  async detach(session: SessionId): Promise<Result<Receipt, Refusal>> {
    // The session is released when the run has ended in this process.
    await this.#current?.result;
    const { continueInBackground } = await import('./hosting.ts');
    return attempt(() => continueInBackground(session, this.#args, this.#opened.project, this.#io));
  }

  /** The run of this process, or its last one; null before the first. */
  current(): Run | null {
    return this.#current;
  }

  /** The attached run of another process; null if none, or if a run was started here since. */
  attached(): SessionId | null {
    return this.#reached?.session ?? null;
  }

  /** Closes everything and prints what runs could not deliver; resolves when a running draft has ended too. A run of another process continues. */
  async close(): Promise<void> {
    this.#leaving.abort();
    this.#disconnect();
    await Promise.allSettled(this.#drafts);
    await this.#renewals(() => Promise.resolve());
    this.#opened.close();
    for (const line of (await Promise.all(this.#undelivered)).flat()) this.#io.complain(`mimir: ${sanitise(line)}`);
  }

  #disconnect(): void {
    this.#reached?.close();
    this.#reached = null;
  }

  #learn(more: Partial<Learned>): void {
    this.#learned = { ...this.#learned, ...more };
    for (const listener of this.#listeners) listener();
  }

  /** Tries the sandbox and inspects the repository in the background, without git while the trust question is open. */
  async #inspect(): Promise<void> {
    await world.sleep(INSPECT_DELAY_MS);
    const opened = this.#opened;
    const ready = await attempt(() => opened.ready());
    if (this.#leaving.signal.aborted) return;
    if (!ready.ok) return this.#learn({ problem: ready.fault.text });
    this.#files.load();
    this.#learn({ sandbox: ready.value.sandbox, ...templatesOf(opened) });
    const { config, providers, model, roleModels } = opened.drafting;
    const models = (await providers.open('none')).models();
    const asked = { model: roleModels.get('main') ?? model, offlineOnly: providers.offlineOnly };
    this.#learn({ model: plannerModel(models, config, asked) });
    // Without trust, no git configuration of the project is read.
    const how = isOpen(this.#question) ? 'without git' : undefined;
    const facts = await ready.value.repository.facts(new AbortController().signal, how);
    if (how === undefined) this.#ahead = { facts, since: world.elapsed() };
    this.#learn({ suggestions: suggestionsFor(facts), repository: facts });
  }

  /** The facts for a planner: those that were read ahead, within a minute. */
  async #factsFor(signal: AbortSignal): Promise<RepositoryFacts> {
    const known = this.#ahead;
    this.#ahead = null;
    // The number of changed files would soon be wrong, since agents start to change files.
    if (known !== null) this.#learn({ repository: { isGit: known.facts.isGit, files: known.facts.files } });
    const fresh = known !== null && world.elapsed() - known.since < FRESH_MS;
    return fresh ? known.facts : (await this.#opened.ready()).repository.facts(signal);
  }
}

const flat = <T>(result: Result<Result<T, Refusal>, Refusal>): Result<T, Refusal> =>
  result.ok ? result.value : result;

function templatesOf(opened: OpenProject): Pick<Learned, 'templates' | 'broken'> {
  const { templates, faults } = listTemplates(opened.project, isTrusted(opened));
  return { templates, broken: faults.map((fault) => `template left out: ${fault}`) };
}

const isTrusted = ({ project, config }: OpenProject): boolean =>
  trustOf(project, config.preferences.trust ?? []).state === 'trusted';

const notesOf = (notes: readonly string[], unusable: readonly string[]): readonly string[] =>
  unusable.length === 0 ? notes : ['trusted, but not used in this session:', ...unusable];

const questionOf = ({ project, config }: OpenProject): TrustQuestion =>
  trustOf(project, config.preferences.trust ?? [], unifiedDiff);

const infoOf = (
  { project, config, provider, mode, log }: OpenProject,
  { sandbox, model, suggestions, repository, templates, broken, problem, unusable }: Learned,
  { state, digest, brings, diff }: TrustQuestion,
): ProjectInfo => ({
  cwd: project.root,
  project: basename(project.root),
  version: packageVersion(),
  provider,
  ...(model === null ? {} : { model }),
  sandbox,
  mode,
  budget: config.rules.runBudget.value,
  suggestions,
  sessions: log
    .sessions()
    .filter(({ draft }) => draft !== true)
    .slice(0, 20)
    .map(({ session, task, asked, startedAt, state, ended, cost }) => ({
      id: session,
      task: asked === undefined ? task : toLabel(asked),
      when: startedAt,
      state,
      ...defined({ ended, cost }),
    })),
  ...(repository === null ? {} : { repository }),
  policy: config.managed.length === 0 ? '' : `managed by ${config.managed.map(({ shown }) => shown).join(', ')}`,
  trust: { state, digest, brings, diff },
  templates,
  agents: agentsOf(project, config),
  themes: namesOfThemes(project, state === 'trusted'),
  notes: [...(problem === null ? [] : [problem]), ...notesOf(config.notes, unusable), ...broken],
});

/** Delays the first inspection, so that git does not slow down the first frame and key. */
const INSPECT_DELAY_MS = 120;
/** Facts of this age are used again. */
const FRESH_MS = 60_000;

/** What is learned shortly after the first frame. */
interface Learned {
  /** Empty until the sandbox was tried. */
  readonly sandbox: string;
  /** The model that plans; null until it is known, and where none can be used. */
  readonly model: ModelId | null;
  readonly suggestions: readonly string[];
  readonly repository: NonNullable<ProjectInfo['repository']> | null;
  readonly templates: ProjectInfo['templates'];
  readonly broken: readonly string[];
  /** Why no run can be started now, or null. */
  readonly problem: string | null;
  /** The faults of the trusted configuration. */
  readonly unusable: readonly string[];
}

const NOTHING_YET: Learned = {
  sandbox: '',
  model: null,
  suggestions: [],
  repository: null,
  templates: [],
  broken: [],
  problem: null,
  unusable: [],
};

function suggestionsFor(facts: RepositoryFacts): readonly string[] {
  if (facts.files === 0) return ['Explain what this directory is'];
  const has = (name: RegExp): string | undefined => facts.top.find((entry) => name.test(entry));
  const source = has(/^(?:src|lib|app|pkg|cmd|crates|packages)\/$/);
  const manifest = facts.manifests[0]?.path;
  return [
    `Explain how ${facts.name} works and where to start reading`,
    `Find the entry points of ${source ?? 'this repository'} and review the riskiest file`,
    facts.tests.count > 0 ? 'Find untested modules' : 'Suggest the first tests for this code',
    ...(manifest === undefined ? [] : [`Find unused dependencies in ${manifest}`]),
    `Review ${source ?? 'the code'} for error handling and security`,
    ...(facts.isGit ? ['Summarise recent changes and their impact'] : []),
  ].slice(0, 6);
}

/** Loads a theme by name; the fault names file, line and what is expected. */
export const chosenTheme = (project: ProjectPlace, trusted: boolean, name: string): Result<Theme, string> =>
  loadTheme(foldersOf(project, trusted), name);

/** The names of all themes, the shipped ones first. */
export const namesOfThemes = (project: ProjectPlace, trusted: boolean): readonly string[] =>
  themeNames(foldersOf(project, trusted));

/** Themes of an untrusted project are ignored. */
const foldersOf = ({ root, places }: ProjectPlace, trusted: boolean): readonly string[] => [
  join(places.config, 'themes'),
  ...(trusted ? [join(root, '.mimir', 'themes')] : []),
  join(packageRoot(), 'themes'),
];

const MOST_BYTES = 1024 * 1024;

/** Marks in a JSON file, read on first use. A broken file counts as empty. */
export function openMarks(file: string): Marks {
  let known: ReadonlySet<string> | null = null;
  const all = (): ReadonlySet<string> => (known ??= new Set(readMarks(file)));
  return {
    all,
    mark(key, isMarked = true) {
      if (all().has(key) === isMarked) return;
      // Keeps what another session marked meanwhile.
      const marks = new Set([...readMarks(file), ...all(), key]);
      if (!isMarked) marks.delete(key);
      known = marks;
      try {
        writePrivate(file, `${JSON.stringify([...known].toSorted())}\n`);
      } catch {
        // It holds for this session alone.
      }
    },
  };
}

const readMarks = (file: string): readonly string[] =>
  tried((): readonly string[] => {
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const status = fstatSync(descriptor);
      if (!status.isFile() || status.size > MOST_BYTES) return [];
      const parsed: unknown = JSON.parse(readFileSync(descriptor, 'utf8'));
      return Array.isArray(parsed) ? parsed.filter((one) => typeof one === 'string') : [];
    } finally {
      closeSync(descriptor);
    }
  }, []);
