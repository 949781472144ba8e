/** Which process runs the shown run: detaches it, follows it elsewhere, takes over a lost one, and stops it on quitting. */
import { attachTo, goesOnElsewhere, handOver, stopKept } from '../../../app/client/index.ts';
import type { AgentId, Millis, SessionId } from '../../../domain/ids.ts';
import type { ProjectService } from '../../../ports/project-service.ts';
import type { RunFeed } from '../components/runs.ts';
import { handOverOverlay, lostOverlay, quitOverlay } from '../dialogs/run-process.ts';
import type { Context } from '../frame/screen.ts';
import type { AppServices } from './app-options.ts';

/** For how long, and how often, a run that changes its process is looked for. */
const FOLLOW_TIMEOUT: Millis = 20_000;
const FOLLOW_INTERVAL: Millis = 150;

export class RunOwnership {
  readonly #app: AppServices;
  readonly #open: (agent: AgentId) => void;
  #detached = false;
  /** The feed whose loss or move was already handled. */
  #seen: RunFeed | null = null;
  #agent: AgentId | null;

  constructor(app: AppServices, agent: AgentId | null, open: (agent: AgentId) => void) {
    this.#app = app;
    this.#open = open;
    this.#agent = agent;
  }

  /** True if the run continues when this screen is closed. */
  get continues(): boolean {
    const feed = this.#app.runs.last;
    return (
      this.#detached || (feed !== null && goesOnElsewhere(feed.controls, feed.elsewhere?.lost !== null, feed.state))
    );
  }

  /** `d`: leaves the run of another process, or moves a run of this process to a background process. */
  detach(): void {
    const { runs, toast } = this.#app;
    const { feed } = runs;
    if (feed === null) return toast({ level: 'info', text: 'No run.' });
    if (feed.elsewhere !== undefined) return this.#app.leave();
    if (!feed.moves) void this.#handOver(feed).catch(this.#app.fail);
  }

  takeOver(): void {
    const { runs, projectService } = this.#app;
    const session = runs.feed?.controls.session;
    if (session === undefined || runs.feed?.elsewhere?.lost === null) return;
    void this.#change(() => projectService.resume(session)).catch(this.#app.fail);
  }

  /** Called before each frame: handles a lost or moved run. `typing`: a dialog would receive letters meant for a field. */
  settle(typing: boolean): void {
    const { runs, boxes } = this.#app;
    const { feed } = runs;
    if (feed !== null) this.#openWanted(feed);
    if (feed?.elsewhere === undefined || feed === this.#seen) return;
    if (feed.hasMoved) {
      this.#seen = feed;
      void this.#follow(feed).catch(this.#app.fail);
    } else if (feed.elsewhere.lost !== null && boxes.top === undefined && !typing) {
      this.#seen = feed;
      void this.#lost(feed.controls.session, feed.elsewhere.lost.why).catch(this.#app.fail);
    }
  }

  /** A run that ended before its last events were read is not lost; its log is shown. */
  async #lost(session: SessionId, why: string): Promise<void> {
    const { projectService, runs, boxes, changed } = this.#app;
    const isShown =
      hasEnded(projectService, session) && (await runs.change(() => projectService.look(session))) === null;
    if (!isShown) boxes.push(lostOverlay(why));
    changed();
  }

  #openWanted({ state: { agents } }: RunFeed): void {
    if (this.#agent === null || !agents.has(this.#agent)) return;
    this.#open(this.#agent);
    this.#agent = null;
  }

  async #handOver(feed: RunFeed): Promise<void> {
    const { boxes, projectService, toast, changed, leave } = this.#app;
    const { controls } = feed;
    feed.moves = true;
    const ask = (how: 'now' | 'stay'): void => void controls.submit({ do: 'hand over', how }).catch(this.#app.fail);
    boxes.push(handOverOverlay(ask, () => feed.state.finished !== null));
    const done = await handOver(controls, (session) => projectService.detach(session));
    this.#detached ||= done.ok;
    if (done.ok) leave();
    else if (done.fault.is === 'halted')
      toast({ level: 'error', text: `${done.fault.text} (r continues the run here)` });
    // A run that ended by itself meanwhile is shown as ended.
    else if (feed.state.finished === null) toast({ level: 'info', text: done.fault.text });
    feed.moves = false;
    boxes.close('hand over');
    changed();
  }

  async #follow(feed: RunFeed): Promise<void> {
    const { projectService, world, toast, runs } = this.#app;
    const { session } = feed.controls;
    toast({ level: 'info', text: 'The run is moving to another process.' });
    const until = world.elapsed() + FOLLOW_TIMEOUT;
    const isReached = async (): Promise<boolean> =>
      (await runs.change(() => attachTo(projectService, session))) === null ||
      // The run may have ended there before it could be reached.
      (hasEnded(projectService, session) && (await runs.change(() => projectService.look(session))) === null);
    while (runs.feed === feed && world.elapsed() < until && !(await isReached())) await world.sleep(FOLLOW_INTERVAL);
    feed.moves = false;
    this.#app.changed();
  }

  async #change(source: () => ReturnType<ProjectService['resume']>): Promise<void> {
    const { runs, toast, changed } = this.#app;
    const refused = await runs.change(source);
    if (refused !== null) toast({ level: 'error', text: refused });
    changed();
  }
}

const hasEnded = (projectService: ProjectService, session: SessionId): boolean =>
  projectService.info().sessions.some(({ id, state }) => id === session && state === 'finished');

/** A second Ctrl-C within this time quits. */
const SECOND_PRESS: Millis = 1500;

/** Quits: at once if no run is active here, otherwise after a question, stopping the run in a resumable state. */
export function openQuitFlow({ boxes, runs, toast, world, leave, fail }: AppServices, context: () => Context) {
  let stoppedAt = Number.NEGATIVE_INFINITY;
  let isLeaving = false;
  const stopAndLeave = (): void => {
    const run = runs.feed;
    // The run of another process continues there.
    if (isLeaving || run === null || run.state.finished || run.elsewhere !== undefined) return leave();
    isLeaving = true;
    boxes.clear();
    toast({ level: 'warn', text: 'Stopping the agents; their state is kept. Press Ctrl-C twice to quit now.' });
    void stopKept(run.controls, run.ended, world).then(() => leave(), fail);
  };
  return {
    /** Registers a Ctrl-C; true if it means to quit. */
    registerCtrlC(): boolean {
      const now = world.elapsed();
      const again = now - stoppedAt < SECOND_PRESS;
      stoppedAt = now;
      return boxes.top?.kind === 'quit' || again;
    },
    /** Quits, or asks first. A second request while the question is open quits. */
    quit(): void {
      const run = runs.feed;
      if (run === null || run.state.finished || boxes.top?.kind === 'quit') return stopAndLeave();
      boxes.push(quitOverlay(context(), stopAndLeave));
    },
  };
}
