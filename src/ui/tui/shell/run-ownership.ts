/**
 * Which process carries the run that is shown: gives it to one of its own (`d`), follows it when it moves, goes on with it here
 * when its process was lost. The run itself knows nothing of screens.
 */
import type { AgentId, Millis, SessionId } from '../../../domain/ids.ts';
import { fail } from '../../../domain/result.ts';
import { attachTo } from '../../../app/client/attach.ts';
import type { Lobby } from '../../../ports/project-service.ts';
import type { World } from '../../../ports/world.ts';
import type { Boxes } from './overlays/overlay-stack.ts';
import { handOverOverlay } from '../dialogs/hand-over.ts';
import { lostOverlay } from '../dialogs/lost.ts';
import type { RunFeed } from '../components/runs/feed.ts';
import type { Runs } from '../components/runs/runs.ts';
import type { Toast } from '../frame/screen.ts';

/** How long a run that moves is looked for, and how often. */
const MOVES: Millis = 20_000;
const LOOKS: Millis = 150;

export interface CarryingParts {
  readonly lobby: Lobby;
  readonly world: World;
  readonly boxes: Boxes;
  readonly runs: Runs;
  /** An agent to open as soon as it is known. */
  readonly agent: AgentId | null;
  readonly open: (agent: AgentId) => void;
  readonly toast: (toast: Toast) => void;
  readonly changed: () => void;
  /** The session on the screen is over, and the run goes on. */
  readonly leave: () => void;
  readonly fail: (error: unknown) => void;
}

export class Carrying {
  readonly #of: CarryingParts;
  #detached = false;
  /** The feed whose loss, or move, was seen to. */
  #seen: RunFeed | null = null;
  #agent: AgentId | null;

  constructor(parts: CarryingParts) {
    this.#of = parts;
    this.#agent = parts.agent;
  }

  /** Does the run go on when this screen is closed? */
  get goesOn(): boolean {
    const feed = this.#of.runs.last;
    const elsewhere = feed?.elsewhere;
    return this.#detached || (elsewhere?.lost === null && feed?.state.finished === null);
  }

  /** `d`: leaves a run that another process carries; gives one that is carried here to a process of its own. */
  detach(): void {
    const { runs, toast, lobby } = this.#of;
    const { feed } = runs;
    if (feed === null) return toast({ level: 'info', text: 'There is no run.' });
    if (feed.elsewhere !== undefined) return this.#of.leave();
    if (lobby.detach === undefined) return toast({ level: 'warn', text: 'No other process can be started here.' });
    if (!feed.moves) void this.#handOver(feed).catch(this.#of.fail);
  }

  /** Goes on here with a run whose process was lost. */
  goOnHere(): void {
    const { runs, lobby } = this.#of;
    const session = runs.feed?.controls.session;
    if (session === undefined || runs.feed?.elsewhere?.lost === null) return;
    void this.#change(() => lobby.resume(session)).catch(this.#of.fail);
  }

  /** Before each painting: what happened to the process. `typing`: a box would take letters that are meant for a field. */
  settle(typing: boolean): void {
    const { runs, boxes } = this.#of;
    const { feed } = runs;
    if (feed !== null) this.#openWanted(feed);
    if (feed?.elsewhere === undefined || feed === this.#seen) return;
    if (feed.hasMoved) {
      this.#seen = feed;
      void this.#follow(feed).catch(this.#of.fail);
    } else if (feed.elsewhere.lost !== null && boxes.top === undefined && !typing) {
      this.#seen = feed;
      void this.#lost(feed.controls.session, feed.elsewhere.lost.why).catch(this.#of.fail);
    }
  }

  /** A run that came to its end before its end was read here is not lost: its log is shown. */
  async #lost(session: SessionId, why: string): Promise<void> {
    const { lobby, runs, boxes, changed } = this.#of;
    const isShown = hasEnded(lobby, session) && (await runs.change(() => lookedAt(lobby, session))) === null;
    if (!isShown) boxes.push(lostOverlay(why));
    changed();
  }

  #openWanted({ state: { agents } }: RunFeed): void {
    if (this.#agent === null || !agents.has(this.#agent)) return;
    this.#of.open(this.#agent);
    this.#agent = null;
  }

  async #handOver(feed: RunFeed): Promise<void> {
    const { boxes, toast, changed } = this.#of;
    feed.moves = true;
    const submit = feed.controls.submit.bind(feed.controls);
    const ask = (how: 'now' | 'stay'): void => void submit({ do: 'hand over', how }).catch(this.#of.fail);
    boxes.push(handOverOverlay(ask, () => feed.state.finished !== null));
    const done = await submit({ do: 'hand over', how: 'when quiet' });
    // A run that ended by itself meanwhile shows so.
    if (!done.ok && feed.state.finished === null) toast({ level: 'info', text: done.fault.text });
    if (done.ok) await this.#startElsewhere(feed.controls.session);
    feed.moves = false;
    boxes.close('hand over');
    changed();
  }

  async #startElsewhere(session: SessionId): Promise<void> {
    const { lobby, toast, leave } = this.#of;
    const started = await (lobby.detach?.(session) ?? Promise.resolve(fail({ text: 'no other process was started' })));
    if (!started.ok) return toast({ level: 'error', text: `${started.fault.text} (r goes on with the run here)` });
    this.#detached = true;
    leave();
  }

  /** It was handed over: its new process answers in a moment. */
  async #follow(feed: RunFeed): Promise<void> {
    const { lobby, world, toast, runs } = this.#of;
    const { session } = feed.controls;
    toast({ level: 'info', text: 'The run moves to another process.' });
    const until = world.elapsed() + MOVES;
    const isReached = async (): Promise<boolean> =>
      (await runs.change(() => attachTo(lobby, session))) === null ||
      // It came to its end there before it could be reached.
      (hasEnded(lobby, session) && (await runs.change(() => lookedAt(lobby, session))) === null);
    while (runs.feed === feed && world.elapsed() < until && !(await isReached())) await world.sleep(LOOKS);
    feed.moves = false;
    this.#of.changed();
  }

  async #change(source: () => ReturnType<Lobby['resume']>): Promise<void> {
    const { runs, toast, changed } = this.#of;
    const refused = await runs.change(source);
    if (refused !== null) toast({ level: 'error', text: refused });
    changed();
  }
}

const lookedAt = (lobby: Lobby, session: SessionId): ReturnType<Lobby['resume']> =>
  lobby.look?.(session) ?? Promise.resolve(fail({ text: 'Ended runs can not be shown here.' }));

const hasEnded = (lobby: Lobby, session: SessionId): boolean =>
  lobby.info().sessions.some(({ id, state }) => id === session && state === 'finished');
