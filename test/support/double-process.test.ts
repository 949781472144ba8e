/** The double over time: rates, latency, many connections at once, clients that leave; and in a process of its own. */
import { afterEach, describe, expect, it } from 'vitest';
import { all, anthropicOn, openaiOn } from './double/clients.ts';
import type { Clock } from './double/clock.ts';
import type { Double } from './double/double.ts';
import { openDouble } from './double/double.ts';
import { openDoubleProcess } from './double/process.ts';
import { until } from './until.ts';

let double: Double | null = null;
afterEach(async () => {
  await double?.close();
  double = null;
});

/** A clock that moves when it is told to. */
function handClock(): Clock & { move(ms: number): void } {
  let now = 0;
  const waiting = new Set<{ readonly at: number; readonly act: () => void }>();
  return {
    now: () => now,
    after: (ms, act) => {
      const one = { at: now + ms, act };
      waiting.add(one);
      return () => void waiting.delete(one);
    },
    move: (ms) => {
      now += ms;
      for (const one of [...waiting].filter(({ at }) => at <= now)) {
        waiting.delete(one);
        one.act();
      }
    },
  };
}

const messages = [{ role: 'user' as const, content: 'Go' }];

describe('the double over time', () => {
  it('waits for its latency, then streams at its rate', async () => {
    const clock = handClock();
    double = await openDouble({ rules: [{ answer: { text: 'x'.repeat(48) } }], latencyMs: 500, rate: 3 }, { clock });
    const texts: string[] = [];
    let isOver = false;
    const reading = (async () => {
      const stream = await openaiOn({ url: double.url }).chat.completions.create({
        model: 'm',
        messages,
        stream: true,
      });
      for await (const { choices } of stream) texts.push(choices[0]?.delta.content ?? '');
      isOver = true;
    })();
    await until(() => double?.asked.length === 1);
    expect(texts).toEqual([]);
    clock.move(500);
    await until(() => texts.length === 1);
    // Three tokens are a piece of twelve characters.
    for (let second = 1; second <= 3; second += 1) {
      clock.move(1000);
      await until(() => texts.length === 1 + second);
      expect(isOver).toBe(false);
    }
    clock.move(1000);
    await reading;
    expect(texts.join('')).toBe('x'.repeat(48));
  });

  it('notices that a client leaves, and bills what it had sent', async () => {
    const clock = handClock();
    double = await openDouble({ rules: [{ answer: { text: 'x'.repeat(48) } }], rate: 3 }, { clock });
    const stream = await anthropicOn(double).messages.create({ model: 'm', max_tokens: 100, messages, stream: true });
    clock.move(1000);
    for await (const event of stream) if (event.type === 'content_block_delta') break;
    await until(() => double?.bill().waiting === 0);
    expect(double.bill()).toMatchObject({ answered: { calls: 0 }, broken: { calls: 1, input: 8, output: 3 } });
    clock.move(60_000);
    expect(double.bill()).toMatchObject({ answered: { calls: 0 }, broken: { calls: 1, output: 3 } });
  });

  it('serves hundreds at once, and its bill is the sum of what they were told', async () => {
    double = await openDouble({ rules: [{ answer: { text: 'x'.repeat(400) } }], rate: 1000 });
    const client = openaiOn(double);
    const told = await Promise.all(
      Array.from({ length: 200 }, async (_, nth) => {
        const stream = await client.chat.completions.create({
          model: `m${nth % 2}`,
          messages: [{ role: 'user', content: `Go ${nth}` }],
          stream: true,
          stream_options: { include_usage: true },
        });
        return (await all(stream)).at(-1)?.usage;
      }),
    );
    const sum = (field: 'prompt_tokens' | 'completion_tokens'): number =>
      told.reduce((all, usage) => all + (usage?.[field] ?? 0), 0);
    const { answered, byModel } = double.bill();
    expect([answered.calls, answered.input, answered.output]).toEqual([
      200,
      sum('prompt_tokens'),
      sum('completion_tokens'),
    ]);
    expect(Object.entries(byModel).map(([model, { calls }]) => [model, calls])).toEqual([
      ['m0', 100],
      ['m1', 100],
    ]);
  });

  it('ends what still streams when it closes', async () => {
    const gone = await openDouble({ rules: [{ answer: { text: 'x'.repeat(48) } }], rate: 0.001 });
    const stream = await openaiOn(gone).responses.create({ model: 'm', input: 'Go', stream: true });
    const reading = all(stream).catch(() => 'ended');
    await gone.close();
    expect(await reading).toBe('ended');
  });
});

describe('the double in a process of its own', () => {
  it('says where it listens, and its bill at the end', async () => {
    const child = await openDoubleProcess({ rules: [{ answer: { text: 'Hello.' } }] });
    const message = await anthropicOn(child).messages.create({ model: 'claude-haiku-4-5', max_tokens: 100, messages });
    expect(message.content).toEqual([{ type: 'text', text: 'Hello.', citations: null }]);
    const one = { calls: 1, input: 8, output: 2, cacheRead: 0, cacheWrite: 0 };
    expect(await child.close()).toEqual({
      bill: {
        answered: one,
        byModel: { 'claude-haiku-4-5': one },
        broken: { calls: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
        refused: 0,
        waiting: 0,
      },
      prefixFaults: [],
    });
  });
});
