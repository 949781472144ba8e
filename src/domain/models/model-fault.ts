/** Which ends of a model call lie with the provider, not with the request or the agent: the same request may do elsewhere, or later. */
export const PROVIDERS_FAULTS: ReadonlySet<string> = new Set([
  'rate limited',
  'overloaded',
  'unreachable',
  'cut',
  'silent',
  'malformed',
  'unauthorised',
  'no credit',
]);
