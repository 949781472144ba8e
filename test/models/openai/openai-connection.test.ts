/** A connection is read to its end, so that the next call goes over it; one that isn't closed holds nothing up. */
import { describe, expect, it } from 'vitest';
import { openaiCaller } from '../../../src/models/openai/adapter.ts';
import { until } from '../../support/until.ts';
import { fakeWorld } from '../../support/world.ts';
import { chunk, ignore, LOCAL, NEVER, openServer, requestFor, setupFor, stream } from '../openai-setup.ts';

describe('the connection', () => {
  it('is used again for the next call', async () => {
    const server = await openServer((response) => stream(response, [chunk({ content: 'x' }, 'stop')]));
    const caller = openaiCaller(setupFor(server.url, LOCAL), fakeWorld());
    for (let n = 0; n < 5; n += 1) await caller.call(requestFor({ model: 'local/x' }), NEVER, ignore);
    await server.close();
    expect(server.heard).toHaveLength(5);
    expect(server.connections()).toBeLessThan(4);
  });

  it.each(['/v1', '/v1/', '/v1/chat/completions'])(
    'is made to the right path where the base URL ends in %s',
    async (end) => {
      const server = await openServer((response) => stream(response, [chunk({ content: 'x' }, 'stop')]));
      const caller = openaiCaller(setupFor('', { ...LOCAL, baseUrl: `${server.url}${end}` }), fakeWorld());
      await caller.call(requestFor({ model: 'local/x' }), NEVER, ignore);
      await server.close();
      expect(server.heard.map(({ path }) => path)).toEqual(['/v1/chat/completions']);
    },
  );

  it.each([
    ['[DONE]', LOCAL, [chunk({ content: 'x' }, 'stop'), '[DONE]']],
    [
      'response.completed',
      {},
      [
        { type: 'response.output_text.delta', output_index: 0, delta: 'x' },
        { type: 'response.completed', response: { model: 'o3', status: 'completed', output: [] } },
      ],
    ],
  ])('that a server keeps open after %s holds nothing up', async (_, kind, events) => {
    const left = Promise.withResolvers<void>();
    const server = await openServer((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.on('close', () => left.resolve());
      response.write(events.map((one) => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`).join(''));
    });
    const world = fakeWorld();
    const heard = Promise.withResolvers<void>();
    const caller = openaiCaller(setupFor(server.url, kind), world);
    const call = caller.call(requestFor({ model: 'local/o3' }), NEVER, () => heard.resolve());
    await heard.promise;
    // The watch, and the moment that the server gets to close.
    await until(() => world.sleepers() === 2);
    await world.advance(500);
    expect((await call).ok).toBe(true);
    await left.promise;
    await server.close();
    expect(world.sleepers()).toBe(0);
  });
});
