/** Starts a run: connects the engine, serves it to other processes, records lessons. Loaded with the first run. */
import { basename } from 'node:path';
import { whereOf } from '../../remote/index.ts';
import { runApi } from '../client/index.ts';
import type { ClusterRun, ClusterSide } from '../cluster/index.ts';
import { foreignSetups, type Loaded, oncePerTurn, openPolicyWatcher } from '../../config/index.ts';
import type { AgentId, SessionId } from '../../domain/ids.ts';
import { defined } from '../../domain/result.ts';
import { learnedFrom } from '../../domain/plan/calibration.ts';
import type { DraftPlan, PlanTask } from '../../domain/plan/plan.ts';
import { type Run, type RunOptions, type RunResult, startRun } from '../../engine/run/index.ts';
import { type AgentState, isFinal, type ResumedLog, type RunState, tokensOfAgent } from '../../events/index.ts';
import { workspaceOf } from '../../events/index.ts';
import type { ForeignModels } from '../../integrations/index.ts';
import { childRules, type Rules } from '../../policy/index.ts';
import { ControlFault } from '../../ports/control.ts';
import type { RunView } from '../../ports/controls.ts';
import { type Log, LogFault } from '../../ports/log.ts';
import type { Control } from '../../remote/server.ts';
import { keepLessons, type Lesson, lessonsOf, openMessageStore, type Place } from '../../store/index.ts';
import { exitOnFault, world, wrongUse } from '../process/index.ts';
import type { TransportPort } from '../../ports/workspace.ts';
import type { ForeignRun } from './foreign-agents.ts';
import { plannerModel, type ProjectPlace, type Providers, storeOf } from '../workspace/index.ts';

/** What distinguishes one run. */
export interface Start {
  readonly session: SessionId;
  readonly task: string;
  readonly approval: RunOptions['approval'];
  readonly person: boolean;
  readonly plan: { readonly draft: DraftPlan; readonly from: string } | null;
  /** The repository facts, if already read; otherwise the project's. */
  readonly repository?: RunOptions['repository'];
  /** A run without a plan, whose ROOT waits for messages. */
  readonly idle?: true;
  /** A plan of one task for main, without a planner. */
  readonly direct?: boolean;
  /** A message with which the session is resumed. */
  readonly followUp?: string;
  /** Who gets it; main when left out. */
  readonly followUpTo?: AgentId;
  /** `readable`: the offline analyst streams at a rate that people can follow. */
  readonly pace: 'readable' | 'none';
}

/** What a front end says of a run that it starts. */
export type RunStart = Pick<Start, 'session' | 'task' | 'plan' | 'direct' | 'followUp' | 'followUpTo' | 'approval'>;

/** What all runs of a project share. */
export interface RunDefaults {
  readonly project: ProjectPlace;
  readonly config: Loaded;
  readonly providers: Providers;
  readonly foreign: ForeignRun['foreign'];
  /** Where workers carry out what its agents do: how trees get there. */
  readonly transport?: TransportPort;
  readonly common: Omit<
    RunOptions,
    keyof Start | 'models' | 'learned' | 'policyWatcher' | 'agentSockets' | 'messageStore' | 'watched'
  > &
    Pick<RunOptions, 'repository'>;
}

/** `served` resolves with null once other processes can connect, or with the reason why they cannot; `undelivered` at the end of the run with a
 * sentence for each notification that could not be delivered, and for transcripts that could not be kept. */
export type ServedRun = Run & {
  readonly served: Promise<string | null>;
  readonly undelivered: Promise<readonly string[]>;
};

/** Starts or resumes a run. Rejects with an `Exit` if another process holds the session or no model can be opened. */
export async function beginRun(
  { project, config, providers, common, foreign: programs, transport }: RunDefaults,
  what: Start,
  folded?: ResumedLog,
): Promise<ServedRun> {
  const { log, rules } = common;
  const place = storeOf(project);
  const view: { now: Run['view'] | null } = { now: null };
  const foreign = await foreignOf(config, {
    project,
    config,
    foreign: programs,
    session: what.session,
    folder: (tree) => common.workspaces?.folder(tree) ?? project.root,
    treeOf: (agent) => (view.now === null ? undefined : workspaceOf(view.now.state(), agent)),
  });
  const models = await providers.open(what.pace, foreign);
  const claim = exitOnFault(() => log.claim(what.session));
  if (!claim.ok) throw wrongUse(heldMessage(what.session, claim.holder));
  const begun = Promise.withResolvers<Run>();
  const state = (): RunState | null => view.now?.state() ?? null;
  const stop = (reason: string): void => void begun.promise.then((run) => run.stop(reason));
  const elsewhere =
    transport === undefined ? null : await clusterOf({ project, config, common, transport, what, models, state, stop });
  warm(models, common);
  const learned = learnedFrom(lessonsOf(place));
  const policyWatcher = oncePerTurn(openPolicyWatcher(config, rules));
  const serving = prepareServing(project, what.session, rules);
  const run = startRun({
    ...common,
    ...what,
    ...(elsewhere?.parts ?? { models }),
    learned,
    policyWatcher,
    ...(folded === undefined ? {} : { folded }),
    ...serving.parts,
  });
  view.now = run.view;
  begun.resolve(run);
  const served = serving.serve(run, what.person ? Promise.resolve() : firstCall(run));
  void served.then((problem) => (problem === null ? elsewhere?.serve() : undefined));
  const archived = archive(run, rules, project.places.home);
  const undelivered = Promise.all([notified(run, config, project), archived]).then((all) => all.flat());
  const cleaned = cleanUp(run, async (agent) => {
    await foreign?.ended(agent);
    await elsewhere?.ended(agent);
    await common.tools.ended?.(agent);
  });
  const closed = thenClose(withLessons(run, place, undelivered), serving, async () => {
    await cleaned;
    release(log, what.session);
  });
  return { ...run, served, undelivered, result: closed };
}

type ClusterStart = Pick<RunDefaults, 'project' | 'config' | 'common'> &
  Pick<ClusterRun, 'transport' | 'models' | 'state' | 'stop'> & { readonly what: Start };

/** Connects the run to the workers. The session is released where that fails. */
async function clusterOf({
  common: { tools, workspaces, log, notes, day },
  what,
  ...run
}: ClusterStart): Promise<ClusterSide> {
  try {
    const { joinCluster } = await import('../cluster/index.ts');
    if (workspaces === undefined) throw new Error('the tools have no trees');
    const ports = { tools, workspaces, log, notes, ...defined({ day }) };
    return await joinCluster({ ...run, ...ports, session: what.session, live: what.person });
  } catch (error) {
    release(log, what.session);
    throw error;
  }
}

/** Undefined where no agent of another program is configured. */
async function foreignOf({ preferences, rules }: Loaded, run: ForeignRun): Promise<ForeignModels | undefined> {
  if (foreignSetups(preferences).length === 0 || rules.foreignAgents?.value === 'deny') return undefined;
  const { foreignFor } = await import('./foreign-agents.ts');
  return foreignFor(run);
}

const heldMessage = (session: SessionId, holder: string): string =>
  `session ${session} is running in another process: ${holder}\n  \`mimir attach ${session}\` shows it`;

/** An unattended run is served after its first model call, so that loading the server does not delay that call. */
async function firstCall({ controls, result }: Run): Promise<void> {
  const first = async (): Promise<void> => {
    for await (const { type } of controls.events(0)) if (type === 'model.started') return;
  };
  await Promise.race([first(), result]);
}

/** Preloads the client of the planner's model, which is called first. */
function warm(
  models: Awaited<ReturnType<Providers['open']>>,
  options: Pick<RunOptions, 'roles' | 'rules' | 'model' | 'offlineOnly'>,
): void {
  const first = plannerModel(models.models(), options, options);
  if (first !== null) models.warm(first);
}

/** The result, after lessons for later estimates are stored and transcripts are copied. */
async function withLessons({ view, result }: Run, place: Place, archived: Promise<unknown>): Promise<RunResult> {
  const ended = await result;
  keepLessons(place, lessonsFrom(view));
  await archived;
  return ended;
}

/** The result, after the sockets are closed and the session is released. */
async function thenClose(
  result: Promise<RunResult>,
  serving: Serving,
  release: () => Promise<void>,
): Promise<RunResult> {
  try {
    return await result;
  } finally {
    await serving.close();
    await release();
  }
}

/** Calls `ended` for each agent that has ended, and at the end of the run with null. */
async function cleanUp(
  { controls, view, result }: Run,
  ended: (agent: AgentId | null) => Promise<void>,
): Promise<void> {
  const { seq, agents } = view.state();
  const each = async (): Promise<void> => {
    // The process that ran it before may have been killed before it cleaned up.
    for (const one of agents.values()) if (isFinal(one)) await ended(one.id);
    for await (const event of controls.events(seq)) if (event.type === 'agent.finished') await ended(event.agent);
  };
  await Promise.race([each(), result.catch(() => null)]);
  await ended(null);
}

async function notified(run: Run, config: Loaded, { root }: ProjectPlace): Promise<readonly string[]> {
  const { webhook, ntfy, telegram } = config.preferences.notifications ?? {};
  if (webhook === undefined && ntfy === undefined && telegram === undefined) return [];
  // The run goes on while it is loaded.
  const before = run.view.state();
  const { notifyOf } = await import('./notifications.ts');
  return notifyOf(run, config, basename(root), before);
}

async function archive({ controls }: Run, rules: Rules, home: string): Promise<readonly string[]> {
  if (childRules(rules).archivePath === null) return [];
  const { archiveChildren, archiveFolder } = await import('./child-archive.ts');
  const fault = await archiveChildren(controls, archiveFolder(rules, home));
  return fault === null ? [] : [fault];
}

/** Releases the session; if the log cannot be written, the end of this process releases it. */
function release(log: Log, session: SessionId): void {
  try {
    log.release(session);
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
  }
}

interface Serving {
  readonly parts: Required<Pick<RunOptions, 'agentSockets' | 'messageStore' | 'watched'>>;
  /** Serves the run once `after` has resolved; null, or why it cannot be reached. A run that ended earlier is not served. */
  serve(run: Run, after: Promise<unknown>): Promise<string | null>;
  close(): Promise<void>;
}

/** Prepares sockets and the message store of a run; each is opened when first needed. */
export function prepareServing({ root, places }: ProjectPlace, session: SessionId, rules: Rules): Serving {
  const messageStore = openMessageStore({ stateDir: places.state, project: root });
  let opened: Promise<Control> | null = null;
  const open = (): Promise<Control> =>
    (opened ??= import('../../remote/server.ts').then(({ openControl }) => {
      const where = whereOf({ stateDir: places.state, runtimeDir: places.runtime, project: root, session });
      return openControl(where, world);
    }));
  let over = false;
  let watching = (): boolean => false;
  return {
    parts: {
      agentSockets: {
        open: async (agent) => (await open()).agentSockets.open(agent),
        close: (agent) => void opened?.then(({ agentSockets }) => agentSockets.close(agent)),
      },
      messageStore,
      watched: () => watching(),
    },
    async serve(run, after) {
      await after;
      if (over) return null;
      const control = await open();
      watching = () => control.clients() > 0;
      const countWaiting = (): number => messageStore.waiting(session).length;
      const given = runApi(run.view, { children: childRules(rules), now: () => world.now(), letters: countWaiting });
      try {
        await control.serve({ ...given, controls: run.controls, poke: () => run.poke() });
        return null;
      } catch (error) {
        if (error instanceof ControlFault) return error.message;
        throw error;
      }
    },
    close: async () => {
      over = true;
      await (await opened)?.close();
    },
  };
}

/** The actual use of agents compared with their estimates, where they completed a task of the plan on the planned model. */
export function lessonsFrom({ session, state }: Pick<RunView, 'session' | 'state'>): readonly Lesson[] {
  const { plan, agents } = state();
  return [...agents.values()].flatMap((agent): readonly Lesson[] => {
    const task = plan?.tasks.find(({ id }) => id === agent.taskId);
    if (task === undefined || !isLearnable(agent, task)) return [];
    return [
      {
        run: session,
        agent: agent.id,
        role: task.role,
        model: task.model.used,
        tokens: tokensOfAgent(agent) / task.estimatedTokens,
        seconds: Math.max(1, agent.ranMs) / 1000 / task.estimatedSeconds,
        cost: agent.priced ? costShare(task, agent.cost) : null,
      },
    ];
  });
}

/** Whether the task was estimated, and only the planned model worked on it until it was completed. */
function isLearnable(agent: AgentState, { model, estimatedTokens }: PlanTask): boolean {
  const [share, other] = agent.byModel;
  const isOnPlanned = share?.model === model.used && other === undefined;
  return agent.outcome === 'completed' && isOnPlanned && tokensOfAgent(agent) > 0 && estimatedTokens > 0;
}

const costShare = ({ estimatedCost }: PlanTask, cost: number): number | null =>
  estimatedCost === null || estimatedCost <= 0 || cost <= 0 ? null : cost / estimatedCost;
