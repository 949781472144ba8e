/** Opens a project for runs, at first only what the first frame needs (open-runs.ts has the rest), and says who approves. */
import type { Loaded } from '../../config/index.ts';
import type { SessionId } from '../../domain/ids.ts';
import { PERMITTED } from '../../domain/plan/plan.ts';
import { type Reason, reasonText } from '../../domain/reason.ts';
import { defined } from '../../domain/result.ts';
import type { ResumedLog } from '../../events/index.ts';
import type { Log } from '../../ports/log.ts';
import type { DraftContext } from '../agents/index.ts';
import { type Arguments, EXIT, Exit, type Io, wrongUse } from '../process/index.ts';
import type { ProjectPlace } from '../workspace/index.ts';
import { allowFrom, budgetFrom, configForRun, modeFrom, openProjectLog, openProviders } from '../workspace/index.ts';
import { roleModelsFrom } from '../workspace/index.ts';
import { startClean } from '../workspace/secrets.ts';
import type { ServedRun, Start } from './begin-run.ts';
import type { RunFactory } from './open-runs.ts';
import type { RunOptions } from '../../engine/run/index.ts';

/** An opened project, from which any number of runs is started. */
export interface OpenProject {
  readonly project: ProjectPlace;
  readonly config: Loaded;
  readonly log: Log;
  /** Sessions whose log was checked and folded, until they are resumed. */
  readonly folded: Map<SessionId, ResumedLog>;
  /** The text for the screens: `anthropic`, `offline (no provider)`. */
  readonly provider: string;
  readonly mode: RunOptions['mode'];
  readonly drafting: DraftContext;
  /** Opens the sandbox and the tools, once. Rejects with an `Exit`. */
  ready(): Promise<Pick<RunFactory, 'sandbox' | 'repository' | 'listing'>>;
  /** Starts a run, after `ready`. Rejects with an `Exit`. */
  start(what: Start): Promise<ServedRun>;
  /** Call once. Runs that are still at work keep the log until their end. */
  close(): void;
}

/** Opens configuration and log. Throws an `Exit`. */
export async function openProject(args: Arguments, io: Io, project: ProjectPlace): Promise<OpenProject> {
  const { config, modeLimit } = configForRun(project, io, configFlags(args));
  refuseForbiddenAllow(args, config);
  const box = await startClean(project, config.rules);
  const providers = await openProviders(args, config);
  const log = openProjectLog(project, config);
  const chosenMode = modeFrom(args);
  const asked = {
    model: args.get('model') ?? null,
    roleModels: roleModelsFrom(args),
    ...(chosenMode === undefined ? {} : { chosenMode }),
    ...(args.has('commit') ? { commit: true as const } : {}),
  };
  const folded = new Map<SessionId, ResumedLog>();
  let factory: Promise<RunFactory> | null = null;
  const ready = (): Promise<RunFactory> => {
    factory ??= import('./open-runs.ts').then(({ openRunFactory }) =>
      openRunFactory({ project, config, most: modeLimit, providers, log, asked, box, cluster: args.has('cluster') }),
    );
    return factory;
  };
  let open = 1;
  /** Closes once nothing uses it any more: runs that were started, and the caller. */
  const leave = (): void => {
    open -= 1;
    if (open > 0) return;
    // The caller of `ready` has already received the error.
    factory?.then((all) => all.close()).catch(() => undefined);
    log.close();
  };
  return {
    project,
    config,
    log,
    folded,
    provider: providers.words,
    mode: config.rules.mode,
    drafting: { project, config, log, providers, model: asked.model, roleModels: asked.roleModels },
    ready,
    async start(what) {
      open += 1;
      try {
        // Loads the engine while the sandbox is tried.
        const [{ defaults }, { beginRun }] = await Promise.all([ready(), import('./begin-run.ts')]);
        const known = folded.get(what.session);
        folded.delete(what.session);
        const run = await beginRun(defaults, what, known);
        io.begun?.();
        return { ...run, result: run.result.finally(leave) };
      } catch (error) {
        leave();
        throw error;
      }
    },
    close: leave,
  };
}

const configFlags = (args: Arguments): Parameters<typeof configForRun>[2] => ({
  ...defined({ ...budgetFrom(args), mode: modeFrom(args), model: args.get('model'), allow: allowFrom(args) }),
  roleModels: Object.fromEntries(roleModelsFrom(args)),
});

/** Refuses --allow flags that a rule forbids, naming the rule, before anything runs. */
function refuseForbiddenAllow(args: Arguments, { rules }: Loaded): void {
  const allow = allowFrom(args) ?? {};
  for (const what of PERMITTED) {
    const held = allow[what] === undefined ? undefined : rules.permissionsHeld?.[what];
    if (held === undefined) continue;
    throw new Exit(
      EXIT.refused,
      `--allow ${what} is refused: ${reasonText(held)}\n  remove it; each act then asks for approval`,
    );
  }
}

/** Refuses mode human without a person to answer. */
export function refuseUnattendedHuman(opened: OpenProject, person: boolean): void {
  if (opened.mode !== 'human' || person) return;
  throw wrongUse('mode human needs a terminal: every turn waits for a person\n  use --mode confirm');
}

/** Who approves a plan without a screen; `person`: someone can. Throws an `Exit` (4) if a rule forbids --yes or --direct. */
export function approvalOf(config: Loaded, args: Arguments, person: boolean): RunOptions['approval'] {
  const flag = (['yes', 'direct'] as const).find((one) => args.has(one));
  if (flag !== undefined) {
    const rule = administratorRule(config);
    if (rule === null) return flag === 'yes' ? 'flag' : 'direct';
    if (flag === 'direct' && person) return 'person';
    const todo = `run it in a terminal${flag === 'yes' ? ' without --yes' : ''} and approve the plan there`;
    throw new Exit(EXIT.notApproved, `--${flag} is refused: ${reasonText(rule)}\n  ${todo}`);
  }
  if (!config.rules.promptForApproval.value) return 'config';
  return person ? 'person' : 'nobody';
}

/** The approval of a direct task: implied, unless an administrator requires manual approval. */
export const directApproval = (config: Loaded): RunOptions['approval'] =>
  administratorRule(config) === null ? 'direct' : 'person';

/** What to do when nobody can be asked. */
export function nobodyText(config: Loaded): string {
  const rule = administratorRule(config);
  if (rule === null) return '--yes approves the plan in advance';
  return `a person has to approve the plan: ${reasonText(rule)}; run it in a terminal`;
}

function administratorRule({ values }: Loaded): Reason | null {
  const said = values.get('agentOrchestration.promptForApproval')?.said ?? [];
  return said.find(({ layer, value }) => layer === 'managed' && value === true)?.from ?? null;
}
