/** The vendors' own clients, set on a double: no retries of their own, nothing from the environment. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { Double } from './double.ts';
import { KEY } from './double.ts';

export const anthropicOn = ({ url }: Pick<Double, 'url'>, apiKey = KEY): Anthropic =>
  new Anthropic({ apiKey, authToken: null, baseURL: url, maxRetries: 0, logLevel: 'off' });

export const openaiOn = ({ url }: Pick<Double, 'url'>, apiKey = KEY): OpenAI =>
  new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0, logLevel: 'off' });

/** What was thrown by `act`; undefined when nothing was. */
export async function thrownBy(act: () => Promise<unknown>): Promise<unknown> {
  try {
    await act();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** The message of what was thrown; empty when it was no error. */
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : '');

/** All events of a stream. */
export async function all<T>(stream: AsyncIterable<T>): Promise<readonly T[]> {
  const events: T[] = [];
  for await (const event of stream) events.push(event);
  return events;
}
