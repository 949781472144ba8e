/** Puts the parts of a run together from configuration, flags and the project. Loaded only by verbs that run something. */
import type { Loaded } from '../config/load.ts';
import { SessionId } from '../domain/ids.ts';
import { isLooser } from '../domain/mode.ts';
import type { DraftPlan } from '../domain/plan.ts';
import { reasonText } from '../domain/reason.ts';
import type { Run } from '../engine/run.ts';
import { startRun } from '../engine/run.ts';
import type { RunOptions } from '../engine/run-options.ts';
import { openModels } from '../models/open.ts';
import { ALIASES } from '../policy/aliases.ts';
import { OFFLINE, modelProblem } from '../policy/models.ts';
import type { Rules } from '../policy/rules.ts';
import { builtIn } from '../policy/rules.ts';
import type { Log } from '../ports/log.ts';
import { LogFault } from '../ports/log.ts';
import { openLog } from '../store/log.ts';
import { checkRoot, openRepository, openTools, toolsFor } from '../tools/index.ts';
import { budgetFrom, modeFrom, roleModelsFrom } from './common-flags.ts';
import { EXIT, Exit } from './exit.ts';
import type { Arguments } from './flags.ts';
import type { Io } from './io.ts';
import { packageVersion } from './package-root.ts';
import type { ProjectPlace } from './project.ts';
import { orExit } from './log-of.ts';
import { configOf } from './project.ts';
import { world } from './world.ts';

/** Everything of a project that runs are started from; opened once, used for one run or several. */
export interface Workshop {
  readonly project: ProjectPlace;
  readonly config: Loaded;
  readonly log: Log;
  /** What the screens say: `offline (no provider)`. */
  readonly provider: string;
  readonly sandbox: string;
  readonly mode: RunOptions['mode'];
  readonly repository: RunOptions['repository'];
  start(what: Start): Run;
  close(): void;
}

export interface Start {
  readonly session: SessionId;
  readonly task: string;
  readonly approval: RunOptions['approval'];
  readonly person: boolean;
  readonly plan: { readonly draft: DraftPlan; readonly from: string } | null;
  /** A run for the screen streams at a readable rate. */
  readonly pace: 'readable' | 'none';
}

/** Opens configuration, tools and log, or ends with the code that INTERFACE names. */
export function openWorkshop(args: Arguments, io: Io, project: ProjectPlace): Workshop {
  const config = configOf(project, io, configFlags(args));
  const rules = rulesFor(config.rules);
  refuseNoOffline(args, config);
  const place = { root: project.root, home: project.places.home, stateDir: project.places.state };
  const tools = openTools(place);
  const root = checkRoot(project.root, { home: place.home, state: place.stateDir });
  if (!tools.ok || !root.ok) throw new Exit(EXIT.wrongUse, tools.ok ? 'the project cannot be opened' : tools.fault);
  const log = orExit(() => openLog({ stateDir: place.stateDir, project: project.root }));
  const box = tools.value.sandbox;
  const repository = openRepository(root.value);
  const common = {
    cwd: project.root,
    version: packageVersion(),
    provider: 'offline (no provider)',
    notes: config.notes,
    mode: rules.mode,
    rules,
    roles: config.roles,
    prompts: config.prompts,
    tools: tools.value,
    toolsOf: toolsFor,
    repository,
    log,
    world,
    offlineOnly: true,
    model: args.get('model') ?? null,
    roleModels: roleModelsFrom(args),
    runBudget: rules.runBudget.value,
  };
  const modelsAt = (pace: Start['pace']): RunOptions['models'] =>
    openModels({ aliases: ALIASES, pace: pace === 'none' ? { is: 'none' } : { is: 'readable', world } });
  return {
    project,
    config,
    log,
    provider: common.provider,
    sandbox: box.is === 'none' ? `none (${box.because})` : box.is,
    mode: rules.mode,
    repository,
    start(what) {
      const claim = orExit(() => log.claim(what.session));
      if (!claim.ok) throw new Exit(EXIT.wrongUse, `session ${what.session} runs in another process: ${claim.holder}`);
      const run = startRun({ ...common, ...what, models: modelsAt(what.pace) });
      return { ...run, result: run.result.finally(() => release(log, what.session)) };
    },
    close: () => log.close(),
  };
}

/** Where the log can't be written any more, the end of this process ends its claim. */
function release(log: Log, session: SessionId): void {
  try {
    log.release(session);
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
  }
}

function configFlags(args: Arguments): Parameters<typeof configOf>[2] {
  const { maxCost, maxTokens, maxDuration } = budgetFrom(args);
  const mode = modeFrom(args);
  const model = args.get('model');
  return {
    ...(maxCost === undefined ? {} : { maxCost }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(maxDuration === undefined ? {} : { maxDuration }),
    ...(mode === undefined ? {} : { mode }),
    ...(model === undefined ? {} : { model }),
    roleModels: Object.fromEntries(roleModelsFrom(args)),
  };
}

/** As root everything would be allowed to do everything: without a sandbox there is no yolo (CONTRACT, "Modes"). */
function rulesFor(rules: Rules): Rules {
  if (process.getuid?.() !== 0) return rules;
  const from = builtIn('no mode yolo for the user root without a sandbox');
  if (rules.mode === 'yolo') {
    throw new Exit(EXIT.refused, `${from.rule}\n  run Mimir as an ordinary user, or use --mode confirm`);
  }
  return isLooser(rules.maxMode.value, 'confirm') ? { ...rules, maxMode: { value: 'confirm', from } } : rules;
}

/** `--no-offline`, and rules that deny the analyst, leave nothing to run with in this version. */
function refuseNoOffline(args: Arguments, { rules }: Loaded): void {
  if (args.has('no-offline')) {
    throw new Exit(EXIT.noProvider, 'no model provider is configured, and --no-offline rules the built-in analyst out');
  }
  const problem = modelProblem(OFFLINE, rules);
  if (problem !== null)
    throw new Exit(EXIT.refused, `no model may be used: ${OFFLINE} is denied by ${reasonText(problem)}`);
}

/** A fresh name for a session: short enough to type. */
export const newSession = (): SessionId => SessionId.parse(world.name(6));

/** Human mode needs somebody who answers each turn. */
export function refuseHumanAlone(workshop: Workshop, person: boolean): void {
  if (workshop.mode !== 'human' || person) return;
  throw new Exit(EXIT.wrongUse, 'mode human needs a terminal: every turn waits for a person\n  use --mode confirm');
}
