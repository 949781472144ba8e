import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { openWire } from '../../../src/models/http/transport.ts';

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

describe('the way to a provider', () => {
  it.each(['text/event-stream', 'application/json'])(
    'counts what is sent and what comes as %s, and beats as it comes',
    async (type) => {
      let beats = 0;
      const wire = openWire({ key: null }, () => void (beats += 1));
      expect([wire.head(), wire.bytes(), wire.sent()]).toEqual([null, 0, 0]);
      const read = async (url: string): Promise<string> => {
        const { body } = await wire.fetch(url, { method: 'POST', body: '{"ü":1}' });
        const decoder = new TextDecoder();
        let all = '';
        const pieces: AsyncIterable<Uint8Array> | readonly Uint8Array[] = body ?? [];
        for await (const piece of pieces) all += decoder.decode(piece, { stream: true });
        return all;
      };
      const text = await echoing([': ping\n\n', 'dätä\n\n'], read, type);
      expect([text, wire.bytes(), wire.sent()]).toEqual([': ping\n\ndätä\n\n', 16, 8]);
      expect(wire.head()).toEqual({ status: 200, type });
      expect(beats).toBeGreaterThan(0);
    },
  );

  it('sends the headers that the person set, instead of its own where both have one', async () => {
    const headers = { 'x-team': 'payments', 'user-agent': 'ours' };
    const wire = openWire({ key: null, headers }, () => undefined);
    const seen = await echoing([], async (url) => {
      const response = await wire.fetch(url, {
        method: 'POST',
        headers: { 'user-agent': 'a library', 'x-else': 'no' },
      });
      return response.headers.get('x-seen');
    });
    expect(seen?.split(' ')).toEqual(expect.arrayContaining(['x-team', 'user-agent']));
    expect(seen).not.toContain('x-else');
  });

  it('sends the key in its own header, and no header that is not known', async () => {
    const wire = openWire({ key: 'k' }, () => undefined);
    const headers = {
      authorization: 'Bearer theirs',
      'x-api-key': 'theirs',
      'x-odd': '1',
      accept: '*/*',
      'x-stainless-os': 'Linux',
    };
    const response = await echoing(['x'], async (url) => {
      const got = await wire.fetch(url, { method: 'POST', body: '', headers });
      await got.text();
      return got;
    });
    expect(
      response.headers
        .get('x-seen')
        ?.split(' ')
        .filter((name) => /x-|auth/.test(name)),
    ).toEqual(['authorization']);
  });
});
