/** What a run is made of: everything comes in here, put together by a verb or a test. */
import type { Budget } from '../../domain/budget.ts';
import type { RoleName, SessionId } from '../../domain/ids.ts';
import type { Learned } from '../../domain/plan/calibration.ts';
import type { Mode } from '../../domain/mode.ts';
import type { DraftPlan } from '../../domain/plan/plan.ts';
import type { Prompts } from '../../domain/prompts.ts';
import type { Redactor } from '../../domain/text/redact.ts';
import type { Role } from '../../domain/agents/role.ts';
import type { Rules } from '../../policy/rules.ts';
import type { DayLedger } from '../../ports/daily-budget.ts';
import type { Doors } from '../../ports/agent-sockets.ts';
import type { Law } from '../../ports/policy-watcher.ts';
import type { Log } from '../../ports/log.ts';
import type { Mailbox } from '../../ports/message-store.ts';
import type { RepositoryPort } from '../../ports/repository.ts';
import type { TreePort } from '../../ports/tree.ts';
import type { World } from '../../ports/world.ts';
import type { GatePorts } from '../gate/gate.ts';

export interface RunOptions {
  readonly session: SessionId;
  readonly task: string;
  readonly cwd: string;
  readonly version: string;
  /** What the screens say about providers: `offline (no provider)`. */
  readonly provider: string;
  readonly notes: readonly string[];
  readonly mode: Mode;
  /** `--mode`, where it was typed for this start: a resumed run goes on in it instead of its own. */
  readonly chosenMode?: Mode;
  /** As the run began; a part of a run reads them anew at each decision, since `law` may have tightened them. */
  readonly rules: Rules;
  /** Watches the managed files; missing where the rules can't change. */
  readonly law?: Law;
  /** What changed in the project, for forced agents; missing where nothing can tell. */
  readonly trees?: TreePort;
  /** What all runs of the day use; missing where no rule limits it. */
  readonly day?: DayLedger;
  /** What earlier runs say of estimates; missing or empty where there were too few. */
  readonly learned?: readonly Learned[];
  /** Takes secrets out of what is recorded and shown; missing: nothing is taken out. */
  readonly redactor?: Redactor;
  readonly roles: readonly Role[];
  readonly prompts: Prompts;
  readonly models: GatePorts['models'];
  readonly tools: GatePorts['tools'];
  /** Which tools a set of capabilities stands for, by name. */
  readonly toolsOf: (capabilities: Role['capabilities']) => readonly string[];
  readonly repository: RepositoryPort;
  readonly log: Log;
  readonly world: World;
  /** Can a person be asked during the run? */
  readonly person: boolean;
  /**
   * Who approves the plan: a person by `approve plan`; `flag` (`--yes`) or `config` (`promptForApproval: false`)
   * beforehand; `direct`: a person by asking main directly; nobody: the run ends with the plan (`mimir plan`, or no terminal to ask).
   */
  readonly approval: 'person' | 'flag' | 'config' | 'direct' | 'nobody';
  /** Main is asked directly: a plan of one task by `main`, and no planner is asked. */
  readonly direct?: boolean;
  /** No provider is configured at all: the offline analyst stands in. */
  readonly offlineOnly: boolean;
  /** `--commit`: the plan starts with a commit at its end. */
  readonly commit?: true;
  /** `--model` and `--role-model`: asked for instead of what the planner recommends. */
  readonly model: string | null;
  readonly roleModels: ReadonlyMap<RoleName | string, string>;
  /** `--max-cost` and the like, already the tightest with the rules. */
  readonly runBudget: Budget;
  /** No plan at all: ROOT waits for what it is told, and ends when nothing was for long. */
  readonly idle?: boolean;
  /**
   * What a person says to `main` (events/queries.ts, `mainAgent`) as a recorded run is resumed. One that had completed or failed only
   * answers it, and begins nothing of its plan again.
   */
  readonly followUp?: string;
  /** What agents' commands knock at; missing where none can. */
  readonly doors?: Doors;
  /** Letters that were kept while nothing ran; missing where none can come. */
  readonly mailbox?: Mailbox;
  /** Does a person look at the run from another process? Missing: nobody can. */
  readonly watched?: () => boolean;
  /** A plan from a file instead of a planner's, with the name to show. */
  readonly plan: { readonly draft: DraftPlan; readonly from: string } | null;
}

/** How a run ended, as `execute` of the first design gives it. */
export interface RunResult {
  readonly success: boolean;
  readonly status: 'completed' | 'failed' | 'rejected' | 'stopped';
  /** Lines of the form `Agent N: <summary>`. */
  readonly message: string;
  readonly metadata: { readonly totalCost: number; readonly totalTokens: number; readonly agentCount: number };
  /** A limit of the run or of the day ended something. */
  readonly overBudget: boolean;
  /** Why it could not go on: the log can't be written, no model may be used. Null otherwise. */
  readonly error: string | null;
  /** What kind of fault that was: `denied` by rules, `model` that could not be reached, `budget`, `log`; null without one. */
  readonly errorIs: 'denied' | 'model' | 'budget' | 'log' | null;
}
