/** A Bot API on loopback: it keeps what is sent, and gives out updates as a person in a chat makes them. */
import { createServer, type ServerResponse } from 'node:http';
import { z } from 'zod';
import { until } from './until.ts';

export interface SentMessage {
  readonly id: number;
  readonly chat: number;
  readonly text: string;
  /** The data of its buttons by their labels. */
  readonly buttons: Readonly<Record<string, string>>;
  /** The message that it replies to. */
  readonly replyTo: number | null;
}

type Words = string | RegExp | ((message: SentMessage) => boolean);

export interface FakeTelegram {
  readonly url: string;
  readonly sent: readonly SentMessage[];
  /** What was said to a pressed button, in order. */
  readonly receipts: readonly string[];
  /** Messages whose buttons were removed. */
  readonly settled: readonly number[];
  readonly calls: readonly string[];
  press(chat: number, data: string, times?: number): void;
  write(chat: number, text: string, replyTo?: number): void;
  /** Answers the next calls of a method with this status and body. */
  fail(method: string, status: number, body: object): void;
  /** Keeps the answers to the next `sendMessage` back until the result is called; what was sent is in the chat at once. */
  holdSent(): () => void;
  /** Waits for a message with these words, or of which this is true. */
  message(words: Words): Promise<SentMessage>;
  close(): void;
}

export async function openTelegramDouble(token: string, webhook = ''): Promise<FakeTelegram> {
  const sent: SentMessage[] = [];
  const receipts: string[] = [];
  const settled: number[] = [];
  const calls: string[] = [];
  const updates: { update_id: number }[] = [];
  const faults: { method: string; status: number; body: object }[] = [];
  let held = Promise.resolve();
  let waiting: { readonly offset: number; readonly response: ServerResponse }[] = [];
  const reply = (response: ServerResponse, result: unknown): void =>
    void response.writeHead(200).end(JSON.stringify({ ok: true, result }));
  const give = (): void => {
    for (const { offset, response } of waiting) {
      const wanted = updates.filter(({ update_id: id }) => id >= offset);
      if (wanted.length > 0) reply(response, wanted);
    }
    waiting = waiting.filter(({ response }) => !response.writableEnded);
  };
  const methods: Readonly<Record<string, (body: Body, response: ServerResponse) => void>> = {
    getWebhookInfo: (_, response) => reply(response, { url: webhook }),
    getUpdates: ({ offset = 0 }, response) => {
      waiting.push({ offset, response });
      give();
    },
    sendMessage: ({ chat_id: chat = 0, text = '', reply_markup: keyboard, reply_parameters: to }, response) => {
      const id = sent.length + 1;
      const buttons = Object.fromEntries(
        (keyboard?.inline_keyboard ?? []).flat().map((one) => [one.text, one.callback_data]),
      );
      sent.push({ id, chat, text, buttons, replyTo: to?.message_id ?? null });
      void held.then(() => reply(response, { message_id: id, chat: { id: chat } }));
    },
    answerCallbackQuery: ({ text = '' }, response) => {
      receipts.push(text);
      reply(response, true);
    },
    editMessageReplyMarkup: ({ message_id: id = 0 }, response) => {
      settled.push(id);
      reply(response, true);
    },
  };
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const [, bot, method = ''] = (request.url ?? '').split('/');
      calls.push(method);
      const at = faults.findIndex((one) => one.method === method);
      const fault = at < 0 ? undefined : faults.splice(at, 1)[0];
      if (bot !== `bot${token}`)
        response.writeHead(401).end(JSON.stringify({ ok: false, description: 'Unauthorized' }));
      else if (fault !== undefined) response.writeHead(fault.status).end(JSON.stringify({ ok: false, ...fault.body }));
      else methods[method]?.(bodyOf(text), response);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  let next = 100;
  const update = (what: object): void => {
    updates.push({ update_id: (next += 1), ...what });
    give();
  };
  const matches = (words: Words) => (one: SentMessage) => {
    if (typeof words === 'string') return one.text.includes(words);
    return words instanceof RegExp ? words.test(one.text) : words(one);
  };
  return {
    url: `http://127.0.0.1:${address.port}`,
    sent,
    receipts,
    settled,
    calls,
    press(chat, data, times = 1) {
      for (let time = 0; time < times; time += 1)
        update({ callback_query: { id: `press-${next}`, data, message: { chat: { id: chat } } } });
    },
    write: (chat, text, replyTo) =>
      update({
        message: {
          chat: { id: chat },
          text,
          ...(replyTo === undefined ? {} : { reply_to_message: { message_id: replyTo } }),
        },
      }),
    fail: (method, status, body) => void faults.push({ method, status, body }),
    holdSent() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    async message(words) {
      await until(() => sent.some(matches(words)));
      const found = sent.find(matches(words));
      if (found === undefined) throw new Error('no such message');
      return found;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

interface Body {
  readonly offset?: number;
  readonly chat_id?: number;
  readonly message_id?: number;
  readonly text?: string;
  readonly reply_parameters?: { readonly message_id: number };
  readonly reply_markup?: { readonly inline_keyboard: readonly (readonly { text: string; callback_data: string }[])[] };
}

const Body: z.ZodType<Body> = z.custom<Body>((value) => typeof value === 'object');
const bodyOf = (text: string): Body => Body.parse(JSON.parse(text));
