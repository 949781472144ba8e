/**
 * The provider double: a server on this machine that speaks the vendors' wires and answers by a script. It refuses what they would
 * refuse, counts what they would bill, and breaks in every way they break. This file is its doors; what it says is decided in exchange.ts.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { Asked } from './asked.ts';
import type { Bill } from './bill.ts';
import { billOf } from './bill.ts';
import type { Clock } from './clock.ts';
import { REAL, tickerOn } from './clock.ts';
import type { Exchange } from './exchange.ts';
import { openExchange } from './exchange.ts';
import type { Outgoing } from './faults.ts';
import type { Answer, Script } from './script.ts';
import type { Sent, Time } from './sending.ts';
import { send } from './sending.ts';

export type { Asked } from './asked.ts';
export type { Bill } from './bill.ts';

export interface Double {
  /** `http://127.0.0.1:PORT`: the base URL of Anthropic's client; OpenAI's has `/v1` behind it. */
  readonly url: string;
  /** Every request in order. */
  readonly asked: readonly Asked[];
  /** Its own count. */
  bill(): Bill;
  /** Requests whose prefix isn't byte for byte the former one of their conversation: none when prompt caching can work. */
  prefixFaults(): readonly string[];
  /** Ends every connection. */
  close(): Promise<void>;
}

/** The key that the double takes; any other, and none, is refused. */
export const KEY = 'test-key';

export type DoubleOptions = Omit<Script, 'rules'> & { readonly clock?: Clock };

/** Opens a double on a free port. `script` may be a function when a test wants to answer by itself. */
export async function openDouble(
  script: Script | ((asked: Asked) => Answer),
  { clock = REAL, ...options }: DoubleOptions = {},
): Promise<Double> {
  const exchange = openExchange(typeof script === 'function' ? { rules: [], ...options } : { ...options, ...script }, {
    key: KEY,
    ...(typeof script === 'function' ? { answer: script } : {}),
  });
  const time = { clock, ticker: tickerOn(clock) };
  const server = createServer({ keepAlive: true }, (request, response) => {
    void wholeBody(request).then((raw) => {
      if (raw === null) return;
      try {
        serve(exchange, { request, response, raw }, time);
      } catch (error) {
        // A script that throws is a bug of its test: it is thrown on, and nobody waits for an answer meanwhile.
        response.destroy();
        throw error;
      }
    });
  });
  // A connection that the server closes by itself would look like a fault that nobody scripted.
  Object.assign(server, { keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', 1024, resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    asked: exchange.asked,
    bill: () => billOf(exchange.asked),
    prefixFaults: () => exchange.prefixFaults(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The whole body; null when the client left before its end. */
function wholeBody(request: IncomingMessage): Promise<string | null> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => void pieces.push(piece));
    request.on('end', () => resolve(Buffer.concat(pieces).toString()));
    request.on('error', () => resolve(null));
    request.on('close', () => resolve(null));
  });
}

interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly raw: string;
}

function serve(exchange: Exchange, { request, response, raw }: Visit, time: Time): void {
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
  const taken = exchange.take({ method: request.method ?? '', path: request.url ?? '', headers, raw });
  let under: { sent(): Sent } = { sent: () => ({ frames: 0, tokens: 0 }) };
  response.once('finish', () => taken.settle(under.sent(), true));
  response.once('close', () => taken.settle(under.sent(), false));
  const start = (): void => {
    const { outgoing, rate } = taken;
    if (response.destroyed || !opens(response, outgoing)) return;
    under = send(response, { frames: outgoing.frames, ending: outgoing.ending, rate }, time);
  };
  if (taken.latencyMs > 0) response.once('close', time.clock.after(taken.latencyMs, start));
  else start();
}

/** Writes the head; false where the fault is that there is none. */
function opens(response: ServerResponse, { head, status, headers, ending }: Outgoing): boolean {
  if (head) {
    response.writeHead(status, headers);
    response.flushHeaders();
  } else if (ending !== 'hang') {
    response.destroy();
  }
  return head;
}
