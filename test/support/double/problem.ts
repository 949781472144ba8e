/** What a vendor would say against a request: the key, the model, then the rules of its wire. */
import type { Asked } from './asked.ts';
import type { Memory } from './memory.ts';
import type { Script } from './script.ts';
import type { Problem } from './vendor-error.ts';
import { isAnthropic } from './vendor-error.ts';

export interface Judging {
  readonly script: Script;
  readonly key: string;
  readonly memory: Memory;
}

/** Null when the vendor would take it. */
export function problemOf(asked: Asked, { script, key }: Judging): Problem | null {
  if (asked.wire === 'unknown') return { status: 404, message: `Not found: ${asked.path}` };
  return keyProblem(asked, key) ?? (asked.wire === 'models' ? null : bodyProblem(asked, script));
}

function keyProblem(asked: Asked, key: string): Problem | null {
  const bearer = asked.headers['authorization']?.replace(/^Bearer /, '');
  const given = asked.headers['x-api-key'] ?? bearer;
  if (given === key) return null;
  if (isAnthropic(asked.wire)) {
    return { status: 401, message: given === undefined ? 'x-api-key header is required' : 'invalid x-api-key' };
  }
  return { status: 401, message: given === undefined ? NO_KEY : `Incorrect API key provided: ${masked(given)}.` };
}

const NO_KEY =
  "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth.";

/** OpenAI repeats the ends of a wrong key: a message that is shown must not. */
const masked = (key: string): string => `${key.slice(0, 4)}${'*'.repeat(8)}${key.slice(-4)}`;

function bodyProblem(asked: Asked, { models }: Script): Problem | null {
  if (asked.body === undefined) return { status: 400, message: 'We could not parse the JSON body of your request.' };
  if (models !== undefined && !models.includes(asked.model)) return unknownModel(asked);
  return null;
}

const unknownModel = ({ wire, model }: Asked): Problem => ({
  status: 404,
  message: isAnthropic(wire)
    ? `model: ${model}`
    : `The model \`${model}\` does not exist or you do not have access to it.`,
});
