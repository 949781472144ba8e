import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ModelReply } from '../../../src/domain/turn.ts';
import { MessageReader } from '../../../src/models/anthropic/reply.ts';
import { replyOf } from '../../../src/models/anthropic/adapter.ts';
import type { Reading } from '../../../src/models/http/exchange.ts';
import { jsonOf } from '../../../src/models/http/json.ts';
import { ask } from '../anthropic-parts.ts';

const start = {
  type: 'message_start',
  message: { model: 'claude-sonnet-4-6', usage: { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 5 } },
};
const open = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block });
const grow = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta });
const close = (index: number) => ({ type: 'content_block_stop', index });
const end = (stop_reason: string | null, usage: unknown = { output_tokens: 7 }) => ({
  type: 'message_delta',
  delta: { stop_reason },
  usage,
});
const stop = { type: 'message_stop' };
const text = (index: number, said: string) => [
  open(index, { type: 'text', text: '' }),
  grow(index, { type: 'text_delta', text: said }),
  close(index),
];
const tool = (index: number, json: string, input: unknown = {}) => [
  open(index, { type: 'tool_use', id: `toolu_${index}`, name: 'read_file', input }),
  grow(index, { type: 'input_json_delta', partial_json: json }),
  close(index),
];

/** What a stream of these events is, and why one of them could be none. */
function read(events: readonly unknown[]): { refused: string | null; reply: Reading<ModelReply> } {
  const reader = new MessageReader(false);
  let refused: string | null = null;
  for (const event of events) {
    const taken = reader.take(event);
    if (!taken.ok) refused ??= taken.fault;
  }
  return { refused, reply: replyOf(reader.progress(), ask(), { provider: 'anthropic', formed: false }) };
}
const faultOf = (events: readonly unknown[]): string => {
  const { refused, reply } = read(events);
  if (refused !== null) return refused;
  if (reply.is === 'reply') return `a reply: ${reply.reply.stopReason}`;
  return 'why' in reply ? `${reply.is}: ${reply.why}` : reply.is;
};

describe('the events of a stream', () => {
  it.each([
    [[start, ...text(0, 'Hi.'), end('end_turn'), stop], 'a reply: end'],
    [[start, ...text(0, 'Hi.'), end('stop_sequence')], 'a reply: end'],
    [[start, ...tool(0, '{}'), end('tool_use'), stop], 'a reply: tool use'],
    [[start, end('model_context_window_exceeded'), stop], 'a reply: output limit'],
    [[start, end('pause_turn'), stop], 'a reply: output limit'],
    [[start, end('refusal'), stop], 'a reply: refused'],
    [[], 'cut'],
    [[start, ...text(0, 'Hi.')], 'cut'],
    [[start, ...tool(0, '{}')], 'cut'],
    [[start, ...tool(0, '{').slice(0, 2), end('tool_use'), stop], 'cut: a tool call in it is incomplete'],
    [[start, ...text(0, 'Hi.'), stop], 'malformed: it stopped for an unknown reason: none'],
    [[start, end('sleepy'), stop], 'malformed: it stopped for an unknown reason: sleepy'],
    [[start, end('tool_use'), stop], 'malformed: it stopped for tool calls, but has none'],
    [[start, ...tool(0, '{}'), end('end_turn'), stop], 'malformed: it has tool calls, but did not stop for them'],
    [[{ ...start, message: { model: ' ' } }, end('end_turn')], 'malformed: it does not name its model'],
    [[{ type: 'message_start' }], 'an event has an unknown form'],
    [['odd'], 'an event has an unknown form'],
    [[...text(0, 'Hi.')], 'an event came before the start of the message'],
    [[start, start], 'a second message started'],
    [[start, end('end_turn'), stop, ...text(0, 'x')], 'an event came after the end'],
    [[start, ...text(0, 'a'), ...text(0, 'b')], 'a block started twice'],
    [[start, grow(3, { type: 'text_delta', text: 'x' })], 'a part belongs to a block that does not exist'],
    [[start, close(3)], 'a block ended that never started'],
    [
      [start, open(0, { type: 'text', text: '' }), grow(0, { type: 'input_json_delta', partial_json: '{}' })],
      'a part has another kind than its block',
    ],
    [
      [
        start,
        { type: 'of_tomorrow', x: 1 },
        open(0, { type: 'server_tool_use', id: 's', name: 'web', input: {} }),
        grow(0, { type: 'input_json_delta', partial_json: '{}' }),
        grow(0, { type: 'of_tomorrow' }),
        close(0),
        ...text(1, 'Hi.'),
        end('end_turn'),
        stop,
      ],
      'a reply: end',
    ],
  ])('%#: %j', (events, what) => {
    expect(faultOf(events)).toBe(what);
  });

  it.each([
    open(-1, { type: 'text', text: '' }),
    open(0.5, { type: 'text', text: '' }),
    open(0, { type: 'text', text: 1 }),
    open(0, { type: 'tool_use', name: 'read_file', input: {} }),
    open(0, { type: 'tool_use', id: 'a', name: 'read_file', input: { size: Infinity } }),
    open(0, { type: 'redacted_thinking' }),
    open(0, { type: 7 }),
    { ...open(0, {}), content_block: null },
    grow(0, { type: 'text_delta' }),
    grow(0, { type: 'input_json_delta', partial_json: {} }),
    grow(0, { type: 'thinking_delta', thinking: null }),
    grow(0, []),
    { type: 'content_block_stop' },
    { type: 'message_delta' },
    { type: 'message_delta', delta: { stop_reason: 1 } },
    { type: 'message_delta', delta: { stop_details: 'none' } },
    { type: 'message_delta', delta: { stop_details: { explanation: 2 } } },
  ])('are none where a part of them is something else: %j', (event) => {
    expect(faultOf([start, event])).toBe('an event has an unknown form');
  });

  it('H08: give no call but of a reply that stopped for it, in whatever order and however often they come', () => {
    const all = [
      start,
      ...text(0, 'Hi.'),
      ...tool(1, '{"path":"a"}'),
      ...tool(2, '{"path":'),
      open(3, { type: 'thinking', thinking: '', signature: '' }),
      grow(3, { type: 'thinking_delta', thinking: 'Hm.' }),
      grow(3, { type: 'signature_delta', signature: 's' }),
      close(3),
      end('end_turn'),
      end('tool_use'),
      end('max_tokens'),
      end(null, null),
      stop,
    ];
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...all) }, fc.anything()), { maxLength: 30 }),
        (rest) => {
          const { reply } = read([start, ...rest]);
          if (reply.is !== 'reply') return;
          const { stopReason, calls } = reply.reply;
          if (stopReason === 'tool use') expect(calls.length).toBeGreaterThan(0);
          else expect(calls).toEqual([]);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('count as they were last reported, and not at all where the end reports nothing', () => {
    const usage = (events: readonly unknown[]): unknown => {
      const { reply } = read(events);
      return reply.is === 'reply' && reply.reply.usage;
    };
    expect([
      usage([start, end('end_turn'), stop]),
      usage([start, end('end_turn', { output_tokens: 9, input_tokens: 12, cache_creation_input_tokens: 3 }), stop]),
      usage([start, end('end_turn', null), stop]),
    ]).toEqual([
      { input: 10, output: 7, cacheRead: 5, cacheWrite: 0 },
      { input: 12, output: 9, cacheRead: 5, cacheWrite: 3 },
      { input: 10, output: Number.NaN, cacheRead: 5, cacheWrite: 0 },
    ]);
  });

  it('bound what a broken call used up by the bytes that the model wrote, or by all that came when it reasoned', () => {
    const reader = new MessageReader(false);
    for (const event of [start, ...text(0, 'Grüße'), ...tool(1, '{"a":1}')]) reader.take(event);
    expect(reader.spent({ sent: 900, came: 5000 })).toEqual({
      input: 10,
      output: 7 + 9 + 7,
      cacheRead: 5,
      cacheWrite: 0,
    });
    reader.take(open(2, { type: 'thinking' }));
    expect(reader.spent({ sent: 900, came: 5000 }).output).toBe(5000);
    expect(new MessageReader(false).spent({ sent: 900, came: 0 })).toMatchObject({ input: 900, output: 0 });
  });

  it('H07: keep the ids that are ids, and give calls without one their own', () => {
    const { reply } = read([
      start,
      open(0, { type: 'tool_use', id: '', name: 'read_file', input: { path: 'whole' } }),
      close(0),
      ...tool(1, ''),
      end('tool_use'),
    ]);
    expect(reply.is === 'reply' && reply.reply.calls).toEqual([
      { id: 'call-1.1', tool: 'read_file', input: { path: 'whole' } },
      { id: 'toolu_1', tool: 'read_file', input: {} },
    ]);
  });

  it('are none with an input that is deeper than a stack', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
    const reader = new MessageReader(false);
    reader.take(start);
    expect(reader.take(open(0, { type: 'tool_use', id: 'a', name: 'read_file', input: deep }))).toEqual({
      ok: false,
      fault: 'an event has an unknown form',
    });
    expect(JSON.stringify(jsonOf(deep))).toContain('[null]');
  });

  it('keep reasoning only with its seal, and beside something that was said', () => {
    const thought = (signature: string) => [
      open(0, { type: 'thinking', thinking: '', signature: '' }),
      grow(0, { type: 'thinking_delta', thinking: 'Hm.' }),
      ...(signature === '' ? [] : [grow(0, { type: 'signature_delta', signature })]),
      close(0),
    ];
    const opaque = (events: readonly unknown[]): boolean => {
      const { reply } = read([start, ...events]);
      return reply.is === 'reply' && reply.reply.opaque !== undefined;
    };
    expect([
      opaque([...thought('s'), ...text(1, 'Hi.'), end('end_turn')]),
      opaque([...thought(''), ...text(1, 'Hi.'), end('end_turn')]),
      opaque([...thought('s'), end('end_turn')]),
      opaque([...thought('s'), ...text(1, 'Hi.'), end('max_tokens')]),
    ]).toEqual([true, false, false, false]);
  });
});
