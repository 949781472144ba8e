import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { headOf, openWire } from '../../../src/models/http/transport.ts';

/** A server that answers with what it was sent, in `pieces`, for as long as `work` takes. */
async function echoing<T>(
  pieces: readonly string[],
  work: (url: string) => Promise<T>,
  type = 'text/event-stream',
): Promise<T> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, {
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

describe('the way to a provider', () => {
  it.each(['text/event-stream', 'application/json'])(
    'counts what is sent and what comes as %s, and beats as it comes',
    async (type) => {
      let beats = 0;
      const wire = openWire({ key: null }, () => void (beats += 1));
      expect([wire.status(), wire.bytes(), wire.sent()]).toEqual([null, 0, 0]);
      const read = async (url: string): Promise<string> => headOf(await wire.post({ url, body: { ü: 1 } }, LIVE));
      const text = await echoing([': ping\n\n', 'dätä\n\n'], read, type);
      expect([text, wire.bytes(), wire.sent()]).toEqual([': ping\n\ndätä\n\n', 16, 8]);
      expect(wire.status()).toBe(200);
      expect(beats).toBeGreaterThan(0);
    },
  );

  it('sends the headers that the person set, instead of its own where both have one, and the key', async () => {
    const headers = { 'x-team': 'payments', 'user-agent': 'ours' };
    const wire = openWire({ key: 'k', headers }, () => undefined);
    const seen = await echoing([], async (url) => {
      const answer = await wire.post({ url, body: {}, headers: { 'x-protocol': '1' } }, LIVE);
      return answer.headers.get('x-seen');
    });
    expect(seen?.split(' ').filter((name) => /x-|auth|agent/.test(name))).toEqual([
      'user-agent',
      'x-protocol',
      'authorization',
      'x-team',
    ]);
  });

  it('sends nothing when it was stopped before', async () => {
    const wire = openWire({ key: 'k' }, () => undefined);
    await expect(wire.post({ url: 'http://127.0.0.1:9', body: {} }, AbortSignal.abort('over'))).rejects.toBe('over');
    expect(wire.sent()).toBe(0);
  });
});
