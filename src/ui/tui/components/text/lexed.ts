/**
 * Markdown parsed by marked, within bounds: what nests deeper than anybody writes is a model that repeats itself or means harm,
 * and would take seconds or the whole stack. Beyond them it is text as it stands.
 */
import { Lexer } from 'marked';
import type { Token } from 'marked';

/** Quotes and lists that begin in one line, one in the other: the sign after the tenth is none any more. */
const DEEP = /^([ \t]*(?:(?:>[ \t]*|(?:[-*+]|\d{1,9}[.)])[ \t]+)){10})(?=[->*+\d])/gm;
/** Blanks before the sign of a list; lists in lists are some columns further in each. */
const FAR_IN = /^([ \t]{80})[ \t]+(?=(?:[-*+]|\d{1,9}[.)])[ \t])/gm;

/** The blocks of a text. Never fails: what can't be parsed is one block of text. */
export function lexed(text: string): readonly Token[] {
  return shallow<readonly Token[]>(
    () => Lexer.lex(text.replaceAll(DEEP, '$1\\').replaceAll(FAR_IN, '$1')),
    () => [{ type: 'text', raw: text, text }],
  );
}

/** What `deep` makes, or `flat` where it runs out of stack: emphasis in emphasis is counted by nobody before it is parsed. */
export function shallow<T>(deep: () => T, flat: () => T): T {
  try {
    return deep();
  } catch (error) {
    if (error instanceof RangeError) return flat();
    throw error;
  }
}

/** The code blocks in a text, one after the other; empty where there is none. */
export const codeOf = (text: string): string =>
  lexed(text)
    .flatMap((token) =>
      token.type === 'code' && 'text' in token && typeof token.text === 'string' ? [token.text] : [],
    )
    .join('\n\n');
