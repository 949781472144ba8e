/** What the vendors say around their replies: headers, lists of models, counts. */
import type { Asked, Wire } from './asked.ts';
import { at } from './json.ts';
import { inputTokens } from './memory.ts';
import type { Script } from './script.ts';
import { isAnthropic } from './vendor-error.ts';

/** The headers of every answer. */
export const headersOf = (wire: Wire, id: string): Readonly<Record<string, string>> =>
  isAnthropic(wire)
    ? { 'request-id': `req_${id}`, 'anthropic-organization-id': 'double' }
    : { 'x-request-id': `req_${id}`, 'openai-version': '2020-10-01', 'openai-processing-ms': '1' };

/** What a request would put in, as each vendor says it. */
export const countBody = ({ wire, parts }: Asked): string =>
  JSON.stringify({
    ...(isAnthropic(wire) ? {} : { object: 'response.input_tokens' }),
    input_tokens: inputTokens(parts),
  });

/** Both vendors list their models on the same path: the header tells which one is meant. */
export function modelsBody({ models = [] }: Script, headers: Readonly<Record<string, string>>): string {
  if (at(headers, 'anthropic-version') === undefined) {
    return JSON.stringify({
      object: 'list',
      data: models.map((id) => ({ id, object: 'model', created: 0, owned_by: 'double' })),
    });
  }
  const data = models.map((id) => ({
    type: 'model',
    id,
    display_name: id,
    created_at: '2026-01-01T00:00:00Z',
    deprecated_at: null,
    retires_at: null,
    lifecycle: 'active',
    line: null,
    capabilities: null,
    max_input_tokens: 200_000,
    max_tokens: 64_000,
  }));
  return JSON.stringify({ data, has_more: false, first_id: models[0] ?? null, last_id: models.at(-1) ?? null });
}
