/** The least that an agent is: ask, read what is asked for, ask again, until a reply without calls. No log, no rules, no limits. */
import { readFile } from 'node:fs/promises';
import type Anthropic from '@anthropic-ai/sdk';
import { ask } from './ask.ts';

/** Its last words. Paths are read as they are told, from the current folder. */
export async function agent(client: Anthropic, task: string, onText?: (text: string) => void): Promise<string> {
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: task }];
  for (;;) {
    const { text, calls } = await ask(client, messages, onText);
    if (calls.length === 0) return text;
    messages.push({
      role: 'assistant',
      content: [
        ...(text === '' ? [] : [{ type: 'text' as const, text }]),
        ...calls.map((call) => ({ type: 'tool_use' as const, ...call })),
      ],
    });
    const results = await Promise.all(
      calls.map(async ({ id, input }) => ({
        type: 'tool_result' as const,
        tool_use_id: id,
        content: await readFile(pathOf(input), 'utf8'),
      })),
    );
    messages.push({ role: 'user', content: results });
  }
}

const pathOf = (input: unknown): string =>
  typeof input === 'object' && input !== null && 'path' in input ? String(input.path) : '';
