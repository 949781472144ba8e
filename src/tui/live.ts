/** What streams right now, by agent: sanitised as it comes in pieces, capped, gone when the log has it whole. */
import type { Millis } from '../domain/ids.ts';
import type { MimirEvent } from '../events/event.ts';
import type { Tick } from '../ports/controls.ts';
import { Sanitiser } from './text/sanitise.ts';

/** Characters kept of each stream: its end. */
const KEPT = 16_000;
/** Length of one step of the activity, and how many are kept. */
const STEP: Millis = 1000;
const STEPS = 6;
/** Characters that make a token, near enough for a rate. */
const PER_TOKEN = 4;

interface Stream {
  is: Tick['is'];
  sanitiser: Sanitiser;
  text: string;
}

interface Pulse {
  readonly steps: number[];
  at: number;
}

export interface Activity {
  /** Tokens a second over the last seconds, about. */
  readonly rate: number;
  /** The last steps, oldest first. */
  readonly steps: readonly number[];
}

export class Live {
  readonly #streams = new Map<string, Stream>();
  readonly #texts = new Map<string, string>();
  readonly #pulses = new Map<string, Pulse>();

  /** Adds a piece; `now` in milliseconds for the activity. */
  take(tick: Tick, now: Millis): void {
    this.#beat(tick.agent, tick.delta.length, now);
    let stream = this.#streams.get(tick.agent);
    if (stream === undefined || stream.is !== tick.is) {
      stream = { is: tick.is, sanitiser: new Sanitiser(), text: '' };
      this.#streams.set(tick.agent, stream);
    }
    stream.text += stream.sanitiser.push(tick.delta);
    if (stream.text.length > 2 * KEPT) stream.text = tail(stream.text);
    this.#texts.set(tick.agent, stream.text.length > KEPT ? tail(stream.text) : stream.text);
  }

  /** An event that has what was streamed, or that begins something new, ends the agent's stream. */
  settle(event: MimirEvent): void {
    if (!('agent' in event) || event.agent === null || !ENDS.has(event.type)) return;
    this.#streams.delete(event.agent);
    this.#texts.delete(event.agent);
  }

  /** By agent, sanitised, cut to the last 16 kB. */
  texts(): ReadonlyMap<string, string> {
    return this.#texts;
  }

  activity(agent: string, now: Millis): Activity {
    const pulse = this.#pulses.get(agent);
    if (pulse === undefined) return NO_ACTIVITY;
    advance(pulse, Math.floor(now / STEP));
    const sum = pulse.steps.reduce((all, one) => all + one, 0);
    return { rate: sum / PER_TOKEN / STEPS, steps: [...pulse.steps] };
  }

  #beat(agent: string, size: number, now: Millis): void {
    const at = Math.floor(now / STEP);
    const pulse = this.#pulses.get(agent) ?? { steps: Array.from({ length: STEPS }, () => 0), at };
    advance(pulse, at);
    pulse.steps[STEPS - 1] = (pulse.steps[STEPS - 1] ?? 0) + size;
    this.#pulses.set(agent, pulse);
  }
}

const NO_ACTIVITY: Activity = { rate: 0, steps: [] };

const ENDS: ReadonlySet<string> = new Set<MimirEvent['type']>([
  'agent.message',
  'model.started',
  'model.failed',
  'tool.started',
  'tool.finished',
  'agent.finished',
]);

/** Moves the steps on to `at`, zeros for what was silent. */
function advance(pulse: Pulse, at: number): void {
  for (let missing = Math.min(STEPS, at - pulse.at); missing > 0; missing--) {
    pulse.steps.shift();
    pulse.steps.push(0);
  }
  pulse.at = Math.max(pulse.at, at);
}

/** The end of a text, from the start of a line where one is near. */
function tail(text: string): string {
  const cut = text.slice(-KEPT);
  const line = cut.indexOf('\n');
  return line >= 0 && line < 400 ? cut.slice(line + 1) : cut;
}
