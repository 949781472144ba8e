/**
 * A conversation as OpenAI's wires need it: every call with its answer right behind it, ids that any server takes, and what the server
 * wants back unchanged. The same turns give the same steps whatever follows them, so that prompt caches hold.
 */
import type { Json, ToolCall, ToolResult, Turn } from '../../domain/turn.ts';
import { at, fieldsAt, isFields, jsonOf, listAt, textAt } from '../http/json.ts';
import type { Fields } from '../http/json.ts';

export type Step =
  | { readonly is: 'user'; readonly text: string }
  | {
      readonly is: 'model';
      readonly text: string;
      readonly calls: readonly { readonly id: string; readonly tool: string; readonly arguments: string }[];
      readonly answers: readonly { readonly id: string; readonly text: string }[];
      readonly kept: Kept;
    };

/** What a reply left to be sent back, in `opaque.openai`. */
export interface Kept {
  /** The server's own ids of the calls, in order. */
  readonly ids?: readonly string[];
  /** All items of a Responses reply, in order; only for the model that made them: its reasoning is sealed in them. */
  readonly items?: readonly Fields[];
  /** The reasoning of a Chat Completions reply with calls, and the field it came in. */
  readonly thought?: { readonly field: string; readonly text: string };
  /** Details of its reasoning as a router sent them, and what stood beside each call: for the model that made them. */
  readonly details?: readonly Fields[];
  readonly extras?: readonly (Fields | null)[];
}

/** The steps of `turns`, asked of `model` (canonical): the last one is the user's, or answers to calls. What says nothing is left out. */
export function stepsOf(turns: readonly Turn[], model: string): readonly Step[] {
  const steps = turns.flatMap((turn, index): readonly Step[] => {
    if (turn.by === 'user') return isBlank(turn.text) ? [] : [{ is: 'user', text: turn.text.toWellFormed() }];
    // Answers go with the calls that asked for them.
    return turn.by === 'tools' ? [] : modelStep(turn, turns[index + 1], model);
  });
  const last = steps.at(-1);
  const isAsked = last?.is === 'user' || (last !== undefined && last.answers.length > 0);
  return isAsked ? steps : [...steps, { is: 'user', text: GO_ON }];
}

/** Many servers refuse a conversation that ends with the model's own words, or has none. */
const GO_ON = 'Go on.';
const isBlank = (text: string): boolean => text.trim() === '';

function modelStep(
  turn: Extract<Turn, { readonly by: 'model' }>,
  next: Turn | undefined,
  model: string,
): readonly Step[] {
  const kept = keptIn(turn.opaque, model);
  // Claude and Mistral take no message without a word, on whichever server.
  if (isBlank(turn.text) && turn.calls.length === 0 && kept.items === undefined) return [];
  const ids = idsOf(turn.calls, kept);
  return [
    {
      is: 'model',
      text: isBlank(turn.text) ? '' : turn.text.toWellFormed(),
      calls: turn.calls.map(({ tool, input }, n) => ({
        id: ids[n] ?? '',
        tool: wireTool(tool),
        arguments: argumentsOf(input),
      })),
      answers: turn.calls.map((call, n) => ({
        id: ids[n] ?? '',
        text: answerTo(call, next?.by === 'tools' ? next.results : []),
      })),
      kept,
    },
  ];
}

/** `kept` as the opaque part of a reply by `model`; undefined when there is nothing to keep. */
export function opaqueOf(kept: Kept, model: string): Json | undefined {
  if (Object.keys(kept).length === 0) return undefined;
  return { openai: jsonOf({ model, ...kept }) };
}

/** An id that every server takes, the same for the same `id`: itself where it is plain and short. */
export function wireId(id: string): string {
  if (/^[A-Za-z0-9_-]{1,40}$/.test(id)) return id;
  return `${id.replace(/[^A-Za-z0-9_-]/g, '_').slice(-24)}_${hash(id)}`;
}

/** What a model called for that can't be a tool's name can't be sent back as one. */
function wireTool(name: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(name)) return name;
  return `${name.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 40)}_${hash(name)}`;
}

function keptIn(opaque: Json | undefined, model: string): Kept {
  const kept = at(opaque, 'openai');
  const isSame = textAt(kept, 'model') === model;
  const ids = listAt(kept, 'ids').filter((id) => typeof id === 'string');
  const own = (name: string): readonly unknown[] => (isSame ? listAt(kept, name) : []);
  const [items, details] = [own('items').filter(isFields), own('details').filter(isFields)];
  const extras = own('extras').map((extra) => (isFields(extra) ? extra : null));
  const thought = fieldsAt(kept, 'thought');
  return {
    ...(ids.length === 0 ? {} : { ids }),
    ...(items.length === 0 ? {} : { items }),
    ...(details.length === 0 ? {} : { details }),
    ...(extras.length === 0 ? {} : { extras }),
    ...(thought === null ? {} : { thought: { field: textAt(thought, 'field'), text: textAt(thought, 'text') } }),
  };
}

const idsOf = (calls: readonly ToolCall[], { ids }: Kept): readonly string[] =>
  ids?.length === calls.length ? ids : calls.map(({ id }) => wireId(id));

/** Servers read the arguments as an object again: what the model sent as something else comes back inside of one. */
const argumentsOf = (input: Json): string =>
  withoutHalves(JSON.stringify(isFields(input) ? input : { unreadable_arguments: input }));

/** Half a character, which a model can write as an escape, would make the request unreadable. Written JSON escapes only those so. */
const withoutHalves = (json: string): string =>
  json.replace(/(\\\\)|\\ud[89a-f][0-9a-f]{2}/g, (_, slash: string | undefined) => slash ?? '\ufffd');

const NO_OUTPUT = '(no output)';

function answerTo(call: ToolCall, results: readonly ToolResult[]): string {
  const result = results.find(({ call: id }) => id === call.id);
  if (result === undefined) return 'Error: not run';
  const text = isBlank(result.text) ? NO_OUTPUT : result.text.toWellFormed();
  return result.ok || text.startsWith('Error') ? text : `Error: ${text}`;
}

/** FNV-1a over UTF-16 units, twice with different seeds: 64 bits in 13 characters. */
function hash(text: string): string {
  const half = (seed: number): string => {
    let sum = seed;
    for (let n = 0; n < text.length; n += 1) sum = Math.imul(sum ^ text.charCodeAt(n), 0x01000193);
    return (sum >>> 0).toString(36);
  };
  return `${half(0x811c9dc5)}${half(0x2f0b4a77)}`;
}
