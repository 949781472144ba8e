/** Where runs come from, and what a screen may ask of this machine beside them: files to name, plans to keep, reports to write. */
import type { AgentDraft, AgentText } from '../domain/agents/draft.ts';
import type { SessionId } from '../domain/ids.ts';
import type { Mode } from '../domain/mode.ts';
import type { SoundPlan } from '../domain/plan/plan.ts';
import type { Result } from '../domain/result.ts';
import type { Theme } from '../domain/theme.ts';
import type { Controls, Receipt, Refusal } from './controls.ts';
import type { SessionSummary } from './log.ts';

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
    /** How it ended last, and what it had used by then. Absent while it never ended. */
    readonly ended?: SessionSummary['ended'];
    /** What it has used so far where it has no end yet or was killed, in US dollars. */
    readonly cost?: SessionSummary['cost'];
  }[];
  /** Whether the project is a git repository, and how many files it has; absent until that was looked at. */
  readonly repository?: { readonly isGit: boolean; readonly files: number };
  /** Layers that rule here, for a line: `managed by /etc/mimir/policy.yml`; empty where nobody but the person does. */
  readonly policy?: string;
  /** Whether what this project says of itself counts. `nothing`: it says nothing that needs trust. */
  readonly trust?: TrustQuestion;
  /** Warnings of the configuration, for a line each. */
  readonly notes: readonly string[];
  /** Plans that were kept as templates here, the project's and the person's own. Absent: none. */
  readonly templates?: readonly TemplateInfo[];
  /** All agents that there are, the custom ones first; and for a line each, files that describe none. Absent: not known. */
  readonly agents?: { readonly all: readonly AgentInfo[]; readonly leftOut: readonly string[] };
  /** Names of themes that can be chosen, the shipped ones first. Absent: only the one that is shown. */
  readonly themes?: readonly string[];
}

/** A plan that was kept to be used again, with what is to be filled in. */
export interface TemplateInfo {
  readonly name: string;
  /** With arguments as people read them: `Review <target>`. */
  readonly description: string;
  readonly arguments: readonly {
    readonly name: string;
    readonly description: string;
    /** Empty: it must be given. */
    readonly default: string;
  }[];
  readonly tasks: number;
  /** `.mimir/plans/audit.yml`, or the person's own folder. */
  readonly from: string;
}

/** A role as people look at it: built in, of an administrator, the person's own or the project's. */
export interface AgentInfo {
  readonly name: string;
  readonly description: string;
  readonly tools: readonly string[];
  readonly capabilities: readonly string[];
  readonly models: readonly string[];
  readonly prompt: string;
  /** `built-in`, or the file. */
  readonly source: string;
  /** Why it can't be deleted here; null when it can. */
  readonly whyKept: string | null;
}

/** A custom agent to be made, in the project's folder or the person's own. */
export interface AgentWish extends AgentText {
  readonly for: 'project' | 'user';
}

/** A custom agent as it was drafted from a sentence; nothing is made by it. */
export interface AgentProposal {
  readonly draft: AgentDraft;
  /** Who drafted it, why nobody better did, and what it cost: a line. */
  readonly said: string;
}

/** What to keep as a template: `arguments` are words of the tasks that are asked for anew each time. */
export interface TemplateWish {
  readonly name: string;
  readonly description: string;
  readonly plan: SoundPlan;
  /** Each occurrence of `text` in descriptions and writes becomes `{{name}}`, with `text` as its default. */
  readonly arguments: readonly { readonly name: string; readonly text: string }[];
}

export type ReportFormat = 'md' | 'json' | 'html';

/** Where runs come from: the screen's only way to one. */
export interface Lobby {
  info(): LobbyInfo;
  /** `listener` is told when `info` says something else: what takes long to find out must not hold up the first picture. */
  onChange(listener: () => void): void;
  /**
   * Starts planning at once; the controls are those of the new run. `direct`: asks main without a planner, which approves its plan of one
   * task, but where an administrator wants each plan to be looked at: then it waits for approval like any other.
   */
  start(task: string, direct?: 'direct'): Promise<Result<Controls, Refusal>>;
  /** `followUp`: said to main. One that completed or failed answers it, and begins nothing of its plan again. */
  resume(session: SessionId, followUp?: string): Promise<Result<Controls, Refusal>>;
  /** A run that another process carries: its controls reach there. Refused where nobody does. */
  attach?(session: SessionId): Promise<Result<Controls, Refusal>>;
  /** The run of this screen goes on in a process of its own, once its controls have handed it over. The receipt says how to come back. */
  detach?(session: SessionId): Promise<Result<Receipt, Refusal>>;
  /** A session that is over, to be looked at: its controls tell what happened and refuse every command. */
  look?(session: SessionId): Promise<Result<Controls, Refusal>>;
  /** A run of a kept plan; the person still approves it. */
  startTemplate?(name: string, values: Readonly<Record<string, string>>): Promise<Result<Controls, Refusal>>;
  /** Keeps a plan in the project's `.mimir/plans`; refused where one of that name is there. The receipt names the file. */
  saveTemplate?(wish: TemplateWish): Promise<Result<Receipt, Refusal>>;
  /** At most `most` paths of the project for what stands behind an `@`, best first; folders end in `/`. Never waits for disk twice. */
  files?(query: string, most: number): Promise<readonly string[]>;
  /** Writes the report of a session into the project's folder or the state folder; the receipt names the file. */
  exportReport?(session: SessionId, format: ReportFormat): Promise<Result<Receipt, Refusal>>;
  /** A theme by name; the fault says file, line and what would be right. */
  theme?(name: string): Result<Theme, string>;
  /** Hints that were shown before, by name, in this or an earlier session. */
  seen?(): ReadonlySet<string>;
  /** Remembers that a hint was shown; what can't be written is shown again next time. */
  markSeen?(hint: string): void;
  /**
   * Drafts a custom agent: by a model where one may be asked, as `main` has it, else by fixed rules. `asking` is told before the call.
   * Always resolves with a draft, soon after `signal` is aborted.
   */
  draftAgent?(
    sentence: string,
    how: { readonly model: boolean; readonly signal: AbortSignal; asking(line: string): void },
  ): Promise<AgentProposal>;
  /** Makes a custom agent as a file of its own, never over another; later runs have it. The receipt names the file. */
  createAgent?(wish: AgentWish): Promise<Result<Receipt, Refusal>>;
  /** Takes the file of a custom agent away: only of the person's own folder and the project's `.mimir/agents`. */
  deleteAgent?(name: string): Promise<Result<Receipt, Refusal>>;
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
