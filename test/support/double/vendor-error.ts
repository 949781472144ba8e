/** The bodies of errors, as each vendor documents them. */
import type { Wire } from './asked.ts';

/** What is wrong with a request. */
export interface Problem {
  readonly status: number;
  readonly message: string;
  readonly type?: string;
  readonly code?: string | null;
  readonly param?: string | null;
  /** Instead of the vendor's body. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const isAnthropic = (wire: Wire): boolean => wire === 'messages' || wire === 'count tokens';

/** The body of an answer that says `problem`. */
export function errorBody(wire: Wire, problem: Problem, id: string): string {
  const { status, message } = problem;
  if (isAnthropic(wire)) {
    const type = problem.type ?? ANTHROPIC[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
    return JSON.stringify({ type: 'error', error: { type, message }, request_id: `req_${id}` });
  }
  const [type, code] = OPENAI[status] ?? (status >= 500 ? ['server_error', null] : ['invalid_request_error', null]);
  return JSON.stringify({
    error: {
      message,
      type: problem.type ?? type,
      param: problem.param ?? null,
      code: problem.code === undefined ? code : problem.code,
    },
  });
}

const ANTHROPIC: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

const OPENAI: Readonly<Record<number, readonly [type: string, code: string | null]>> = {
  401: ['invalid_request_error', 'invalid_api_key'],
  402: ['insufficient_quota', 'insufficient_quota'],
  404: ['invalid_request_error', 'model_not_found'],
  429: ['requests', 'rate_limit_exceeded'],
};

/** Words for a status that a script gave without any. */
export const wordsFor = (status: number): string => WORDS[status] ?? `The server answered ${status}.`;

const WORDS: Readonly<Record<number, string>> = {
  400: 'The request is not valid.',
  401: 'invalid x-api-key',
  402: 'Your credit balance is too low.',
  403: 'Your API key does not have permission to use the specified resource.',
  404: 'Not found',
  413: 'Request exceeds the maximum size',
  429: 'Rate limit reached. Please try again later.',
  500: 'Internal server error',
  503: 'The server is currently overloaded. Please try again later.',
  529: 'Overloaded',
};
