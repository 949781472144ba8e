/** One run as the screen follows it: events folded into state, ticks into live text. It asks the engine nothing. */
import type { AgentId, Millis } from '../../../../domain/ids.ts';
import type { Mode } from '../../../../domain/mode.ts';
import { callsInFlight } from '../../../../app/views/spending/spending.ts';
import type { MimirEvent } from '../../../../events/event.ts';
import { type AgentState, type RunState, EMPTY } from '../../../../events/state.ts';
import { fold } from '../../../../events/fold.ts';
import { StoredOutputs } from '../../../../events/sessions/stored-outputs.ts';
import type { PlanEdit } from '../../../../domain/plan/plan-edit.ts';
import type { Result } from '../../../../domain/result.ts';
import { ControlFault } from '../../../../ports/control.ts';
import type { Controls, ModePreview, PlanPreview } from '../../../../ports/controls.ts';
import type { World } from '../../../../ports/world.ts';
import { cleanEvent, harmless } from '../../../../app/views/text/sanitise-text.ts';
import { Live } from '../../../../app/client/stream-buffers.ts';
import type { Elsewhere } from '../../frame/screen.ts';

export interface RunListeners {
  /** For every event and tick. */
  readonly changed: () => void;
  /** For every event from now on: not for those of before a resumption. */
  readonly happened: (event: MimirEvent, before: RunState, after: RunState) => void;
}

/** How long the last events of a lost run may be under way. */
const LAST_WORDS: Millis = 200;

/** May something stream of this agent? Of one that isn't known yet, too. */
const isUnderWay = (agent: AgentState | undefined): boolean =>
  agent === undefined ||
  callsInFlight(agent).length > 0 ||
  agent.blocks.slice(-20).some((block) => block.is === 'tool' && block.ok === null);

/** Does it say that the run stops in this process? */
const isStop = (event: MimirEvent): boolean =>
  event.type === 'session.finished' ||
  (event.type === 'agent.status' && event.status === 'interrupted' && event.endedBy?.is === 'run');

/** Of a run in another process nothing can be read while a picture is made: its outputs stay. */
function storedIn({ at }: Controls): StoredOutputs | null {
  if (at === undefined) return null;
  return new StoredOutputs((seq) => {
    const event = at(seq);
    return event === null ? null : cleanEvent(event);
  });
}

export class RunFeed {
  readonly controls: Controls;
  readonly live = new Live();
  /** Is the run on its way to another process? That it has stopped here is no end of it. */
  moves = false;
  /** Settles when there are no more events; rejects for a bug in their source. */
  readonly ended: Promise<void>;
  #state: RunState = EMPTY;
  /** The run before it stopped in the process that carries it; null where it has not. */
  #beforeStop: RunState | null = null;
  readonly #outputs: StoredOutputs | null;
  #stopped = false;
  #lost: (NonNullable<Elsewhere['lost']> & { readonly at: Millis }) | null = null;
  readonly #unsubscribe: () => void;

  constructor(controls: Controls, world: World, { changed, happened }: RunListeners) {
    this.controls = controls;
    this.#outputs = storedIn(controls);
    const begun = world.now();
    this.#unsubscribe = controls.ticks((tick) => {
      // What comes from another process may come behind the event that has it whole.
      if (controls.lost !== undefined && !isUnderWay(this.#state.agents.get(tick.agent))) return;
      this.live.take(tick, world.now());
      if (!this.#stopped) changed();
    });
    const lost = (why: string): void => {
      // One that has ended needs nobody any more.
      if (this.#lost !== null || this.#state.finished !== null) return;
      this.#lost = { why: harmless(why), at: world.now() };
      changed();
    };
    const followed = this.#follow((event, before) => {
      if (Date.parse(event.time) >= begun) happened(event, before, this.#state);
      changed();
    });
    this.ended = followed.catch((error: unknown) => {
      if (!(error instanceof ControlFault)) throw error;
      lost(error.message);
    });
    // What was sent before it was lost is taken in first.
    void controls.lost?.then(async (why) => {
      await Promise.race([this.ended, world.sleep(LAST_WORDS)]);
      lost(why);
    });
  }

  /** Undefined: this process carries it. */
  get elsewhere(): Elsewhere | undefined {
    return this.controls.lost === undefined ? undefined : { lost: this.#lost };
  }

  /** Time as it shows: of a run that was lost it stands still. */
  time(now: Millis): Millis {
    return this.#lost?.at ?? now;
  }

  get state(): RunState {
    return this.#state;
  }

  /** What screens show: a run that moves as it was at its last step, since it goes on with that. */
  get shown(): RunState {
    return (this.moves ? this.#beforeStop : null) ?? this.#state;
  }

  /** Another screen handed it over. */
  get hasMoved(): boolean {
    const { finished } = this.#state;
    return this.elsewhere !== undefined && finished?.endedBy?.is === 'hand-over';
  }

  /** What a change of the mode, or a pin of this agent, would do now; harmless. */
  preview(mode: Mode, agent?: AgentId): ModePreview {
    return harmless(agent === undefined ? this.controls.previewMode(mode) : this.controls.previewMode(mode, agent));
  }

  /** The plan in force after some edits; harmless. */
  amended(edits: readonly PlanEdit[]): Result<PlanPreview, string> {
    return harmless(this.controls.previewPlan(edits));
  }

  /** Nothing is followed any more; the run itself goes on. */
  stop(): void {
    this.#stopped = true;
    this.#unsubscribe();
  }

  #noteStop(event: MimirEvent, before: RunState): void {
    if (event.type === 'session.resumed') this.#beforeStop = null;
    else if (isStop(event)) this.#beforeStop ??= before;
    if (this.elsewhere !== undefined) this.moves = this.hasMoved;
  }

  async #follow(took: (event: MimirEvent, before: RunState) => void): Promise<void> {
    for await (const event of this.controls.events(0, this.#outputs === null ? {} : { outputs: false })) {
      if (this.#stopped) return;
      const before = this.#state;
      const clean = cleanEvent(event);
      const after = fold(before, clean);
      this.#state = this.#outputs?.after(after, clean) ?? after;
      this.live.settle(event);
      this.#noteStop(event, before);
      took(clean, before);
    }
  }
}
