/** A session that is over, as screens follow a run: all that happened at once, and no command is taken any more. */
import type { SessionId } from '../domain/ids.ts';
import { fail } from '../domain/result.ts';
import type { MimirEvent } from '../events/event.ts';
import type { Controls } from '../ports/controls.ts';

/** `events` is all of it, in order. */
export function pastRun(session: SessionId, events: readonly MimirEvent[]): Controls {
  const over = 'this session is over: n starts another task';
  return {
    session,
    previewMode: () => ({ refused: over, looser: false, changes: [], answers: 0 }),
    previewPlan: () => fail(over),
    submit: () => Promise.resolve(fail({ text: over })),
    async *events(afterSeq) {
      for (const event of events) if (event.seq > afterSeq) yield event;
    },
    ticks: () => () => undefined,
  };
}
