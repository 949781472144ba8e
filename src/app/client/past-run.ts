/** A session that is over, as screens follow a run: all that happened at once, and no command is taken any more. */
import type { SessionId } from '../../domain/ids.ts';
import { fail } from '../../domain/result.ts';
import { runTime } from '../views/run-time.ts';
import type { EventBody, MimirEvent } from '../../events/event.ts';
import { foldAll } from '../../events/fold.ts';
import { spentOf } from '../../events/queries.ts';
import type { Controls } from '../../ports/controls.ts';

/**
 * `recorded` is all of it, in order, read anew by each walk, as it may be without outputs; `at` reads one of it whole. A log without an end is shown stopped, as it is: whatever was at work
 * is interrupted.
 */
export function pastRun(session: SessionId, recorded: Iterable<MimirEvent>, at: NonNullable<Controls['at']>): Controls {
  const end = endOf(session, recorded);
  const over = 'this session is over: n starts another task';
  return {
    session,
    previewMode: () => ({ refused: over, looser: false, changes: [], answers: 0 }),
    previewPlan: () => fail(over),
    submit: () => Promise.resolve(fail({ text: over })),
    async *events(afterSeq) {
      for (const events of [recorded, end]) for (const event of events) if (event.seq > afterSeq) yield event;
    },
    at,
    ticks: () => () => undefined,
  };
}

/** What a run would have recorded when it stopped, where its process ended before; for the screen alone, no log has it. */
function endOf(session: SessionId, recorded: Iterable<MimirEvent>): readonly MimirEvent[] {
  const state = foldAll(recorded);
  if (state.finished !== null || state.seq === 0) return [];
  const { cost, tokens } = spentOf(state);
  const totals = { cost, tokens, agents: Math.max(0, state.agents.size - 1), duration: runTime(state) };
  const atWork = [...state.agents.values()].filter(({ status }) => AT_WORK.has(status));
  const bodies: readonly EventBody[] = [
    ...atWork.map(({ id }): EventBody => ({ type: 'agent.status', agent: id, status: 'interrupted', reason: ENDED })),
    { type: 'session.finished', status: 'stopped', summary: ENDED, totals },
  ];
  const time = new Date(state.lastAt).toISOString();
  return bodies.map((body, at): MimirEvent => ({ ...body, v: 1, seq: state.seq + 1 + at, time, session }));
}

const ENDED = 'its process ended';
const AT_WORK: ReadonlySet<string> = new Set(['initializing', 'running', 'waiting']);
