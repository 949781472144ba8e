/** A chat that hears of a run and answers its questions, by Telegram's Bot API (https://core.telegram.org/bots/api): requests go out only, and
 * updates are polled. Only listed chats are heard. The caller decides what an answer means. */
import { z } from 'zod';
import { messageOf } from '../../domain/result.ts';
import { headOf } from '../../domain/text/text.ts';
import type { World } from '../../ports/world.ts';

/** What a chat may do: hear; also answer questions; also message agents and stop the run. */
export const CHAT_RIGHTS = ['look', 'answer', 'control'] as const;
export type ChatRight = (typeof CHAT_RIGHTS)[number];

export interface Chat {
  readonly id: number;
  readonly may: ChatRight;
}

/** A question as it is shown in a chat. */
export interface ChatQuestion {
  /** Unique in the run, at most 40 characters. */
  readonly id: string;
  readonly text: string;
  /** The answers that a button gives. `allows`: it permits an act. */
  readonly choices: readonly { readonly key: string; readonly label: string; readonly allows: boolean }[];
  /** A reply with words answers it. */
  readonly takesWords: boolean;
  /** The agent that asks; what is said of it is one chain of replies. Null: the run. */
  readonly about: string | null;
}

export interface ChatCommand {
  readonly name: string;
  readonly words: string;
  readonly about: string | null;
}

export interface TelegramParts {
  /** Answers a question; resolves with what to say about it. */
  answer(question: string, answer: { readonly key: string } | { readonly words: string }): Promise<string>;
  /** Carries out a command without its slash; resolves with what to say, or with null for an unknown one. `about`: the agent in whose chain of
   * replies it was typed. */
  command(typed: ChatCommand, may: ChatRight): Promise<string | null>;
  readonly token: string;
  readonly chats: readonly Chat[];
  /** The address of the Bot API, without a path. */
  readonly server: string;
  readonly world: Pick<World, 'sleep'>;
  readonly failed: (text: string) => void;
}

export interface Telegram {
  /** `about`: the agent of which it is. */
  say(text: string, about: string | null): void;
  ask(question: ChatQuestion): void;
  /** The question was answered elsewhere, or withdrawn: its buttons go. */
  settled(question: string, how: string): void;
  /** Stops polling; resolves when what was said is sent or given up, after 5 seconds at most. */
  close(): Promise<void>;
}

/** Characters of one message of Telegram, and bytes of one of ntfy; both take 4,096. */
const MOST = 3500;
const POLL_S = 25;
const CLOSE_MS = 5000;
const RETRIES = [1000, 5000, 20_000];

/** A question from when it is asked until it is settled. */
interface Open {
  readonly question: ChatQuestion;
  /** By chat; on their way, or sent. */
  readonly messages: ReadonlyMap<number, Promise<number>>;
}

export function openTelegram(parts: TelegramParts): Telegram {
  const { chats, world } = parts;
  const told = new Set<string>();
  // Hundreds of messages may fail for one cause.
  const failed = (text: string): void => {
    if (!told.has(text)) parts.failed(text);
    told.add(text);
  };
  const closing = new AbortController();
  const api = apiOf({ ...parts, failed }, closing.signal);
  const questions = new Map<string, Open>();
  const working = new Set<Promise<unknown>>();
  const during = (work: Promise<unknown>): void => {
    const done = work
      .catch((error: unknown) => failed(`Telegram: ${messageOf(error)}`))
      .finally(() => working.delete(done));
    working.add(done);
  };
  const send: Context['send'] = async (chat, text, more = {}) =>
    (await api('sendMessage', { chat_id: chat, text, ...more }, Message)).message_id;
  const chains = openChains(send);
  const unbutton = async (chat: number, message: number, how: string): Promise<void> => {
    await api('editMessageReplyMarkup', { chat_id: chat, message_id: message }, z.unknown());
    await send(chat, how, { reply_parameters: { message_id: message } });
  };
  const context: Context = { parts, api, questions, send, chains, during };
  during(poll(context, closing.signal));
  return {
    say: (text, about) => {
      for (const { id } of chats) during(chains.send(id, about, headOf(text, MOST, '…'), {}));
    },
    ask(question) {
      const fits = fitted(question, 'characters');
      const keyboard = keyboardOf(fits);
      const sent = ({ id, may }: Chat) => chains.send(id, fits.about, fits.text, may === 'look' ? {} : keyboard);
      const messages = new Map(chats.map((chat) => [chat.id, sent(chat)]));
      questions.set(question.id, { question: fits, messages });
      for (const message of messages.values()) during(message);
    },
    settled(id, how) {
      const one = questions.get(id);
      if (one === undefined) return;
      questions.delete(id);
      for (const [chat, sent] of one.messages) during(sent.then((message) => unbutton(chat, message, how)));
    },
    async close() {
      closing.abort();
      await Promise.race([Promise.all(working), world.sleep(CLOSE_MS)]);
    },
  };
}

type Chains = ReturnType<typeof openChains>;

/** What is said of an agent replies to the first message about it, so that a chat shows it as one chain. */
function openChains(send: Context['send']) {
  const firsts = new Map<string, Promise<number | null>>();
  const numbers: (readonly [chat: number, about: string, message: Promise<number | null>])[] = [];
  return {
    async send(chat: number, about: string | null, text: string, more: object): Promise<number> {
      if (about === null) return send(chat, text, more);
      const key = `${chat} ${about}`;
      const first = firsts.get(key);
      const to = first === undefined ? null : await first;
      const reply = to === null ? {} : { reply_parameters: { message_id: to, allow_sending_without_reply: true } };
      const sent = send(chat, text, { ...reply, ...more });
      const number = sent.catch(() => null);
      if (first === undefined) firsts.set(key, number);
      numbers.push([chat, about, number]);
      return sent;
    },
    /** The agent that a message is about, which may be on its way; null for others. */
    async of(chat: number, message: number): Promise<string | null> {
      for (const [to, about, number] of numbers) if (to === chat && (await number) === message) return about;
      return null;
    },
  };
}

export const NOT_OPEN = 'This question is no longer open.';
const CUT = 'This is not all of it, so it cannot be allowed from here: look at it in a terminal.';

/** The question as far as one message shows it. What is cut cannot be allowed. */
export function fitted(question: ChatQuestion, limit: 'characters' | 'bytes'): ChatQuestion {
  const size = limit === 'bytes' ? Buffer.byteLength(question.text) : question.text.length;
  if (size <= MOST) return question;
  // A character has three bytes at most.
  const text = `${headOf(question.text, limit === 'bytes' ? MOST / 3 : MOST, '…')}\n\n${CUT}`;
  return { ...question, text, choices: question.choices.filter(({ allows }) => !allows) };
}

function keyboardOf({ id, choices }: ChatQuestion): object {
  const buttons = choices.map(({ key, label }) => [{ text: label.slice(0, 60), callback_data: `${id} ${key}` }]);
  return { reply_markup: { inline_keyboard: buttons } };
}

interface Context {
  readonly parts: TelegramParts;
  readonly api: Api;
  readonly questions: ReadonlyMap<string, Open>;
  readonly send: (chat: number, text: string, more?: object) => Promise<number>;
  readonly chains: Chains;
  readonly during: (work: Promise<unknown>) => void;
}

const Message = z.object({ message_id: z.number(), chat: z.object({ id: z.number() }).optional() });
const Update = z.object({
  update_id: z.number(),
  message: z
    .object({
      chat: z.object({ id: z.number() }),
      text: z.string().max(10_000).optional(),
      reply_to_message: z.object({ message_id: z.number() }).optional(),
    })
    .optional(),
  callback_query: z
    .object({
      id: z.string(),
      data: z.string().max(64).optional(),
      message: z.object({ chat: z.object({ id: z.number() }) }).optional(),
    })
    .optional(),
});
type Update = z.infer<typeof Update>;
type Pressed = NonNullable<Update['callback_query']>;
type Written = NonNullable<Update['message']>;

/** Takes updates until the signal is aborted. A bot that has a webhook of its own is left alone. */
async function poll(context: Context, signal: AbortSignal): Promise<void> {
  const { url } = await context.api('getWebhookInfo', {}, z.object({ url: z.string().default('') }));
  if (url !== '') throw new Error('this bot has a webhook, which polling would take away; use another bot');
  let offset = 0;
  while (!signal.aborted) {
    const wanted = { offset, timeout: POLL_S, allowed_updates: ['message', 'callback_query'] };
    const updates = await context.api('getUpdates', wanted, z.array(Update), signal).catch((error: unknown) => {
      if (signal.aborted) return [];
      throw error;
    });
    for (const update of updates) {
      // An update that comes twice was taken already.
      if (update.update_id < offset) continue;
      offset = update.update_id + 1;
      taken(context, update);
    }
  }
}

function taken(context: Context, { message, callback_query: pressed }: Update): void {
  const from = message?.chat.id ?? pressed?.message?.chat.id;
  const chat = context.parts.chats.find(({ id }) => id === from);
  // Others are not answered, not even with a refusal.
  if (chat === undefined) return;
  if (pressed !== undefined) context.during(receipted(context, chat, pressed));
  if (message !== undefined) context.during(replied(context, chat, message));
}

/** The receipt of a press can fail by itself: Telegram takes none that comes late. */
async function receipted(context: Context, chat: Chat, { id, data = '' }: Pressed): Promise<void> {
  const text = await answered(context, chat, data);
  await context.api('answerCallbackQuery', { callback_query_id: id, text: text.slice(0, 200) }, z.unknown());
}

async function replied(context: Context, chat: Chat, { text = '', reply_to_message: reply }: Written): Promise<void> {
  if (text.trim() === '') return;
  const question = reply === undefined ? undefined : await questionAt(context, chat, reply.message_id);
  const about = reply === undefined ? null : await context.chains.of(chat.id, reply.message_id);
  const words = await said(context, chat, { text: text.trim(), question, about });
  await context.chains.send(chat.id, about, headOf(words, MOST, '…'), {});
}

/** A reply can be here before the number of the message that it answers is known, so it waits for those on their way. */
const questionAt = ({ questions }: Context, chat: Chat, message: number): Promise<ChatQuestion | undefined> =>
  Promise.any(
    [...questions.values()].map(async ({ question, messages }) => {
      if ((await messages.get(chat.id)) !== message) throw new Error('another message');
      return question;
    }),
  ).catch(() => undefined);

async function answered({ parts, questions }: Context, chat: Chat, data: string): Promise<string> {
  if (chat.may === 'look') return 'This chat may only look.';
  const [id = '', key = ''] = data.split(' ');
  const isOpen = questions.get(id)?.question.choices.some((each) => each.key === key) === true;
  return isOpen ? parts.answer(id, { key }) : NOT_OPEN;
}

/** What was typed, in reply to a question or about an agent. */
interface Typed extends Pick<ChatCommand, 'about'> {
  readonly text: string;
  readonly question?: ChatQuestion | undefined;
}

/** Words in the chain of an agent that asks nothing are for the agent. */
const unasked = async (parts: TelegramParts, chat: Chat, { text, about }: Typed): Promise<string> =>
  about === null
    ? 'Reply to a question to answer it. /help lists what there is.'
    : ((await parts.command({ name: 'message', words: text, about }, chat.may)) ?? '');

async function said({ parts }: Context, chat: Chat, { text, question, about }: Typed): Promise<string> {
  const command = /^\/([a-z]+)(?:@\w+)?(?:\s+([^]*))?$/.exec(text);
  if (command !== null) {
    const typed = { name: command[1] ?? '', words: command[2] ?? '', about };
    return (await parts.command(typed, chat.may)) ?? 'Unknown. /help lists what there is.';
  }
  if (question === undefined) return unasked(parts, chat, { text, about });
  if (chat.may === 'look') return 'This chat may only look.';
  return !question.takesWords ? 'Use one of its buttons.' : parts.answer(question.id, { words: text });
}

type Api = <T>(method: string, body: object, result: z.ZodType<T>, during?: AbortSignal) => Promise<T>;

const Answer = z.object({
  ok: z.boolean(),
  result: z.unknown().optional(),
  description: z.string().optional(),
  parameters: z.object({ retry_after: z.number().optional() }).optional(),
});

/** Calls the Bot API; repeats what failed on the way until the run ends, which is said once, and waits as long as the server asks for. Rejects without
 * the token in its words. */
const apiOf =
  (parts: TelegramParts, closing: AbortSignal): Api =>
  async (method, body, result, during = NEVER) => {
    for (let attempt = 0; ; attempt += 1) {
      const tried = await once(parts, method, body, during);
      if ('value' in tried) return result.parse(tried.value);
      const wait = tried.after ?? RETRIES[attempt] ?? LONGEST_WAIT;
      const why = tried.why.replaceAll(parts.token, '…');
      if (tried.lasting || during.aborted || closing.aborted) throw new Error(why);
      if (attempt === RETRIES.length)
        parts.failed('Telegram: it cannot be reached, and is tried again until the run ends');
      await parts.world.sleep(Math.min(wait, LONGEST_WAIT), closing);
    }
  };

const NEVER = new AbortController().signal;
const LONGEST_WAIT = 60_000;

interface Failed {
  readonly why: string;
  /** A repetition does not change it. */
  readonly lasting: boolean;
  /** How long the server asks to wait, in milliseconds. */
  readonly after?: number | undefined;
}

async function once(
  { token, server }: TelegramParts,
  method: string,
  body: object,
  during: AbortSignal,
): Promise<{ readonly value: unknown } | Failed> {
  try {
    const response = await fetch(`${server}/bot${token}/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.any([AbortSignal.timeout((POLL_S + 10) * 1000), during]),
    });
    const said = Answer.safeParse(await response.json());
    if (!said.success)
      return { why: `${method}: not an answer of the Bot API (status ${response.status})`, lasting: true };
    if (said.data.ok) return { value: said.data.result };
    const after = said.data.parameters?.retry_after;
    const why = `${method}: ${said.data.description ?? `status ${response.status}`}`;
    return { why, lasting: after === undefined && response.status < 500, after: after && after * 1000 };
  } catch (error) {
    return { why: `${method}: ${reasonOf(error)}`, lasting: false };
  }
}

/** Of a request that did not arrive: the cause tells more. */
export const reasonOf = (error: unknown): string =>
  messageOf(error instanceof Error && error.cause instanceof Error ? error.cause : error);
