/** Usage as Anthropic reports it: counts of the input with the first event, the final ones with the last, cumulative. */
import type { Usage } from '../../domain/budget.ts';
import { field } from '../http/fault.ts';

const CLASSES = {
  input: 'input_tokens',
  output: 'output_tokens',
  cacheRead: 'cache_read_input_tokens',
  cacheWrite: 'cache_creation_input_tokens',
} as const;

/** Nothing was reported: no number, so that whoever settles takes the bound. */
export const UNREPORTED: Usage = { input: Number.NaN, output: Number.NaN, cacheRead: 0, cacheWrite: 0 };

/** `known` with what `reported` adds: later counts hold instead of earlier ones. What can't be true is passed on as it is. */
export function counted(known: Usage, reported: unknown): Usage {
  const count = (of: keyof Usage): number => {
    const said = field(reported, CLASSES[of]);
    if (said === undefined || said === null) return known[of];
    return typeof said === 'number' ? said : Number.NaN;
  };
  return {
    input: count('input'),
    output: count('output'),
    cacheRead: count('cacheRead'),
    cacheWrite: count('cacheWrite'),
  };
}

/** Is there a count of the output in it? */
export const reportsOutput = (reported: unknown): boolean => (field(reported, CLASSES.output) ?? null) !== null;

/**
 * What a call that failed used up at most: input as it was reported, or a token for each byte that was sent; output a token for each
 * byte that came, and no less than was reported.
 */
export function spentOf(known: Usage, bytes: { readonly sent: number; readonly came: number }): Usage {
  const whole = (count: number, otherwise: number): number =>
    Number.isSafeInteger(count) && count >= 0 ? count : otherwise;
  return {
    input: whole(known.input, bytes.sent),
    output: Math.max(whole(known.output, 0), bytes.came),
    cacheRead: whole(known.cacheRead, 0),
    cacheWrite: whole(known.cacheWrite, 0),
  };
}
