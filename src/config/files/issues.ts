/** What zod found wrong, in words for the person who wrote the file: what is there, and what to write instead. */
import type { z } from 'zod';
import { member } from '../schema/known-keys.ts';
import { suggestion } from '../../domain/text/nearest.ts';
import type { Path } from '../schema/keys.ts';
import { EXAMPLE } from '../schema/base-url.ts';

export interface Words {
  readonly problem: string;
  readonly remedy: string;
}

/** Words for one issue about the value at `path`. */
export function wordsFor(issue: z.core.$ZodIssue, value: unknown): Words {
  const name = issue.path.length === 0 ? 'the file' : nameOf(issue.path);
  const is = secretly(name) ?? shown(value);
  switch (issue.code) {
    case 'invalid_type':
      return { problem: `${name} is ${is}`, remedy: `write ${KINDS.get(issue.expected) ?? issue.expected}` };
    case 'invalid_value':
      return { problem: `${name} is ${is}`, remedy: among(value, issue.values.map(String)) };
    case 'too_small':
      return { problem: `${name} is ${is}`, remedy: `write at least ${String(issue.minimum)}` };
    case 'too_big':
      return { problem: `${name} is ${is}`, remedy: `write at most ${String(issue.maximum)}` };
    default:
      return { problem: `${name} is ${is}`, remedy: remedyByName(name) };
  }
}

/** A key may stand where the name of its variable belongs, and a password in an address: such values are never repeated. */
function secretly(name: string): string | null {
  if (name.endsWith('apiKeyEnv')) return 'no name of a variable';
  if (name.includes('.headers.')) return 'no value of a header';
  return name.endsWith('baseUrl') ? 'no address' : null;
}

const KINDS: ReadonlyMap<string, string> = new Map([
  ['boolean', 'true or false, without quotes'],
  ['int', 'a whole number, without quotes'],
  ['number', 'a number, without quotes'],
  ['string', 'text'],
  ['array', 'a list: [a, b]'],
  ['object', 'keys below it, or take it out'],
  ['record', 'keys below it, or take it out'],
]);

/** `agentOrchestration.roles.finder.tools[1]`. */
export const nameOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((name, part) => {
    if (typeof part === 'number') return `${name}[${part}]`;
    return name === '' ? String(part) : `${name}.${String(part)}`;
  }, '');

/** The value at a path of plain JSON. */
export const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((here, part) => member(here, String(part)), value);

/** A value on one line, at most 60 characters. */
export function shown(value: unknown): string {
  if (value === null || value === undefined) return 'empty';
  const text = JSON.stringify(value) ?? 'empty';
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function among(value: unknown, choices: readonly string[]): string {
  if (typeof value !== 'string') return `write one of: ${choices.join(', ')}`;
  const hint = suggestion(value, choices);
  return hint.startsWith('did') ? hint : `write one of: ${choices.join(', ')}`;
}

function remedyByName(name: string): string {
  if (/[Dd]uration|retention|Timeout|Interval|answerWithin|retryFor/.test(name))
    return 'write a time such as 500ms, 30s, 10m, 1h or 90d';
  if (name === 'minVersion') return 'write a version in quotes, such as "1.0"';
  if (name.endsWith('baseUrl')) return EXAMPLE;
  if (name.includes('.headers.')) return 'write a text, or {env: NAME} for the value of a variable';
  if (name.endsWith('apiKeyEnv')) return 'write the name of an environment variable, such as ANTHROPIC_API_KEY';
  if (name.startsWith('providers')) return 'name a provider with lower-case letters, digits, "-" or "_"';
  return '`mimir config schema` shows what may stand here';
}
