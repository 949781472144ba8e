/**
 * When the bursts of work of a run without a plan are judged by the agents whose trigger is `always`: as soon as all is at rest, after
 * a while where it never is, and first where a run goes on that was stopped. What is asked, and of whom, is forced-burst.ts's.
 */
import type { Millis } from '../../../domain/ids.ts';
import type { EventBody, MimirEvent } from '../../../events/event.ts';
import type { RunState } from '../../../events/state.ts';
import { HANDED_OVER } from '../../../ports/controls.ts';
import { LogFault } from '../../../ports/log.ts';
import { dueByLog, dueFrom, isDue, isWork, lapsed } from '../../reviews/batch.ts';
import { gateWords } from '../../reviews/record.ts';
import type { RunParts } from '../parts.ts';

/** A burst is judged after this at the latest, counted from its first event, though it never comes to rest: no agent puts it off. */
const LONGEST_BURST: Millis = 15 * 60_000;

export interface Reviews {
  /** ROOT begins to work. */
  begins(): void;
  /** Is there work that was not judged? */
  isDue(): boolean;
  /** Judges it; what is under way already is waited for. `closed`: what to record where ROOT is to say that it did not pass. */
  review(closed: (words: string) => readonly EventBody[]): Promise<void>;
  /** Judges it beside the work where that has gone on for too long. */
  look(): void;
  /** Marks work of children as they begin, until the log is closed, and tells `heard` of each event. */
  watch(heard: () => void): Promise<void>;
  /** Resolves when no review is under way, and all that was not judged is marked: the last that is done before the log is closed. */
  settled(): Promise<void>;
}

export const openReviews = (parts: RunParts): Reviews => new Bursts(parts);

class Bursts implements Reviews {
  private readonly parts: RunParts;
  private now: Promise<void> | null = null;

  /** What a process that was cut off could not mark is marked now. */
  constructor(parts: RunParts) {
    this.parts = parts;
    const { recorder, forced, signal } = parts;
    const gone = lapsed(recorder.state(), forced.nodes('always'));
    // Rules that can't be read ask for nothing, and stop the run.
    if (gone.length > 0 && !signal.aborted) recorder.record(...gone);
    this.mark((node) => dueByLog(parts, node));
  }

  begins(): void {
    this.mark((node) => dueFrom(this.parts, node));
  }

  isDue(): boolean {
    const { recorder, forced } = this.parts;
    // Rules are looked at only where there is something to look for.
    const { gates } = recorder.state();
    return (
      gates.some(({ due }) => due !== undefined) && forced.nodes('always').some((node) => isDue(recorder.state(), node))
    );
  }

  async review(closed: Parameters<Reviews['review']>[0]): Promise<void> {
    const { forced, recorder, signal } = this.parts;
    this.now ??= forced.ofBurst().finally(() => (this.now = null));
    const before = recorder.state().gates;
    await this.now;
    if (signal.aborted) return;
    const state = recorder.state();
    const fresh = state.gates.filter((gate) => isClosed(gate) && !before.includes(gate));
    if (fresh.length > 0) recorder.record(...closed(fresh.map((gate) => gateWords(state, gate)).join('\n\n')));
  }

  look(): void {
    const { recorder, world } = this.parts;
    const since = dueSince(recorder.state());
    if (this.now !== null || since === null || world.now() - since < LONGEST_BURST || !this.isDue()) return;
    this.review(() => []).catch((error: unknown) =>
      this.parts.stop(error instanceof Error ? error.message : String(error)),
    );
  }

  async watch(heard: () => void): Promise<void> {
    const { recorder } = this.parts;
    try {
      for await (const event of recorder.events(recorder.state().seq)) {
        if (recorder.state().finished !== null) return;
        this.take(event);
        heard();
      }
    } catch (error) {
      if (!(error instanceof LogFault)) throw error;
      this.parts.stop(error.message);
    }
  }

  async settled(): Promise<void> {
    await this.now?.catch(() => undefined);
    this.mark((node) => dueByLog(this.parts, node));
  }

  private take(event: MimirEvent): void {
    const { recorder } = this.parts;
    if (isWork(recorder.state(), event)) this.mark((node) => dueFrom(this.parts, node, event.seq));
  }

  private mark(due: (node: ReturnType<RunParts['forced']['nodes']>[number]) => readonly EventBody[]): void {
    const { recorder, forced } = this.parts;
    const events = forced.nodes('always').flatMap(due);
    if (events.length > 0) recorder.record(...events);
  }
}

const isClosed = ({ open, trigger, onFailure, due }: RunState['gates'][number]): boolean =>
  !open && trigger === 'always' && onFailure === 'block' && due === undefined;

/** Since when work is there that was not judged; null where there is none. */
function dueSince({ gates }: RunState): Millis | null {
  const all = gates.flatMap(({ due }) => (due === undefined ? [] : [due.since]));
  return all.length === 0 ? null : Math.min(...all);
}

/** Was the run only carried on in another process? Then its work goes on as if nothing had been, and is judged when that rests. */
export function isMoved(stored: readonly MimirEvent[]): boolean {
  const before = stored[stored.findLastIndex(({ type }) => type === 'session.resumed') - 1];
  return before?.type === 'session.finished' && before.summary === HANDED_OVER;
}
