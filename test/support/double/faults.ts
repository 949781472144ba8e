/** What a fault makes of a reply: other frames, another head, another end. One function from fault to what goes out. */
import { unreachable } from '../../../src/domain/result.ts';
import type { Wire } from './asked.ts';
import type { Format } from './format.ts';
import type { Frame, Writing } from './frame.ts';
import type { WireFault } from './script.ts';
import type { Ending } from './sending.ts';
import type { Reply } from './reply.ts';
import { errorBody, wordsFor } from './vendor-error.ts';

/** What goes out for a request. `head: false`: not even a status line. */
export interface Outgoing {
  readonly head: boolean;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly frames: readonly Frame[];
  readonly ending: Ending;
  /** Of `frames`, those that belong to a reply; the rest isn't billed. All of them unless said. */
  readonly billed?: number;
  /** How it counts once it has gone out. */
  readonly counts: 'answered' | 'broken' | 'refused';
}

export interface Faulty {
  readonly wire: Wire;
  readonly format: Format;
  readonly reply: Reply;
  readonly writing: Writing;
  readonly whole: Outgoing;
  readonly streams: boolean;
}

export function faulted(fault: WireFault | undefined, faulty: Faulty): Outgoing {
  const { whole } = faulty;
  if (fault === undefined) return whole;
  switch (fault.is) {
    case 'bad arguments':
      return whole;
    case 'status': {
      const problem = { status: fault.status, message: wordsFor(fault.status) };
      return refusal(fault.status, fault.body ?? errorBody(faulty.wire, problem, faulty.reply.id), fault.headers);
    }
    case 'redirect':
      return refusal(fault.status, '', { location: fault.to });
    case 'cut':
    case 'silent':
      return broken(fault.at, fault.is === 'silent' ? 'hang' : fault.clean === true ? 'end' : 'cut', faulty);
    case 'trickle':
      return broken(fault.at, { again: faulty.format.alive, everyMs: fault.everyMs }, faulty);
    case 'error event':
      return faulty.streams ? errorEvent(fault, faulty) : errorAlone(fault, faulty);
    case 'bad event':
      return faulty.streams ? badEvent(fault.at, faulty) : halfBody(faulty.whole);
    default:
      return somethingElse(fault.is, whole);
  }
}

/** An answer that is no reply. */
export const refusal = (status: number, data: string, headers: Readonly<Record<string, string>> = {}): Outgoing => ({
  head: true,
  status,
  headers: { 'content-type': 'application/json', ...headers },
  frames: [{ data, tokens: 0 }],
  ending: 'end',
  billed: 0,
  counts: 'refused',
});

function broken(at: 'head' | number, ending: Ending, faulty: Faulty): Outgoing {
  const { whole } = faulty;
  if (at === 'head') return { ...whole, head: false, frames: [], ending, counts: 'broken' };
  return { ...whole, frames: whole.frames.slice(0, before(at, faulty)), ending, counts: 'broken' };
}

const before = (at: number, { whole, format, writing }: Faulty): number =>
  Math.max(0, Math.min(at, whole.frames.length - format.tail(writing.body)));

interface WireError {
  readonly at: number;
  readonly type: string;
  readonly message: string;
}

function errorEvent({ at, type, message }: WireError, faulty: Faulty): Outgoing {
  const { whole, format, reply, writing } = faulty;
  const billed = before(at, faulty);
  const frames = [...whole.frames.slice(0, billed), ...format.error({ type, message }, reply, writing, billed)];
  return { ...whole, frames, billed, counts: 'broken' };
}

/** Where nothing streams, the same error is the answer. */
function errorAlone({ type, message }: WireError, { wire, reply }: Faulty): Outgoing {
  const status = { overloaded_error: 529, rate_limit_error: 429, rate_limit_exceeded: 429 }[type] ?? 500;
  return refusal(status, errorBody(wire, { status, type, message }, reply.id));
}

/** Named as the event that should have stood here: a reader that goes by names must not pass over it. */
function badEvent(at: number, faulty: Faulty): Outgoing {
  const { whole } = faulty;
  const billed = before(at, faulty);
  const [head, rest] = [whole.frames.slice(0, billed), whole.frames.slice(billed)];
  const name = /^event: .*\n/.exec(rest[0]?.data ?? '')?.[0] ?? '';
  const bad = { data: `${name}data: {"type": "half an ev\n\n`, tokens: 0 };
  return { ...whole, frames: [...head, bad, ...rest], billed, counts: 'broken' };
}

const halfBody = (whole: Outgoing): Outgoing => ({
  ...whole,
  frames: whole.frames.map(({ data, tokens }) => ({ data: data.slice(0, data.length / 2), tokens })),
  counts: 'broken',
});

function somethingElse(is: 'html' | 'empty' | 'gzip garbage' | 'wrong type', whole: Outgoing): Outgoing {
  const answer = (headers: Outgoing['headers'], data: string): Outgoing => ({
    ...whole,
    headers,
    frames: [{ data, tokens: 0 }],
    billed: 0,
    counts: 'broken',
  });
  switch (is) {
    case 'html':
      return answer(
        { 'content-type': 'text/html; charset=utf-8' },
        '<!doctype html>\n<html><head><title>Sign in</title></head><body><h1>Sign in to the network</h1></body></html>\n',
      );
    case 'empty':
      return answer(whole.headers, '');
    case 'gzip garbage':
      return answer({ ...whole.headers, 'content-encoding': 'gzip' }, 'this was never packed');
    case 'wrong type':
      return { ...whole, headers: { ...whole.headers, 'content-type': 'application/octet-stream' }, counts: 'broken' };
    default:
      return unreachable(is);
  }
}
