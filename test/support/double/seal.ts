/** What the double signs, so that it knows its own reasoning again without remembering it: signatures and sealed text. */
import { hash } from 'node:crypto';
import { parsed, textAt } from './json.ts';

/** A short fixed name for `text`. */
export const digest = (text: string): string => hash('sha1', text, 'hex');

/** The signature of a block of thinking. */
export const signatureOf = (thinking: string): string =>
  Buffer.from(`mimir-double ${digest(`thinking ${thinking}`)}`).toString('base64');

/** Reasoning as only the double can read it. */
export const sealed = (reasoning: string): string =>
  Buffer.from(JSON.stringify({ reasoning, seal: digest(`sealed ${reasoning}`) })).toString('base64');

/** Is it the double's own, unchanged? */
export function isSealed(content: string): boolean {
  const told = parsed(Buffer.from(content, 'base64').toString());
  return textAt(told, 'seal') === digest(`sealed ${textAt(told, 'reasoning')}`);
}
