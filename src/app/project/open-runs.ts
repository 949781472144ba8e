/** Opens what all runs of a project need: the tried sandbox, its tools and the daily ledger. begin-run.ts starts the runs. */
import { isLooser } from '../../domain/reason.ts';
import { openRedactor } from '../../domain/text/redact.ts';
import type { RunOptions } from '../../engine/run/index.ts';
import { builtIn, type Rules } from '../../policy/index.ts';
import type { ToolPort } from '../../ports/tool.ts';
import type { Role } from '../../domain/agents/role.ts';
import { toolsFor } from '../../domain/agents/tool-facts.ts';
import type { DraftContext } from '../agents/index.ts';
import type { RunDefaults } from './begin-run.ts';
import { type TriedSandbox, trySandbox, openProjectTools, sandboxText } from '../workspace/sandbox.ts';
import { dayLedgerFor } from '../workspace/index.ts';
import { EXIT, Exit, packageVersion, world } from '../process/index.ts';
import { refuseExposed } from '../workspace/secrets.ts';

export interface RunFactory {
  /** The sandbox in words for the screens. */
  readonly sandbox: string;
  readonly repository: RunOptions['repository'];
  /** The names of the project's files. */
  readonly listing: (signal: AbortSignal) => Promise<readonly string[]>;
  readonly defaults: RunDefaults;
  close(): void;
}

interface RunFactoryOptions extends Pick<DraftContext, 'project' | 'config' | 'log' | 'providers'> {
  readonly most: Rules['maxMode'] | null;
  readonly asked: Pick<RunOptions, 'model' | 'roleModels' | 'chosenMode' | 'commit'>;
  readonly box: TriedSandbox | null;
  /** Workers carry out what its agents do. */
  readonly cluster: boolean;
}

/** Tries the sandbox and opens the tools in it. Rejects with an `Exit`. */
export async function openRunFactory(options: RunFactoryOptions): Promise<RunFactory> {
  const { project, config, providers, log, asked, cluster } = options;
  const box = options.box ?? (await trySandbox(project, config.rules));
  refuseExposed(project, box);
  const rules = rulesFor(withModeLimit(config.rules, options.most), box.sandbox.state);
  const { tools, workspaces, transport, foreign, repository, trees, listing } = openProjectTools(project, box);
  const day = dayLedgerFor(rules, project.places.state);
  const { own: inTrees = [], setup } = config.preferences.trees ?? {};
  const common = {
    ...asked,
    cwd: project.root,
    version: packageVersion(),
    provider: providers.words,
    notes: config.notes,
    mode: rules.mode,
    rules,
    roles: config.roles.map((role) => (cluster || inTrees.includes(role.name) ? inOwnTree(role) : role)),
    prompts: config.prompts,
    tools,
    workspaces: { ...workspaces, setup },
    toolsOf: toolsFor,
    repository,
    trees,
    log,
    ...(day === null ? {} : { day }),
    world,
    redactor: openRedactor(config.secrets.map(({ value }) => value)),
    offlineOnly: providers.offlineOnly,
    runBudget: rules.runBudget.value,
  };
  return {
    sandbox: sandboxText(box),
    repository,
    listing,
    defaults: { project, config, providers, common, foreign, ...(cluster && { transport }) },
    close: () => day?.close(),
  };
}

/** Gives the tasks of a role trees of their own: where the configuration says so, and on workers, which have no project. */
const inOwnTree = (role: Role): Role => ({ ...role, tree: role.tree ?? 'own' });

/** Applies the further limit of the mode; a resumed run may be in a looser mode than can be chosen now. */
const withModeLimit = (rules: Rules, most: Rules['maxMode'] | null): Rules =>
  most !== null && isLooser(rules.maxMode.value, most.value) ? { ...rules, maxMode: most } : rules;

/** For root without a sandbox nothing would be restricted, so yolo is refused. */
function rulesFor(rules: Rules, sandbox: ToolPort['sandbox']): Rules {
  if (process.getuid?.() !== 0 || sandbox.is !== 'none') return rules;
  const from = builtIn('no mode yolo for the user root without a sandbox');
  if (rules.mode === 'yolo')
    throw new Exit(EXIT.refused, `${from.rule}\n  run Mimir as an ordinary user, or use --mode confirm`);
  return isLooser(rules.maxMode.value, 'confirm') ? { ...rules, maxMode: { value: 'confirm', from } } : rules;
}
