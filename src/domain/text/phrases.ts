/** Counts, lists and quotes within sentences, and texts within patterns. */

/** A count with its noun: `1 agent`, `4 agents`. */
export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** `one`, `one and two`, `one, two and three`. */
export const listed = (parts: readonly string[], last: 'and' | 'or' = 'and'): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} ${last} ${parts.at(-1) ?? ''}`;

/** A text as a sentence: with a full stop, unless what it quotes at its end ends a sentence by itself. */
export const sentence = (text: string): string => (/[.!?…]["'`]$/.test(text) ? text : `${text}.`);

/** A regular expression, as source, for exactly this text. */
export const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** What the first group of `expression` holds in `text`; empty when it doesn't match. */
export const captured = (expression: RegExp, text: string): string => expression.exec(text)?.[1] ?? '';
