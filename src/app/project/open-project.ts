/**
 * What runs of a project are started from. Opened with what a first picture needs; the tools and the sandbox come with
 * the first who asks for them (open-runs.ts), the engine with the first run (begin-run.ts).
 */
import type { Loaded } from '../../config/settings/load.ts';
import type { SessionId } from '../../domain/ids.ts';
import { PERMITTED } from '../../domain/plan/permissions.ts';
import type { DraftPlan } from '../../domain/plan/plan.ts';
import { reasonText } from '../../domain/reason.ts';
import type { RunOptions } from '../../engine/run/run-options.ts';
import type { Log } from '../../ports/log.ts';
import { openLog } from '../../store/log.ts';
import type { DraftGround } from '../agents/model.ts';
import type { ServedRun } from './begin-run.ts';
import { allowFrom, budgetFrom, modeFrom, roleModelsFrom } from '../process/flags/common.ts';
import { EXIT, Exit } from '../process/exit.ts';
import type { Arguments } from '../process/flags/flags.ts';
import type { Io } from '../process/io.ts';
import { orExit } from '../client/log-of.ts';
import type { Opened } from './open-runs.ts';
import type { ProjectPlace } from './project.ts';
import { configForRun } from './project.ts';
import { openProviders } from './providers.ts';
import { startClean } from '../hosting/start-clean.ts';

/** Everything of a project that runs are started from; opened once, used for one run or several. */
export interface Workshop {
  readonly project: ProjectPlace;
  readonly config: Loaded;
  readonly log: Log;
  /** What the screens say: `anthropic`, `offline (no provider)`. */
  readonly provider: string;
  readonly mode: RunOptions['mode'];
  /** What texts outside of a run are drafted from. */
  readonly drafting: DraftGround;
  /** The sandbox, tried out, and what works in it: done once, at the first call. Rejects with an `Exit` that has its exit code. */
  ready(): Promise<Pick<Opened, 'sandbox' | 'repository' | 'listing'>>;
  /** Waits for all of that. Rejects with an `Exit` where this run can't be. */
  start(what: Start): Promise<ServedRun>;
  close(): void;
}

export interface Start {
  readonly session: SessionId;
  readonly task: string;
  readonly approval: RunOptions['approval'];
  readonly person: boolean;
  readonly plan: { readonly draft: DraftPlan; readonly from: string } | null;
  /** Where somebody has looked at the repository already; the workshop's own when left out. */
  readonly repository?: RunOptions['repository'];
  /** No plan: ROOT waits for what it is told. */
  readonly idle?: true;
  /** Main is asked directly: a plan of one task, without a planner. */
  readonly direct?: boolean;
  /** What a person says to main as the session is resumed. */
  readonly followUp?: string;
  /** A run for the screen streams at a readable rate. */
  readonly pace: 'readable' | 'none';
}

/** Opens configuration and log, or throws an `Exit` that has its exit code. */
export async function openWorkshop(args: Arguments, io: Io, project: ProjectPlace): Promise<Workshop> {
  const { config, most } = configForRun(project, io, configFlags(args));
  refuseHeld(args, config);
  const box = await startClean(project, config.rules);
  const providers = await openProviders(args, config);
  const every = config.preferences.audit?.checkpointEvery;
  const log = orExit(() => openLog({ stateDir: project.places.state, project: project.root }, undefined, every));
  const chosenMode = modeFrom(args);
  const asked = {
    model: args.get('model') ?? null,
    roleModels: roleModelsFrom(args),
    ...(chosenMode === undefined ? {} : { chosenMode }),
    ...(args.has('commit') ? { commit: true as const } : {}),
  };
  let opened: Promise<Opened> | null = null;
  const ready = (): Promise<Opened> => {
    opened ??= import('./open-runs.ts').then(({ openRuns }) =>
      openRuns({ project, config, most, providers, log, asked, box }),
    );
    return opened;
  };
  return {
    project,
    config,
    log,
    provider: providers.words,
    mode: config.rules.mode,
    drafting: { project, config, log, providers, model: asked.model, roleModels: asked.roleModels },
    ready,
    async start(what) {
      // The engine is loaded while the sandbox is tried out.
      const [{ ground }, { beginRun }] = await Promise.all([ready(), import('./begin-run.ts')]);
      const run = await beginRun(ground, what);
      io.begun?.();
      return run;
    },
    close() {
      // What could not be opened was said to who asked for it.
      opened?.then((all) => all.close()).catch(() => undefined);
      log.close();
    },
  };
}

function configFlags(args: Arguments): Parameters<typeof configForRun>[2] {
  const { maxCost, maxTokens, maxDuration } = budgetFrom(args);
  const mode = modeFrom(args);
  const model = args.get('model');
  const allow = allowFrom(args);
  return {
    ...(maxCost === undefined ? {} : { maxCost }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(maxDuration === undefined ? {} : { maxDuration }),
    ...(mode === undefined ? {} : { mode }),
    ...(model === undefined ? {} : { model }),
    ...(allow === undefined ? {} : { allow }),
    roleModels: Object.fromEntries(roleModelsFrom(args)),
  };
}

/** What was typed can't loosen a rule: it ends before anything runs, with the place of the rule. */
function refuseHeld(args: Arguments, { rules }: Loaded): void {
  const allow = allowFrom(args) ?? {};
  for (const what of PERMITTED) {
    const held = allow[what] === undefined ? undefined : rules.permissionsHeld?.[what];
    if (held === undefined) continue;
    throw new Exit(
      EXIT.refused,
      `--allow ${what} is refused: ${reasonText(held)}\n  leave it out; each is asked about`,
    );
  }
}

/** Human mode needs somebody who answers each turn. */
export function refuseHumanAlone(workshop: Workshop, person: boolean): void {
  if (workshop.mode !== 'human' || person) return;
  throw new Exit(EXIT.wrongUse, 'mode human needs a terminal: every turn waits for a person\n  use --mode confirm');
}
