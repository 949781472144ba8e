/** Opens what runs of a project work with: the sandbox, tried out, the tools in it, the ledger of the day. Runs themselves are begun in begin-run.ts. */
import { isLooser } from '../../domain/mode.ts';
import { openRedactor } from '../../domain/text/redact.ts';
import type { RunOptions } from '../../engine/run/run-options.ts';
import type { Rules } from '../../policy/rules.ts';
import { builtIn } from '../../policy/rules.ts';
import type { ToolPort } from '../../ports/tool.ts';
import { toolsFor } from '../../tools/tools.ts';
import type { Ground } from './begin-run.ts';
import type { Box } from './sandbox.ts';
import { openBox, openProject, sandboxWords } from './sandbox.ts';
import { dayLedgerFor } from './daily-budget.ts';
import { EXIT, Exit } from '../process/exit.ts';
import { packageVersion } from '../process/package-root.ts';
import type { Providers } from './providers.ts';
import { refuseExposed } from '../hosting/start-clean.ts';
import type { Workshop } from './open-project.ts';
import { world } from '../process/world.ts';

export interface Opened {
  /** What the screens say of it. */
  readonly sandbox: string;
  readonly repository: RunOptions['repository'];
  /** The project's files by name. */
  readonly listing: (signal: AbortSignal) => Promise<readonly string[]>;
  /** What runs are begun with. */
  readonly ground: Ground;
  close(): void;
}

interface Wanted extends Pick<Workshop, 'project' | 'config' | 'log'> {
  /** The loosest mode beside that of the rules. */
  readonly most: Rules['maxMode'] | null;
  readonly providers: Providers;
  readonly asked: Pick<RunOptions, 'model' | 'roleModels' | 'chosenMode' | 'commit'>;
  /** Where it was tried out already. */
  readonly box: Box | null;
}

/** Tries the sandbox out and opens the tools in it; rejects with an `Exit` that has its exit code. */
export async function openRuns({ project, config, most, providers, log, asked, box: tried }: Wanted): Promise<Opened> {
  const box = tried ?? (await openBox(project, config.rules));
  refuseExposed(project, box);
  const rules = rulesFor(mostly(config.rules, most), box.sandbox.state);
  const { tools, repository, trees, listing } = openProject(project, box);
  const day = dayLedgerFor(rules, project.places.state);
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
    redactor: openRedactor(config.secrets.map(({ value }) => value)),
    offlineOnly: providers.offlineOnly,
    runBudget: rules.runBudget.value,
  };
  return {
    sandbox: sandboxWords(box),
    repository,
    listing,
    ground: { project, config, providers, common },
    close: () => day?.close(),
  };
}

/** A run that is resumed may be in a mode that could not be chosen here. */
const mostly = (rules: Rules, most: Rules['maxMode'] | null): Rules =>
  most !== null && isLooser(rules.maxMode.value, most.value) ? { ...rules, maxMode: most } : rules;

/** As root everything would be allowed to do everything: without a sandbox there is no yolo. */
function rulesFor(rules: Rules, sandbox: ToolPort['sandbox']): Rules {
  if (process.getuid?.() !== 0 || sandbox.is !== 'none') return rules;
  const from = builtIn('no mode yolo for the user root without a sandbox');
  if (rules.mode === 'yolo') {
    throw new Exit(EXIT.refused, `${from.rule}\n  run Mimir as an ordinary user, or use --mode confirm`);
  }
  return isLooser(rules.maxMode.value, 'confirm') ? { ...rules, maxMode: { value: 'confirm', from } } : rules;
}
