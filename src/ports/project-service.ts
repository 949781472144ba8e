/** Where runs come from, and what a screen may request of this machine: files to mention, templates, reports, themes, agents. */
import type { AuthoredChanges } from '../domain/changes/authorship.ts';
import type { Budget } from '../domain/budget.ts';
import type { AgentDraft, AgentText } from '../domain/agents/form.ts';
import type { AgentId, ModelId, SessionId } from '../domain/ids.ts';
import type { Mode } from '../domain/reason.ts';
import type { SoundPlan } from '../domain/plan/plan.ts';
import type { RepositoryFacts } from '../domain/repository.ts';
import type { Result } from '../domain/result.ts';
import type { Theme } from '../domain/theme.ts';
import type { Controls, Receipt, Refusal } from './controls.ts';
import type { SessionSummary } from './log.ts';

/** What the start screen shows before there is a run. */
export interface ProjectInfo {
  /** Real path of the project, and how it was found. */
  readonly cwd: string;
  readonly project: string;
  readonly version: string;
  /** `offline (no provider)`, or the providers that are configured. */
  readonly provider: string;
  /** The model that plans; absent until it is known, and where none can be used. */
  readonly model?: ModelId;
  /** Empty until the sandbox was probed, just after the first screen. */
  readonly sandbox: string;
  readonly mode: Mode;
  /** Suggested tasks for this repository; at most 6. */
  readonly suggestions: readonly string[];
  readonly sessions: readonly {
    readonly id: SessionId;
    readonly task: string;
    readonly when: string;
    readonly state: 'running' | 'finished' | 'stopped';
    /** How it last ended, and what it had used by then. Absent if it never ended. */
    readonly ended?: SessionSummary['ended'];
    /** US dollars used so far by a session that has not ended or was killed. */
    readonly cost?: SessionSummary['cost'];
  }[];
  /** Facts about the repository; absent until they are known. `git` is absent if git was not run. */
  readonly repository?: Pick<RepositoryFacts, 'isGit' | 'files' | 'git'>;
  readonly budget?: Budget;
  /** The policy in force, on one line: `managed by /etc/mimir/policy.yml`; empty if only the person's own settings apply. */
  readonly policy: string;
  /** The project's state of trust. `nothing`: it has nothing that needs trust. */
  readonly trust: TrustQuestion;
  /** Warnings about the configuration, one line each. */
  readonly notes: readonly string[];
  readonly templates: readonly TemplateInfo[];
  /** All agents, custom ones first, and a line for each file that is not a valid agent. */
  readonly agents: { readonly all: readonly AgentInfo[]; readonly leftOut: readonly string[] };
  /** Names of available themes, shipped ones first. */
  readonly themes: readonly string[];
}

export interface TemplateInfo {
  readonly name: string;
  /** With variables as people read them: `Review <target>`. */
  readonly description: string;
  readonly arguments: readonly {
    readonly name: string;
    readonly description: string;
    /** Empty: a value is required. */
    readonly default: string;
  }[];
  readonly tasks: number;
  /** `.mimir/plans/audit.yml`, or the person's own folder. */
  readonly from: string;
}

/** A role for display: built in, or defined by an administrator, the person or the project. */
export interface AgentInfo {
  readonly name: string;
  readonly description: string;
  readonly tools: readonly string[];
  readonly capabilities: readonly string[];
  readonly models: readonly string[];
  readonly prompt: string;
  /** `built-in`, or the file. */
  readonly source: string;
  readonly whyKept: string | null;
}

/** A custom agent to create, in the project's folder or the person's own. */
export interface AgentRequest extends AgentText {
  readonly for: 'project' | 'user';
}

/** A draft of a custom agent, by a model or to be filled in by the person; nothing is created yet. */
export interface AgentProposal {
  readonly draft: AgentDraft;
  readonly drafted: boolean;
  /** One line: which model drafted it and at what cost, or why none did. */
  readonly said: string;
}

/** A template to save: `arguments` become variables that are requested at each use. */
export interface TemplateRequest {
  readonly name: string;
  readonly description: string;
  readonly plan: SoundPlan;
  /** Each occurrence of `text` in descriptions and writes becomes `{{name}}`, with `text` as the default. */
  readonly arguments: readonly { readonly name: string; readonly text: string }[];
}

export type ReportFormat = 'md' | 'json' | 'html';

/**
 * What a person does with the changes of a run; only `undo` while it goes on. `hunk` is the number of one of the file's hunks; `restore` takes the last undo of
 * the agent back. After a merge with `agent` the run is to be resumed with a message to that agent, which then resolves the conflicts. */
export type ChangeAction =
  | { readonly do: 'request' }
  | { readonly do: 'merge'; readonly agent: AgentId; readonly choice?: 'mine' | 'theirs' | 'agent' | 'patch' }
  | {
      readonly do: 'undo';
      readonly agent: AgentId;
      readonly path?: string;
      readonly hunk?: number;
      readonly restore?: true;
    };

/** What an action would do, as it is shown before. */
export interface ChangePreview {
  readonly title: string;
  readonly lines: readonly string[];
  /** Of what is shown: exactly this is done. */
  readonly digest: string;
  /** The title of the list in which one of several answers is chosen. */
  readonly choose?: string;
  /** None: it is only shown. Several: one of them is chosen. */
  readonly answers: readonly { readonly label: string; readonly note: string; readonly action: ChangeAction }[];
}

/** The changes of runs. */
export interface RunChanges {
  /** Changes nothing. */
  preview(session: SessionId, action: ChangeAction): Promise<Result<ChangePreview, Refusal>>;
  /** Does what was shown; refused if anything has changed since. The receipt says how it ended. */
  carryOut(session: SessionId, action: ChangeAction, digest: string): Promise<Result<Receipt, Refusal>>;
}

/** The pull request of an ended run, as it would be made now. */
export interface RequestPreview {
  /** `Pull request`, or on GitLab `Merge request`. */
  readonly kind: string;
  readonly branch: string;
  readonly title: string;
  readonly body: string;
  readonly message: string;
  /** Everything that a person decides about, in full. */
  readonly lines: readonly string[];
  /** Of what is shown: exactly this is sent. */
  readonly digest: string;
  readonly url: string | null;
  /** The request is open, and there is nothing to add to it. */
  readonly isComplete: boolean;
  /** What the rules say of pushing the branch and opening the request, and which rule. */
  readonly verdict: 'allow' | 'ask' | 'deny';
  readonly because: string;
}

/** The screen's only access to runs. */
export interface ProjectService {
  info(): ProjectInfo;
  /** `listener` is called when `info` changes: slow facts arrive after the first screen. */
  onChange(listener: () => void): void;
  /** Starts planning; the controls are those of the new run. `direct` asks main without a planner and approves its one-task plan, unless
   * an administrator requires approval of every plan. */
  start(task: string, direct?: 'direct'): Promise<Result<Controls, Refusal>>;
  /** `followUp` is a message to main, or to an agent that can continue. A completed or failed session answers it without repeating its plan. */
  resume(session: SessionId, followUp?: string, to?: AgentId): Promise<Result<Controls, Refusal>>;
  /** Controls of a run in another process. Refused if none owns it. */
  attach(session: SessionId): Promise<Result<Controls, Refusal>>;
  /** Continues this run in a process of its own, after its controls have handed it over. The receipt says how to come back. */
  detach(session: SessionId): Promise<Result<Receipt, Refusal>>;
  /** A finished session for viewing: its controls replay events and refuse every command. */
  look(session: SessionId): Promise<Result<Controls, Refusal>>;
  /** Starts a run of a template; the person still approves the plan. */
  startTemplate(name: string, values: Readonly<Record<string, string>>): Promise<Result<Controls, Refusal>>;
  /** Keeps a plan in the project's `.mimir/plans`; refused where one of that name is there. The receipt names the file. */
  saveTemplate(wish: TemplateRequest): Promise<Result<Receipt, Refusal>>;
  /** At most `most` project paths that complete an `@` mention, best first; folders end in `/`. Answers from memory once read. */
  files(query: string, most: number): Promise<readonly string[]>;
  /** Writes a session's report into the project's folder or the state folder; the receipt names the file. */
  exportReport(session: SessionId, format: ReportFormat): Promise<Result<Receipt, Refusal>>;
  /** The authors of all changes of a session in the project; null where nothing is known of them. Absent: nothing can tell. */
  authors?(session: SessionId): Promise<AuthoredChanges | null>;
  /** Absent: nothing can be done with them. */
  readonly changes?: RunChanges;
  /** A theme by name; the fault names file, line and the remedy. */
  theme(name: string): Result<Theme, string>;
  /** The hints that the person has already seen, by name. */
  readonly hints: Marks;
  /** The changes of a session that the person has accepted in its review, by their keys. */
  accepted(session: SessionId): Marks;
  readonly agents: AgentFiles;
  /** Trusts the project as it was shown; refused when it has changed since. Applies to later runs. */
  trust(digest: string): Promise<Result<Receipt, Refusal>>;
}

/** What the person has marked, in any session. */
export interface Marks {
  all(): ReadonlySet<string>;
  /** Sets a mark, or removes it. If it cannot be kept, it holds for this session. */
  mark(key: string, isMarked?: boolean): void;
}

/** Custom agents: drafted from a sentence, saved as files, deleted. */
export interface AgentFiles {
  /** Lets a model draft an agent, if one is available and allowed, on the terms of `main`; otherwise the person fills in a form. `asking`
   * is called before the model call. Always resolves, soon after `signal` is aborted. */
  draft(
    sentence: string,
    how: { readonly model: boolean; readonly signal: AbortSignal; asking(line: string): void },
  ): Promise<AgentProposal>;
  /** Makes one as a file of its own, never over another; later runs have it. The receipt names the file. */
  create(wish: AgentRequest): Promise<Result<Receipt, Refusal>>;
  /** Deletes an agent's file, only in the person's own folder and the project's `.mimir/agents`. */
  delete(name: string): Promise<Result<Receipt, Refusal>>;
}

/** What a person decides before anything of a project except its restrictions applies. */
export interface TrustQuestion {
  readonly state: 'nothing' | 'trusted' | 'new' | 'changed';
  /** Digest of what is shown: trust is given to exactly this. */
  readonly digest: string;
  /** What the project would add, one line each: `role deploy: read, shell (.mimir/agents/deploy.md)`. */
  readonly brings: readonly string[];
  /** Unified diff against what was trusted before; empty at first. */
  readonly diff: string;
}
