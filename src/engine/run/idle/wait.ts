/** How ROOT of a run without a plan waits: the words for it in the log, what wakes it, and when all the work is at rest. */
import { ROOT } from '../../../domain/ids.ts';
import type { EventBody } from '../../../events/event.ts';
import type { AgentState, RunState } from '../../../events/state.ts';
import type { RunParts } from '../parts.ts';

/** Why ROOT waits. */
const IDLE = { reason: 'idle', waitingFor: { is: 'message' } } as const;

export const ROOT_WAITS: EventBody = { type: 'agent.status', agent: ROOT, status: 'waiting', ...IDLE };
/** Children work meanwhile: the time of the run goes on. */
export const CHILDREN_WORK: EventBody = {
  type: 'agent.status',
  agent: ROOT,
  status: 'waiting',
  ...IDLE,
  waitsFor: 'children',
};

/** Does ROOT of a run without a plan wait for the next word? */
export const isIdle = ({ waitingFor }: { readonly waitingFor?: AgentState['waitingFor'] }): boolean =>
  waitingFor?.is === 'message';

/** Is there a message that it should work for? Notices of children wake who has a conversation; others keep them for the person. */
export function isWoken({ recorder }: Pick<RunParts, 'recorder'>): boolean {
  const { messages, agents } = recorder.state();
  const spokenTo = agents.get(ROOT)?.blocks.some(({ is }) => is === 'told') ?? false;
  return messages.some(({ to, delivered, notice }) => to === ROOT && !delivered && (notice === null || spokenTo));
}

const AT_WORK: ReadonlySet<string> = new Set(['initializing', 'running', 'waiting']);

/** Does anybody work of `those`, or wait for an answer? Who is interrupted does neither. */
export function isAtWork({ agents, approvals }: RunState, those: (one: AgentState) => boolean = () => true): boolean {
  if (approvals.length > 0) return true;
  for (const one of agents.values())
    if (AT_WORK.has(one.status) && those(one) && !(one.id === ROOT && isIdle(one))) return true;
  return false;
}

/** Whoever judges works for nobody; one that was cut off waits to be asked again. */
const isNoReview = ({ forced }: AgentState): boolean => forced === null;

export interface Rest {
  /** Something happened: all may be at rest now. */
  look(): void;
  /** Resolves when nothing works and nobody asks, at once where that is so already, or when `over` is aborted. */
  come(over: AbortSignal): Promise<void>;
}

/** `isWanted`: is there anything to be done at rest? */
export function openRest(parts: RunParts, isWanted: () => boolean): Rest {
  const { recorder, children } = parts;
  let heard: (() => void) | null = null;
  const isRest = (): boolean => isWanted() && !isAtWork(recorder.state(), isNoReview) && !isWoken(parts);
  const look = async (): Promise<void> => {
    if (heard === null || !isRest()) return;
    // Whoever has ended by its own word may not have been judged yet: that follows at once.
    await children.settled();
    if (isRest()) heard?.();
  };
  return {
    // A fault of the log stops the run: there is no rest to wait for then.
    look: () => void look().catch(() => undefined),
    come: (over) =>
      new Promise<void>((resolve) => {
        const done = (): void => {
          heard = null;
          over.removeEventListener('abort', done);
          resolve();
        };
        heard = done;
        over.addEventListener('abort', done, { once: true });
        if (over.aborted) done();
        else void look().catch(() => undefined);
      }),
  };
}

/** Resolves with the next message to ROOT that wakes it, at once where one waits, at `rest`, or when the run is stopped. */
export async function mailOrRest(parts: RunParts, rest: Rest): Promise<void> {
  const { inbox, signal } = parts;
  if (signal.aborted || isWoken(parts)) return;
  const over = new AbortController();
  const end = (): void => over.abort('news');
  const leave = inbox.onMail(ROOT, () => isWoken(parts) && end());
  signal.addEventListener('abort', end, { once: true });
  await rest.come(over.signal);
  leave();
  signal.removeEventListener('abort', end);
}
