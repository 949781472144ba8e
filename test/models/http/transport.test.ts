import { createServer } from 'node:http';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type { ProviderSetup } from '../../../src/domain/models/provider.ts';
import { headOf, openWire, type Server, serverOf } from '../../../src/models/http/transport.ts';
import { setupFor } from '../anthropic-parts.ts';

/** A server that answers with what it was sent, in `pieces`, for as long as `work` takes. */
async function echoing<T>(
  pieces: readonly string[],
  work: (url: string) => Promise<T>,
  type = 'text/event-stream',
  status = 200,
): Promise<T> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(status, {
        'content-type': type,
        'x-seen': Object.keys(request.headers).join(' '),
      });
      for (const piece of pieces) response.write(piece);
      response.end();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  try {
    return await work(`http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  }
}

const LIVE = new AbortController().signal;

/** The server by both client libraries, which read the rest of their settings from the environment. */
const SERVERS: readonly [name: string, (setup?: Partial<ProviderSetup>) => Server][] = [
  [
    'Anthropic',
    (setup) => serverOf({ ...setupFor('http://127.0.0.1'), key: null, ...setup }, (options) => new Anthropic(options)),
  ],
  [
    'OpenAI',
    (setup) => serverOf({ ...setupFor('http://127.0.0.1'), key: null, ...setup }, (options) => new OpenAI(options)),
  ],
];

describe.each(SERVERS)('the way to a provider by the client library of %s', (_, server) => {
  it.each(['text/event-stream', 'application/json'])(
    'counts what is sent and what comes as %s, and beats as it comes',
    async (type) => {
      let beats = 0;
      const wire = openWire(server(), () => void (beats += 1));
      expect([wire.status(), wire.bytes(), wire.sent()]).toEqual([null, 0, 0]);
      const read = async (url: string): Promise<string> => headOf(await wire.post({ url, body: { ü: 1 } }, LIVE));
      const text = await echoing([': ping\n\n', 'dätä\n\n'], read, type);
      expect([text, wire.bytes(), wire.sent()]).toEqual([': ping\n\ndätä\n\n', 16, 8]);
      expect(wire.status()).toBe(200);
      expect(beats).toBeGreaterThan(0);
    },
  );

  it('sends the key and the headers that the person set, and no header of the library beyond what the protocol needs', async () => {
    const headers = { 'x-team': 'payments', 'user-agent': 'ours' };
    const wire = openWire(server({ key: 'k', headers }), () => undefined);
    const seen = await echoing([], async (url) => {
      const answer = await wire.post({ url, body: {} }, LIVE);
      return answer.headers.get('x-seen');
    });
    const names = (seen ?? '').split(' ').filter((name) => name !== 'anthropic-version');
    expect(names.toSorted()).toEqual([
      'accept',
      'accept-encoding',
      'accept-language',
      'authorization',
      'connection',
      'content-length',
      'content-type',
      'host',
      'sec-fetch-mode',
      'user-agent',
      'x-team',
    ]);
  });

  it.each([201, 404, 429, 529])('tells the status %i and leaves the body of the answer to be read', async (status) => {
    const wire = openWire(server(), () => undefined);
    const said = await echoing(
      ['{"error":', '"words"}'],
      async (url) => {
        const answer = await wire.post({ url, body: {} }, LIVE);
        return [answer.status, answer.ok, await headOf(answer)];
      },
      'application/json',
      status,
    );
    expect(said).toEqual([status, status === 201, '{"error":"words"}']);
    expect(wire.status()).toBe(status);
  });

  it('sends nothing when it was stopped before', async () => {
    const wire = openWire(server({ key: 'k' }), () => undefined);
    await expect(wire.post({ url: 'http://127.0.0.1:9', body: {} }, AbortSignal.abort('over'))).rejects.toBe('over');
    expect(wire.sent()).toBe(0);
  });
});
