/** The text that models and tools stream now, by agent: sanitised piece by piece, capped, and dropped when the log has the whole text. */
import { type Millis, ROOT } from '../../domain/ids.ts';
import type { MimirEvent } from '../../events/index.ts';
import type { Tick } from '../../ports/controls.ts';
import { clip, PLAIN, plain, Sanitiser, toLabel } from '../views/index.ts';

/** How many last characters of a stream are kept. Main has more, since a plan is read from its start. */
const KEPT = 16_000;
const KEPT_OF_MAIN = 96_000;
const KEPT_OF_REASONING = 8000;
/** Length of one step of the activity, and how many are kept. */
const STEP: Millis = 1000;
const STEPS = 60;
const RATED = 6;
const PER_TOKEN = 4;

/** One streamed text, sanitised, of which the end is kept. */
class Stream {
  readonly is: Tick['is'];
  readonly #sanitiser = new Sanitiser();
  readonly #kept: number;
  #text = '';

  constructor(is: Tick['is'], kept: number) {
    this.is = is;
    this.#kept = kept;
  }

  push(delta: string): string {
    this.#text += this.#sanitiser.push(delta);
    // The text is cut rarely, since a cut copies all of it.
    if (this.#text.length > 2 * this.#kept) this.#text = tail(this.#text, this.#kept);
    return this.#text.length > this.#kept ? tail(this.#text, this.#kept) : this.#text;
  }
}

/** A tool call whose arguments a model is writing. */
export interface Written {
  /** The name that the model gave, sanitised and cut. */
  readonly tool: string;
  /** Characters of its arguments so far. */
  readonly size: number;
  /** What an agent of another program does now, sanitised and cut; absent for Mimir's own. */
  readonly act?: string;
}

const LONGEST_NAME = 40;
const LONGEST_ACT = 200;

interface ActivityRate {
  readonly steps: number[];
  at: number;
}

export interface Activity {
  /** About how many tokens a second over the last seconds. */
  readonly rate: number;
  /** The last steps, oldest first. */
  readonly steps: readonly number[];
}

export class Live {
  readonly #streams = new Map<string, Stream>();
  readonly #thoughts = new Map<string, Stream>();
  readonly #texts = new Map<string, string>();
  readonly #reasoning = new Map<string, string>();
  readonly #calls = new Map<string, Written>();
  readonly #pulses = new Map<string, ActivityRate>();

  /** Adds a piece; `now` in milliseconds for the activity. */
  take(tick: Tick, now: Millis): void {
    const { agent, is, delta } = tick;
    if (delta === '') return;
    this.#beat(agent, delta.length, now);
    if (is === 'call') return this.#write(tick);
    // Text after a begun call replaces it.
    this.#calls.delete(agent);
    if (is === 'reasoning') {
      const thoughts = streamOf(this.#thoughts, agent, is, KEPT_OF_REASONING);
      return void this.#reasoning.set(agent, thoughts.push(delta));
    }
    const text = streamOf(this.#streams, agent, is, agent === ROOT ? KEPT_OF_MAIN : KEPT).push(delta);
    this.#texts.set(agent, text);
    // Blanks alone do not end the reasoning, or it would flicker.
    if (text.trim() !== '') this.#forgetThoughts(agent);
  }

  /** Drops the stream of an agent when an event has its text, or begins something new. */
  settle(event: MimirEvent): void {
    if (!('agent' in event) || event.agent === null) return;
    if (event.type === 'model.finished') {
      this.#forgetThoughts(event.agent);
      this.#calls.delete(event.agent);
    }
    if (!ENDS.has(event.type)) return;
    this.#calls.delete(event.agent);
    this.#streams.delete(event.agent);
    this.#texts.delete(event.agent);
    this.#forgetThoughts(event.agent);
  }

  /** Text and output by agent, sanitised, cut to the last 16 kB; of main 96 kB. */
  texts(): ReadonlyMap<string, string> {
    return this.#texts;
  }

  /** Reasoning by agent, sanitised, cut to the last 8 kB. It may follow text that was streamed before it. */
  reasoning(): ReadonlyMap<string, string> {
    return this.#reasoning;
  }

  calls(): ReadonlyMap<string, Written> {
    return this.#calls;
  }

  activity(agent: string, now: Millis): Activity {
    const pulse = this.#pulses.get(agent);
    if (pulse === undefined) return NO_ACTIVITY;
    advance(pulse, Math.floor(now / STEP));
    const last = pulse.steps.slice(-RATED);
    const sum = last.reduce((all, one) => all + one, 0);
    // The silence before the first step does not count.
    const begun = last.findIndex((one) => one > 0);
    return { rate: begun === -1 ? 0 : sum / PER_TOKEN / (RATED - begun), steps: [...pulse.steps] };
  }

  #write({ agent, tool = '', delta }: Tick): void {
    const name = clip([[toLabel(tool), PLAIN]], LONGEST_NAME);
    const known = this.#calls.get(agent);
    const size = known?.tool === plain(name) ? known.size : 0;
    const act = tool === 'agent_did' ? { act: plain(clip([[toLabel(delta), PLAIN]], LONGEST_ACT)) } : {};
    this.#calls.set(agent, { tool: plain(name), size: size + delta.length, ...act });
    this.#forgetThoughts(agent);
  }

  #forgetThoughts(agent: string): void {
    this.#thoughts.delete(agent);
    this.#reasoning.delete(agent);
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

/** Adds steps up to `at`, zero for those without text. */
function advance(pulse: ActivityRate, at: number): void {
  for (let missing = Math.min(STEPS, at - pulse.at); missing > 0; missing--) {
    pulse.steps.shift();
    pulse.steps.push(0);
  }
  pulse.at = Math.max(pulse.at, at);
}

/** The stream of an agent; a new one when the kind changes. */
function streamOf(streams: Map<string, Stream>, agent: string, is: Tick['is'], kept: number): Stream {
  const known = streams.get(agent);
  if (known?.is === is) return known;
  const stream = new Stream(is, kept);
  streams.set(agent, stream);
  return stream;
}

/** The end of a text, from the start of a line if one is near. */
function tail(text: string, kept: number): string {
  const cut = text.slice(-kept);
  const line = cut.indexOf('\n');
  return line >= 0 && line < 400 ? cut.slice(line + 1) : cut;
}
