/** Vitest's matchers for a part of a value, as `unknown`: what they match is not known to the types. */
import { expect } from 'vitest';

export const like = (pattern: RegExp): unknown => expect.stringMatching(pattern);
export const holding = (text: string): unknown => expect.stringContaining(text);
export const part = (fields: Readonly<Record<string, unknown>>): unknown => expect.objectContaining(fields);
/** An array that holds at least these. */
export const among = (...members: readonly unknown[]): unknown => expect.arrayContaining([...members]);
