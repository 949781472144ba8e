/** The run that the screens show: connects to it, follows its events, sends it commands, and remembers the last one. */
import { FollowedRun, Live, Previews } from '../../../app/client/index.ts';
import { callsInFlight } from '../../../app/views/index.ts';
import type { Millis } from '../../../domain/ids.ts';
import type { Result } from '../../../domain/result.ts';
import type { AgentState, MimirEvent, RunState } from '../../../events/index.ts';
import { ControlFault } from '../../../ports/control.ts';
import type { Command, Controls, Refusal } from '../../../ports/controls.ts';
import type { World } from '../../../ports/world.ts';
import type { Toast } from '../frame/screen.ts';

export interface RunsParts {
  readonly world: World;
  readonly begun: () => void;
  /** `task`: as it was typed; empty where another run was asked for. */
  readonly refused: (why: string, task: string) => void;
  readonly happened: (event: MimirEvent, before: RunState, after: RunState) => void;
  readonly changed: () => void;
  /** Called when the run has answered what a change would do. */
  readonly answered: () => void;
  readonly toast: (toast: Toast) => void;
  readonly fail: (error: unknown) => void;
}

export class Runs {
  readonly #of: RunsParts;
  #feed: RunFeed | null = null;
  #last: RunFeed | null = null;
  #starting = false;

  constructor(parts: RunsParts) {
    this.#of = parts;
  }

  get feed(): RunFeed | null {
    return this.#feed;
  }

  get last(): RunFeed | null {
    return this.#feed ?? this.#last;
  }

  /** True while a run is being opened. */
  get starting(): boolean {
    return this.#starting;
  }

  /** Opens a run; does nothing while one is shown or being opened. */
  begin(source: () => Promise<Result<Controls, Refusal>>, task = ''): void {
    if (this.#starting || this.#feed !== null) return;
    this.#starting = true;
    void this.#connect(source, task).catch(this.#of.fail);
  }

  async #connect(source: () => Promise<Result<Controls, Refusal>>, task: string): Promise<void> {
    const controls = await source();
    this.#starting = false;
    if (controls.ok) this.#follow(controls.value);
    else this.#of.refused(controls.fault.text, task);
  }

  #follow(controls: Controls): void {
    const { world, begun, fail } = this.#of;
    const feed = new RunFeed(controls, world, this.#of);
    this.#feed = feed;
    feed.ended.catch(fail);
    begun();
  }

  /** Follows the shown run from another source. Returns why not, or null. */
  async change(source: () => Promise<Result<Controls, Refusal>>): Promise<string | null> {
    const before = this.#feed;
    if (this.#starting) return 'a run is being opened';
    this.#starting = true;
    const controls = await source().finally(() => {
      this.#starting = false;
    });
    if (!controls.ok) return controls.fault.text;
    if (this.#feed !== before) return 'another run is shown by now';
    before?.stop();
    this.#follow(controls.value);
    return null;
  }

  letGo(): void {
    this.#last = this.last;
    this.#feed?.stop();
    this.#feed = null;
  }

  /** Sends a command and shows the answer as a toast; calls `refused` where the run refuses it. */
  submit(command: Command, refused: () => void): void {
    const { toast, changed } = this.#of;
    if (this.#feed === null) return toast({ level: 'warn', text: 'There is no run.' });
    void this.#feed.controls.submit(command).then(
      (result) => {
        if (result.ok && result.value.text !== '' && !SEEN.has(command.do))
          toast({ level: 'info', text: result.value.text });
        if (!result.ok) {
          toast({ level: 'warn', text: result.fault.text });
          refused();
        }
        changed();
      },
      (error: unknown) => this.#unreached(error),
    );
  }

  /** The command did not reach the process of the run. */
  #unreached(error: unknown): void {
    if (!(error instanceof ControlFault)) return this.#of.fail(error);
    this.#of.toast({ level: 'warn', text: `Not done: ${error.message}` });
    this.#of.changed();
  }
}

/** Commands whose effect the next screen shows. */
const SEEN: ReadonlySet<Command['do']> = new Set(['approve plan', 'reject plan']);

// One run as the screen follows it: state, streamed text and previews.

/** `happened` is called for events from now on, not for those that were recorded before. */
type RunListeners = Pick<RunsParts, 'changed' | 'happened' | 'answered' | 'fail'>;

/** May something stream of this agent? Of one that isn't known yet, too. */
const isUnderWay = (agent: AgentState | undefined): boolean =>
  agent === undefined ||
  callsInFlight(agent).length > 0 ||
  agent.blocks.slice(-20).some((block) => block.is === 'tool' && block.ok === null);

/** True if the event stops the run in this process. */
const isStop = (event: MimirEvent): boolean =>
  event.type === 'session.finished' ||
  (event.type === 'agent.status' && event.status === 'interrupted' && event.endedBy?.is === 'run');

export class RunFeed extends FollowedRun {
  readonly live = new Live();
  readonly previews: Previews;
  /** Is the run on its way to another process? Then its stop here is not its end. */
  moves = false;
  /** The run before it stopped in the process that carries it; null where it has not. */
  #beforeStop: RunState | null = null;
  readonly #listeners: RunListeners;
  readonly #followedSince: Millis;
  readonly #unsubscribe: () => void;

  constructor(controls: Controls, world: World, listeners: RunListeners) {
    super(controls, world);
    const { changed, answered, fail } = listeners;
    this.#listeners = listeners;
    this.#followedSince = world.now();
    this.previews = new Previews({ controls, world, state: () => this.state, answered, fail });
    this.#unsubscribe = controls.ticks((tick) => {
      // A tick of another process may arrive after the event that has its whole text.
      if (controls.lost !== undefined && !isUnderWay(this.state.agents.get(tick.agent))) return;
      this.live.take(tick, world.now());
      if (!this.isStopped) changed();
    });
  }

  /** The clock that is shown: it stops when the process of the run is lost. */
  time(now: Millis): Millis {
    return this.elsewhere?.lost?.at ?? now;
  }

  /** What screens show: a run that moves as it was at its last step, since it continues with that. */
  get shown(): RunState {
    return (this.moves ? this.#beforeStop : null) ?? this.state;
  }

  /** True if another front end handed the run over. */
  get hasMoved(): boolean {
    const { finished } = this.state;
    return this.elsewhere !== undefined && finished?.endedBy?.is === 'hand-over';
  }

  override stop(): void {
    super.stop();
    this.#unsubscribe();
  }

  protected override happened(event: MimirEvent, before: RunState): void {
    const { happened, changed } = this.#listeners;
    this.live.settle(event);
    this.#noteStop(event, before);
    if (Date.parse(event.time) >= this.#followedSince) happened(event, before, this.state);
    changed();
  }

  protected override wasLost(): void {
    this.#listeners.changed();
  }

  #noteStop(event: MimirEvent, before: RunState): void {
    if (event.type === 'session.resumed') this.#beforeStop = null;
    else if (isStop(event)) this.#beforeStop ??= before;
    if (this.elsewhere !== undefined) this.moves = this.hasMoved;
  }
}
