/** Servers that lack something answer as such servers were seen to: some with an error, some in silence. */
import type { Asked } from './asked.ts';
import { at, isFields, listAt, textAt } from './json.ts';
import type { Answer, Script } from './script.ts';
import type { Problem } from './vendor-error.ts';

type Lack = NonNullable<Script['lacks']>[number];

/** Why a server that lacks `lacks` refuses this request; null when it doesn't. */
export function lacking(asked: Asked, lacks: readonly Lack[]): Problem | null {
  const reasons: { readonly [lack in Lack]?: () => Problem | null } = {
    tools: () =>
      listAt(asked.body, 'tools').length === 0
        ? null
        : {
            status: 400,
            message: `registry.ollama.ai/library/${asked.model} does not support tools`,
            type: 'api_error',
          },
    responses: () =>
      asked.wire !== 'responses'
        ? null
        : { status: 404, message: 'not found', body: '404 page not found', headers: { 'content-type': 'text/plain' } },
    schema: () =>
      wantsSchema(asked.body) ? { status: 400, message: 'This response_format type is unavailable now' } : null,
    'streaming options': () =>
      at(asked.body, 'stream_options') === undefined
        ? null
        : { status: 422, message: "Extra inputs are not permitted: 'stream_options'", param: 'stream_options' },
    effort: () => refusedEffort(asked),
  };
  for (const lack of lacks) {
    const problem = reasons[lack]?.() ?? null;
    if (problem !== null) return problem;
  }
  return null;
}

/** In the words of each maker. */
function refusedEffort({ wire, body }: Asked): Problem | null {
  if (wire === 'messages')
    return at(at(body, 'output_config'), 'effort') === undefined
      ? null
      : { status: 400, message: 'This model does not support the effort parameter.' };
  const param = wire === 'responses' ? 'reasoning.effort' : 'reasoning_effort';
  const told = wire === 'responses' ? at(at(body, 'reasoning'), 'effort') : at(body, 'reasoning_effort');
  return told === undefined
    ? null
    : { status: 400, message: `Unsupported parameter: '${param}' is not supported with this model.`, param };
}

const wantsSchema = (body: unknown): boolean =>
  textAt(at(body, 'response_format'), 'type') === 'json_schema' ||
  textAt(at(at(body, 'text'), 'format'), 'type') === 'json_schema' ||
  isFields(at(at(body, 'output_config'), 'format'));

/** What such a server leaves out of an answer. */
export function trimmed(answer: Answer, lacks: readonly Lack[]): Answer {
  const calls = lacks.includes('parallel tools') ? answer.calls?.slice(0, 1) : answer.calls;
  return {
    ...answer,
    ...(calls === undefined ? {} : { calls }),
    ...(lacks.includes('usage') ? { usage: null } : {}),
  };
}
