/**
 * What an agent is told of its end before it comes, and of calls that it makes again and again; what of a conversation says
 * that its closing answer was asked for. Pure: agent-loop.ts says when.
 */
import type { ToolCall, ToolResult, Turn } from '../../domain/turn.ts';

/** How many turns before the last one an agent is told of it, that one included. */
export const TOLD_BEFORE = 3;

/** Why an agent ends that has had all its turns (O091). */
export const MAX_ITERATIONS = 'Max iterations reached';

export const FEW_TURNS = `(Mimir: you have ${TOLD_BEFORE} turns left. In the last one no tool can be called: it is for your answer. Do now what matters most.)`;

const LAST_TURN =
  'This is your last turn, and no tool can be called in it. Answer now: what you did and found, with its places, and what is left to do.)';

/** The only tool of a last turn: whoever reviews must still be able to judge, since words open no gate. */
export const VERDICT_TOOL = 'give_verdict';

const LAST_TURN_OF_REVIEWER = `This is your last turn, and only \`${VERDICT_TOOL}\` can be called in it. Give your verdict now: without it the gate stays closed.)`;

/** Told before the closing answer. `reason`: why there is no other turn. */
export const lastTurnText = (reason: string, of: 'worker' | 'reviewer' = 'worker'): string =>
  `(Mimir: ${reason}. ${of === 'reviewer' ? LAST_TURN_OF_REVIEWER : LAST_TURN}`;

/** To calls that are asked for in the last turn all the same. */
export const NOT_IN_LAST_TURN = 'Not run: no tool can be called in the last turn. Answer in words.';

/** The same to a reviewer. */
export const ONLY_THE_VERDICT = `Not run: only \`${VERDICT_TOOL}\` can be called in the last turn.`;

/** To an agent that has given its closing answer and may work again. */
export const GO_ON = '(Mimir: you may work again, and call tools. Go on with what is left to do.)';

/** What an agent said before it was ended without a closing answer. */
export const interimText = (words: string): string =>
  words === '' ? '' : `(Interim: there was no room for a closing answer. This is what it said last.)\n\n${words}`;

/** The same calls with the same results this often in a row: told, and ended. */
export const [TOLD_AT, ENDED_AT] = [3, 6];

export const CIRCLES_REASON = `Loop detected: the same calls with the same results ${ENDED_AT} times in a row`;

export const circlesText = (times: number): string =>
  `(Mimir: the same call has given the same result ${times} times in a row. Do something else, or answer.)`;

/** `text` at the end of the last of `results`. */
export const withNote = (results: readonly ToolResult[], text: string): readonly ToolResult[] =>
  results.map((result, at) => (at === results.length - 1 ? { ...result, text: `${result.text}\n\n${text}` } : result));

/** Sentences of Mimir at the end of a result. */
const NOTES = /(?:\n\n\(Mimir: [^\n]*\))+$/;

/** How long a command took, in the first line of its result: no difference. */
const TOOK = /(?<=^[^\n]*) after [0-9.]+ s/;

/** How often in a row, up to the last turn, the same calls were made and gave the same results. */
export function sameInARow(turns: readonly Turn[]): number {
  let [same, known] = [0, ''];
  for (let at = turns.length - 1; at >= 0; at -= 1) {
    const turn = turns[at];
    if (turn?.by !== 'model') continue;
    const next = turns[at + 1];
    if (next?.by !== 'tools') return same;
    const key = keyOf(turn.calls, next.results);
    if (same > 0 && key !== known) return same;
    known = key;
    same += 1;
  }
  return same;
}

const keyOf = (calls: readonly ToolCall[], results: readonly ToolResult[]): string =>
  JSON.stringify([
    calls.map(({ tool, input }) => [tool, input]),
    results.map(({ ok, text }) => [ok, text.replace(NOTES, '').replace(TOOK, '')]),
  ]);

/** Was the last reply in `turns` the closing answer? */
export function isClosed(turns: readonly Turn[]): boolean {
  const at = turns.findLastIndex(({ by }) => by === 'model');
  return at > 0 && wasTold(turns.slice(0, at), LAST_TURN);
}

/** Does what stands behind the last reply end with `text`? */
export function wasTold(turns: readonly Turn[], text: string): boolean {
  const from = turns.findLastIndex(({ by }) => by === 'model') + 1;
  return turns.slice(from).some((turn) => {
    if (turn.by === 'tools') return turn.results.at(-1)?.text.endsWith(text) === true;
    return turn.by === 'user' && turn.text.endsWith(text);
  });
}
