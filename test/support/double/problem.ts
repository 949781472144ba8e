/** What a vendor would say against a request: the key, the model, then the rules of its wire. */
import type { Asked } from './asked.ts';
import { chatProblems } from './chat-rules.ts';
import { isFields } from './json.ts';
import type { Memory } from './memory.ts';
import { inputTokens } from './memory.ts';
import { messagesProblems } from './messages-rules.ts';
import { responsesProblems } from './responses-rules.ts';
import type { Reasoned } from './thinking-rules.ts';
import type { Script } from './script.ts';
import type { Problem } from './vendor-error.ts';
import { isAnthropic } from './vendor-error.ts';

export interface Judging {
  readonly script: Script;
  readonly key: string;
  readonly memory: Pick<Memory, 'reasoned'>;
}

/** Null when the vendor would take it. */
export function problemOf(asked: Asked, { script, key, memory }: Judging): Problem | null {
  if (asked.wire === 'unknown') return { status: 404, message: `Not found: ${asked.path}` };
  return (
    (script.keyless === true ? null : keyProblem(asked, key)) ??
    (asked.wire === 'models' ? null : bodyProblem(asked, script, memory))
  );
}

function keyProblem(asked: Asked, key: string): Problem | null {
  const bearer = asked.headers['authorization']?.replace(/^Bearer /, '');
  const given = asked.headers['x-api-key'] ?? bearer;
  if (given === key)
    return isAnthropic(asked.wire) && asked.headers['anthropic-version'] === undefined ? NO_VERSION : null;
  if (isAnthropic(asked.wire)) {
    return { status: 401, message: given === undefined ? 'x-api-key header is required' : 'invalid x-api-key' };
  }
  return { status: 401, message: given === undefined ? NO_KEY : `Incorrect API key provided: ${masked(given)}.` };
}

const NO_VERSION: Problem = { status: 400, message: 'anthropic-version: header is required' };

const NO_KEY =
  "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth.";

/** OpenAI repeats the ends of a wrong key: a message that is shown must not. */
const masked = (key: string): string => `${key.slice(0, 4)}${'*'.repeat(8)}${key.slice(-4)}`;

function bodyProblem(asked: Asked, { models, window }: Script, { reasoned }: Judging['memory']): Problem | null {
  if (!isFields(asked.body)) return { status: 400, message: 'We could not parse the JSON body of your request.' };
  if (models !== undefined && !models.includes(asked.model)) return unknownModel(asked);
  for (const message of wireProblems(asked, reasoned)) return { status: 400, message, ...codeOf(message) };
  const tokens = inputTokens(asked.parts);
  return window !== undefined && tokens > window ? tooLong(asked, tokens, window) : null;
}

function wireProblems({ wire, body }: Asked, reasoned: Reasoned): Iterable<string> {
  if (wire === 'messages' || wire === 'count tokens') return messagesProblems(body, wire === 'count tokens', reasoned);
  if (wire === 'chat') return chatProblems(body);
  return wire === 'responses' || wire === 'count input' ? responsesProblems(body, reasoned) : [];
}

const codeOf = (message: string): { code?: string } =>
  message.startsWith('The encrypted content') ? { code: 'invalid_encrypted_content' } : {};

function tooLong({ wire }: Asked, tokens: number, window: number): Problem {
  if (isAnthropic(wire)) return { status: 400, message: `prompt is too long: ${tokens} tokens > ${window} maximum` };
  const message =
    wire === 'chat'
      ? `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`
      : 'Your input exceeds the context window of this model. Please adjust your input and try again.';
  return { status: 400, message, code: 'context_length_exceeded', param: wire === 'chat' ? 'messages' : 'input' };
}

const unknownModel = ({ wire, model }: Asked): Problem => ({
  status: 404,
  message: isAnthropic(wire)
    ? `model: ${model}`
    : `The model \`${model}\` does not exist or you do not have access to it.`,
});
