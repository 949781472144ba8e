/** How much of a tool's output enters a conversation: by price, by window, by how much comes at once. */
import { z } from 'zod';
import { describe, expect, it } from 'vitest';
import type { Turn } from '../../src/domain/turn.ts';
import { scriptedModel } from '../support/scripted.ts';
import type { Tool, ToolPort } from '../../src/ports/tool.ts';
import { planOf, testRun } from '../support/run.ts';

const OUTPUT = Array.from({ length: 12_000 }, (_, n) => `line ${n}`).join('\n');
const PAID = { input: 1, output: 5 };

/** Gives more than anybody reads, and writes down the room that it was told of. */
function flood(rooms: (number | undefined)[]): ToolPort {
  const read: Tool = {
    name: 'read',
    description: 'reads',
    input: z.strictObject({ text: z.string() }),
    capability: 'read',
    repeat: 'safe',
    label: () => 'read',
    run: (_, { room }) => {
      rooms.push(room);
      return Promise.resolve({ ok: true, text: OUTPUT });
    },
  };
  return { tools: [read], sandbox: { is: 'none', because: 'a test' } };
}

/** The results that an agent gets for `calls` reads at once. */
async function results(
  calls: number,
  window: number,
  price: { readonly input: number; readonly output: number } | null,
): Promise<{ readonly texts: readonly string[]; readonly rooms: readonly (number | undefined)[] }> {
  const rooms: (number | undefined)[] = [];
  const turns: Turn[] = [];
  const run = testRun({
    plan: planOf(['a']),
    port: flood(rooms),
    catalogue: [scriptedModel('scripted/fast', { aliases: ['fast'], window, price })],
    record: (request) => void (request.purpose.is === 'work' && turns.splice(0, turns.length, ...request.turns)),
    script: ({ purpose }, n) =>
      purpose.is === 'work' && n === 0
        ? { text: '', calls: Array.from({ length: calls }, () => ({ tool: 'read', input: { text: 'x' } })) }
        : undefined,
  });
  await run.result;
  const texts = run.events().flatMap((event) => (event.type === 'tool.finished' && event.ok ? [event.output] : []));
  const read = turns.flatMap((turn) => (turn.by === 'tools' ? turn.results : [])).filter(({ ok }) => ok);
  // What is in the log is what the model read, unless the conversation had to be shortened at once.
  if (read.length > 0) expect(read.map(({ text }) => text)).toEqual(texts);
  return { texts, rooms };
}

describe('the result of a tool', () => {
  it.each([
    ['one call of a model that is paid for', 1, 200_000, PAID, 16_000],
    ['one call of a model whose price nobody knows', 1, 200_000, null, 16_000],
    ['one call of a large model that is paid for', 1, 1_000_000, PAID, 16_000],
    ['six calls at once', 6, 200_000, PAID, 16_000],
    ['sixteen calls at once', 16, 200_000, PAID, 6000],
    ['one call in a small window', 1, 32_000, PAID, 4000],
    ['eight calls in a small window', 8, 32_000, PAID, 4000],
    ['sixteen calls in a very small window', 16, 8000, PAID, 2000],
    ['one call of a large model that costs nothing', 1, 1_000_000, { input: 0, output: 0 }, 65_536],
    ['one call of a small model that costs nothing', 1, 32_000, { input: 0, output: 0 }, 4000],
  ] as const)('has room for %s', async (_, calls, window, price, room) => {
    const { texts, rooms } = await results(calls, window, price);
    expect(rooms).toEqual(Array.from({ length: calls }, () => room));
    for (const text of texts) {
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(room);
      expect(Buffer.byteLength(text)).toBeGreaterThan(room - 200);
    }
  });

  it('keeps head and tail, and says what is missing and how to get it', async () => {
    const [text = ''] = (await results(1, 200_000, PAID)).texts;
    expect(text.startsWith('line 0\nline 1\n')).toBe(true);
    expect(text.endsWith('\nline 11999')).toBe(true);
    expect(text).toMatch(
      /\n\[… \d+ bytes left out: ask for that part by itself, more narrowly, or with fewer calls at once …\]\nline \d+\n/,
    );
  });
});
