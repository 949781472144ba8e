/** What most code of a run needs. Other collaborators are passed when a module is opened. */
import type { z } from 'zod';
import type { WorkOrder } from '../../domain/agents/agent.ts';
import type { Prompts, Role } from '../../domain/agents/role.ts';
import type { Budget } from '../../domain/budget.ts';
import type { Redactor } from '../../domain/text/redact.ts';
import type { Turn } from '../../domain/turn.ts';
import type { Rules } from '../../policy/index.ts';
import type { AgentSockets } from '../../ports/control.ts';
import type { DayLedger } from '../../ports/daily-budget.ts';
import type { ModelPort, Purpose } from '../../ports/model.ts';
import type { PolicyWatcher } from '../../ports/policy-watcher.ts';
import type { ToolPort } from '../../ports/tool.ts';
import type { RepositoryPort } from '../../ports/tree.ts';
import type { WorkspacePort } from '../../ports/workspace.ts';
import type { World } from '../../ports/world.ts';
import type { Recorder } from './recorder.ts';

export interface RunContext {
  readonly recorder: Recorder;
  readonly world: World;
  /** The rules that apply now. Read them again for each decision. */
  readonly rules: () => Rules;
  readonly signal: AbortSignal;
  /** Stops the run so that it can be resumed. `is`: the kind of fault, where the result shows why the run could not continue. */
  readonly fail: (text: string, is?: 'model' | 'denied' | 'budget') => void;
}

interface WorkPlace {
  readonly cwd: string;
  readonly repository: RepositoryPort;
}

/** What agents are built from (roles, prompts, models and tools, under the current rules), and how the person takes part. */
export interface AgentSetup extends WorkPlace {
  readonly task: string;
  readonly rules: Rules;
  readonly roles: readonly Role[];
  readonly prompts: Prompts;
  readonly models: ModelPort;
  readonly tools: ToolPort;
  readonly toolsOf: (capabilities: Role['capabilities']) => readonly string[];
  /** No provider is configured, so the offline analyst answers. */
  readonly offlineOnly: boolean;
  /** The run's budget: `--max-cost` and similar flags, already limited by the rules. */
  readonly runBudget: Budget;
  /** Whether a person can be asked during the run. */
  readonly person: boolean;
  /** Who approves the plan: a person; in advance by `flag` (`--yes`) or `config` (`promptForApproval: false`); `direct`: a person, by asking
   * main directly; nobody: the run ends with the plan (`mimir plan`, or no terminal). */
  readonly approval: 'person' | 'flag' | 'config' | 'direct' | 'nobody';
  /** Watches the managed rule files; missing where the rules cannot change. */
  readonly policyWatcher?: PolicyWatcher;
  /** The daily ledger of all runs; missing where no rule limits a day. */
  readonly day?: DayLedger;
  /** Trees of agents' own; missing where there are none. */
  readonly workspaces?: WorkspacePort;
  /** Removes secrets from everything recorded and shown; missing: nothing is removed. */
  readonly redactor?: Redactor;
  /** The sockets that agents' commands connect to; missing where agents cannot reach the run. */
  readonly agentSockets?: AgentSockets;
}

/** What `work` gives, or `otherwise` where `signal` is aborted first. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal, otherwise: T): Promise<T> {
  const aborted = Promise.withResolvers<T>();
  const leave = (): void => aborted.resolve(otherwise);
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

/** Why a model could not be asked, in the only terms that the agent loop acts on. */
export type AskFault =
  | { readonly is: 'budget' | 'denied' | 'model'; readonly text: string }
  /** The request exceeds the model's context window; fewer turns may fit. */
  | { readonly is: 'too long'; readonly text: string }
  /** A message arrived meanwhile: read the inbox and ask again. */
  | { readonly is: 'told' }
  /** The agent was interrupted or killed, or the run ended; the signal holds the reason. */
  | { readonly is: 'stopped'; readonly text: string };

export const stopped = (signal: AbortSignal): AskFault => ({ is: 'stopped', text: String(signal.reason) });

export interface Question {
  readonly order: WorkOrder;
  readonly turns: readonly Turn[];
  /** The purpose of the call; by default the agent's own work. */
  readonly purpose?: Purpose;
  /** The schema of the whole reply, if it must have one. */
  readonly format?: z.ZodType;
  /** The agent's last turn: no tool may be called, and the amounts that limits reserve for it may be used. */
  readonly closing?: true;
}

/** The only tool of a reviewer's last turn: a verdict is given by this tool, never in text. */
export const VERDICT_TOOL = 'give_verdict';

/** Whether the agent is a reviewer, whose last turn is for its verdict. */
export const isReviewer = ({ tools }: { readonly tools: readonly string[] }): boolean => tools.includes(VERDICT_TOOL);
