/** What is asked of a model, and why it could not be asked. */
import type { z } from 'zod';
import type { WorkOrder } from '../../domain/agents/agent.ts';
import type { Turn } from '../../domain/turn.ts';
import type { Purpose } from '../../ports/model.ts';

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

export const stopped = (signal: AbortSignal): AskFault => ({ is: 'stopped', text: String(signal.reason) });

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
