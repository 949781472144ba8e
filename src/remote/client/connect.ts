/**
 * Reaches a run that another process carries: its controls, and what may be seen of it. What is asked here is decided there;
 * nothing of it is kept, but answers that are drawn again and again.
 */
import { randomBytes } from 'node:crypto';
import type { SessionId } from '../../domain/ids.ts';
import type { Result } from '../../domain/result.ts';
import { fail, ok } from '../../domain/result.ts';
import type { MimirEvent } from '../../events/event.ts';
import type { Family, SessionDetail } from '../../events/sessions/record.ts';
import type { Reached } from '../../ports/control.ts';
import { ControlFault } from '../../ports/control.ts';
import type { Controls, ModePreview, PlanPreview, Receipt, Tick } from '../../ports/controls.ts';
import type { AskNow } from './ask-now.ts';
import { openAskNow } from './ask-now.ts';
import { followRun } from './follow.ts';
import { isRecord } from '../lines.ts';
import type { Link } from './connection.ts';
import { openLink } from './connection.ts';
import type { Where } from '../socket-paths.ts';
import { knownPaths } from '../socket-paths.ts';
import type { Ask } from '../protocol.ts';

/** The run of `session`, or null when nobody carries it. Throws `ControlFault` when somebody else listens there. */
export async function reach(where: Where, session: SessionId): Promise<Reached | null> {
  for (const path of knownPaths(where)) {
    const reached = await reachAt(path);
    if (reached === null) continue;
    if (reached.session === session) return reached;
    reached.close();
    throw new ControlFault(`${path}: session ${reached.session} listens there, not ${session}`);
  }
  return null;
}

/** The run behind an agent's door. Throws `ControlFault` when nobody opens. */
export async function reachDoor(path: string): Promise<Reached> {
  const reached = await reachAt(path);
  if (reached === null) throw new ControlFault(`nobody listens at ${path}: the run of this agent has ended`);
  return reached;
}

async function reachAt(path: string): Promise<Reached | null> {
  const client = randomBytes(8).toString('hex');
  const listeners = new Set<(tick: Tick) => void>();
  const link = await openLink(path, client, (tick) => {
    if (isTick(tick)) for (const listener of listeners) listener(tick);
  });
  if (link === null) return null;
  const { session, as } = link.hello;
  const closed = new AbortController();
  const now = openAskNow(path, client);
  const ask = async (question: Ask): ReturnType<Link['ask']> => await link.ask(question);
  return {
    session,
    as,
    controls: controlsOver({ link, ask, now, listeners, path, client, closed: closed.signal }),
    family: async () => must(await ask({ ask: 'family' }), isFamily),
    async detail(agent) {
      const { result } = await ask({ ask: 'detail', agent });
      return result.ok ? ok(known(result.value, isDetail)) : result;
    },
    async events(agent, after) {
      const { result, events } = await ask({ ask: 'events', agent, after });
      return result.ok ? ok(events) : result;
    },
    async poke() {
      must(await ask({ ask: 'poke' }), (value): value is null => value === null);
    },
    close() {
      closed.abort();
      now.close();
      link.close();
    },
  };
}

interface Over {
  readonly link: Link;
  readonly ask: (question: Ask) => ReturnType<Link['ask']>;
  readonly now: AskNow;
  readonly listeners: Set<(tick: Tick) => void>;
  readonly path: string;
  readonly client: string;
  readonly closed: AbortSignal;
}

function controlsOver({ link, ask, now, listeners, path, client, closed }: Over): Controls {
  const { session } = link.hello;
  const previews = openPreviews(now);
  const setTicks = (on: boolean): void => {
    // Whoever is gone streams nothing: `lost` says it.
    ask({ ask: 'ticks', on }).catch(() => undefined);
  };
  return {
    session,
    lost: link.gone,
    previewMode(mode, agent) {
      const answer = previews.ask(agent === undefined ? { ask: 'mode', mode } : { ask: 'mode', mode, agent });
      if (answer.ok && isModePreview(answer.value)) return answer.value;
      return { refused: answer.ok ? STRANGE : answer.fault, looser: false, changes: [], answers: 0 };
    },
    previewPlan(edits): Result<PlanPreview, string> {
      const answer = previews.ask({ ask: 'plan', edits });
      if (!answer.ok) return answer;
      return isPlanPreview(answer.value) ? ok(answer.value) : fail(STRANGE);
    },
    async submit(command) {
      const { result } = await ask({ ask: 'submit', command });
      return result.ok ? ok(known(result.value, isReceipt)) : fail({ text: result.fault });
    },
    events: (afterSeq) => previews.watch(followRun({ path, client, session, closed }, afterSeq)),
    ticks(listener) {
      if (listeners.size === 0) setTicks(true);
      listeners.add(listener);
      // A screen: it will want to know something while it draws.
      now.warm();
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) setTicks(false);
      };
    },
  };
}

/** Previews that are kept: a person types edits while nothing happens. */
const MOST_KEPT = 64;

interface Previews {
  ask(question: Ask): Result<unknown, string>;
  /** As long as somebody follows the run, answers hold until its next event. */
  watch(events: AsyncIterable<MimirEvent>): AsyncIterable<MimirEvent>;
}

function openPreviews(now: AskNow): Previews {
  const answers = new Map<string, Result<unknown, string>>();
  let watchers = 0;
  return {
    ask(question) {
      const key = JSON.stringify(question);
      const kept = answers.get(key);
      if (kept !== undefined) return kept;
      const answer = now.ask(question);
      // A refusal may be because of the time.
      if (watchers === 0 || !answer.ok) return answer;
      if (answers.size >= MOST_KEPT) answers.clear();
      answers.set(key, answer);
      return answer;
    },
    async *watch(events) {
      watchers += 1;
      try {
        for await (const event of events) {
          answers.clear();
          yield event;
        }
      } finally {
        watchers -= 1;
        answers.clear();
      }
    },
  };
}

const STRANGE = 'the process that carries the run gave an answer that makes no sense';

function must<T>({ result }: Awaited<ReturnType<Link['ask']>>, is: (value: unknown) => value is T): T {
  if (!result.ok) throw new ControlFault(result.fault);
  return known(result.value, is);
}

function known<T>(value: unknown, is: (value: unknown) => value is T): T {
  if (is(value)) return value;
  throw new ControlFault(STRANGE);
}

// The hello said that this is Mimir and of which version: only enough is looked at to tell one answer from another.
const isTick = (value: unknown): value is Tick =>
  isRecord(value) && typeof value['agent'] === 'string' && typeof value['delta'] === 'string';
const isReceipt = (value: unknown): value is Receipt => isRecord(value) && typeof value['text'] === 'string';
const isFamily = (value: unknown): value is Family => isRecord(value) && Array.isArray(value['sessions']);
const isDetail = (value: unknown): value is SessionDetail => isRecord(value) && Array.isArray(value['recent_tools']);
const isModePreview = (value: unknown): value is ModePreview => isRecord(value) && Array.isArray(value['changes']);
const isPlanPreview = (value: unknown): value is PlanPreview => isRecord(value) && isRecord(value['plan']);
