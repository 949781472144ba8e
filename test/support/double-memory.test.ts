/** What the double remembers: conversations, prompt caches, prefixes; and what it chooses by: rules, chaos. */
import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { anthropicOn, openaiOn, thrownBy } from './double/clients.ts';
import type { Double } from './double/double.ts';
import { openDouble } from './double/double.ts';
import { replyOf } from './double/reply.ts';
import type { Rule, Script } from './double/script.ts';
import { piecesOf, tokensIn } from './double/tokens.ts';

let double: Double;
afterEach(() => double?.close());

const READ = { name: 'read_file', input_schema: { type: 'object' as const } };
const CALLS: Rule = { when: { turn: 1 }, answer: { calls: [{ tool: 'read_file', input: { path: 'a' } }] } };
const CALLS_AGAIN: Rule = { when: { turn: 2 }, answer: { calls: [{ tool: 'read_file', input: { path: 'b' } }] } };
const DONE: Rule = { answer: { text: 'Done.' } };
const MARK = { cache_control: { type: 'ephemeral' as const } };

/** Three requests of one agent on the Messages wire, each with a mark at the end of the system prompt and of the last turn. */
async function agent(
  script: Script,
  task: string,
  system: (nth: number) => string,
): Promise<readonly Anthropic.Usage[]> {
  double = await openDouble(script);
  const client = anthropicOn(double);
  const turns: Anthropic.MessageParam[] = [];
  const usages: Anthropic.Usage[] = [];
  let next: Anthropic.ContentBlockParam[] = [{ type: 'text', text: task }];
  for (let nth = 1; nth <= 3; nth += 1) {
    const marked = next.map((block) =>
      block.type === 'text' || block.type === 'tool_result' ? { ...block, ...MARK } : block,
    );
    const message = await client.messages.create({
      model: 'claude-haiku-4-5',
      max_tokens: 100,
      tools: [READ],
      system: [{ type: 'text', text: system(nth), ...MARK }],
      messages: [...turns, { role: 'user', content: marked }],
    });
    usages.push(message.usage);
    turns.push({ role: 'user', content: next }, { role: 'assistant', content: message.content });
    next = message.content.flatMap((block) =>
      block.type === 'tool_use'
        ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: 'x'.repeat(4000) }]
        : [],
    );
  }
  return usages;
}

const total = (usage: Anthropic.Usage): number =>
  usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0);

describe('prompt caching at the double', () => {
  it('reads at a mark what an earlier request wrote there, and writes the rest up to the last mark', async () => {
    const usages = await agent({ rules: [CALLS, CALLS_AGAIN, DONE] }, 'y'.repeat(6000), () => 'Be brief.');
    const [first, second, third] = usages.map((usage) => [
      usage.cache_read_input_tokens,
      usage.cache_creation_input_tokens,
      usage.input_tokens,
    ]);
    const all = usages.map(total);
    expect([first, second, third]).toEqual([
      [0, all[0], 0],
      [all[0], (all[1] ?? 0) - (all[0] ?? 0), 0],
      [all[1], (all[2] ?? 0) - (all[1] ?? 0), 0],
    ]);
    expect(double.prefixFaults()).toEqual([]);
    expect(double.bill().answered).toEqual({
      calls: 3,
      input: 0,
      output: 6 + 6 + 2,
      cacheRead: (all[0] ?? 0) + (all[1] ?? 0),
      cacheWrite: all[2],
    });
  });

  it('caches nothing below the minimum, which a script can lower', async () => {
    const short = await agent({ rules: [DONE] }, 'Go', () => 'Be brief.').catch(() => []);
    expect(short).toEqual([]);
    expect(double.bill().answered).toMatchObject({ cacheRead: 0, cacheWrite: 0 });
    await double.close();
    await agent({ rules: [DONE], cache: { minimum: 0 } }, 'Go', () => 'Be brief.').catch(() => []);
    expect(double.bill().answered).toMatchObject({ input: 0, cacheRead: 0 });
  });

  it('reads nothing when the system prompt changes, and says so', async () => {
    const usages = await agent(
      { rules: [CALLS, CALLS_AGAIN, DONE] },
      'y'.repeat(6000),
      (nth) => `It is ${nth} o'clock.`,
    );
    expect(usages.map((usage) => usage.cache_read_input_tokens)).toEqual([0, 0, 0]);
    const conversation = double.asked[0]?.conversation;
    expect(double.prefixFaults()).toEqual([
      `messages: request 2 of conversation ${conversation} differs from request 1 in part 2 (system): was "text\\",\\"text\\":\\"It is 1 o'clock.\\"}", is "text\\",\\"text\\":\\"It is 2 o'clock.\\"}"`,
      `messages: request 3 of conversation ${conversation} differs from request 2 in part 2 (system): was "text\\",\\"text\\":\\"It is 2 o'clock.\\"}", is "text\\",\\"text\\":\\"It is 3 o'clock.\\"}"`,
    ]);
  });

  it('is automatic in steps of 128 tokens with OpenAI, from 1024 on', async () => {
    double = await openDouble({ rules: [DONE] });
    const ask = async (text: string) => {
      const { usage } = await openaiOn(double).responses.create({
        model: 'gpt-5',
        instructions: 'z'.repeat(5000),
        input: text,
      });
      return [usage?.input_tokens, usage?.input_tokens_details.cached_tokens];
    };
    const [input] = await ask('one');
    expect(await ask('two')).toEqual([input, 1152]);
    expect(await ask('two')).toEqual([input, 1152]);
    const other = await openaiOn(double).responses.create({ model: 'gpt-5', instructions: 'short', input: 'one' });
    expect(other.usage?.input_tokens_details.cached_tokens).toBe(0);
  });

  it('bills the writing too where a script says that the model does', async () => {
    double = await openDouble({ rules: [DONE], cache: { writes: true } });
    const messages = [{ role: 'user' as const, content: 'z'.repeat(5000) }];
    const ask = () => openaiOn(double).chat.completions.create({ model: 'gpt-5', messages });
    const usages = [await ask(), await ask()].map(({ usage }) => usage?.prompt_tokens_details);
    expect(usages).toMatchObject([
      { cached_tokens: 0, cache_write_tokens: 1152 },
      { cached_tokens: 1152, cache_write_tokens: 0 },
    ]);
    expect(double.bill().answered).toMatchObject({ cacheRead: 1152, cacheWrite: 1152 });
  });
});

describe('what the double lets go', () => {
  it('is the bodies before the last two of a conversation, when a script says so; the count stays', async () => {
    await agent({ rules: [CALLS, CALLS_AGAIN, DONE], forgets: true }, 'Go', () => 'Be brief.');
    expect(double.asked.map(({ raw, parts }) => [raw === '', parts.length === 0])).toEqual([
      [true, true],
      [false, false],
      [false, false],
    ]);
    expect(double.bill().answered.calls).toBe(3);
    expect(double.prefixFaults()).toEqual([]);
  });
});

describe('the rules of a script', () => {
  it('tell conversations apart by their calls, and count requests and turns', async () => {
    await agent({ rules: [CALLS, CALLS_AGAIN, DONE] }, 'Go', () => 'Be brief.');
    expect(double.asked.map(({ nth, turn }) => [nth, turn])).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
    expect(new Set(double.asked.map(({ conversation }) => conversation)).size).toBe(1);
    expect(
      double.asked.map(({ system, first, last, tools, model }) => [system, first, last.length, tools, model]),
    ).toEqual([
      ['Be brief.', 'Go', 2, ['read_file'], 'claude-haiku-4-5'],
      ['Be brief.', 'Go', 4000, ['read_file'], 'claude-haiku-4-5'],
      ['Be brief.', 'Go', 4000, ['read_file'], 'claude-haiku-4-5'],
    ]);
  });

  it('tell apart agents with the same task that only talk', async () => {
    double = await openDouble({ rules: [{ answer: { text: 'Yes.' } }] });
    const ask = (system: string, ...rest: OpenAI.ChatCompletionMessageParam[]) =>
      openaiOn(double).chat.completions.create({
        model: 'm',
        messages: [{ role: 'system', content: system }, { role: 'user', content: 'Go' }, ...rest],
      });
    const on = [
      { role: 'assistant' as const, content: 'Yes.' },
      { role: 'user' as const, content: 'On.' },
    ];
    for (const system of ['One.', 'Two.']) await ask(system);
    for (const system of ['One.', 'Two.']) await ask(system, ...on);
    expect(double.prefixFaults()).toEqual([]);
    await ask('Three.', ...on);
    expect(double.prefixFaults().length).toBe(1);
  });

  it('answer by what was said, by the model, and only so many times', async () => {
    double = await openDouble({
      rules: [
        { when: { last: 'risk' }, answer: { text: 'risky' } },
        { when: { system: '^You plan', model: 'opus' }, answer: { text: 'planned' } },
        { when: { times: 1 }, answer: { text: 'once' } },
        { when: { first: 'Go', nth: 4 }, answer: { text: 'fourth' } },
        { answer: { text: 'else' } },
      ],
    });
    const ask = async (content: string, system = 'You work.', model = 'claude-opus-5') => {
      const message = await anthropicOn(double).messages.create({
        model,
        max_tokens: 100,
        system,
        messages: [{ role: 'user', content }],
      });
      return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    };
    expect(await ask('Find risks')).toBe('risky');
    expect(await ask('Go', 'You plan.')).toBe('planned');
    expect(await ask('Go', 'You plan.', 'claude-haiku-4-5')).toBe('once');
    expect(await ask('Go')).toBe('else');
    expect(await ask('Go')).toBe('fourth');
    expect(await ask('Go')).toBe('else');
  });

  it('refuse what they have no rule for', async () => {
    double = await openDouble({ rules: [] });
    const error = await thrownBy(() => openaiOn(double).responses.create({ model: 'gpt-5', input: 'Hi' }));
    expect(error).toMatchObject({ status: 400, message: '400 The script of the double has no rule for this request.' });
  });

  it('are struck by chaos in the same places each time', async () => {
    const faults = [
      { is: 'status' as const, status: 503 },
      { is: 'cut' as const, at: 'head' as const },
    ];
    const run = async (share: number): Promise<readonly string[]> => {
      const struck = await openDouble({ rules: [DONE], chaos: { share, faults, seed: 7 } });
      for (let nth = 0; nth < 30; nth += 1) {
        await thrownBy(() => openaiOn(struck).responses.create({ model: 'gpt-5', input: `${nth}` }));
      }
      const seen = struck.asked.map(({ outcome }) => `${outcome.is} ${outcome.status}`);
      await struck.close();
      return seen;
    };
    const seen = await run(0.3);
    const count = (what: string): number => seen.filter((one) => one === what).length;
    expect([count('answered 200'), count('refused 503'), count('broken 0')]).toEqual([17, 7, 6]);
    expect(await run(0.3)).toEqual(seen);
    expect(new Set(await run(0))).toEqual(new Set(['answered 200']));
  });
});

describe('tokens of the double', () => {
  const letters = fc.string({ unit: 'grapheme', maxLength: 200 });

  it('are never more than bytes, and pieces of a text make the text', () => {
    fc.assert(
      fc.property(letters, (text) => {
        expect(tokensIn(text)).toBeLessThanOrEqual(Buffer.byteLength(text));
        expect(piecesOf(text).join('')).toBe(text);
      }),
    );
  });

  it('of a reply are never more than its limit, and what is left is the beginning', () => {
    fc.assert(
      fc.property(letters, letters, letters, fc.integer({ min: 1, max: 60 }), (reasoning, text, path, limit) => {
        const answer = { reasoning, text, calls: [{ tool: 'read_file', input: { path } }] };
        const reply = replyOf(answer, { wire: 'messages', model: 'm', limit, id: '1' });
        expect(reply.output).toBeLessThanOrEqual(limit);
        expect(reasoning.startsWith(reply.reasoning) && text.startsWith(reply.text)).toBe(true);
        const whole = reply.calls.every(({ json }) => json === JSON.stringify({ path })) && reply.calls.length === 1;
        expect(reply.stop).toBe(whole ? 'tool use' : 'output limit');
      }),
    );
  });
});
