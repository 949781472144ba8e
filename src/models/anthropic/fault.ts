/** What Anthropic's client library throws, and what comes of a stream that is no reply, in the words of `ModelFault`. */
import { APIError } from '@anthropic-ai/sdk';
import type { ProviderSetup } from '../../domain/models/provider.ts';
import type { ModelFault } from '../../ports/model.ts';
import type { World } from '../../ports/world.ts';
import type { NoReply } from './result.ts';
import { causesOf, connectionFault, eventFault, field, hostOf, pageWords, statusFault } from '../http/fault.ts';
import { redact } from '../http/redact.ts';
import { parsed } from '../http/json.ts';
import type { Wire } from '../http/transport.ts';

interface Failing {
  readonly setup: ProviderSetup;
  readonly world: Pick<World, 'now'>;
  readonly wire: Wire;
}

/** What undoing a compression, or our own limit, says of a body. */
const UNREADABLE = /\bZ_|ERR_ZLIB|too large|incorrect (?:header|data)|invalid (?:block|code|distance|stored)/;

/** The library's errors in our words: the response said no, the connection failed, or what came can't be read. */
export function thrownFault({ setup, world, wire }: Failing, error: unknown): ModelFault {
  const status = field(error, 'status');
  if (error instanceof APIError && typeof status === 'number') {
    const headers = headersOf(error);
    // A body that was no JSON is in the message only, behind the status.
    const body = field(error, 'error') ?? error.message.replace(/^\d+ /, '');
    return statusFault(setup, { status, headers, body, now: world.now() });
  }
  if (wire.head() === null) return connectionFault(setup, error);
  if (UNREADABLE.test(causesOf(error).join(' '))) return malformedFault(setup, 'its content can not be read');
  return { is: 'cut', message: `${hostOf(setup)} broke off its reply: the connection ended` };
}

export const malformedFault = (setup: ProviderSetup, why: string): ModelFault => ({
  is: 'malformed',
  message: `${hostOf(setup)} answered with something that is no reply: ${redact(why, setup)}`,
});

/** Is what comes a stream of events? */
export const isStream = (wire: Wire): boolean => /^text\/event-stream\b/i.test(wire.head()?.type ?? '');

/** A whole answer that is something else and says `text`: the page of a proxy, an error that was sent as if all were well. */
export function typeFault(setup: ProviderSetup, wire: Wire, text: string): ModelFault {
  const json = parsed(text);
  if (field(json, 'error') !== undefined) return eventFault(setup, json);
  const type = wire.head()?.type ?? '';
  const words = pageWords(text).trim();
  return malformedFault(
    setup,
    `its type is ${type === '' ? 'not said' : type}, not text/event-stream. Is the base URL right?${words === '' ? '' : ` It says: ${words}`}`,
  );
}

export function noReplyFault(setup: ProviderSetup, wire: Wire, { is, why }: NoReply): ModelFault {
  if (is === 'malformed') return malformedFault(setup, why);
  if (wire.bytes() === 0) return malformedFault(setup, 'it is empty');
  return { is: 'cut', message: `${hostOf(setup)} broke off its reply: ${why}` };
}

function headersOf(error: object): Headers | undefined {
  const headers = field(error, 'headers');
  return headers instanceof Headers ? headers : undefined;
}
