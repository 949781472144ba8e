/**
 * Sends notices of a run to a webhook and to ntfy (https://docs.ntfy.sh/publish). Requests go out only, and no port is opened. A notice that cannot
 * be delivered is tried again until the run ends, which never waits for it. */
import { createHmac } from 'node:crypto';
import { plural } from '../../domain/lists.ts';
import type { World } from '../../ports/world.ts';

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
}

export interface NotifierParts {
  readonly targets: readonly Target[];
  readonly world: World;
  /** Local time without notices, such as `22:00-07:00`. */
  readonly quietHours?: string | undefined;
  /** Called with a sentence for what was refused, and once for each time that a target cannot be reached. */
  readonly failed: (text: string) => void;
  readonly fetch?: typeof globalThis.fetch;
}

export interface Notifier {
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
const UNREACHED = 4;

interface Outbox {
  readonly target: Target;
  /** Not delivered yet, in order; `work` is there while it is delivered. */
  waiting: readonly Notice[];
  work: Promise<void> | null;
}

export function openNotifier({ targets, world, quietHours, failed, fetch: send = fetch }: NotifierParts): Notifier {
  const [hurry, closing] = [new AbortController(), new AbortController()];
  const outboxes = targets.map((target): Outbox => ({ target, waiting: [], work: null }));
  const isQuiet = (): boolean => quietHours !== undefined && isWithin(quietHours, new Date(world.now()));
  async function deliver(box: Outbox): Promise<void> {
    const { is } = box.target;
    await world.sleep(BURST_MS, hurry.signal);
    for (let failures = 0; box.waiting.length > 0 && !closing.signal.aborted; ) {
      const batch = box.waiting;
      const { problem, isFinal } = await attempt(send, requestOf(box.target, batch), closing.signal);
      if (isFinal) {
        box.waiting = box.waiting.filter((notice) => !batch.includes(notice));
        if (problem !== null) failed(`the ${is} notification was not delivered: ${problem}`);
        continue;
      }
      failures += 1;
      if (failures === UNREACHED) failed(`${is} cannot be reached, and is tried again until the run ends: ${problem}`);
      await world.sleep(RETRIES[failures - 1] ?? RETRIES.at(-1) ?? 0, closing.signal);
    }
    box.work = null;
  }
  return {
    notify(notice) {
      if (isQuiet()) return;
      for (const box of outboxes) {
        if (box.target.events?.includes(notice.is) === false) continue;
        box.waiting = [...box.waiting, notice];
        box.work ??= deliver(box);
      }
    },
    withdraw(isOver) {
      for (const box of outboxes) box.waiting = box.waiting.filter((notice) => !isOver(notice));
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

interface Outgoing {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function requestOf({ is, url, secret }: Target, notices: readonly Notice[]): Outgoing {
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
    title: `Mimir: ${notices[0]?.project ?? ''}`,
    message: notices.map(({ text }) => text).join('\n'),
    priority: isUrgent ? 4 : 3,
  });
  return {
    url: url.slice(0, at),
    headers: { ...json, ...(secret === null ? {} : { authorization: `Bearer ${secret}` }) },
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
  { url, ...request }: Outgoing,
  signal: AbortSignal,
): Promise<Attempt> {
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(TIME_LIMIT_MS)]);
    const answer = await send(url, { ...request, method: 'POST', redirect: 'manual', signal: limit });
    await answer.body?.cancel();
    if (answer.ok) return { problem: null, isFinal: true };
    const isBusy = answer.status >= 500 || answer.status === 429 || answer.status === 408;
    return { problem: `status ${answer.status}`, isFinal: !isBusy };
  } catch (error) {
    return { problem: reasonOf(error), isFinal: false };
  }
}

const reasonOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
};

/** Whether the local time of `date` is within `HH:MM-HH:MM`, which may pass midnight. */
export function isWithin(hours: string, date: Date): boolean {
  const [from = 0, to = 0] = hours.split('-').map((time) => {
    const [hour = 0, minute = 0] = time.split(':').map(Number);
    return hour * 60 + minute;
  });
  const now = date.getHours() * 60 + date.getMinutes();
  return from <= to ? now >= from && now < to : now >= from || now < to;
}
