/** One run as line mode follows it: events folded into state and announced; it decides nothing. */
import { harmless } from '../../app/process/io.ts';
import { world } from '../../app/process/world.ts';
import { planLines } from '../../app/reports/plan-lines.ts';
import type { Millis } from '../../domain/ids.ts';
import type { MimirEvent } from '../../events/event.ts';
import { fold } from '../../events/fold.ts';
import { StoredOutputs } from '../../events/sessions/stored-outputs.ts';
import type { RunState } from '../../events/state.ts';
import { EMPTY } from '../../events/state.ts';
import type { Command, Controls } from '../../ports/controls.ts';
import { Announcer } from './announce.ts';
import type { AnnouncerParts } from './announce.ts';
import { statusLine } from './commands/look.ts';
import { thinkingOnce } from './event-lines.ts';
import { firstLine } from './words/agents.ts';

/** A run that had begun before: followed in another process, or gone on with here, of which its log tells behind `resumed`. */
export type Joined = 'attached' | { readonly resumed: Millis };

type Heard = (event: MimirEvent, state: RunState) => void;

/** How often sums that are due are said. */
const TICK_MS = 1000;

export class LineRun {
  readonly controls: Controls;
  /** Settles when there are no more events; rejects for a bug in their source. */
  readonly ended: Promise<void>;
  #state: RunState = EMPTY;
  readonly #outputs: StoredOutputs | null;
  #changes = 0;
  #stopped = false;
  /** False while a run tells what happened before: that was said when it happened. */
  #caughtUp: boolean;

  constructor(controls: Controls, of: AnnouncerParts, heard: Heard = () => {}, how?: Joined) {
    this.controls = controls;
    this.#outputs = controls.at === undefined ? null : new StoredOutputs(controls.at);
    this.#caughtUp = how === undefined;
    this.ended = this.#follow(of, heard, how);
  }

  get state(): RunState {
    return this.#state;
  }

  /** How often the plan was changed: a change is in `state` only when this has grown. */
  get changes(): number {
    return this.#changes;
  }

  /** Nothing is announced any more; the run itself goes on. */
  stop(): void {
    this.#stopped = true;
  }

  async #follow(of: AnnouncerParts, heard: Heard, how?: Joined): Promise<void> {
    const announcer = new Announcer(of);
    const think = thinkingOnce(() => this.#state, of);
    const unwatch = this.controls.ticks((tick) => {
      if (of.verbosity() !== 'quiet' && !this.#stopped) think(tick);
    });
    const before = new Before(heard);
    const quiet = how === 'attached' ? whenQuiet(() => this.#join(of, before, 'Attached to')) : null;
    const hear = (event: MimirEvent): void => (this.#caughtUp ? heard(event, this.#state) : before.take(event));
    const timer = setInterval(() => announcer.tick(this.#state), TICK_MS).unref();
    try {
      for await (const event of this.controls.events(0, this.#outputs === null ? {} : { outputs: false })) {
        if (this.#stopped) return;
        this.#take(event);
        if (this.#caughtUp) announcer.hear(event, this.#state);
        else if (isResumption(event, how)) this.#join(of, before, 'Going on with');
        quiet?.again();
        hear(event);
      }
    } finally {
      clearInterval(timer);
      quiet?.now();
      unwatch();
    }
  }

  #join(of: AnnouncerParts, before: Before, head: string): void {
    if (this.#caughtUp || this.#state.seq === 0) return;
    this.#catchUp(of, head);
    before.tell(this.#state);
  }

  #take(event: MimirEvent): void {
    const after = fold(this.#state, event);
    this.#state = this.#outputs?.after(after, event) ?? after;
    if (event.type === 'plan.edited' || event.type === 'plan.amended') this.#changes += 1;
  }

  /** Where the run stands, in the place of all that was said of it before. */
  #catchUp({ say, paint, now }: AnnouncerParts, head: string): void {
    const state = this.#state;
    this.#caughtUp = true;
    say(harmless(`${head} session ${this.controls.session}: ${firstLine(state.task)}`));
    if (state.phase === 'approving') for (const line of planLines(state, paint)) say(line);
    else say(statusLine(state, now()));
  }
}

/** What happened before a run was joined: only the last of what asks the person something is heard, when all of it is known. */
class Before {
  readonly #heard: Heard;
  readonly #last = new Map<MimirEvent['type'], MimirEvent>();

  constructor(heard: Heard) {
    this.#heard = heard;
  }

  take(event: MimirEvent): void {
    if (event.type === 'plan.proposed' || ROUSING.has(event.type)) this.#last.set(event.type, event);
  }

  tell(state: RunState): void {
    for (const event of this.#last.values()) this.#heard(event, state);
  }
}

const isResumption = ({ type, time }: MimirEvent, how: Joined | undefined): boolean =>
  typeof how === 'object' && type === 'session.resumed' && Date.parse(time) >= how.resumed;

/** What happened before comes at once; behind it nothing comes for a moment. */
const QUIET_MS = 120;

interface Quiet {
  again(): void;
  now(): void;
}

/** Calls `done` when `again` was not called for a moment, or at once by `now`. */
function whenQuiet(done: () => void): Quiet {
  let timer = setTimeout(done, QUIET_MS);
  return {
    again() {
      clearTimeout(timer);
      timer = setTimeout(done, QUIET_MS);
    },
    now() {
      clearTimeout(timer);
      done();
    },
  };
}

// What in a run changes what a person in line mode is asked, and waiting for it to be so.

/** After these no plan waits any more. */
export const DECIDING: ReadonlySet<Command['do']> = new Set(['approve plan', 'reject plan', 'plan again'] as const);

/** What changes what the person is asked. */
export const ROUSING: ReadonlySet<MimirEvent['type']> = new Set([
  'session.started',
  'session.resumed',
  'plan.proposed',
  'plan.approved',
  'plan.rejected',
  'approval.requested',
  'approval.answered',
  'session.finished',
]);

/** Until a change of the plan is in the log. */
const CHANGED_MS = 2000;

/** Resolves when `done` says yes, or after a while without. */
export async function until(done: () => boolean): Promise<void> {
  for (let waited = 0; !done() && waited < CHANGED_MS; waited += 5) await world.sleep(5);
}
