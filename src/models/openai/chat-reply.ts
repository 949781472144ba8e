/** Reads the chunks of Chat Completions, of whatever server. Calls are only made where the stream came to its end by itself. */
import type { Usage } from '../../domain/budget.ts';
import type { StopReason } from '../../domain/turn.ts';
import type { Delta, ModelRequest, Words } from '../../ports/model.ts';
import { callsInPieces, joinDetails } from './chat-calls.ts';
import { at, isFields, listAt, textAt } from '../http/json.ts';
import type { RawCall, Read, Reader, Reading } from './reading.ts';
import { bytesOf } from '../provider.ts';
import { callsOf, NOT_COUNTED, usageOf, withoutCalls } from './reading.ts';
import type { Kept } from './turns.ts';
import { parseArguments } from '../http/strict-json.ts';
import { splitThinking } from './think.ts';

/** What servers call the ends. `calls` and `end` are one: some say `stop` when there are calls. */
const FINISH: ReadonlyMap<string, StopReason | 'error'> = new Map(
  Object.entries({
    stop: 'end',
    eos: 'end',
    eos_token: 'end',
    end_turn: 'end',
    stop_sequence: 'end',
    tool_calls: 'tool use',
    tool_use: 'tool use',
    function_call: 'tool use',
    length: 'output limit',
    max_tokens: 'output limit',
    content_filter: 'refused',
    refusal: 'refused',
    error: 'error',
  } as const),
);

/** Pieces of sealed reasoning; of more of them no reply is made. */
const MOST_DETAILS = 20_000;

const THOUGHTS = ['reasoning_content', 'reasoning'] as const;

/** A reader of the reply to `request`. `byTool`: the reply comes as the arguments of the one tool that must be called. */
export function readChat(
  request: ModelRequest,
  { byTool }: { readonly byTool: boolean },
  onDelta: (delta: Delta) => void,
): Reader {
  const split = splitThinking();
  // Where the reply comes as a call, it is none of a tool.
  const pieces = callsInPieces(byTool ? () => {} : onDelta);
  const came = { text: '', refusal: '', thought: '', field: '', model: '', finish: '' };
  const details: unknown[] = [];
  let counted: Usage | null = null;
  let error: unknown;

  const tell = (deltas: readonly Words[]): void => {
    for (const delta of deltas) {
      if (delta.is === 'text') came.text += delta.text;
      onDelta(delta);
    }
  };
  const takeDelta = (delta: unknown): void => {
    // One of both: some servers send the same words under either name.
    const field = THOUGHTS.find((name) => textAt(delta, name) !== '');
    if (field !== undefined) {
      came.field = field;
      came.thought += textAt(delta, field);
      onDelta({ is: 'reasoning', text: textAt(delta, field) });
    }
    if (details.length < MOST_DETAILS) details.push(...listAt(delta, 'reasoning_details').slice(0, MOST_DETAILS));
    tell(split.take(textAt(delta, 'content')));
    const refusal = textAt(delta, 'refusal');
    came.refusal += refusal;
    if (refusal !== '') onDelta({ is: 'text', text: refusal });
    for (const entry of listAt(delta, 'tool_calls')) pieces.take(entry);
  };

  return {
    usage: () => counted,
    thought: () => bytesOf(came.thought),
    take(chunk) {
      if (error !== undefined) return true;
      error = at(chunk, 'error') ?? undefined;
      came.model = textAt(chunk, 'model') || came.model;
      const usage = at(chunk, 'usage');
      if (isFields(usage)) counted = usageOf(usage, { all: 'prompt_tokens', output: 'completion_tokens' });
      const choice = listAt(chunk, 'choices')[0];
      takeDelta(at(choice, 'delta') ?? at(choice, 'message'));
      came.finish = textAt(choice, 'finish_reason') || came.finish;
      error ??= at(choice, 'error') ?? undefined;
      return error !== undefined;
    },
    reading(done) {
      if (error !== undefined) return { is: 'error', error };
      if (came.finish === '' && !done) return { is: 'cut' };
      tell(split.end());
      const read = { text: came.text, usage: counted ?? NOT_COUNTED, model: came.model };
      if (came.refusal !== '') return withoutCalls({ ...read, text: came.refusal }, 'refused');
      return readingOf(
        request,
        { finish: came.finish, thoughts: thoughtsOf(came, details), read, byTool, problem: pieces.problem() },
        pieces.calls(),
      );
    },
  };
}

interface Came {
  readonly finish: string;
  readonly read: Pick<Read, 'text' | 'usage' | 'model'>;
  /** What goes back with the calls that it led to. */
  readonly thoughts: Pick<Kept, 'thought' | 'details'>;
  readonly byTool: boolean;
  /** Of its tool calls. */
  readonly problem: string | null;
}

/** Plain reasoning is wanted back by few servers, under one name; sealed one by those that send it. */
function thoughtsOf(
  { field, thought }: { readonly field: string; readonly thought: string },
  details: readonly unknown[],
): Pick<Kept, 'thought' | 'details'> {
  const whole = joinDetails(details);
  return {
    ...(field === 'reasoning_content' ? { thought: { field, text: thought } } : {}),
    ...(whole.length === 0 ? {} : { details: whole }),
  };
}

function readingOf(request: ModelRequest, came: Came, raw: readonly RawCall[]): Reading {
  const { finish, read } = came;
  // Without a word about the end, though the stream itself ended: only what is whole counts.
  const stop = finish === '' ? 'end' : FINISH.get(finish);
  if (stop === 'error') return { is: 'error', error: { message: 'it stopped with an error' } };
  if (stop === 'output limit' || stop === 'refused') return withoutCalls(read, stop);
  const why = stop === undefined ? `it stopped for a reason that is not known: ${finish}` : missing(came, raw);
  if (why === 'its end') return { is: 'cut' };
  if (why !== null) return { is: 'malformed', why };
  return { is: 'reply', reply: wholeReply(request, came, raw) };
}

function wholeReply(request: ModelRequest, { read, thoughts, byTool }: Came, raw: readonly RawCall[]): Read {
  const only = byTool ? raw[0] : undefined;
  if (only !== undefined) return { ...read, text: only.arguments, calls: [], kept: {}, stopReason: 'end' };
  const { calls, kept } = callsOf(request, raw);
  if (calls.length === 0) return { ...read, calls, kept, stopReason: 'end' };
  return { ...read, calls, kept: { ...kept, ...thoughts }, stopReason: 'tool use' };
}

/** What a stream that came to its end leaves out; null when it is all there. */
function missing({ finish, read, problem }: Came, raw: readonly RawCall[]): string | null {
  if (FINISH.get(finish) === 'tool use' && raw.length === 0) return 'it stopped for a tool call that did not come';
  if (problem !== null) return problem;
  if (raw.some(({ tool }) => tool === '')) return 'a tool call has no name';
  if (finish !== '') return null;
  if (!raw.every(isWhole)) return 'its end';
  return raw.length === 0 && read.text === '' ? 'it ended without a word' : null;
}

const isWhole = ({ arguments: text }: RawCall): boolean => text !== '' && parseArguments(text).ok;
