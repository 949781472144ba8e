/** A run for those who knock: it remembers what was submitted and by whom, and its events are given by the test. */
import { AgentId, ROOT, SessionId } from '../../src/domain/ids.ts';
import type { Result } from '../../src/domain/result.ts';
import { fail, ok } from '../../src/domain/result.ts';
import type { EventBody, MimirEvent } from '../../src/events/event.ts';
import type { RunSessions } from '../../src/events/sessions/record.ts';
import type { RunApi } from '../../src/ports/control.ts';
import type { Command, Receipt, Refusal, Tick } from '../../src/ports/controls.ts';

export const KNOCKED = SessionId.parse('knocked-at');
export const FINDER = AgentId.parse('ROOT::S1');

export interface KnockedRun {
  readonly given: RunApi;
  /** In the order they came; `by` is null for the person. */
  readonly submitted: { readonly command: Command; readonly by: AgentId | null }[];
  readonly stored: MimirEvent[];
  /** Records an event, and tells it. */
  record(body: EventBody): MimirEvent;
  tick(tick: Tick): void;
  /** How many follow, and how many listen to what streams past. */
  watched(): { readonly events: number; readonly ticks: number };
  pokes(): number;
}

/** `submit`: what becomes of a command; done at once when it isn't said. */
export function knockedRun(
  submit: (command: Command, by: AgentId | null) => Promise<Result<Receipt, Refusal>> = (command) =>
    Promise.resolve(ok({ text: `done: ${command.do}` })),
): KnockedRun {
  const submitted: { command: Command; by: AgentId | null }[] = [];
  const stored: MimirEvent[] = [];
  const listeners = new Set<(tick: Tick) => void>();
  let [following, pokes, over]: [number, number, boolean] = [0, 0, false];
  let wake = Promise.withResolvers<void>();

  async function* events(after: number): AsyncGenerator<MimirEvent> {
    following += 1;
    try {
      for (let at = after; ; ) {
        const event = stored[at];
        if (event !== undefined) {
          at += 1;
          yield event;
        } else if (over) return;
        else await wake.promise;
      }
    } finally {
      following -= 1;
    }
  }
  return {
    submitted,
    stored,
    watched: () => ({ events: following, ticks: listeners.size }),
    pokes: () => pokes,
    tick: (tick) => {
      for (const listener of listeners) listener(tick);
    },
    record(body) {
      const event = {
        ...body,
        v: 1,
        seq: stored.length + 1,
        time: '2026-01-01T00:00:00.000Z',
        session: KNOCKED,
      } as const;
      stored.push(event);
      over ||= body.type === 'session.finished';
      const { resolve } = wake;
      wake = Promise.withResolvers<void>();
      resolve();
      return event;
    },
    given: {
      controls: {
        session: KNOCKED,
        previewMode: (mode, agent) =>
          Promise.resolve({
            refused: null,
            looser: mode === 'yolo',
            changes: [`${agent ?? 'all'} at ${stored.length}`],
            answers: stored.length,
          }),
        previewPlan: (edits) =>
          Promise.resolve(
            edits.length === 0
              ? fail('no edits, no plan')
              : ok({ plan: { reason: 'none', tasks: [] }, digest: `of ${edits.length}`, base: 'before', changes: [] }),
          ),
        submit(command, by) {
          submitted.push({ command, by: by ?? null });
          return submit(command, by ?? null);
        },
        events,
        ticks(listener) {
          listeners.add(listener);
          return () => void listeners.delete(listener);
        },
      },
      family: (asker) => familyFor(asker),
      detail: (asker, agent) =>
        asker === null || agent === asker
          ? ok({ last_words: `of ${agent}`, recent_tools: [], elapsed: 1 })
          : fail(`you may not look into ${agent}`),
      events: (asker, agent, after) =>
        asker === null || agent === asker
          ? ok(stored.filter(({ seq }) => seq > after))
          : fail(`you may not read ${agent ?? 'the whole run'}`),
      poke: () => {
        pokes += 1;
      },
    },
  };
}

export const familyFor = (you: AgentId | null): RunSessions => ({
  run: KNOCKED,
  state: 'running',
  task: 'be knocked at',
  mode: 'confirm',
  started_at: '2026-01-01T00:00:00.000Z',
  cost: 0,
  tokens: 0,
  questions: 0,
  kept_messages: 0,
  reviews_due: [],
  you,
  sessions: [],
});

/** An event of which many can be told. */
export const said = (text: string): EventBody => ({ type: 'plan.rejected', reason: text });

export const FINISHED: EventBody = {
  type: 'session.finished',
  status: 'completed',
  summary: '',
  totals: { cost: 0, tokens: 0, agents: 0, duration: 0 },
};

export const message = (text: string): Command => ({ do: 'message', to: ROOT, text, delivery: 'important' });
