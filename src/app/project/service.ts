/**
 * The project as a screen sees it: its facts, sessions, templates, agents and themes, and the runs that it starts,
 * resumes, attaches to and detaches from.
 */
import { saveReport } from '../reports/index.ts';
import { reachRun } from '../client/index.ts';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { loadTheme, themeNames } from '../../config/index.ts';
import type { ModelId, SessionId } from '../../domain/ids.ts';
import type { RepositoryFacts } from '../../domain/repository.ts';
import { defined, fail, ok, type Result } from '../../domain/result.ts';
import type { Theme } from '../../domain/theme.ts';
import type { Run } from '../../engine/run/index.ts';
import type { RemoteRun } from '../../ports/control.ts';
import type { Controls, Receipt, Refusal } from '../../ports/controls.ts';
import { readOrNull } from '../../ports/log.ts';
import type { ProjectInfo, ProjectService, ShownHints, TrustQuestion } from '../../ports/project-service.ts';
import type { RepositoryPort } from '../../ports/tree.ts';
import { unifiedDiff } from '../../tools/files/diff.ts';
import { openAgentFiles, agentsOf } from '../agents/index.ts';
import { newSession, packageRoot, packageVersion, attempt, world, writePrivate, wrongUse } from '../process/index.ts';
import { isOpen, toLabel } from '../views/index.ts';
import {
  eventsOf,
  whyNotResume,
  pastRun,
  plannerModel,
  type ProjectPlace,
  stateOf,
  trustOf,
  trustNow,
} from '../workspace/index.ts';
import type { RunStart, Start } from './begin-run.ts';
import { openProjectFiles, type ProjectFiles } from './file-index.ts';
import { directApproval, type OpenProject } from './open-project.ts';
import { saveTemplate, planFromTemplate, listTemplates } from './templates.ts';

export interface ServiceOptions {
  /** Opens the project again with its present configuration, which applies from the next run. */
  readonly reopen: () => Promise<OpenProject>;
  /** Continues a session in a background process; the receipt says how to return. */
  readonly continueInBackground: (session: SessionId) => Promise<Receipt>;
  readonly pace?: Start['pace'];
}

export interface LocalProjectService extends ProjectService, Pick<ServiceRuns, 'begin' | 'current' | 'attached'> {
  /** Reads the configuration again, which applies from the next run; refused where it has faults. */
  reload(): Promise<Result<Receipt, Refusal>>;
  /** Closes everything; resolves when a running draft has ended too. */
  close(): Promise<void>;
}

/** The sandbox and the suggestions follow shortly after the first frame, because they need other programs. */
export function openProjectService(
  first: OpenProject,
  { reopen, continueInBackground, pace = 'readable' }: ServiceOptions,
): LocalProjectService {
  let opened = first;
  const listeners: (() => void)[] = [];
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  let learned = NOTHING_YET;
  let question = questionOf(opened);
  const learn = (more: Partial<Learned>): void => {
    learned = { ...learned, ...more };
    changed();
  };
  const leaving = new AbortController();
  const drafts = new Set<Promise<unknown>>();
  const files = filesOf(() => opened, leaving.signal);
  const ready = (): void => {
    files.load();
    learn(templatesOf(opened));
  };
  const repositoryPort = inspectInBackground(opened, () => isOpen(question), { learn, ready });
  const renew = async (): ReturnType<typeof reopened> => {
    const next = await reopened(reopen);
    if (!next.ok) return next;
    opened.close();
    opened = next.value;
    question = questionOf(opened);
    learn({ sandbox: next.sandbox, ...templatesOf(opened) });
    return next;
  };
  const runs = runsFrom(() => opened, { repository: repositoryPort, pace, continueInBackground });
  return {
    info: () => infoOf(opened, learned, question),
    onChange: (listener) => void listeners.push(listener),
    async trust(digest) {
      const given = trustNow(opened.project, digest);
      question = questionOf(opened);
      changed();
      if (!given.ok) return fail({ text: `not trusted: ${given.fault}` });
      const next = await renew();
      if (!next.ok) return next.is === 'unusable' ? faultyConfig(next.fault, learn) : next;
      return ok({ text: 'Trusted. Applies from the next run.' });
    },
    reload: async () => receiptOf(await renew()),
    ...plansOf(() => opened, runs.begin, learn),
    agents: openAgentFiles(() => opened.drafting, renew, drafts, leaving.signal),
    hints: openHints(first.project.places.state),
    ...runlessService(() => opened, files),
    look: (session) => openPastRun(opened, session),
    ...runs,
    async close() {
      leaving.abort();
      runs.disconnect();
      if (drafts.size > 0) await Promise.allSettled(drafts);
      opened.close();
    },
  };
}

const receiptOf = (next: Awaited<ReturnType<typeof reopened>>): Result<Receipt, Refusal> =>
  next.ok ? ok({ text: '' }) : fail({ text: `This session keeps its earlier configuration: ${next.fault.text}` });

/** Starts and saves templates. */
const plansOf = (
  opened: () => OpenProject,
  begin: ServiceRuns['begin'],
  learn: (more: Partial<Learned>) => void,
): Pick<ProjectService, 'startTemplate' | 'saveTemplate'> => ({
  async startTemplate(name, values) {
    const made = planFromTemplate(opened().project, isTrusted(opened()), name, values);
    if (!made.ok) return fail({ text: made.fault });
    const { draft, from, task } = made.value;
    return attempt(() => begin({ session: newSession(), task, plan: { draft, from } }));
  },
  async saveTemplate(wish) {
    const { project, config } = opened();
    const kept = saveTemplate(project, config, wish);
    learn(templatesOf(opened()));
    return kept;
  },
});

/** The usable templates, and a note for each faulty one. */
function templatesOf(opened: OpenProject): Pick<Learned, 'templates' | 'broken'> {
  const { templates, faults } = listTemplates(opened.project, isTrusted(opened));
  return { templates, broken: faults.map((fault) => `template left out: ${fault}`) };
}

/** Opens the project again. `unusable`: the configuration has faults, listed in the text. */
async function reopened(
  reopen: () => Promise<OpenProject>,
): Promise<
  | { readonly ok: true; readonly value: OpenProject; readonly sandbox: string }
  | { readonly ok: false; readonly is: 'unusable' | 'not ready'; readonly fault: Refusal }
> {
  const next = await attempt(reopen);
  if (!next.ok) return { ...next, is: 'unusable' };
  const ready = await attempt(() => next.value.ready());
  if (ready.ok) return { ...next, sandbox: ready.value.sandbox };
  next.value.close();
  return { ...ready, is: 'not ready' };
}

async function openPastRun({ log }: OpenProject, session: SessionId): Promise<Result<Controls, Refusal>> {
  const events = eventsOf(log, session, 0, { outputs: false });
  return attempt(async () => {
    for (const _ of events) return pastRun(session, events, (seq) => readOrNull(() => log.at(session, seq)));
    throw wrongUse(`there is no session ${session}`);
  });
}

/** File names, reports and themes, which need no run. */
function runlessService(
  opened: () => OpenProject,
  files: ProjectFiles,
): Pick<ProjectService, 'files' | 'exportReport' | 'theme'> {
  return {
    files: (query, most) => files.find(query, most),
    async exportReport(session, format) {
      const { project, log } = opened();
      const state = await attempt(async () => stateOf(log, session));
      return state.ok ? saveReport(project, session, state.value, format) : state;
    },
    theme: (name) => chosenTheme(opened().project, isTrusted(opened()), name),
  };
}

/** The sandbox lists the files, because it knows which ones rules hide. */
const filesOf = (opened: () => OpenProject, signal: AbortSignal): ProjectFiles =>
  openProjectFiles(async () => {
    const reopened = await attempt(() => opened().ready());
    return reopened.ok ? reopened.value.listing(signal) : [];
  }, world);

const isTrusted = ({ project, config }: OpenProject): boolean =>
  trustOf(project, config.preferences.trust ?? []).state === 'trusted';

/** The project is trusted now, but its configuration is faulty; the session keeps the old one. */
function faultyConfig({ text }: Refusal, learn: (more: Partial<Learned>) => void): Result<never, Refusal> {
  // The first line is an introduction, each further line a fault.
  const unusable = text
    .split('\n')
    .slice(1)
    .map((line) => line.trim());
  learn({ unusable });
  const [first = text, ...others] = unusable;
  const more = others.length === 0 ? '' : ` (and ${others.length} more: mimir doctor)`;
  return fail({
    text: `Trusted, but not used in this session because of a fault. ${first}${more}`,
  });
}

/** The notes of the configuration, or the faults that prevented its use. */
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
      ...(ended === undefined ? {} : { ended }),
      ...(cost === undefined ? {} : { cost }),
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
  /** The templates, read when the project is open. */
  readonly templates: NonNullable<ProjectInfo['templates']>;
  /** A note for each template that cannot be read. */
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

/**
 * Tries the sandbox and inspects the repository in the background, without git while the trust question is open. A
 * planner within a minute uses these facts, once. Calls `ready` as soon as the project is open.
 */
function inspectInBackground(
  opened: OpenProject,
  asksForTrust: () => boolean,
  { learn, ready }: { readonly learn: (more: Partial<Learned>) => void; readonly ready: () => void },
): RepositoryPort {
  let ahead: { readonly facts: RepositoryFacts; readonly since: number } | null = null;
  const look = async (): Promise<void> => {
    await world.sleep(INSPECT_DELAY_MS);
    const reopened = await attempt(() => opened.ready());
    if (!reopened.ok) return learn({ problem: reopened.fault.text });
    learn({ sandbox: reopened.value.sandbox });
    ready();
    const { config, providers, model, roleModels } = opened.drafting;
    const models = (await providers.open('none')).models();
    const asked = { model: roleModels.get('main') ?? model, offlineOnly: providers.offlineOnly };
    learn({ model: plannerModel(models, config, asked) });
    // Without trust, no git configuration of the project is read.
    const how = asksForTrust() ? 'without git' : undefined;
    const facts = await reopened.value.repository.facts(new AbortController().signal, how);
    if (how === undefined) ahead = { facts, since: world.elapsed() };
    learn({ suggestions: suggestionsFor(facts), repository: facts });
  };
  void look();
  return {
    async facts(signal) {
      const known = ahead;
      ahead = null;
      // The number of changed files would soon be wrong, since agents start to change files.
      if (known !== null) learn({ repository: { isGit: known.facts.isGit, files: known.facts.files } });
      const fresh = known !== null && world.elapsed() - known.since < FRESH_MS;
      return fresh ? known.facts : (await opened.ready()).repository.facts(signal);
    },
  };
}

/** Example tasks that refer to what the repository contains. */
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

interface ServiceRuns extends Required<Pick<ProjectService, 'start' | 'resume' | 'attach' | 'detach'>> {
  /** Starts or resumes a run with a person; without `approval` as the rules have it. Rejects with an `Exit`. */
  readonly begin: (what: Omit<RunStart, 'approval'> & Partial<Pick<RunStart, 'approval'>>) => Promise<Controls>;
  /** The run of this process, or its last one; null before the first. */
  current(): Run | null;
  /** The attached run of another process; null if none, or if a run was started here since. */
  attached(): SessionId | null;
  /** Disconnects from the run of another process, which continues. */
  disconnect(): void;
}

interface RunStartOptions extends Required<Pick<Start, 'repository' | 'pace'>> {
  /** Continues a session in a background process; the receipt says how to return. */
  readonly continueInBackground: (session: SessionId) => Promise<Receipt>;
}

/** `opened` returns the project from which runs are started now. */
function runsFrom(opened: () => OpenProject, { repository, pace, continueInBackground }: RunStartOptions): ServiceRuns {
  let current: Run | null = null;
  let reached: RemoteRun | null = null;
  const disconnect = (): void => {
    reached?.close();
    reached = null;
  };
  const begin: ServiceRuns['begin'] = async (what) => {
    const from = opened();
    const usual = from.config.rules.promptForApproval.value ? 'person' : 'config';
    const approval = what.direct === true ? directApproval(from.config) : usual;
    const run = await from.start({ approval, ...what, repository, person: true, pace });
    disconnect();
    current = run;
    return run.controls;
  };
  return {
    begin,
    start: (task, direct) =>
      attempt(() => begin({ session: newSession(), task, plan: null, direct: direct !== undefined })),
    resume: (session, followUp) =>
      attempt(() =>
        begin({ session, plan: null, ...defined({ followUp }), task: taskToResume(opened(), session, followUp) }),
      ),
    async attach(session) {
      const found = await reachRun(opened().project, session);
      if (found === null) return fail({ text: `session ${session} is not running: mimir resume ${session}` });
      disconnect();
      reached = found;
      return ok(found.controls);
    },
    async detach(session) {
      // The session is released when the run has ended in this process.
      await current?.result;
      return attempt(() => continueInBackground(session));
    },
    current: () => current,
    attached: () => reached?.session ?? null,
    disconnect,
  };
}

/** The task of a session that can be resumed; throws an `Exit` that says why it cannot. */
function taskToResume(opened: OpenProject, session: SessionId, followUp: string | undefined): string {
  const one = opened.log.sessions().find((known) => known.session === session);
  if (one === undefined) throw wrongUse(`there is no session ${session}`);
  const over = whyNotResume(opened, one, followUp !== undefined);
  if (over !== null) throw wrongUse(`${over}: mimir report ${session}`);
  return one.task;
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

const MOST_BYTES = 64 * 1024;

/** Remembers which hints were shown, in `hints.json` of the state folder, read on first use. A broken file counts as empty. */
export function openHints(state: string): ShownHints {
  const file = join(state, 'hints.json');
  let known: ReadonlySet<string> | null = null;
  const seen = (): ReadonlySet<string> => {
    known ??= new Set(readHints(file));
    return known;
  };
  return {
    seen,
    mark(hint) {
      if (seen().has(hint)) return;
      // Keeps what another session marked meanwhile.
      known = new Set([...readHints(file), ...seen(), hint]);
      try {
        writePrivate(file, `${JSON.stringify([...known].toSorted())}\n`);
      } catch {
        // The hint is shown again in the next session.
      }
    },
  };
}

function readHints(file: string): readonly string[] {
  try {
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const status = fstatSync(descriptor);
      if (!status.isFile() || status.size > MOST_BYTES) return [];
      const parsed: unknown = JSON.parse(readFileSync(descriptor, 'utf8'));
      return Array.isArray(parsed) ? parsed.filter((one) => typeof one === 'string') : [];
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return [];
  }
}
