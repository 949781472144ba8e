/** What a person, a verb or a parent agent may ask of a run, and how they hear of it. All the screen has. */
import type { MimirEvent } from '../events/event.ts';
import type { Budget } from '../domain/budget.ts';
import type { AgentId, RoleName, SessionId } from '../domain/ids.ts';
import type { Mode } from '../domain/mode.ts';
import type { PlanEdit } from '../domain/plan-edit.ts';
import type { Result } from '../domain/result.ts';

export type Delivery = 'sequential' | 'important' | 'urgent';

export type Command =
  | { readonly do: 'edit plan'; readonly edit: PlanEdit }
  /** The digest of what was shown: refused when the plan is another one by now. */
  | { readonly do: 'approve plan'; readonly digest: string }
  | { readonly do: 'reject plan' }
  /** A new plan for the same task, with a hint for the planner. */
  | { readonly do: 'plan again'; readonly hint: string }
  | { readonly do: 'message'; readonly to: AgentId | 'all'; readonly text: string; readonly delivery: Delivery }
  | { readonly do: 'interrupt'; readonly agent: AgentId }
  | { readonly do: 'resume'; readonly agent: AgentId }
  | { readonly do: 'kill'; readonly agent: AgentId }
  | { readonly do: 'retry'; readonly agent: AgentId }
  | { readonly do: 'skip'; readonly agent: AgentId }
  /** `scope: session` answers equal questions to come as well. `text` answers `ask_user` and human mode. */
  | {
      readonly do: 'answer';
      readonly approval: string;
      readonly allow: boolean;
      readonly scope: 'once' | 'session';
      readonly text?: string;
    }
  | { readonly do: 'set mode'; readonly mode: Mode }
  /** Holds an agent and everything below it to a stricter mode than the run's; null takes that back. */
  | { readonly do: 'pin mode'; readonly agent: AgentId; readonly mode: Mode | null }
  /** More (or less) for an agent, or for the run by ROOT, within what the rules allow. Limits that are left out stay. */
  | { readonly do: 'set budget'; readonly agent: AgentId; readonly budget: Budget }
  /** Starts a forced agent whose trigger is `manual`, on all that changed since the run began. */
  | { readonly do: 'review'; readonly role: RoleName }
  /** Ends the run: agents are stopped, the state is kept, `mimir resume` goes on. */
  | { readonly do: 'stop run'; readonly reason: string };

/** Done, in words for a toast: "interrupted finder". */
export interface Receipt {
  readonly text: string;
}
/** Not done, and why. */
export interface Refusal {
  readonly text: string;
}

/** Streams past, is not logged: text and reasoning of a running turn, output of a running tool. */
export interface Tick {
  readonly agent: AgentId;
  readonly is: 'text' | 'reasoning' | 'output';
  readonly delta: string;
}

/** What a change of mode would do, a line each, for the question before it. */
export interface ModePreview {
  /** Null: it may be chosen; else why not, with the rule. */
  readonly refused: string | null;
  readonly looser: boolean;
  /** `writes of 3 agents run without asking`; empty when nothing changes. */
  readonly changes: readonly string[];
  /** Open questions that would be answered with yes at once. */
  readonly answers: number;
}

export interface Controls {
  readonly session: SessionId;
  /** What `set mode` (no agent) or `pin mode` would do now. */
  previewMode(mode: Mode, agent?: AgentId): ModePreview;
  submit(command: Command): Promise<Result<Receipt, Refusal>>;
  /** Every durable event with a larger `seq`, in order, then those to come; ends after `session.finished`. */
  events(afterSeq: number): AsyncIterable<MimirEvent>;
  /** Returns the function that ends the subscription. */
  ticks(listener: (tick: Tick) => void): () => void;
}

/** What the start screen shows before there is a run. */
export interface LobbyInfo {
  /** Real path of the project, and how it was found. */
  readonly cwd: string;
  readonly project: string;
  readonly version: string;
  /** `offline (no provider)`, or the providers that are configured. */
  readonly provider: string;
  /** Empty until it was tried out, a moment after the first picture. */
  readonly sandbox: string;
  readonly mode: Mode;
  /** Tasks that make sense here, drawn from the repository; at most 6. */
  readonly suggestions: readonly string[];
  readonly sessions: readonly {
    readonly id: SessionId;
    readonly task: string;
    readonly when: string;
    readonly state: 'running' | 'finished' | 'stopped';
  }[];
  /** Layers that rule here, for a line: `managed by /etc/mimir/policy.yml`; empty where nobody but the person does. */
  readonly policy?: string;
  /** Whether what this project says of itself counts. `nothing`: it says nothing that needs trust. */
  readonly trust?: TrustQuestion;
  /** Warnings of the configuration, for a line each. */
  readonly notes: readonly string[];
}

/** Where runs come from: the screen's only way to one. */
export interface Lobby {
  info(): LobbyInfo;
  /** `listener` is told when `info` says something else: what takes long to find out must not hold up the first picture. */
  onChange(listener: () => void): void;
  /** Starts planning at once; the controls are those of the new run. */
  start(task: string): Promise<Result<Controls, Refusal>>;
  resume(session: SessionId): Promise<Result<Controls, Refusal>>;
  /** Trusts the project as it was shown; refused when it has changed since. Later runs take its roles and preferences. */
  trust?(digest: string): Promise<Result<Receipt, Refusal>>;
}

/** What a person is asked before anything of a project but its restrictions counts. */
export interface TrustQuestion {
  readonly state: 'nothing' | 'trusted' | 'new' | 'changed';
  /** Of what is shown: trust is given to exactly this. */
  readonly digest: string;
  /** What it would bring, a line each: `role deploy: read, shell (.mimir/agents/deploy.md)`. */
  readonly brings: readonly string[];
  /** Against what was trusted before; empty at first. Unified. */
  readonly diff: string;
}
