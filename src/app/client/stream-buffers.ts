/** What streams right now, by agent: sanitised as it comes in pieces, capped, gone when the log has it whole. */
import { ROOT } from '../../domain/ids.ts';
import type { Millis } from '../../domain/ids.ts';
import type { MimirEvent } from '../../events/event.ts';
import type { Tick } from '../../ports/controls.ts';
import { clip, plain, PLAIN } from '../views/text/clip.ts';
import { Sanitiser, toLabel } from '../views/text/sanitise.ts';

/** Characters kept of each stream: its end. A plan is understood from its start, so main is given more room. */
const KEPT = 16_000;
const KEPT_OF_MAIN = 96_000;
/** Of reasoning nobody reads more than what goes by. */
const KEPT_OF_REASONING = 8000;
/** Length of one step of the activity, and how many are kept. */
const STEP: Millis = 1000;
const STEPS = 60;
/** The last of them that a rate is told from. */
const RATED = 6;
/** Characters that make a token, near enough for a rate. */
const PER_TOKEN = 4;

/** One text as it comes in, in harmless pieces, of which the end is kept. */
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
    // Cut now and then only: each piece would otherwise copy all of it.
    if (this.#text.length > 2 * this.#kept) this.#text = tail(this.#text, this.#kept);
    return this.#text.length > this.#kept ? tail(this.#text, this.#kept) : this.#text;
  }
}

/** A call that a model is writing the arguments of. */
export interface Written {
  /** As the model named it: harmless, and cut. */
  readonly tool: string;
  /** Characters of its arguments so far. */
  readonly size: number;
}

/** Columns of a tool's name. */
const LONGEST_NAME = 40;

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
  readonly #thoughts = new Map<string, Stream>();
  readonly #texts = new Map<string, string>();
  readonly #reasoning = new Map<string, string>();
  readonly #calls = new Map<string, Written>();
  readonly #pulses = new Map<string, Pulse>();

  /** Adds a piece; `now` in milliseconds for the activity. */
  take(tick: Tick, now: Millis): void {
    const { agent, is, delta } = tick;
    if (delta === '') return;
    this.#beat(agent, delta.length, now);
    if (is === 'call') {
      this.#write(tick);
      return;
    }
    // What is said after a call was begun is what it is at now.
    this.#calls.delete(agent);
    if (is === 'reasoning') {
      const thoughts = streamOf(this.#thoughts, agent, is, KEPT_OF_REASONING);
      this.#reasoning.set(agent, thoughts.push(delta));
      return;
    }
    const text = streamOf(this.#streams, agent, is, agent === ROOT ? KEPT_OF_MAIN : KEPT).push(delta);
    this.#texts.set(agent, text);
    // A model that only begins a line still thinks: its words would come and go.
    if (text.trim() !== '') this.#forgetThoughts(agent);
  }

  /** An event that has what was streamed, or that begins something new, ends the agent's stream. */
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

  /** What models think right now, by agent, sanitised, cut to the last 8 kB. It stands beside text that was said before it. */
  reasoning(): ReadonlyMap<string, string> {
    return this.#reasoning;
  }

  /** The calls that models write right now, by agent. */
  calls(): ReadonlyMap<string, Written> {
    return this.#calls;
  }

  activity(agent: string, now: Millis): Activity {
    const pulse = this.#pulses.get(agent);
    if (pulse === undefined) return NO_ACTIVITY;
    advance(pulse, Math.floor(now / STEP));
    const last = pulse.steps.slice(-RATED);
    const sum = last.reduce((all, one) => all + one, 0);
    // What has only begun isn't slow: the silence before it doesn't count.
    const begun = last.findIndex((one) => one > 0);
    return { rate: begun === -1 ? 0 : sum / PER_TOKEN / (RATED - begun), steps: [...pulse.steps] };
  }

  #write({ agent, tool = '', delta }: Tick): void {
    const name = clip([[toLabel(tool), PLAIN]], LONGEST_NAME);
    const known = this.#calls.get(agent);
    const size = known?.tool === plain(name) ? known.size : 0;
    this.#calls.set(agent, { tool: plain(name), size: size + delta.length });
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

/** Moves the steps on to `at`, zeros for what was silent. */
function advance(pulse: Pulse, at: number): void {
  for (let missing = Math.min(STEPS, at - pulse.at); missing > 0; missing--) {
    pulse.steps.shift();
    pulse.steps.push(0);
  }
  pulse.at = Math.max(pulse.at, at);
}

/** The agent's stream of this kind; a new one where another kind was streamed. */
function streamOf(streams: Map<string, Stream>, agent: string, is: Tick['is'], kept: number): Stream {
  const known = streams.get(agent);
  if (known?.is === is) return known;
  const stream = new Stream(is, kept);
  streams.set(agent, stream);
  return stream;
}

/** The end of a text, from the start of a line where one is near. */
function tail(text: string, kept: number): string {
  const cut = text.slice(-kept);
  const line = cut.indexOf('\n');
  return line >= 0 && line < 400 ? cut.slice(line + 1) : cut;
}
