/**
 * The one door to the outside: everything an agent does goes through here, always in this order: decide, reserve,
 * record, act, record. Judging and reserving stay one step without `await`. What models and tools are is theirs to say;
 * what is allowed is policy's; what the parts are is in ask.ts, use.ts and reserve.ts.
 */
import type { z } from 'zod';
import type { WorkOrder, WorkOutcome } from '../../domain/agents/agent.ts';
import type { AgentId, CallId, ModelId, RoleName, Usd } from '../../domain/ids.ts';
import type { ModelOption } from '../../domain/plan/plan.ts';
import type { Reason } from '../../domain/reason.ts';
import type { Result } from '../../domain/result.ts';
import type { ModelReply, ToolCall, ToolResult, Turn } from '../../domain/turn.ts';
import type { Rules } from '../../policy/rules.ts';
import type { DayLedger } from '../../ports/daily-budget.ts';
import type { Doors } from '../../ports/agent-sockets.ts';
import type { ModelPort, Purpose } from '../../ports/model.ts';
import type { Desk, ToolPort } from '../../ports/tool.ts';
import type { Tick } from '../../ports/controls.ts';
import type { World } from '../../ports/world.ts';
import type { Approvals } from './tools/approvals.ts';
import { askModel } from './model/ask.ts';
import type { ClosingBook } from './budget/closing-reserve.ts';
import type { Hold } from './drain-latch.ts';
import type { Compaction, Room } from './model/context-budget.ts';
import { recordCompaction, roomOf } from './model/context-budget.ts';
import { lacksVerdict, VERDICT_REMINDER } from '../reviews/record.ts';
import type { CommitGate } from './tools/review-check.ts';
import { noteResults, refuseTools, useTools } from './tools/use.ts';
import type { LimitBook } from './budget/limit.ts';
import type { Switches } from './model/model-change.ts';
import type { Lines } from './model/provider-queue.ts';
import type { Reservation } from './budget/reserve.ts';
import type { UnderWay } from './budget/budget-queue.ts';
import type { PrefixBook } from './budget/tokens.ts';
import type { Inbox } from '../messaging/inbox.ts';
import type { Exhausted } from './budget/limits.ts';
import type { Capability } from '../../domain/agents/role.ts';
import type { Recorder } from '../run/recorder.ts';

/** Why a model could not be asked, in the only terms the loop acts on. */
export type AskFault =
  | { readonly is: 'budget'; readonly text: string }
  | { readonly is: 'denied'; readonly text: string }
  | { readonly is: 'model'; readonly text: string }
  /** The request is longer than the model's window: fewer turns may do. */
  | { readonly is: 'too long'; readonly text: string }
  /** A message came in between: look at the inbox and ask again. */
  | { readonly is: 'told' }
  /** Interrupted, killed, or the run ends: the reason is the signal's. */
  | { readonly is: 'stopped'; readonly text: string };

/** A limit that was met: what is done is chosen in limit.ts. */
export interface LimitMet {
  readonly is: 'limit';
  readonly exhausted: Exhausted;
  /** The rule, of a limit that one names. */
  readonly from?: Reason;
  /** The call that did not fit: what it may use at worst, and whether it would fit with another model. */
  readonly call?: {
    readonly need: { readonly tokens: number; readonly cost: Usd };
    judge(model: ModelOption): Reservation;
  };
}

/** Inside the gate: how the agent ends, a limit to choose at, or that all is to be judged again. */
export type GateFault = AskFault | LimitMet | { readonly is: 'again' };

export interface Question {
  readonly order: WorkOrder;
  readonly turns: readonly Turn[];
  /** What the call is for; an agent's own work when left out. */
  readonly purpose?: Purpose;
  /** The form of the whole reply, where it should have one. */
  readonly format?: z.ZodType;
  /** The last turn of the agent: no tool may be called in it, and what limits keep back for it may be used. */
  readonly closing?: true;
}

export type ResultsTurn = Extract<Turn, { readonly by: 'tools' }>;

export interface Gate {
  /** One reply of the agent's model, within policy and budget; falls back as the order says. Never rejects but for a bug. */
  ask(question: Question, signal: AbortSignal): Promise<Result<ModelReply, AskFault>>;
  /** All calls of one reply: reading ones together, others in the order asked; results in the order asked. */
  use(order: WorkOrder, calls: readonly ToolCall[], signal: AbortSignal): Promise<readonly ToolResult[]>;
  /** Answers calls that may not be carried out; nothing is done. */
  refuse(order: WorkOrder, calls: readonly ToolCall[], text: string): readonly ToolResult[];
  /** The same results with a sentence at their end, recorded. */
  note(order: WorkOrder, turn: ResultsTurn, text: string): Turn;
  /** Puts a user turn into the agent's context and records it. */
  tell(order: WorkOrder, text: string): Turn;
  /** Messages that wait for the agent as one user turn, recorded as delivered; null when there are none. */
  waiting(order: WorkOrder, when: 'between turns' | 'at the end'): Turn | null;
  /** How the agent has said that its work ends; null while it has not. */
  signalled(order: WorkOrder): WorkOutcome | null;
  /** How much of the window of the agent's present model a request with `turns` would fill. */
  room(order: WorkOrder, turns: readonly Turn[]): Room;
  /** Records that the conversation goes on as these turns: the first one, the summary, the last `kept`. */
  compacted(order: WorkOrder, to: Compaction): void;
}

/** What the gate is made of. */
export interface GateParts {
  readonly recorder: Recorder;
  readonly world: World;
  readonly models: ModelPort;
  readonly tools: ToolPort;
  /** As they are at this moment: read anew for each decision. */
  readonly rules: Rules;
  /** What was written of rules since and waits for the next start: a sentence each, once each. */
  notes(): readonly string[];
  /** Can a person be asked? */
  readonly person: boolean;
  /** Does a person wait for the plan, so that they can go on without a planner? */
  readonly planByHand: boolean;
  readonly approvals: Approvals;
  readonly inbox: Inbox;
  readonly prefixes: PrefixBook;
  readonly lines: Lines;
  readonly underWay: UnderWay;
  readonly closings: ClosingBook;
  /** Stands before each commit. */
  readonly forced: CommitGate;
  readonly limits: LimitBook;
  readonly switches: Switches;
  /** Stands before each call of a model and of a tool while the run is handed over. */
  readonly hold: Hold;
  /** By which commands of an agent ask the run; missing where they can't. */
  readonly doors: Doors | undefined;
  /** What all runs of a day use; undefined where no rule limits it. */
  readonly day: DayLedger | undefined;
  /** For what the tool of `call` asks of the run. */
  desk(order: WorkOrder, call: CallId, signal: AbortSignal): Desk;
  tick(tick: Tick): void;
  /** A text for a model without the known keys. */
  hide(text: string): string;
  /** The names of the role's models, in order of preference, as written. */
  modelsOf(role: RoleName): readonly string[];
  /** What agents of this role may do; empty where there is no such role. */
  capabilitiesOf(role: string): readonly Capability[];
  /** Models to go on with when the one that `asked` stands for can't be reached, in order, as the rules of now allow. */
  fallbacksFor(role: RoleName, asked: string): readonly ModelId[];
  /** Stops the run so that it can be resumed, when it can't go on for anybody. */
  pause(text: string, is: 'model' | 'denied' | 'budget'): void;
  /** Ends a child whose parent may not go on with the call that made it. */
  abandon(child: AgentId, why: string): void;
  /** Makes a call id that is unique in the session. */
  callId(agent: AgentId): string;
}

export function openGate(parts: GateParts): Gate {
  const tell = (order: WorkOrder, text: string, messages: readonly number[]): Turn => {
    parts.recorder.record({ type: 'agent.told', agent: order.agent, text, messages });
    return { by: 'user', text: parts.hide(text) };
  };
  return {
    ask: (question, signal) => askModel(parts, question, signal),
    use: (order, calls, signal) => useTools(parts, order, calls, signal),
    refuse: (order, calls, text) => refuseTools(parts, order, calls, text),
    note: (order, turn, text) => noteResults(parts, order, turn, text),
    tell: (order, text) => tell(order, text, []),
    waiting(order, when) {
      const mail = parts.inbox.take(order.agent, when);
      if (mail !== null) return tell(order, mail.text, mail.messages);
      return when === 'at the end' && lacksVerdict(parts.recorder.state(), order.agent)
        ? tell(order, VERDICT_REMINDER, [])
        : null;
    },
    signalled({ agent }) {
      const said = parts.recorder.state().agents.get(agent)?.signalled ?? null;
      if (said === null) return null;
      return said.status === 'completed'
        ? { is: 'completed', summary: said.message }
        : { is: 'failed', reason: said.message };
    },
    room: (order, turns) => roomOf(parts, order, turns),
    compacted: (order, to) => recordCompaction(parts, order, to),
  };
}
