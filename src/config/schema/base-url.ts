/** Is this an address that models may be called at? Judged before it is ever shown: what it holds may be a secret. */

export interface AddressProblem {
  readonly problem: string;
  readonly remedy: string;
}

/** What is wrong with a base URL, in words that don't repeat it; null when it can be used. */
export function baseUrlProblem(baseUrl: string): AddressProblem | null {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    return { problem: 'is no address that models can be called at', remedy: EXAMPLE };
  }
  if (url.username !== '' || url.password !== '') {
    return {
      problem: 'holds a user name or a password, which would be seen wherever the address is shown',
      remedy: 'take it out, and name the environment variable with the key as apiKeyEnv',
    };
  }
  if (url.search !== '' || url.hash !== '') return { problem: 'has more than a host and a path', remedy: EXAMPLE };
  return null;
}

/** What to write for an address. */
export const EXAMPLE = 'write an address such as http://127.0.0.1:11434/v1';
