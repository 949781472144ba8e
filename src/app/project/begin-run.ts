/** Begins a run: engine, models, law, sockets and mailbox put together. Loaded with the first run, so that a screen where nobody has asked for one does without the engine. */
import { oncePerTurn, openLaw } from '../../config/settings/policy-watcher.ts';
import type { AgentId, ModelId, SessionId, TaskId } from '../../domain/ids.ts';
import { learnedFrom } from '../../domain/plan/calibration.ts';
import type { PlanTask, SoundPlan } from '../../domain/plan/plan.ts';
import type { RunOptions, RunResult } from '../../engine/run/run-options.ts';
import type { Run } from '../../engine/run/run.ts';
import { startRun } from '../../engine/run/run.ts';
import type { EventBody, EventType, MimirEvent } from '../../events/event.ts';
import { isFinal } from '../../events/queries.ts';
import { childRules } from '../../policy/children.ts';
import { chooseModel } from '../../policy/models.ts';
import type { Rules } from '../../policy/rules.ts';
import { ControlFault } from '../../ports/control.ts';
import type { RunView } from '../../ports/controls.ts';
import type { Log } from '../../ports/log.ts';
import { LogFault } from '../../ports/log.ts';
import type { Control } from '../../remote/server/server.ts';
import { keepLessons, lessonsOf } from '../../store/estimate-history.ts';
import type { Lesson } from '../../store/estimate-history.ts';
import type { Place } from '../../store/log-path.ts';
import { openMailbox } from '../../store/message-store.ts';
import { orExit } from '../client/log-of.ts';
import { EXIT, Exit } from '../process/exit.ts';
import { world } from '../process/world.ts';
import type { Start, Workshop } from './open-project.ts';
import type { ProjectPlace } from './project-trust.ts';
import type { Providers } from './providers.ts';

/** What every run of a project is begun with. */
export interface Ground extends Pick<Workshop, 'project' | 'config'> {
  readonly providers: Providers;
  readonly common: Omit<RunOptions, keyof Start | 'models' | 'learned' | 'law' | 'doors' | 'mailbox' | 'watched'> &
    Pick<RunOptions, 'repository'>;
}

/** `served` resolves when others can reach the run; with words why they can't, where it goes on without. */
export type ServedRun = Run & { readonly served: Promise<string | null> };

/** Rejects with an `Exit` where another process holds the session, or its models can't be had. */
export async function beginRun({ project, config, providers, common }: Ground, what: Start): Promise<ServedRun> {
  const { log, rules } = common;
  const place = { stateDir: project.places.state, project: project.root };
  const models = await providers.open(what.pace);
  const claim = orExit(() => log.claim(what.session));
  if (!claim.ok) throw new Exit(EXIT.wrongUse, heldWords(what.session, claim.holder));
  warm(models, common);
  const learned = learnedFrom(lessonsOf(place));
  const law = oncePerTurn(openLaw(config, rules));
  const serving = servingFor(project, what.session, rules);
  const run = startRun({ ...common, ...what, models, learned, law, ...serving.parts });
  const served = serving.serve(run, what.person ? Promise.resolve() : asked(run));
  const archived = archiving(run, rules, project.places.home);
  const cleaned = cleaning(run, common.tools);
  const closed = closing(remembered(run, place, archived), serving, async () => {
    await cleaned;
    release(log, what.session);
  });
  return { ...run, served, result: closed };
}

const heldWords = (session: SessionId, holder: string): string =>
  `session ${session} runs in another process: ${holder}\n  \`mimir attach ${session}\` shows it`;

/** Nobody looks for a run that no person waits at before its first model is asked; what is loaded then costs it nothing. */
async function asked({ controls, result }: Run): Promise<void> {
  const first = async (): Promise<void> => {
    for await (const { type } of controls.events(0)) if (type === 'model.started') return;
  };
  await Promise.race([first(), result]);
}

/** The planner's model is the first to be called: its client is loaded while the run begins. */
function warm(
  models: Awaited<ReturnType<Providers['open']>>,
  { roles, rules, model, offlineOnly }: Pick<RunOptions, 'roles' | 'rules' | 'model' | 'offlineOnly'>,
): void {
  const fallbacks = roles.find(({ name }) => name === 'main')?.models ?? [];
  const first = chooseModel({ asked: model, role: 'main', fallbacks, rules, models: models.models(), offlineOnly });
  if (first.ok) models.warm(first.value.choice.used);
}

/** The result, when transcripts are copied where the person wants them, and what the run teaches of estimates is kept: a few rows, or none where they can't be written. */
async function remembered({ view, result }: Run, place: Place, archived: Promise<unknown>): Promise<RunResult> {
  const ended = await result;
  keepLessons(place, lessonsFrom(view));
  await archived;
  return ended;
}

/** The result, when nobody is served any more and the session is free for others. */
async function closing(result: Promise<RunResult>, serving: Serving, release: () => Promise<void>): Promise<RunResult> {
  try {
    return await result;
  } finally {
    await serving.close();
    await release();
  }
}

/** Has the tools remove what only commands of agents needed that have ended; of all when the run has. */
async function cleaning({ controls, view, result }: Run, tools: RunOptions['tools']): Promise<void> {
  const { seq, agents } = view.state();
  const each = async (): Promise<void> => {
    // Whoever carried the run before may have been killed before it came to that.
    for (const one of agents.values()) if (isFinal(one)) await tools.ended?.(one.id);
    for await (const event of controls.events(seq))
      if (event.type === 'agent.finished') await tools.ended?.(event.agent);
  };
  await Promise.race([each(), result.catch(() => null)]);
  await tools.ended?.(null);
}

/** Loaded only where the person names a folder for them. */
async function archiving({ controls }: Run, rules: Rules, home: string): Promise<void> {
  if (childRules(rules).archivePath === null) return;
  const { archiveChildren, archiveFolder } = await import('./service/child-archive.ts');
  await archiveChildren(controls, archiveFolder(rules, home));
}

/** Where the log can't be written any more, the end of this process ends its claim. */
function release(log: Log, session: SessionId): void {
  try {
    log.release(session);
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
  }
}

// What every run has besides itself: sockets at which screens, verbs and its own agents knock, and the mailbox. Loaded and opened
// beside the run's start, so that neither it nor the first call of a model waits for them; closed with its end.

interface Serving {
  /** For the run: what it is started with. */
  readonly parts: Required<Pick<RunOptions, 'doors' | 'mailbox' | 'watched'>>;
  /**
   * Resolves when the run can be reached from outside, which is begun `after` that; with words why not, where it can't. A run that
   * was over before is served to nobody.
   */
  serve(run: Run, after: Promise<unknown>): Promise<string | null>;
  /** What was asked is answered first. */
  close(): Promise<void>;
}

/** Nothing is opened before somebody needs it. */
export function servingFor({ root, places }: ProjectPlace, session: SessionId, rules: Rules): Serving {
  const mailbox = openMailbox({ stateDir: places.state, project: root });
  let opened: Promise<Control> | null = null;
  const open = (): Promise<Control> =>
    (opened ??= import('../../remote/server/server.ts').then(async ({ openControl }) => {
      const { whereOf } = await import('../../remote/socket-paths.ts');
      const where = whereOf({ stateDir: places.state, runtimeDir: places.runtime, project: root, session });
      return openControl(where, world);
    }));
  let over = false;
  let watching = (): boolean => false;
  return {
    parts: {
      doors: {
        open: async (agent) => (await open()).doors.open(agent),
        close: (agent) => void opened?.then(({ doors }) => doors.close(agent)),
      },
      mailbox,
      watched: () => watching(),
    },
    async serve(run, after) {
      await after;
      if (over) return null;
      const [control, { givenBy }] = await Promise.all([open(), import('../client/run-api.ts')]);
      watching = () => control.clients() > 0;
      const letters = (): number => mailbox.waiting(session).length;
      const given = givenBy(run.view, { children: childRules(rules), now: () => world.now(), letters });
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

// Listens to a run and says at its end what its agents really used against their estimates. Keeps a few figures, no text.

/**
 * Read from the run's log; only the part before the fault where the log can't be read further. An agent teaches when it completed a task of the
 * plan on the model that it was planned for: of one that was stopped, cut off or moved nobody knows what the whole had cost.
 */
export function lessonsFrom({ session, each }: Pick<RunView, 'session' | 'each'>): readonly Lesson[] {
  const heard: Heard = { plan: null, tasks: new Map(), models: new Map(), unpriced: new Set(), lessons: [] };
  try {
    for (const event of each(0, { types: TEACHING })) hear(heard, event, session);
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
  }
  return heard.lessons;
}

/** Event types that `hear` reads. */
const TEACHING: readonly EventType[] = [
  'plan.proposed',
  'plan.edited',
  'plan.amended',
  'agent.created',
  'model.finished',
  'agent.finished',
];

interface Heard {
  plan: SoundPlan | null;
  readonly tasks: Map<AgentId, TaskId>;
  /** Models that were called. */
  readonly models: Map<AgentId, Set<ModelId>>;
  readonly unpriced: Set<AgentId>;
  readonly lessons: Lesson[];
}

function hear(heard: Heard, event: MimirEvent, run: string): void {
  switch (event.type) {
    case 'plan.proposed':
    case 'plan.edited':
    case 'plan.amended':
      heard.plan = event.plan;
      break;
    case 'agent.created':
      if (event.taskId !== null) heard.tasks.set(event.agent, event.taskId);
      break;
    case 'model.finished':
      if (!event.priced) heard.unpriced.add(event.agent);
      heard.models.set(event.agent, (heard.models.get(event.agent) ?? new Set()).add(event.model));
      break;
    case 'agent.finished':
      heard.lessons.push(...lessonOf(heard, event, run));
      break;
    default:
  }
}

function lessonOf(heard: Heard, { agent, outcome, metrics }: Finished, run: string): readonly Lesson[] {
  const task = outcome === 'completed' ? taughtBy(heard, agent) : undefined;
  if (task === undefined || metrics.tokensUsed <= 0) return [];
  return [
    {
      run,
      agent,
      role: task.role,
      model: task.model.used,
      tokens: metrics.tokensUsed / task.estimatedTokens,
      seconds: Math.max(1, metrics.duration) / 1000 / task.estimatedSeconds,
      cost: heard.unpriced.has(agent) ? null : costShare(task, metrics.cost),
    },
  ];
}

/** The task that it had, if it was estimated and carried out on the model that it was planned for alone. */
function taughtBy({ plan, tasks, models }: Heard, agent: AgentId): PlanTask | undefined {
  const task = plan?.tasks.find(({ id }) => id === tasks.get(agent));
  const [model, other] = models.get(agent) ?? [];
  const fits = other === undefined && model === task?.model.used && (task?.estimatedTokens ?? 0) > 0;
  return fits ? task : undefined;
}

type Finished = Extract<EventBody, { readonly type: 'agent.finished' }>;

const costShare = ({ estimatedCost }: PlanTask, cost: number): number | null =>
  estimatedCost === null || estimatedCost <= 0 || cost <= 0 ? null : cost / estimatedCost;
