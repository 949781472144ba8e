/** A chat by a Bot API on loopback: who is heard, that each question is answered once, and what happens where something fails. */
import { afterEach, describe, expect, it } from 'vitest';
import { openTelegram, type Telegram } from '../../../src/integrations/index.ts';
import type { Chat } from '../../../src/integrations/notify/telegram.ts';
import { type FakeTelegram, openTelegramDouble } from '../../support/telegram.ts';
import { question } from '../../support/chat-questions.ts';
import { until } from '../../support/until.ts';

const TOKEN = '12345:secret-token';
const [LOOKS, ANSWERS, CONTROLS, STRANGER] = [1, 2, 3, 99] as const;
const CHATS: readonly Chat[] = [
  { id: LOOKS, may: 'look' },
  { id: ANSWERS, may: 'answer' },
  { id: CONTROLS, may: 'control' },
];

interface Open {
  readonly server: FakeTelegram;
  readonly chat: Telegram;
  readonly answers: (readonly [question: string, answer: string])[];
  readonly commands: string[];
  readonly problems: string[];
}

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function open({ chats = CHATS, webhook = '', token = TOKEN } = {}): Promise<Open> {
  const server = await openTelegramDouble(TOKEN, webhook);
  const answers: (readonly [string, string])[] = [];
  const [commands, problems]: [string[], string[]] = [[], []];
  const settled = new Set<string>();
  const chat = openTelegram({
    token,
    chats,
    server: server.url,
    world: { sleep: (_, signal) => (signal === undefined ? new Promise(() => undefined) : Promise.resolve()) },
    failed: (text) => problems.push(text),
    answer: (question, answer) => {
      if (settled.has(question)) return Promise.resolve('It was answered already.');
      settled.add(question);
      answers.push([question, 'words' in answer ? answer.words : answer.key]);
      return Promise.resolve('Done.');
    },
    command: ({ name, words, about }, may) => {
      if (name === 'unknown') return Promise.resolve(null);
      commands.push(`${name} ${words} ${may}${about === null ? '' : ` about ${about}`}`);
      return Promise.resolve(`did ${name}`);
    },
  });
  closers.push(async () => {
    await chat.close();
    server.close();
  });
  return { server, chat, answers, commands, problems };
}

describe('what is said of an agent', () => {
  it('S141: replies to the first message about it in each chat, and questions do as well', async () => {
    const { server, chat } = await open({ chats: [{ id: ANSWERS, may: 'answer' }] });
    chat.say('scout failed', 'S1');
    chat.say('coder failed', 'S2');
    chat.say('the run has used 80 %', null);
    chat.ask({ ...question('one'), about: 'S1' });
    chat.say('scout failed again', 'S1');
    await server.message('scout failed again');
    await server.message('may I run one?');
    const idOf = (text: string): number | undefined => server.sent.find((one) => one.text === text)?.id;
    const chain = server.sent.map(({ text, replyTo }) => [text, replyTo] as const);
    expect(new Map(chain)).toEqual(
      new Map([
        ['scout failed', null],
        ['coder failed', null],
        ['the run has used 80 %', null],
        ['may I run one?', idOf('scout failed')],
        ['scout failed again', idOf('scout failed')],
      ]),
    );
  });

  it('S142: is the place of commands without a name, and of words for the agent', async () => {
    const { server, chat, commands, answers } = await open({ chats: [{ id: CONTROLS, may: 'control' }] });
    chat.say('scout failed', 'S1');
    const { id } = await server.message('scout failed');
    server.write(CONTROLS, '/status', id);
    const said = await server.message('did status');
    expect(said.replyTo).toBe(id);
    // The answer is of the same chain.
    server.write(CONTROLS, 'look at src', said.id);
    await server.message('did message');
    server.write(CONTROLS, '/status');
    await until(() => commands.length === 3);
    expect(commands).toEqual(['status  control about S1', 'message look at src control about S1', 'status  control']);
    expect(answers).toEqual([]);
  });

  it('is the place of words that are read before its first message is known to be sent', async () => {
    const { server, chat, commands } = await open({ chats: [{ id: CONTROLS, may: 'control' }] });
    const known = server.holdSent();
    chat.say('scout failed', 'S1');
    server.write(CONTROLS, 'look at src', (await server.message('scout failed')).id);
    // It is carried out at once, so what came before has been read.
    server.write(CONTROLS, '/status');
    await until(() => commands.length === 1);
    known();
    await until(() => server.sent.length === 3);
    expect(commands).toEqual(['status  control', 'message look at src control about S1']);
  });
});

describe('a question in a chat', () => {
  it('has buttons where it may be answered, and the first press counts', async () => {
    const { server, chat, answers } = await open();
    chat.ask(question('q1'));
    await until(() => server.sent.length === 3);
    const buttons = server.sent.map(({ chat: id, buttons: shown }) => [id, shown]);
    expect(buttons.toSorted(([a], [b]) => Number(a) - Number(b))).toEqual([
      [LOOKS, {}],
      [ANSWERS, { 'allow once': 'q1 1', deny: 'q1 4' }],
      [CONTROLS, { 'allow once': 'q1 1', deny: 'q1 4' }],
    ]);
    server.press(ANSWERS, 'q1 1', 3);
    server.press(CONTROLS, 'q1 4');
    await until(() => server.receipts.length === 4);
    expect(answers).toEqual([['q1', '1']]);
    expect(server.receipts).toEqual(['Done.', ...Array.from({ length: 3 }, () => 'It was answered already.')]);
  });

  it('is answered also after the receipt of another press was refused', async () => {
    const { server, chat, answers, problems } = await open();
    chat.ask(question('q1'));
    chat.ask(question('q2'));
    await until(() => server.sent.length === 6);
    server.fail('answerCallbackQuery', 400, { description: 'Bad Request: query is too old' });
    server.press(ANSWERS, 'q1 1');
    await until(() => answers.length === 1);
    server.press(ANSWERS, 'q2 4');
    await until(() => server.receipts.length === 1);
    expect(answers).toEqual([
      ['q1', '1'],
      ['q2', '4'],
    ]);
    expect(problems).toEqual(['Telegram: answerCallbackQuery: Bad Request: query is too old']);
  });

  it('is answered by words in a reply to it, and by nothing else', async () => {
    const { server, chat, answers } = await open({ chats: [{ id: ANSWERS, may: 'answer' }] });
    chat.ask(question('q1'));
    const { id } = await server.message('may I run q1?');
    server.write(ANSWERS, 'no, use make');
    await server.message('Reply to a question to answer it.');
    server.write(ANSWERS, 'no, use make', id);
    await server.message('Done.');
    expect(answers).toEqual([['q1', 'no, use make']]);
  });

  it('is answered by a reply that comes before its message is known to be sent', async () => {
    const { server, chat, answers } = await open({ chats: [{ id: ANSWERS, may: 'answer' }] });
    const known = server.holdSent();
    chat.ask(question('q1'));
    const { id } = await server.message('may I run q1?');
    server.write(ANSWERS, 'no, use make', id);
    // The next poll says that the reply was read.
    await until(() => server.calls.filter((method) => method === 'getUpdates').length > 1);
    known();
    await until(() => server.sent.length > 1);
    expect([answers, server.sent.map(({ text }) => text)]).toEqual([
      [['q1', 'no, use make']],
      ['may I run q1?', 'Done.'],
    ]);
  });

  it('cannot be allowed where only a part of it is shown', async () => {
    const { server, chat, answers } = await open({ chats: [{ id: ANSWERS, may: 'answer' }] });
    chat.ask(question('q1', 'x'.repeat(10_000)));
    const { text, buttons } = await server.message('This is not all of it');
    expect(text.length).toBeLessThan(4096);
    expect(buttons).toEqual({ deny: 'q1 4' });
    server.press(ANSWERS, 'q1 1');
    await until(() => server.receipts.length === 1);
    expect(answers).toEqual([]);
  });

  it('loses its buttons when it was answered elsewhere', async () => {
    const { server, chat } = await open({ chats: [{ id: ANSWERS, may: 'answer' }] });
    chat.ask(question('q1'));
    const { id, buttons } = await server.message('may I run q1?');
    chat.settled('q1', 'Allowed.');
    await server.message('Allowed.');
    expect(server.settled).toEqual([id]);
    server.press(ANSWERS, buttons['allow once'] ?? '');
    await until(() => server.receipts.length === 1);
    expect(server.receipts).toEqual(['This question is no longer open.']);
  });

  it('is lost to nobody among a hundred, and none is answered twice', async () => {
    const { server, chat, answers } = await open({ chats: [{ id: ANSWERS, may: 'answer' }] });
    for (let at = 0; at < 100; at += 1) chat.ask(question(`q${at}`));
    await until(() => server.sent.length === 100);
    for (const { buttons } of [...server.sent].toReversed()) server.press(ANSWERS, buttons['allow once'] ?? '', 2);
    await until(() => server.receipts.length === 200);
    expect(new Set(answers.map(([id]) => id)).size).toBe(100);
    expect(answers).toHaveLength(100);
  });
});

describe('who is heard', () => {
  it('are listed chats only, each within what it may', async () => {
    const { server, chat, answers, commands } = await open();
    chat.ask(question('q1'));
    await until(() => server.sent.length === 3);
    server.write(STRANGER, '/stop');
    server.press(STRANGER, 'q1 1');
    server.press(LOOKS, 'q1 1');
    server.write(CONTROLS, '/message code go on');
    server.write(LOOKS, '/list');
    server.write(LOOKS, '/unknown');
    await server.message('Unknown. /help lists what there is.');
    await until(() => commands.length === 2);
    expect(commands).toEqual(['message code go on control', 'list  look']);
    expect(server.receipts).toEqual(['This chat may only look.']);
    expect(answers).toEqual([]);
    expect(server.sent.some(({ chat: id }) => id === STRANGER)).toBe(false);
  });
});

describe('a Bot API that fails', () => {
  it('is tried again, as late as it asks for', async () => {
    const { server, chat, problems } = await open({ chats: [{ id: ANSWERS, may: 'answer' }] });
    server.fail('sendMessage', 429, { description: 'Too Many Requests', parameters: { retry_after: 3 } });
    server.fail('sendMessage', 502, { description: 'Bad Gateway' });
    chat.say('the run is done', null);
    await server.message('the run is done');
    expect(problems).toEqual([]);
  });

  it('is tried again until it is there, after an hour as well: no question is lost, none is asked twice, and it is said once', async () => {
    const { server, chat, answers, problems } = await open({ chats: [{ id: ANSWERS, may: 'answer' }] });
    for (let at = 0; at < 80; at += 1) {
      server.fail('getUpdates', 502, { description: 'Bad Gateway' });
      server.fail('sendMessage', 502, { description: 'Bad Gateway' });
    }
    for (let at = 0; at < 100; at += 1) chat.ask(question(`q${at}`));
    await until(() => server.sent.length >= 100);
    for (const { buttons } of server.sent) server.press(ANSWERS, buttons['deny'] ?? '');
    await until(() => server.receipts.length === 100);
    expect(server.sent.map(({ text }) => text).toSorted()).toEqual(
      Array.from({ length: 100 }, (_, at) => `may I run q${at}?`).toSorted(),
    );
    expect(new Set(answers.map(([id, key]) => `${id} ${key}`)).size).toBe(100);
    expect(problems).toEqual(['Telegram: it cannot be reached, and is tried again until the run ends']);
  });

  it('leaves a bot alone that has a webhook', async () => {
    const { server, problems } = await open({ webhook: 'https://example.org/hook' });
    await until(() => problems.length === 1);
    expect(problems).toEqual(['Telegram: this bot has a webhook, which polling would take away; use another bot']);
    expect(server.calls).not.toContain('getUpdates');
  });

  it('is told without the token', async () => {
    const { problems } = await open({ token: '999:wrong' });
    await until(() => problems.length === 1);
    expect(problems).toEqual(['Telegram: getWebhookInfo: Unauthorized']);
  });
});
