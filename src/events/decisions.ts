/**
 * What rules and people decide while a run goes on: modes, limits, verdicts of forced agents, answers, decisions of policy.
 * A part of the union in event.ts, by the same rules.
 */
import type { Budget } from '../domain/budget.ts';
import type { OnFailure, Trigger } from '../domain/agents/mandatory-review.ts';
import type { GrantScope } from '../domain/agents/grant.ts';
import type { AgentId, CallId, Millis, RoleName } from '../domain/ids.ts';
import type { Mode } from '../domain/mode.ts';
import type { Layer } from '../domain/reason.ts';

/** What a person is asked. `exact` is what would happen, whole: a diff, a command, a question. */
export interface ApprovalRequest {
  readonly action:
    | 'write'
    | 'shell'
    | 'git-write'
    | 'read'
    | 'git-read'
    | 'spawn'
    | 'question'
    | 'turn'
    | 'failure'
    | 'budget';
  readonly title: string;
  readonly exact: string;
  /** Answers offered by `ask_user`; empty otherwise. */
  readonly options: readonly string[];
  /** True for a shell without a sandbox. */
  readonly unsandboxed: boolean;
  readonly because: string;
  /** Equal in questions that one answer may cover; missing in those that are always asked singly. */
  readonly same?: string;
  /** Of a command: its programs with their sub-commands, where an answer may cover those (domain/agents/grant.ts). */
  readonly programs?: readonly (readonly string[])[];
  /** Of a change of a file: which. */
  readonly file?: string;
}

/** What an answer for the session covers. */
export interface Grant {
  readonly scope: GrantScope;
  readonly action: ApprovalRequest['action'];
  readonly same: string;
  readonly programs?: readonly (readonly string[])[];
  readonly file?: string;
  /** What was asked, as its title had it. */
  readonly title: string;
  /** Files whose content decides what is done, of an answer for exactly this: it holds for this content. */
  readonly inputs: readonly { readonly path: string; readonly digest: string }[];
}

/** What a forced agent, `agent`, said of a tree. */
export interface GivenVerdict {
  readonly agent: AgentId;
  readonly role: RoleName;
  readonly tree: string;
  readonly pass: boolean;
  readonly summary: string;
  readonly findings: readonly string[];
}

/** Whether what waited for a forced agent may go on, and why. `agent`: whose work it is. Closed with `warn`: it goes on. */
export interface ForcedGate {
  readonly agent: AgentId;
  readonly role: RoleName;
  readonly trigger: Trigger;
  readonly tree: string;
  readonly open: boolean;
  readonly onFailure: OnFailure;
  readonly why: string;
  /** Of a run without a plan: what was done up to the event of this number is judged. */
  readonly upTo?: number;
  /** Where that is less: what was done behind the event of this number has had no verdict, reviews of it came to none. */
  readonly saidUpTo?: number;
  /** Work has begun since then, and its review is still to come: what is kept back of the run's limits for that. */
  readonly due?: { readonly since: Millis; readonly keeps: Budget };
}

export type Ruling =
  | { readonly type: 'session.mode'; readonly mode: Mode }
  /** Held to a stricter mode than the run's, with all below it; null: no longer. */
  | { readonly type: 'agent.pinned'; readonly agent: AgentId; readonly mode: Mode | null }
  /** The limits of an agent, or of the run by ROOT, from now on. */
  | { readonly type: 'budget.changed'; readonly agent: AgentId; readonly budget: Budget; readonly by: string }
  /** The project as it was before any agent began: forced agents judge what became of it. */
  | { readonly type: 'forced.began'; readonly tree: string }
  | ({ readonly type: 'forced.verdict' } & GivenVerdict)
  | ({ readonly type: 'forced.gate' } & ForcedGate)
  | {
      readonly type: 'approval.requested';
      readonly agent: AgentId;
      readonly approval: string;
      readonly call: CallId | null;
      readonly request: ApprovalRequest;
    }
  | {
      readonly type: 'approval.answered';
      readonly agent: AgentId;
      readonly approval: string;
      readonly answer: 'allowed' | 'denied' | 'withdrawn';
      readonly scope: 'once' | 'session';
      readonly text: string;
      readonly by: string;
      /** Of a yes for the session: what it covers, until it is withdrawn. */
      readonly grant?: Grant;
    }
  /** A grant, by the id of the answer that gave it, covers nothing any more. */
  | { readonly type: 'grant.withdrawn'; readonly grant: string }
  /**
   * Denied because nobody could be asked, or not begun because the sandbox that it was promised could not be started. `effect`
   * is equal for acts that come to the same.
   */
  | {
      readonly type: 'act.unanswered';
      readonly agent: AgentId;
      readonly call: CallId;
      readonly effect: string;
      readonly label: string;
      readonly why?: 'no sandbox';
    }
  /** Such an act, done later all the same. */
  | { readonly type: 'act.done'; readonly agent: AgentId; readonly call: CallId; readonly effect: string }
  | {
      readonly type: 'policy.decided';
      readonly agent: AgentId;
      readonly subject: string;
      readonly action: string;
      readonly decision: 'deny' | 'substitute' | 'allow' | 'ask';
      readonly rule: string;
      readonly layer: Layer;
      readonly file: string | null;
      readonly line: number | null;
      readonly policyHash: string;
      /** Where several states of the files hold together, which `policyHash` is then of: the hash of each. */
      readonly policyHashes?: readonly string[];
    }
  | {
      readonly type: 'budget.warned';
      readonly agent: AgentId;
      /** Of `model`: whose, as the rule names it. */
      readonly of?: string;
      /** Of `day` and `model`: the limit of the rules on all runs of a day, or on a model by the day. */
      readonly scope: 'run' | 'agent' | 'day' | 'model';
      readonly what: 'tokens' | 'cost' | 'time';
      readonly spent: number;
      readonly limit: number;
      /** `limit` is twice the estimate of its task, which ends nobody. */
      readonly estimate?: true;
    }
  | {
      readonly type: 'budget.exhausted';
      readonly agent: AgentId;
      /** Of `day` and `model`: the limit of the rules on all runs of a day, or on a model by the day. */
      readonly scope: 'run' | 'agent' | 'day' | 'model';
      readonly what: 'tokens' | 'cost' | 'time';
      readonly spent: number;
      readonly limit: number;
    };
