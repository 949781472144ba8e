/** What the screen starts runs from: the workshop with what is known about the project and its sessions. */
import { basename } from 'node:path';
import type { SessionId } from '../../../domain/ids.ts';
import type { RepositoryFacts } from '../../../domain/repository.ts';
import type { Result } from '../../../domain/result.ts';
import { fail, ok } from '../../../domain/result.ts';
import type { Run } from '../../../engine/run/run.ts';
import type { Reached } from '../../../ports/control.ts';
import type { Controls, Receipt, Refusal } from '../../../ports/controls.ts';
import type { Lobby, LobbyInfo, TrustQuestion } from '../../../ports/project-service.ts';
import { readOrNull } from '../../../ports/log.ts';
import type { RepositoryPort } from '../../../ports/repository.ts';
import { unifiedDiff } from '../../../tools/files/diff.ts';
import { agentsIn, agentsOf } from '../../agents/service.ts';
import { newSession } from '../../client/connect.ts';
import { eventsOf, stateOf } from '../../client/log-of.ts';
import { overBecause } from '../../client/resumable.ts';
import { directApproval } from '../../hosting/approval.ts';
import { settled } from '../../process/exit-to-result.ts';
import { EXIT, Exit } from '../../process/exit.ts';
import { packageVersion } from '../../process/package-root.ts';
import { world } from '../../process/world.ts';
import { toLabel } from '../../views/text/sanitise.ts';
import { isOpen } from '../../views/trust-question.ts';
import type { Start, Workshop } from '../open-project.ts';
import { trustHere, trustNow } from '../project-trust.ts';
import type { ProjectFiles } from './files.ts';
import { openProjectFiles } from './files.ts';
import type { Hints } from './hints-seen.ts';
import { openHints } from './hints-seen.ts';
import { planFromTemplate, templatesHere } from './templates.ts';
import { chosenTheme, namesOfThemes } from './theme-choice.ts';

export interface LobbyWays {
  /** Opens the same workshop with the configuration as it is then: what is trusted counts from the next run on. */
  readonly reopen: () => Promise<Workshop>;
  /** Starts a process of its own that goes on with a session; the receipt says how to come back. */
  readonly goesOn: (session: SessionId) => Promise<Receipt>;
  readonly pace?: Start['pace'];
}

export interface RunLobby extends Lobby, Pick<LobbyRuns, 'current' | 'attached'> {
  /** Ends what the lobby holds open; resolves when a draft that was being made has ended as well. */
  close(): Promise<void>;
}

/**
 * What the sandbox is and what to suggest come a moment after the first picture: both need other programs.
 */
export function openLobby(first: Workshop, { reopen, goesOn, pace = 'readable' }: LobbyWays): RunLobby {
  let workshop = first;
  const listeners: (() => void)[] = [];
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  let learned = NOTHING_YET;
  let question = questionOf(workshop);
  const learn = (more: Partial<Learned>): void => {
    learned = { ...learned, ...more };
    changed();
  };
  const leaving = new AbortController();
  const drafts = new Set<Promise<unknown>>();
  const files = filesOf(() => workshop, leaving.signal);
  const ready = (): void => {
    files.load();
    learn(templatesOf(workshop));
  };
  const looked = lookedAhead(workshop, () => isOpen(question), { learn, ready });
  const hints = openHints(first.project.places.state);
  const renew = async (): ReturnType<typeof opened> => {
    const next = await opened(reopen);
    if (!next.ok) return next;
    workshop.close();
    workshop = next.value;
    question = questionOf(workshop);
    learn({ sandbox: next.sandbox, ...templatesOf(workshop) });
    return next;
  };
  const runs = runsFrom(() => workshop, { repository: looked, pace, goesOn });
  return {
    info: () => infoOf(workshop, learned, question),
    onChange: (listener) => void listeners.push(listener),
    async trust(digest) {
      const given = trustNow(workshop.project, digest);
      question = questionOf(workshop);
      changed();
      if (!given.ok) return fail({ text: `not trusted: ${given.fault}` });
      const next = await renew();
      if (!next.ok) return next.is === 'unusable' ? unused(next.fault, learn) : next;
      return ok({ text: 'Trusted as shown: its roles and preferences count in the next run.' });
    },
    ...plansOf(() => workshop, runs.begin, learn),
    ...agentsOf(() => workshop, renew, drafts, leaving.signal),
    ...keepsOf(() => workshop, files, hints),
    look: (session) => pastOf(workshop, session),
    ...runs,
    async close() {
      leaving.abort();
      runs.letGo();
      if (drafts.size > 0) await Promise.allSettled(drafts);
      workshop.close();
    },
  };
}

/** Plans that are kept here: begun with their values filled in, or a new one kept. */
const plansOf = (
  workshop: () => Workshop,
  begin: Begin,
  learn: (more: Partial<Learned>) => void,
): Pick<Lobby, 'startTemplate' | 'saveTemplate'> => ({
  async startTemplate(name, values) {
    const made = planFromTemplate(workshop().project, isTrusted(workshop()), name, values);
    if (!made.ok) return fail({ text: made.fault });
    const { draft, from, task } = made.value;
    return begin({ session: newSession(), task }, { draft, from });
  },
  async saveTemplate(wish) {
    const { project, config } = workshop();
    const kept = (await import('./keep-template.ts')).keepTemplate(project, config, wish);
    learn(templatesOf(workshop()));
    return kept;
  },
});

/** Those that can be used, and for a note each what is wrong with the others. */
function templatesOf(workshop: Workshop): Pick<Learned, 'templates' | 'broken'> {
  const { templates, faults } = templatesHere(workshop.project, isTrusted(workshop));
  return { templates, broken: faults.map((fault) => `template left out: ${fault}`) };
}

/** The same workshop with the configuration of now. `unusable`: what is wrong in it was said in a list. */
async function opened(
  reopen: () => Promise<Workshop>,
): Promise<
  | { readonly ok: true; readonly value: Workshop; readonly sandbox: string }
  | { readonly ok: false; readonly is: 'unusable' | 'not ready'; readonly fault: Refusal }
> {
  const next = await settled(reopen);
  if (!next.ok) return { ...next, is: 'unusable' };
  const ready = await settled(() => next.value.ready());
  if (ready.ok) return { ...next, sandbox: ready.value.sandbox };
  next.value.close();
  return { ...ready, is: 'not ready' };
}

async function pastOf({ log }: Workshop, session: SessionId): Promise<Result<Controls, Refusal>> {
  const { pastRun } = await import('../../client/past-run.ts');
  const events = eventsOf(log, session, 0, { outputs: false });
  return settled(async () => {
    for (const _ of events) return pastRun(session, events, (seq) => readOrNull(() => log.at(session, seq)));
    throw new Exit(EXIT.wrongUse, `there is no session ${session}`);
  });
}

/** What needs no run: names of files, reports, themes, hints. */
function keepsOf(
  workshop: () => Workshop,
  files: ProjectFiles,
  hints: Hints,
): Pick<Lobby, 'files' | 'exportReport' | 'theme' | 'seen' | 'markSeen'> {
  return {
    files: (query, most) => files.find(query, most),
    async exportReport(session, format) {
      const { project, log } = workshop();
      const { keepReport } = await import('./report.ts');
      const state = await settled(async () => stateOf(log, session));
      return state.ok ? keepReport(project, session, state.value, format) : state;
    },
    theme: (name) => chosenTheme(workshop().project, isTrusted(workshop()), name),
    seen: () => hints.seen(),
    markSeen: (hint) => hints.mark(hint),
  };
}

/** The list is made where runs are: only there is it known what rules hide. */
const filesOf = (workshop: () => Workshop, signal: AbortSignal): ProjectFiles =>
  openProjectFiles(async () => {
    const opened = await settled(() => workshop().ready());
    return opened.ok ? opened.value.listing(signal) : [];
  }, world);

const isTrusted = ({ project, config }: Workshop): boolean =>
  trustHere(project, config.preferences.trust ?? []).state === 'trusted';

/** Trust is given, and what was trusted is wrong: this session goes on with what it has. */
function unused({ text }: Refusal, learn: (more: Partial<Learned>) => void): Result<never, Refusal> {
  // Words come first, then the faults, one a line.
  const unusable = text
    .split('\n')
    .slice(1)
    .map((line) => line.trim());
  learn({ unusable });
  const [first = text, ...others] = unusable;
  const more = others.length === 0 ? '' : ` (and ${others.length} more: mimir doctor)`;
  return fail({
    text: `Trusted, but it can't be used as it is, so this session goes on without it. ${first}${more}`,
  });
}

/** Why it was not loaded before it was trusted is no longer the reason. */
const notesOf = (notes: readonly string[], unusable: readonly string[]): readonly string[] =>
  unusable.length === 0 ? notes : ['trusted, but not used in this session:', ...unusable];

const questionOf = ({ project, config }: Workshop): TrustQuestion =>
  trustHere(project, config.preferences.trust ?? [], unifiedDiff);

const infoOf = (
  { project, config, provider, mode, log }: Workshop,
  { sandbox, suggestions, repository, templates, broken, problem, unusable }: Learned,
  { state, digest, brings, diff }: TrustQuestion,
): LobbyInfo => ({
  cwd: project.root,
  project: basename(project.root),
  version: packageVersion(),
  provider,
  sandbox,
  mode,
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
  agents: agentsIn({ project, config }),
  themes: namesOfThemes(project, state === 'trusted'),
  notes: [...(problem === null ? [] : [problem]), ...notesOf(config.notes, unusable), ...broken],
});

// What is learned of a project while the person types: its sandbox, its facts, tasks that make sense in it.

/** The first picture and a first key are not kept waiting by git. */
const LOOK_AFTER_MS = 120;
/** A repository is not looked at twice in a minute for one task. */
const FRESH_MS = 60_000;

/** What is known a moment after the first picture. */
interface Learned {
  /** Empty until it was tried out. */
  readonly sandbox: string;
  readonly suggestions: readonly string[];
  readonly repository: NonNullable<LobbyInfo['repository']> | null;
  /** Kept plans; read when the project is open. */
  readonly templates: NonNullable<LobbyInfo['templates']>;
  /** What is wrong with those that can't be read, a line each. */
  readonly broken: readonly string[];
  /** Why no run can be started, as it stands. */
  readonly problem: string | null;
  /** What is wrong with what was trusted, a fault each. */
  readonly unusable: readonly string[];
}

const NOTHING_YET: Learned = {
  sandbox: '',
  suggestions: [],
  repository: null,
  templates: [],
  broken: [],
  problem: null,
  unusable: [],
};

/**
 * Tries the sandbox out and looks at the repository while the person types; without git while the question of trust is open. A planner who asks within a minute has that at
 * once; each look is given once. `ready` is called as soon as the project is open.
 */
function lookedAhead(
  workshop: Workshop,
  asksForTrust: () => boolean,
  { learn, ready }: { readonly learn: (more: Partial<Learned>) => void; readonly ready: () => void },
): RepositoryPort {
  let ahead: { readonly facts: RepositoryFacts; readonly since: number } | null = null;
  const look = async (): Promise<void> => {
    await world.sleep(LOOK_AFTER_MS);
    const opened = await settled(() => workshop.ready());
    if (!opened.ok) return learn({ problem: opened.fault.text });
    learn({ sandbox: opened.value.sandbox });
    ready();
    // Before the person has said what this project is, nothing that configures git here is read.
    const how = asksForTrust() ? 'without git' : undefined;
    const facts = await opened.value.repository.facts(new AbortController().signal, how);
    if (how === undefined) ahead = { facts, since: world.elapsed() };
    const { isGit, files } = facts;
    learn({ suggestions: suggestionsFor(facts), repository: { isGit, files } });
  };
  void look();
  return {
    async facts(signal) {
      const known = ahead;
      ahead = null;
      const fresh = known !== null && world.elapsed() - known.since < FRESH_MS;
      return fresh ? known.facts : (await workshop.ready()).repository.facts(signal);
    },
  };
}

/** Tasks that make sense here: what is suggested names what the repository has. */
function suggestionsFor(facts: RepositoryFacts): readonly string[] {
  if (facts.files === 0) return ['Explain what this directory is'];
  const has = (name: RegExp): string | undefined => facts.top.find((entry) => name.test(entry));
  const source = has(/^(?:src|lib|app|pkg|cmd|crates|packages)\/$/);
  const manifest = facts.manifests[0]?.path;
  return [
    `Explain how ${facts.name} works and where to start reading`,
    `Find the entry points of ${source ?? 'this repository'} and review the riskiest file`,
    facts.tests.count > 0 ? 'Find modules that no test imports' : 'Say how this code could be tested first',
    ...(manifest === undefined ? [] : [`Show how the dependencies in ${manifest} are used, and which are not`]),
    `Review ${source ?? 'the code'} for error handling and security`,
    ...(facts.isGit ? ['Summarise what changed lately and what it touches'] : []),
  ].slice(0, 6);
}

// The runs of a screen: those that it begins or goes on with here, those of other processes that it shows, and the one it gives away.

type Begin = (
  what: Pick<Start, 'session' | 'task' | 'direct' | 'followUp'>,
  plan?: Start['plan'],
) => ReturnType<Lobby['start']>;

interface LobbyRuns extends Required<Pick<Lobby, 'start' | 'resume' | 'attach' | 'detach'>> {
  readonly begin: Begin;
  /** The run that this process carries, or carried last; null before the first. */
  current(): Run | null;
  /** The run of another process that is shown; null where none is, or one was begun here since. */
  attached(): SessionId | null;
  /** Lets go of a run of another process, which goes on. */
  letGo(): void;
}

interface RunsWays extends Required<Pick<Start, 'repository' | 'pace'>> {
  /** Starts a process of its own that goes on with a session; the receipt says how to come back. */
  readonly goesOn: (session: SessionId) => Promise<Receipt>;
}

/** `workshop`: the one that runs are started from now. */
function runsFrom(workshop: () => Workshop, { repository, pace, goesOn }: RunsWays): LobbyRuns {
  let current: Run | null = null;
  let reached: Reached | null = null;
  const letGo = (): void => {
    reached?.close();
    reached = null;
  };
  const begin: Begin = async (what, plan = null) => {
    const from = workshop();
    const usual = from.config.rules.promptForApproval.value ? 'person' : 'config';
    const approval = what.direct === true ? directApproval(from.config) : usual;
    const begun = await settled(() => from.start({ ...what, repository, approval, person: true, plan, pace }));
    if (!begun.ok) return begun;
    letGo();
    current = begun.value;
    return ok(current.controls);
  };
  return {
    begin,
    start: (task, direct) => begin({ session: newSession(), task, ...(direct === undefined ? {} : { direct: true }) }),
    resume: (session, followUp) => resumed(workshop(), session, followUp, begin),
    async attach(session) {
      const { reachRun } = await import('../../client/connect.ts');
      const found = await reachRun(workshop().project, session);
      if (found === null) return fail({ text: `no process carries session ${session} now: mimir resume ${session}` });
      letGo();
      reached = found;
      return ok(found.controls);
    },
    async detach(session) {
      // Only then nobody holds the session any more.
      await current?.result;
      return settled(() => goesOn(session));
    },
    current: () => current,
    attached: () => reached?.session ?? null,
    letGo,
  };
}

/** What was stopped or failed goes on from its last turn. */
async function resumed(
  workshop: Workshop,
  session: SessionId,
  followUp: string | undefined,
  begin: Begin,
): ReturnType<Begin> {
  const one = workshop.log.sessions().find((known) => known.session === session);
  if (!one) return fail({ text: `there is no session ${session}` });
  const over = await settled(() => Promise.resolve(overBecause(workshop.project, one, followUp !== undefined)));
  if (!over.ok) return over;
  if (over.value !== null) return fail({ text: `${over.value}: mimir report ${session}` });
  return begin({ session, task: one.task, ...(followUp === undefined ? {} : { followUp }) });
}
