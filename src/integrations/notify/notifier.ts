/**
 * Sends notices of a run to a webhook and to ntfy (https://docs.ntfy.sh/publish), whose buttons may answer questions. Requests go out only, and no port
 * is opened. A notice that cannot be delivered is tried again until the run ends, which never waits for it. */
import { createHmac } from 'node:crypto';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { plural } from '../../domain/lists.ts';
import { tried } from '../../domain/result.ts';
import { plainLine } from '../../domain/text/text.ts';
import type { World } from '../../ports/world.ts';
import { type ChatQuestion, fitted, NOT_OPEN, reasonOf, type Telegram, type TelegramParts } from './telegram.ts';

/** What a notice is about; the values of `events` in the configuration. */
export type NoticeKind = 'plan' | 'asks' | 'failed' | 'budget' | 'ended';

/** The fields of a webhook's notice. */
export interface Notice {
  readonly is: NoticeKind;
  readonly session: string;
  readonly project: string;
  /** Names from the root to the agent; empty where it concerns the whole run. */
  readonly agent: readonly string[];
  readonly role: string | null;
  readonly text: string;
  /** US dollars that the run has used. */
  readonly cost: number;
  /** ISO 8601. */
  readonly time: string;
}

export interface Target {
  readonly is: 'webhook' | 'ntfy';
  /** Of ntfy: the server and the topic. */
  readonly url: string;
  /** Absent: all. */
  readonly events?: readonly NoticeKind[] | undefined;
  /** Of a webhook: what its body is signed with; of ntfy: an access token. */
  readonly secret: string | null;
  /** Of ntfy: the topic to which its buttons post, and the token that reads it; absent where nothing is answered. */
  readonly answers?: Readonly<Record<'url' | 'token', string>> | undefined;
}

export interface NotifierParts {
  readonly project: string;
  readonly targets: readonly Target[];
  readonly world: World;
  /** Local time without notices, such as `22:00-07:00`. */
  readonly quietHours?: string | undefined;
  /** Called with a sentence for what was refused, and once for each time that a target cannot be reached. */
  readonly failed: (text: string) => void;
  readonly fetch?: typeof globalThis.fetch;
  readonly answer: TelegramParts['answer'];
}

/** Asks where buttons can answer. */
export interface Notifier extends Pick<Telegram, 'ask' | 'settled'> {
  notify(notice: Notice): void;
  /** Takes back what was not yet sent: it was answered meanwhile. */
  withdraw(isOver: (notice: Notice) => boolean): void;
  /** Resolves when what was notified is delivered or given up, after 5 seconds at most. */
  close(): Promise<void>;
}

/** Notices within this time are one request. */
const BURST_MS = 2000;
const TIME_LIMIT_MS = 10_000;
const CLOSE_MS = 5000;
/** Waits before each further try, in milliseconds; the last one again and again. */
const RETRIES = [1000, 5000, 20_000, 60_000];
const waitAfter = (failures: number): number => RETRIES[failures] ?? RETRIES.at(-1) ?? 0;
const UNREACHED = 3;

interface Outbox {
  readonly target: Target;
  /** Not delivered yet, in order; `work` is there while it is delivered. */
  waiting: readonly Item[];
  work: Promise<void> | null;
}

/** A message of ntfy with buttons, which is sent by itself. */
interface ButtonMessage extends Pick<Notice, 'is' | 'text'> {
  readonly question: string;
  readonly actions: readonly object[];
}

type Item = Notice | ButtonMessage;
const hasButtons = (item: Item): item is ButtonMessage => 'actions' in item;

export function openNotifier(parts: NotifierParts): Notifier {
  const { targets, world, quietHours, failed, fetch: send = fetch } = parts;
  const [hurry, closing] = [new AbortController(), new AbortController()];
  const outboxes = targets.map((target): Outbox => ({ target, waiting: [], work: null }));
  const isQuiet = (): boolean => quietHours !== undefined && isWithin(quietHours, new Date(world.now()));
  async function deliver(box: Outbox): Promise<void> {
    const { is } = box.target;
    await world.sleep(BURST_MS, hurry.signal);
    for (let failures = 0; box.waiting.length > 0 && !closing.signal.aborted; ) {
      const first = box.waiting.findIndex(hasButtons);
      const batch = first < 0 ? box.waiting : box.waiting.slice(0, Math.max(first, 1));
      const { problem, isFinal } = await attempt(send, requestOf(box.target, batch, parts.project), closing.signal);
      if (isFinal) {
        box.waiting = box.waiting.filter((notice) => !batch.includes(notice));
        if (problem !== null) failed(`the ${is} notification was not delivered: ${problem}`);
        continue;
      }
      if (failures === UNREACHED) failed(`${is} cannot be reached, and is tried again until the run ends: ${problem}`);
      await world.sleep(waitAfter(failures), closing.signal);
      failures += 1;
    }
    box.work = null;
  }
  const push = (box: Outbox | undefined, item: Item): void => {
    if (box === undefined || isQuiet() || box.target.events?.includes(item.is) === false) return;
    box.waiting = [...box.waiting, item];
    box.work ??= deliver(box);
  };
  const box = outboxes.find(({ target }) => target.answers !== undefined);
  const topic = box?.target.answers;
  const asking = topic && openAsking({ ...parts, fetch: send }, topic, closing.signal, (one) => push(box, one));
  return {
    notify(notice) {
      const isAsked = notice.is === 'asks' || notice.is === 'plan';
      for (const one of outboxes) if (!isAsked || one !== box) push(one, notice);
    },
    ask: (question) => asking?.ask(question),
    settled(question) {
      asking?.settled(question);
      if (box) box.waiting = box.waiting.filter((item) => !hasButtons(item) || item.question !== question);
    },
    withdraw(isOver) {
      for (const box of outboxes) box.waiting = box.waiting.filter((item) => hasButtons(item) || !isOver(item));
    },
    async close() {
      hurry.abort();
      await Promise.race([Promise.all(outboxes.flatMap(({ work }) => work ?? [])), world.sleep(CLOSE_MS)]);
      closing.abort();
      for (const { target, waiting } of outboxes)
        if (waiting.length > 0)
          failed(`the run ended before ${target.is} got ${plural(waiting.length, 'notification')}`);
    },
  };
}

/** So many buttons fit on one message of ntfy. */
const BUTTONS = 3;
const MORE_ANSWERS = 'Other answers can be given in a terminal.';
/** Letters and digits of what a button posts; nobody guesses them. */
const CODE_LENGTH = 32;
/** So often a connection is made anew: one that is dead is not noticed otherwise. */
const CONNECTION_MS = 60_000;
const Posted = z.object({ id: z.string().regex(/^\w{1,64}$/), event: z.literal('message'), message: z.string() });

/** Asks by ntfy. Whoever knows the topic can post there, so a button posts a code: random, of one answer to one question, and valid once. */
function openAsking(
  { world, answer, failed, fetch: send }: Required<Omit<NotifierParts, 'quietHours'>>,
  topic: NonNullable<Target['answers']>,
  signal: AbortSignal,
  push: (message: ButtonMessage) => void,
) {
  const open = new Set<string>();
  const codes = new Map<string, ButtonMessage & { readonly key: string }>();
  async function pressed(code: string): Promise<void> {
    const button = codes.get(code);
    if (!codes.delete(code) || button === undefined) return;
    const { key, ...message } = button;
    const isOpen = open.delete(message.question);
    const said = isOpen ? await answer(message.question, { key }) : NOT_OPEN;
    push({ ...message, text: `${said} ${message.text}`, question: '' });
  }
  /** Reads what is posted (https://docs.ntfy.sh/subscribe/api), also what was posted while the topic could not be reached. */
  async function listen(): Promise<void> {
    let since = String(Math.floor(world.now() / 1000));
    for (let failures = 0; !signal.aborted; failures += 1) {
      const read = async (lines: AsyncIterable<string>): Promise<void> => {
        for await (const line of lines) {
          failures = 0;
          const { data } = Posted.safeParse(tried(() => JSON.parse(line) as unknown, null));
          since = data?.id ?? since;
          await pressed(data?.message ?? '');
        }
      };
      const request = { url: `${topic.url}/json?since=${since}`, headers: bearer(topic.token), read };
      const { problem, isFinal } = await attempt(send, request, signal);
      if (isFinal && problem !== null) return failed(`no answers are taken by ntfy: ${problem}`);
      await world.sleep(waitAfter(failures), signal);
    }
  }
  void listen();
  return {
    settled: (question: string) => open.delete(question),
    ask(asked: ChatQuestion): void {
      const { id: question, text, choices, about } = fitted(asked, 'bytes');
      const is = about === null ? 'plan' : 'asks';
      open.add(question);
      const short = plainLine(text, 200);
      const actions = choices.slice(0, BUTTONS).map(({ key, label }) => {
        const body = world.name(CODE_LENGTH);
        codes.set(body, { is, text: short, question, key, actions: [] });
        return { action: 'http', label: label.slice(0, 60), url: topic.url, body, clear: true };
      });
      push({ is, text: choices.length > BUTTONS ? `${text}\n\n${MORE_ANSWERS}` : text, question, actions });
    },
  };
}

interface Outgoing {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Takes the lines of a stream. */
  readonly read?: (lines: AsyncIterable<string>) => Promise<void>;
}

const bearer = (token: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${token}` });

function requestOf({ is, url, secret }: Target, notices: readonly Item[], project: string): Outgoing {
  const json = { 'content-type': 'application/json' };
  if (is === 'webhook') {
    const body = JSON.stringify({ notices });
    const signature = secret === null ? {} : { 'x-mimir-signature': `sha256=${signatureOf(body, secret)}` };
    return { url, headers: { ...json, ...signature }, body };
  }
  const at = url.lastIndexOf('/');
  const isUrgent = notices.some((notice) => notice.is === 'asks');
  const body = JSON.stringify({
    topic: url.slice(at + 1),
    title: `Mimir: ${project}`,
    message: notices.map(({ text }) => text).join('\n'),
    priority: isUrgent ? 4 : 3,
    ...notices.filter(hasButtons).map(({ actions }) => ({ actions }))[0],
  });
  return {
    url: url.slice(0, at),
    headers: { ...json, ...(secret === null ? {} : bearer(secret)) },
    body,
  };
}

/** HMAC-SHA-256 of the body, in hexadecimal digits. */
export const signatureOf = (body: string, secret: string): string =>
  createHmac('sha256', secret).update(body).digest('hex');

interface Attempt {
  /** Null: it was delivered. */
  readonly problem: string | null;
  readonly isFinal: boolean;
}

async function attempt(
  send: typeof globalThis.fetch,
  { url, read, ...request }: Outgoing,
  signal: AbortSignal,
): Promise<Attempt> {
  try {
    const [method, most] = read === undefined ? (['POST', TIME_LIMIT_MS] as const) : (['GET', CONNECTION_MS] as const);
    const limit = AbortSignal.any([signal, AbortSignal.timeout(most)]);
    const answer = await send(url, { ...request, method, redirect: 'manual', signal: limit });
    if (answer.ok && answer.body !== null) await read?.(createInterface({ input: Readable.from(answer.body) }));
    else await answer.body?.cancel();
    if (answer.ok) return { problem: null, isFinal: true };
    const isBusy = answer.status >= 500 || [408, 429].includes(answer.status);
    return { problem: `status ${answer.status}`, isFinal: !isBusy };
  } catch (error) {
    return { problem: reasonOf(error), isFinal: false };
  }
}

/** Whether the local time of `date` is within `HH:MM-HH:MM`, which may pass midnight. */
export function isWithin(hours: string, date: Date): boolean {
  const [from = 0, to = 0] = hours.split('-').map((time) => {
    const [hour = 0, minute = 0] = time.split(':').map(Number);
    return hour * 60 + minute;
  });
  const now = date.getHours() * 60 + date.getMinutes();
  return from <= to ? now >= from && now < to : now >= from || now < to;
}
