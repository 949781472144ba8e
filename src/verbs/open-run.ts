/** Puts the parts of a run together from configuration, flags and the project. Loaded only by verbs that run something. */
import { openLaw } from '../config/law.ts';
import type { Loaded } from '../config/load.ts';
import { SessionId } from '../domain/ids.ts';
import { isLooser } from '../domain/mode.ts';
import type { DraftPlan } from '../domain/plan.ts';
import { openRedactor } from '../domain/redact.ts';
import type { Run } from '../engine/run.ts';
import { startRun } from '../engine/run.ts';
import type { RunOptions } from '../engine/run-options.ts';
import { chooseModel } from '../policy/models.ts';
import type { Rules } from '../policy/rules.ts';
import { builtIn } from '../policy/rules.ts';
import type { DayLedger } from '../ports/day.ts';
import type { Log } from '../ports/log.ts';
import { LogFault } from '../ports/log.ts';
import type { ToolPort } from '../ports/tool.ts';
import { openDayLedger } from '../store/day-ledger.ts';
import { openLog } from '../store/log.ts';
import { toolsFor } from '../tools/index.ts';
import { budgetFrom, modeFrom, roleModelsFrom } from './common-flags.ts';
import { openBox, openProject, sandboxWords } from './box.ts';
import { EXIT, Exit } from './exit.ts';
import type { Arguments } from './flags.ts';
import type { Io } from './io.ts';
import { packageVersion } from './package-root.ts';
import type { ProjectPlace } from './project.ts';
import type { Providers } from './providers.ts';
import { openProviders } from './providers.ts';
import { orExit } from './log-of.ts';
import { configForRun } from './project.ts';
import { world } from './world.ts';

/** Everything of a project that runs are started from; opened once, used for one run or several. */
export interface Workshop {
  readonly project: ProjectPlace;
  readonly config: Loaded;
  readonly log: Log;
  /** What the screens say: `anthropic`, `offline (no provider)`. */
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
  /** Where somebody has looked at the repository already; the workshop's own when left out. */
  readonly repository?: RunOptions['repository'];
  /** A run for the screen streams at a readable rate. */
  readonly pace: 'readable' | 'none';
}

/** Opens configuration, tools and log, or ends with the code that INTERFACE names. */
export async function openWorkshop(args: Arguments, io: Io, project: ProjectPlace): Promise<Workshop> {
  const config = configForRun(project, io, configFlags(args));
  const stateDir = project.places.state;
  // The sandbox is tried out while the providers' code is loaded.
  const [box, providers] = await Promise.all([openBox(project, config.rules), openProviders(args, config)]);
  const rules = rulesFor(config.rules, box.sandbox.state);
  const { tools, repository, trees } = openProject(project, box);
  const every = config.preferences.audit?.checkpointEvery;
  const log = orExit(() => openLog({ stateDir, project: project.root }, undefined, every));
  const day = orExit(() => dayLedgerFor(rules, stateDir));
  const common = {
    cwd: project.root,
    version: packageVersion(),
    provider: providers.words,
    notes: config.notes,
    mode: rules.mode,
    rules,
    roles: config.roles,
    prompts: config.prompts,
    tools,
    toolsOf: toolsFor,
    repository,
    trees,
    log,
    ...(day === null ? {} : { day }),
    world,
    redactor: openRedactor(config.providers.flatMap(({ key }) => key ?? [])),
    offlineOnly: providers.offlineOnly,
    model: args.get('model') ?? null,
    roleModels: roleModelsFrom(args),
    runBudget: rules.runBudget.value,
  };
  return {
    project,
    config,
    log,
    provider: common.provider,
    sandbox: sandboxWords(box),
    mode: rules.mode,
    repository,
    start(what) {
      const claim = orExit(() => log.claim(what.session));
      if (!claim.ok) throw new Exit(EXIT.wrongUse, `session ${what.session} runs in another process: ${claim.holder}`);
      const models = providers.open(what.pace);
      warm(models, common);
      const run = startRun({ ...common, ...what, models, law: openLaw(config, rules) });
      return { ...run, result: run.result.finally(() => release(log, what.session)) };
    },
    close: () => {
      day?.close();
      log.close();
    },
  };
}

/** Only a rule on days makes one: a run without such a rule pays nothing for it. */
const dayLedgerFor = (rules: Rules, stateDir: string): DayLedger | null =>
  rules.dayBudget === undefined && (rules.modelBudgets ?? []).length === 0
    ? null
    : openDayLedger(stateDir, () => world.now());

/** The planner's model is the first to be called: its client is loaded while the run begins. */
function warm(
  models: ReturnType<Providers['open']>,
  { roles, rules, model, offlineOnly }: Pick<RunOptions, 'roles' | 'rules' | 'model' | 'offlineOnly'>,
): void {
  const fallbacks = roles.find(({ name }) => name === 'main')?.models ?? [];
  const first = chooseModel({ asked: model, role: 'main', fallbacks, rules, models: models.models(), offlineOnly });
  if (first.ok) models.warm(first.value.choice.used);
}

/** Where the log can't be written any more, the end of this process ends its claim. */
function release(log: Log, session: SessionId): void {
  try {
    log.release(session);
  } catch (error) {
    if (!(error instanceof LogFault)) throw error;
  }
}

function configFlags(args: Arguments): Parameters<typeof configForRun>[2] {
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
function rulesFor(rules: Rules, sandbox: ToolPort['sandbox']): Rules {
  if (process.getuid?.() !== 0 || sandbox.is !== 'none') return rules;
  const from = builtIn('no mode yolo for the user root without a sandbox');
  if (rules.mode === 'yolo') {
    throw new Exit(EXIT.refused, `${from.rule}\n  run Mimir as an ordinary user, or use --mode confirm`);
  }
  return isLooser(rules.maxMode.value, 'confirm') ? { ...rules, maxMode: { value: 'confirm', from } } : rules;
}

/** A fresh name for a session: short enough to type. */
export const newSession = (): SessionId => SessionId.parse(world.name(6));

/** Human mode needs somebody who answers each turn. */
export function refuseHumanAlone(workshop: Workshop, person: boolean): void {
  if (workshop.mode !== 'human' || person) return;
  throw new Exit(EXIT.wrongUse, 'mode human needs a terminal: every turn waits for a person\n  use --mode confirm');
}
