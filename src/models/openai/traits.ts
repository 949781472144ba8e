/**
 * What a server takes of what could be asked, per model: guessed first, then learned from the requests that it refuses by naming a
 * parameter. Nothing is billed for those, so the request is made again at once, in the form that was learned.
 */
import type { ProviderSetup } from '../../domain/models/provider.ts';
import type { ModelRequest } from '../../ports/model.ts';

export interface Traits {
  /** `stream_options`: usage in the stream of Chat Completions, no padding in that of Responses. */
  readonly streamOptions: boolean;
  readonly limit: 'max_completion_tokens' | 'max_tokens';
  readonly limitLearned: boolean;
  /** How the form of a whole reply is asked for: by schema, by a tool that must be called, or only in words. */
  readonly format: 'schema' | 'tool' | 'words';
  readonly cacheKey: boolean;
  /** Chat Completions: it is said that the beginning should be cached, for Claude behind a router, which does not by itself. */
  readonly mark: boolean;
  /** Of Responses: with a summary of its reasoning, sealed only, or no word of it. */
  readonly reasoning: 'summary' | 'sealed' | 'none';
  /** It takes a setting of how much it is to think. */
  readonly effort: boolean;
  readonly parallel: boolean;
  readonly strict: boolean;
  /** It can be told that no tool may be called (`tool_choice`); where it can't, the words of the turn say so. */
  readonly noTools: boolean;
  /** What the server sealed in former replies goes back as it came; else words and calls alone. */
  readonly items: boolean;
  /** Chat Completions: reasoning goes back with the calls that it led to. */
  readonly thoughts: boolean;
}

export type Route = '/responses' | '/chat/completions';

/** A request that was refused before any work began. `text`: what the server said, whole. */
export interface Refused {
  readonly status: number;
  readonly text: string;
}

/** What is known of a server of this kind and at this address before it was asked for `model`, as it goes on the wire. */
export const firstTraits = ({ kind, baseUrl }: Pick<ProviderSetup, 'kind' | 'baseUrl'>, model: string): Traits => ({
  streamOptions: true,
  // OpenAI's reasoning models know only the newer name, wherever they are served; many compatible servers only the older one.
  limit: kind === 'openai' || thinksSilently(model) ? 'max_completion_tokens' : 'max_tokens',
  limitLearned: false,
  format: 'schema',
  cacheKey: kind === 'openai',
  mark: MARKED.test(baseUrl) && /^~?anthropic\//.test(model),
  reasoning: WITHOUT_REASONING.test(plain(model)) ? 'none' : 'summary',
  effort: !WITHOUT_REASONING.test(plain(model)),
  parallel: true,
  strict: kind === 'openai',
  noTools: true,
  items: true,
  thoughts: false,
});

const MARKED = /^https:\/\/(?:[a-z]+\.)?openrouter\.ai\//;

/** Routers put a maker before the name. */
const plain = (model: string): string => model.slice(model.lastIndexOf('/') + 1);

/** OpenAI's reasoning models, wherever they are served: what they think is told in a summary afterwards, if at all. */
export const thinksSilently = (model: string): boolean => /^(?:o\d|gpt-[5-9])/.test(plain(model));

/** OpenAI's older models; newer ones reason. A wrong guess costs one refused request. */
const WITHOUT_REASONING = /^(?:ft:)?(?:gpt-3|gpt-4|chatgpt|davinci|babbage)|chat-latest/;

/** What the refusal of `request` teaches; null when it teaches nothing that wasn't known. */
export function learn(traits: Traits, { status, text }: Refused, request: ModelRequest, route: Route): Traits | null {
  if (status !== 400 && status !== 404 && status !== 422) return null;
  for (const lesson of LESSONS) {
    const isMeant = lesson.names.test(text) && (lesson.only ?? route) === route;
    const learned = isMeant ? lesson.teaches(traits, request, text) : null;
    if (learned !== null) return learned;
  }
  return null;
}

/** Words of "I don't know this parameter", as against "its value is wrong". */
const UNKNOWN =
  /unsupported|not support|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|extra (?:inputs|fields)|instead|invalid (?:parameter|argument|field)/i;

interface Lesson {
  readonly names: RegExp;
  readonly only?: Route;
  teaches(traits: Traits, request: ModelRequest, text: string): Traits | null;
}

const LESSONS: readonly Lesson[] = [
  {
    names: /stream_options|include_usage|include_obfuscation/i,
    teaches: (traits) => (traits.streamOptions ? { ...traits, streamOptions: false } : null),
  },
  {
    names: /max_(?:completion_)?tokens/i,
    teaches: (traits, _, text) => {
      if (traits.limitLearned || !UNKNOWN.test(text)) return null;
      const limit = traits.limit === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
      return { ...traits, limit, limitLearned: true };
    },
  },
  {
    names: /prompt_cache_key/i,
    teaches: (traits) => (traits.cacheKey ? { ...traits, cacheKey: false } : null),
  },
  {
    names: /cache_control/i,
    only: '/chat/completions',
    teaches: (traits) => (traits.mark ? { ...traits, mark: false } : null),
  },
  {
    names: /parallel[_ ]tool/i,
    only: '/responses',
    teaches: (traits) => (traits.parallel ? { ...traits, parallel: false } : null),
  },
  {
    names: /tool_choice/i,
    teaches: (traits, { toolChoice }) =>
      toolChoice === 'none' && traits.noTools ? { ...traits, noTools: false } : null,
  },
  {
    names: /invalid_encrypted_content|encrypted content (?:could not|for item)|item .*not found|without its required/i,
    only: '/responses',
    teaches: (traits) => (traits.items ? { ...traits, items: false } : null),
  },
  {
    names: /reasoning[._ ]?effort|['"`.]effort/i,
    teaches: (traits, { effort }) => (traits.effort && effort !== undefined ? { ...traits, effort: false } : null),
  },
  {
    names: /reasoning[._ ]summar|reasoning summar/i,
    only: '/responses',
    teaches: (traits) => (traits.reasoning === 'summary' ? { ...traits, reasoning: 'sealed' } : null),
  },
  {
    names: /encrypted|['"`]include['"`]|include\[|['"`]reasoning['"`]/i,
    only: '/responses',
    teaches: (traits) => (traits.reasoning === 'none' ? null : { ...traits, reasoning: 'none', effort: false }),
  },
  {
    names: /reasoning_details|extra_content/i,
    only: '/chat/completions',
    teaches: (traits) => (traits.items ? { ...traits, items: false } : null),
  },
  {
    names: /reasoning_content/i,
    only: '/chat/completions',
    teaches: (traits) => (traits.thoughts ? null : { ...traits, thoughts: true }),
  },
  {
    names: /\bstrict\b|invalid schema|invalid_function_parameters|invalid_json_schema/i,
    teaches: (traits) => (traits.strict ? { ...traits, strict: false } : null),
  },
  {
    names: /response_format|json_schema|text\.format|structured[_ ]output|json mode|grammar/i,
    teaches: (traits, { format, tools }) => {
      if (format === null || traits.format === 'words') return null;
      // Beside other tools one that must be called would keep the model from ever using them.
      return { ...traits, format: traits.format === 'schema' && tools.length === 0 ? 'tool' : 'words' };
    },
  },
  {
    names: /tool/i,
    teaches: (traits, { format }) =>
      format !== null && traits.format === 'tool' ? { ...traits, format: 'words' } : null,
  },
];

/** Says a server by this that it has no such route, and not that it has no such model? */
export function noSuchRoute({ status, text }: Refused): boolean {
  if (status === 405 || status === 501) return true;
  if (status === 400) return /(?:unknown|invalid|unsupported) (?:request )?(?:url|path|route|endpoint)/i.test(text);
  return status === 404 && !/model|not_found_error/i.test(text);
}

/** Says a server by this that the model can't use tools? */
export const refusesTools = ({ status, text }: Refused): boolean =>
  [400, 404, 422, 501].includes(status) &&
  /support(?:s|ing)? (?:for )?(?:the )?(?:use of )?(?:tool|function)|tool[_ ](?:use|call(?:ing|s)?) (?:is|are) not|tools? (?:is|are) not (?:supported|allowed)|enable-auto-tool-choice|no tool (?:use|support)|does not (?:take|accept) tools/i.test(
    text,
  );
