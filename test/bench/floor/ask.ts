/** The least that asking a model over the official SDK takes: a streamed reply put together, nothing checked, kept or shown. */
import type Anthropic from '@anthropic-ai/sdk';

export interface Asked {
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: unknown }[];
}

const READ: Anthropic.Tool = {
  name: 'read_file',
  description: 'Reads a text file.',
  input_schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
};

/** One request, one reply; `onText` gets what streams. */
export async function ask(
  client: Anthropic,
  messages: readonly Anthropic.MessageParam[],
  onText: (text: string) => void = () => undefined,
): Promise<Asked> {
  const stream = await client.messages.create({
    model: 'claude-haiku-4-5-20251001',
    max_tokens: 32_000,
    system: 'You read files.',
    tools: [READ],
    messages: [...messages],
    stream: true,
  });
  let text = '';
  const calls: { id: string; name: string; json: string }[] = [];
  for await (const event of stream) {
    if (event.type === 'content_block_start' && event.content_block.type === 'tool_use') {
      calls.push({ id: event.content_block.id, name: event.content_block.name, json: '' });
    } else if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') {
      text += event.delta.text;
      onText(event.delta.text);
    } else if (event.type === 'content_block_delta' && event.delta.type === 'input_json_delta') {
      const last = calls.at(-1);
      if (last) last.json += event.delta.partial_json;
    }
  }
  return { text, calls: calls.map(({ id, name, json }) => ({ id, name, input: parsed(json) })) };
}

const parsed = (json: string): unknown => JSON.parse(json === '' ? '{}' : json);
