/** Begins a run: engine, models, law, sockets and mailbox put together. Loaded with the first run, so that a screen where nobody has asked for one does without the engine. */
import { oncePerTurn, openLaw } from '../../config/managed/policy-watcher.ts';
import type { SessionId } from '../../domain/ids.ts';
import { learnedFrom } from '../../domain/plan/calibration.ts';
import type { Run } from '../../engine/run/run.ts';
import { startRun } from '../../engine/run/run.ts';
import type { RunOptions, RunResult } from '../../engine/run/run-options.ts';
import { childRules } from '../../policy/children.ts';
import { chooseModel } from '../../policy/models.ts';
import type { Rules } from '../../policy/rules.ts';
import type { Log } from '../../ports/log.ts';
import { LogFault } from '../../ports/log.ts';
import { keepLessons, lessonsOf } from '../../store/estimate-history.ts';
import type { Place } from '../../store/log-path.ts';
import { EXIT, Exit } from '../process/exit.ts';
import { lessonsFrom } from './learning.ts';
import { orExit } from '../client/log-of.ts';
import type { Providers } from './providers.ts';
import type { Serving } from './serve-run.ts';
import { servingFor } from './serve-run.ts';
import type { Start, Workshop } from './open-project.ts';

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
async function remembered({ controls, result }: Run, place: Place, archived: Promise<unknown>): Promise<RunResult> {
  const lessons = lessonsFrom(controls);
  const ended = await result;
  keepLessons(place, await lessons);
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
async function cleaning({ controls, result }: Run, tools: RunOptions['tools']): Promise<void> {
  const each = async (): Promise<void> => {
    for await (const event of controls.events(0)) if (event.type === 'agent.finished') await tools.ended?.(event.agent);
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
