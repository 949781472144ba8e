/** Puts the parts of a run together: engine, tools, sandbox, models, law. Loaded when a run or the repository is first asked for. */
import { oncePerTurn, openLaw } from '../config/law.ts';
import type { SessionId } from '../domain/ids.ts';
import { isLooser } from '../domain/mode.ts';
import { learnedFrom } from '../domain/learned.ts';
import { openRedactor } from '../domain/redact.ts';
import type { Run } from '../engine/run.ts';
import { startRun } from '../engine/run.ts';
import type { RunOptions, RunResult } from '../engine/run-options.ts';
import { childRules } from '../policy/children.ts';
import { chooseModel } from '../policy/models.ts';
import type { Rules } from '../policy/rules.ts';
import { builtIn } from '../policy/rules.ts';
import type { DayLedger } from '../ports/day.ts';
import type { Log } from '../ports/log.ts';
import { LogFault } from '../ports/log.ts';
import type { ToolPort } from '../ports/tool.ts';
import { openDayLedger } from '../store/day-ledger.ts';
import { keepLessons, lessonsOf } from '../store/learned.ts';
import type { Place } from '../store/place.ts';
import { toolsFor } from '../tools/index.ts';
import { openBox, openProject, sandboxWords } from './box.ts';
import { EXIT, Exit } from './exit.ts';
import { lessonsFrom } from './learning.ts';
import { orExit } from './log-of.ts';
import { packageVersion } from './package-root.ts';
import type { Providers } from './providers.ts';
import type { Serving } from './serve-run.ts';
import { servingFor } from './serve-run.ts';
import type { Start, Workshop } from './workshop.ts';
import { world } from './world.ts';

export interface Opened {
  /** What the screens say of it. */
  readonly sandbox: string;
  readonly repository: RunOptions['repository'];
  /** The project's files by name. */
  readonly listing: (signal: AbortSignal) => Promise<readonly string[]>;
  start(what: Start): Promise<ServedRun>;
  close(): void;
}

/** `served` resolves when others can reach the run; with words why they can't, where it goes on without. */
export type ServedRun = Run & { readonly served: Promise<string | null> };

interface Ground extends Pick<Workshop, 'project' | 'config' | 'log'> {
  /** The loosest mode beside that of the rules. */
  readonly most: Rules['maxMode'] | null;
  readonly providers: Providers;
  readonly asked: Pick<RunOptions, 'model' | 'roleModels' | 'chosenMode'>;
}

/** Tries the sandbox out and opens the tools in it; rejects with the code that INTERFACE names. */
export async function openRuns({ project, config, most, providers, log, asked }: Ground): Promise<Opened> {
  const stateDir = project.places.state;
  const place = { stateDir, project: project.root };
  const box = await openBox(project, config.rules);
  const rules = rulesFor(mostly(config.rules, most), box.sandbox.state);
  const { tools, repository, trees, listing } = openProject(project, box);
  const day = orExit(() => dayLedgerFor(rules, stateDir));
  const common = {
    ...asked,
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
    runBudget: rules.runBudget.value,
  };
  return {
    sandbox: sandboxWords(box),
    repository,
    listing,
    async start(what) {
      const models = await providers.open(what.pace);
      const claim = orExit(() => log.claim(what.session));
      if (!claim.ok) throw new Exit(EXIT.wrongUse, heldWords(what.session, claim.holder));
      warm(models, common);
      const learned = learnedFrom(lessonsOf(place));
      const law = oncePerTurn(openLaw(config, rules));
      const serving = servingFor(project, what.session, rules);
      const run = startRun({ ...common, ...what, models, learned, law, ...serving.parts });
      const served = serving.serve(run);
      const archived = archiving(run, rules, project.places.home);
      const closed = closing(remembered(run, place, archived), serving, () => release(log, what.session));
      return { ...run, served, result: closed };
    },
    close: () => day?.close(),
  };
}

const heldWords = (session: SessionId, holder: string): string =>
  `session ${session} runs in another process: ${holder}\n  \`mimir attach ${session}\` shows it`;

/** Only a rule on days makes one: a run without such a rule pays nothing for it. */
const dayLedgerFor = (rules: Rules, stateDir: string): DayLedger | null =>
  rules.dayBudget === undefined && (rules.modelBudgets ?? []).length === 0
    ? null
    : openDayLedger(stateDir, () => world.now());

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
async function closing(result: Promise<RunResult>, serving: Serving, release: () => void): Promise<RunResult> {
  try {
    return await result;
  } finally {
    await serving.close();
    release();
  }
}

/** Loaded only where the person names a folder for them. */
async function archiving({ controls }: Run, rules: Rules, home: string): Promise<void> {
  if (childRules(rules).archivePath === null) return;
  const { archiveChildren, archiveFolder } = await import('./child-archive.ts');
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

/** A run that is resumed may be in a mode that could not be chosen here. */
const mostly = (rules: Rules, most: Rules['maxMode'] | null): Rules =>
  most !== null && isLooser(rules.maxMode.value, most.value) ? { ...rules, maxMode: most } : rules;

/** As root everything would be allowed to do everything: without a sandbox there is no yolo (CONTRACT, "Modes"). */
function rulesFor(rules: Rules, sandbox: ToolPort['sandbox']): Rules {
  if (process.getuid?.() !== 0 || sandbox.is !== 'none') return rules;
  const from = builtIn('no mode yolo for the user root without a sandbox');
  if (rules.mode === 'yolo') {
    throw new Exit(EXIT.refused, `${from.rule}\n  run Mimir as an ordinary user, or use --mode confirm`);
  }
  return isLooser(rules.maxMode.value, 'confirm') ? { ...rules, maxMode: { value: 'confirm', from } } : rules;
}
