/** One run as a front end follows it: its state from sanitised events, whether its process was lost, and its previews. */
import type { AgentId, Millis } from '../../domain/ids.ts';
import type { PlanEdit } from '../../domain/plan/plan-edit.ts';
import type { Mode } from '../../domain/reason.ts';
import type { Result } from '../../domain/result.ts';
import { FoldedLog, type MimirEvent, type RunState } from '../../events/index.ts';
import { ControlFault } from '../../ports/control.ts';
import type { Command, Controls, ModePreview, PlanPreview } from '../../ports/controls.ts';
import type { World } from '../../ports/world.ts';
import { cleanEvent, cleanState, sanitiseData } from '../views/index.ts';
import { asRefusal } from './connect.ts';

/** The last events of a lost run may still be under way for this long. */
const LAST_EVENTS: Millis = 200;

const cleaned = (event: MimirEvent | null): MimirEvent | null => (event === null ? null : cleanEvent(event));

export abstract class FollowedRun {
  readonly controls: Controls;
  /** Settles when there are no more events; rejects for a bug in their source. */
  readonly ended: Promise<void>;
  readonly #folded: FoldedLog;
  readonly #world: Pick<World, 'now' | 'sleep'>;
  #stopped = false;
  #lost: { readonly why: string; readonly at: Millis } | null = null;

  constructor(controls: Controls, world: Pick<World, 'now' | 'sleep'>) {
    const { at, found } = controls;
    this.controls = controls;
    this.#world = world;
    const read = at === undefined ? null : (seq: number) => cleaned(at(seq));
    this.#folded = new FoldedLog(read, found === undefined ? found : cleanState(found));
    this.ended = this.#follow().catch((error: unknown) => {
      if (!(error instanceof ControlFault)) throw error;
      this.#lose(error.message);
    });
    void controls.lost?.then(async (why) => {
      await Promise.race([this.ended.catch(() => {}), world.sleep(LAST_EVENTS)]);
      this.#lose(why);
    });
  }

  get state(): RunState {
    return this.#folded.state;
  }

  /** Undefined for a run of this process; else whether, why and when its process was lost. */
  get elsewhere(): { readonly lost: { readonly why: string; readonly at: Millis } | null } | undefined {
    return this.controls.lost === undefined ? undefined : { lost: this.#lost };
  }

  /** Follows the run no longer; the run itself continues. */
  stop(): void {
    this.#stopped = true;
  }

  protected get isStopped(): boolean {
    return this.#stopped;
  }

  /** Hands a command to the run. When its process cannot be reached, that is a refusal like others. */
  submit(command: Command): ReturnType<Controls['submit']> {
    return this.controls.submit(command).catch(asRefusal);
  }

  /** Called with each sanitised event, after it was folded into the state; `before` is the state without it. */
  protected abstract happened(event: MimirEvent, before: RunState): void;

  protected abstract wasLost(why: string): void;

  /** Called when no more events come, before `ended` settles. */
  protected stoppedFollowing(): void | Promise<void> {}

  #lose(why: string): void {
    if (this.#lost !== null || this.state.finished !== null || this.#stopped) return;
    this.#lost = { why: sanitiseData(why), at: this.#world.now() };
    this.wasLost(this.#lost.why);
  }

  async #follow(): Promise<void> {
    // The constructors of subclasses have run when the first event arrives.
    await Promise.resolve();
    const { controls, state } = this;
    try {
      for await (const event of controls.events(state.seq, controls.at === undefined ? {} : { outputs: false })) {
        if (this.#stopped) return;
        const before = this.state;
        const clean = cleanEvent(event);
        this.#folded.hear(clean);
        this.happened(clean, before);
      }
    } finally {
      await this.stoppedFollowing();
    }
  }
}

// Previews: what the run says that a change would do. A view that is drawn again asks nothing again.

/** A person can type many edits between two events. */
const MOST_KEPT = 64;
/** An answer is valid this long without events, since a refusal may depend on the time. */
const HOLDS: Millis = 1000;

export interface PreviewsParts {
  readonly controls: Pick<Controls, 'previewMode' | 'previewPlan'>;
  readonly world: Pick<World, 'elapsed'>;
  readonly state: () => RunState;
  readonly answered: () => void;
  readonly fail: (error: unknown) => void;
}

export class Previews {
  readonly #of: PreviewsParts;
  readonly #modes: Answers<ModePreview>;
  readonly #plans: Answers<Result<PlanPreview, string>>;

  constructor(parts: PreviewsParts) {
    this.#of = parts;
    this.#modes = new Answers(parts);
    this.#plans = new Answers(parts);
  }

  /** What a change of the mode, or a pin of this agent, would do; null until the run has answered. */
  mode(mode: Mode, agent?: AgentId): ModePreview | null {
    const { controls, state } = this.#of;
    const { agents, mode: from } = state();
    const pin = agent === undefined ? null : agents.get(agent)?.pin;
    return this.#modes.of([mode, agent, from, pin], () => controls.previewMode(mode, agent));
  }

  /** The plan after these edits; null until the run has answered. */
  plan(edits: readonly PlanEdit[]): Result<PlanPreview, string> | null {
    const { controls, state } = this.#of;
    return this.#plans.of([edits, state().planDigest], () => controls.previewPlan(edits));
  }
}

/** Answers by question. After an event a question is asked again, and the old answer is used until the new one arrives. */
class Answers<Answer> {
  readonly #of: PreviewsParts;
  readonly #kept = new Map<string, { answer: Answer | null; asking: boolean; seq: number; at: Millis }>();

  constructor(parts: PreviewsParts) {
    this.#of = parts;
  }

  of(question: readonly unknown[], ask: () => Promise<Answer>): Answer | null {
    const { state, world, answered, fail } = this.#of;
    const key = JSON.stringify(question);
    const { seq } = state();
    const kept = this.#kept.get(key) ?? { answer: null, asking: false, seq, at: 0 };
    const holds = kept.answer !== null && kept.seq === seq && world.elapsed() - kept.at < HOLDS;
    if (kept.asking || holds) return kept.answer;
    if (this.#kept.size >= MOST_KEPT) this.#kept.clear();
    this.#kept.set(key, Object.assign(kept, { asking: true, seq }));
    void ask().then((answer) => {
      Object.assign(kept, { asking: false, answer: sanitiseData(answer), at: world.elapsed() });
      answered();
    }, fail);
    return kept.answer;
  }
}
