/** However much a provider sends in one reply, and however it is packed, memory grows by 64 MB at most. */
import { existsSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { numberAt, parsed, textAt } from '../../../src/models/http/json.ts';
import { ended, start } from '../../support/child.ts';
import { openServer } from '../openai-setup.ts';

const MEGABYTE = 1024 * 1024;
const MOST = 64;

type Wire = 'anthropic' | 'responses' | 'chat';

/** Writes `piece` so many times, no faster than it is read. */
async function flood(response: ServerResponse, piece: string | Buffer, times: number): Promise<void> {
  for (let sent = 0; sent < times && !response.destroyed; sent += 1) {
    if (!response.write(piece)) {
      await new Promise<void>((resolve) => {
        response.once('drain', resolve).once('close', resolve);
      });
      response.removeAllListeners('close');
    }
  }
  response.end();
}

const events = (...all: readonly object[]): string => all.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('');

/** How a reply begins, and one more character of its text. */
const WORDS: Readonly<Record<Wire, { readonly begin: string; readonly letter: string }>> = {
  anthropic: {
    begin: events(
      { type: 'message_start', message: { model: 'claude-sonnet-4-6', usage: { input_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ),
    letter: events({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a' } }),
  },
  responses: {
    begin: events({ type: 'response.created', response: { model: 'o3' } }),
    letter: events({ type: 'response.output_text.delta', output_index: 0, delta: 'a' }),
  },
  chat: { begin: '', letter: events({ model: 'qwen3', choices: [{ index: 0, delta: { content: 'a' } }] }) },
};

/** What is sent, by what it is called. */
const FLOODS: Readonly<Record<string, (response: ServerResponse, wire: Wire) => Promise<void>>> = {
  'one line of 200 MB': async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: ');
    await flood(response, 'x'.repeat(MEGABYTE), 200);
  },
  'one event of 200 MB in many lines': async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    await flood(response, `data: ${'x'.repeat(1000)}\n`.repeat(1000), 200);
  },
  '512 MB packed into half of one': async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
    await flood(response, gzipSync(Buffer.alloc(16 * MEGABYTE, 'data: x\n')), 32);
  },
  'a million letters, one in an event': async (response, wire) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(WORDS[wire].begin);
    await flood(response, WORDS[wire].letter.repeat(1000), 1000);
  },
  'an error of 200 MB': async (response) => {
    response.writeHead(500, { 'content-type': 'text/plain' });
    await flood(response, 'x'.repeat(MEGABYTE), 200);
  },
  'a page of 200 MB': async (response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    await flood(response, '<p>'.repeat(MEGABYTE / 3), 200);
  },
};

/** Why reading stopped, where a limit ended it. */
const LIMITS: Readonly<Record<string, string>> = {
  'one line of 200 MB': 'an event is larger than 4 MB or 4096 lines',
  'one event of 200 MB in many lines': 'an event is larger than 4 MB or 4096 lines',
  '512 MB packed into half of one': 'an event is larger than 4 MB or 4096 lines',
  'a million letters, one in an event': 'it is larger than 12 MB',
};

const unmeasured = existsSync('/proc/self/clear_refs') ? false : 'memory is measured by /proc, which is not here';

describe.skipIf(unmeasured !== false)('the memory for a reply', () => {
  it.each(
    (['anthropic', 'responses', 'chat'] as const).flatMap((wire) =>
      Object.keys(FLOODS).map((name) => [wire, name] as const),
    ),
  )(
    'over %s of %s is bounded',
    async (wire, name) => {
      const server = await openServer((response, { path: asked }) => {
        if (asked.startsWith('/warm')) response.writeHead(500).end('{}');
        else void FLOODS[name]?.(response, wire);
      });
      try {
        const child = path.resolve(import.meta.dirname, '../../support/stream-child.ts');
        const { out, err } = await ended(start(process.execPath, ['--expose-gc', child, wire, server.url]));
        expect(err).toBe('');
        const told = parsed(out);
        const [end, grown] = [textAt(told, 'ended'), numberAt(told, 'grown')];
        expect(end).toMatch(/^(?:malformed|overloaded|cut): /);
        expect(end).toContain(LIMITS[name] ?? '');
        expect(grown, end).toBeLessThanOrEqual(MOST);
      } finally {
        await server.close();
      }
    },
    60_000,
  );
});
