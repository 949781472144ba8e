/** A script's answer made ready for a wire: calls named, arguments as text, cut to the limit that was asked for, counted. */
import type { Wire } from './asked.ts';
import { jsonOf } from './json.ts';
import type { Answer } from './script.ts';
import { BYTES_PER_TOKEN, tokensIn } from './tokens.ts';

/** A call as it goes on a wire: its arguments are text already, which may be cut or no JSON at all. */
export interface WireCall {
  readonly id: string;
  readonly tool: string;
  readonly json: string;
}

/** An answer ready for a wire. */
export interface Reply {
  readonly id: string;
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly WireCall[];
  readonly stop: 'end' | 'tool use' | 'output limit' | 'refused';
  readonly model: string;
  readonly reasoningTokens: number;
  readonly output: number;
}

/** Makes `answer` a reply of at most `limit` tokens: what is over is cut off, as vendors do, and the stop reason says so. */
export function replyOf(
  answer: Answer,
  asked: { readonly wire: Wire; readonly model: string; readonly limit: number | null; readonly id: string },
): Reply {
  const calls = wireCalls(answer, `${asked.wire === 'messages' ? 'toolu_' : 'call_'}${asked.id}`);
  const purse: Purse = { left: asked.limit ?? Infinity, cut: false };
  const reasoning = take(answer.reasoning ?? '', purse);
  const text = take(answer.text ?? '', purse);
  const kept = takeCalls(cutLast(answer, calls), purse);
  return {
    id: asked.id,
    reasoning,
    text,
    calls: kept,
    stop: purse.cut ? 'output limit' : stopOf(answer),
    model: answer.model ?? asked.model,
    reasoningTokens: tokensIn(reasoning),
    output: Math.max(1, tokensIn(reasoning) + tokensIn(text) + kept.reduce((sum, call) => sum + tokensOfCall(call), 0)),
  };
}

/** What is left of the limit, and whether something had to be cut for it. */
interface Purse {
  left: number;
  cut: boolean;
}

const stopOf = ({ stop, calls = [] }: Answer): Reply['stop'] => stop ?? (calls.length > 0 ? 'tool use' : 'end');

const tokensOfCall = ({ tool, json }: WireCall): number => tokensIn(tool) + tokensIn(json);

function wireCalls({ calls = [], fault }: Answer, prefix: string): readonly WireCall[] {
  const bad = fault?.is === 'bad arguments' ? fault.arguments : null;
  return calls.map(({ tool, input, id }, index) => ({
    id: id ?? `${prefix}${index}`,
    tool,
    json: bad ?? jsonOf(input),
  }));
}

function takeCalls(calls: readonly WireCall[], purse: Purse): readonly WireCall[] {
  return calls.flatMap((call) => {
    const head = tokensIn(call.tool);
    if (purse.cut || head > purse.left) {
      purse.cut = true;
      return [];
    }
    purse.left -= head;
    return [{ ...call, json: take(call.json, purse) }];
  });
}

/** A scripted output limit strikes in the midst of the last call, which is where it hurts. */
function cutLast(answer: Answer, calls: readonly WireCall[]): readonly WireCall[] {
  if (answer.stop !== 'output limit') return calls;
  return calls.map((call, index) =>
    index === calls.length - 1 ? { ...call, json: call.json.slice(0, Math.ceil(call.json.length / 2)) } : call,
  );
}

function take(text: string, purse: Purse): string {
  if (purse.cut) return '';
  const needs = tokensIn(text);
  if (needs <= purse.left) {
    purse.left -= needs;
    return text;
  }
  purse.cut = true;
  let [kept, bytes] = ['', 0];
  for (const letter of text) {
    bytes += Buffer.byteLength(letter);
    if (bytes > purse.left * BYTES_PER_TOKEN) break;
    kept += letter;
  }
  purse.left = 0;
  return kept;
}
