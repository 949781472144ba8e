/** The double's own way to count tokens: four bytes each, rounded up, so never more than one for a byte. */
import type { Wire } from './asked.ts';
import type { Answer } from './script.ts';
import { jsonOf } from './json.ts';

/** Tokens in `text`. */
export const tokensIn = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES);

const BYTES = 4;

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
  const bad = answer.fault?.is === 'bad arguments' ? answer.fault.arguments : null;
  const calls = (answer.calls ?? []).map(({ tool, input, id }, index) => ({
    id: id ?? `${asked.wire === 'messages' ? 'toolu_' : 'call_'}${asked.id}${index}`,
    tool,
    json: bad ?? jsonOf(input),
  }));
  const purse = { left: asked.limit ?? Infinity, cut: false };
  const reasoning = take(answer.reasoning ?? '', purse);
  const text = take(answer.text ?? '', purse);
  const kept = cutLast(answer, calls).flatMap((call) => {
    if (purse.cut) return [];
    const head = tokensIn(call.tool);
    if (head > purse.left) {
      purse.cut = true;
      return [];
    }
    purse.left -= head;
    return [{ ...call, json: take(call.json, purse) }];
  });
  const reply = { reasoning, text, calls: kept };
  return {
    id: asked.id,
    ...reply,
    stop: purse.cut ? 'output limit' : (answer.stop ?? (calls.length > 0 ? 'tool use' : 'end')),
    model: answer.model ?? asked.model,
    reasoningTokens: tokensIn(reasoning),
    output: Math.max(1, outputOf(reply)),
  };
}

const outputOf = ({ reasoning, text, calls }: Pick<Reply, 'reasoning' | 'text' | 'calls'>): number =>
  tokensIn(reasoning) +
  tokensIn(text) +
  calls.reduce((sum, call) => sum + tokensIn(call.tool) + tokensIn(call.json), 0);

/** A scripted output limit strikes in the midst of the last call, which is where it hurts. */
function cutLast(answer: Answer, calls: readonly WireCall[]): readonly WireCall[] {
  if (answer.stop !== 'output limit') return calls;
  return calls.map((call, index) =>
    index === calls.length - 1 ? { ...call, json: call.json.slice(0, Math.ceil(call.json.length / 2)) } : call,
  );
}

function take(text: string, purse: { left: number; cut: boolean }): string {
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
    if (bytes > purse.left * BYTES) break;
    kept += letter;
  }
  purse.left = 0;
  return kept;
}

/** `text` in the pieces in which it streams: at most twelve characters, none broken. */
export function piecesOf(text: string): readonly string[] {
  const letters = [...text];
  const pieces: string[] = [];
  for (let from = 0; from < letters.length; from += PIECE) pieces.push(letters.slice(from, from + PIECE).join(''));
  return pieces;
}

const PIECE = 12;
