/** The session on the screen: holds screens and run, routes keys, applies effects, paints. Uses only the ports. */
import { sanitiseProject, type Frame, HeldKey, hasRunningAgent, withAuthors } from '../../../app/views/index.ts';
import type { Millis } from '../../../domain/ids.ts';
import { EMPTY, type RunState } from '../../../events/index.ts';
import type { Command } from '../../../ports/controls.ts';
import type { ProjectInfo } from '../../../ports/project-service.ts';
import { openQuitFlow, RunOwnership } from './run-ownership.ts';
import { type RunFeed, Runs } from '../components/runs.ts';
import { windowTitle } from '../components/header.ts';
import { overlayFor } from '../dialogs/open.ts';
import { ScreenRouter } from './screen-router.ts';
import { openScheduler, type Scheduler } from '../terminal/scheduler.ts';
import type { Input } from '../terminal/terminal.ts';
import { AppEffects, openFileSearch, openStartup, type Startup } from './app-effects.ts';
import { APP_KEYS, ownKeyFaults } from './app-keys.ts';
import type { AppEnd, AppOptions, AppServices } from './app-options.ts';
import { HINT_ROWS, type DisplaySettings, MUTED, openSettings } from './app-options.ts';
import { openChangeAuthors } from './change-authors.ts';
import { bodySize, dockTop, frameOf } from './frame.ts';
import { dispatch, KeyFlash, InputQueue } from './dispatch.ts';
import { rebind } from '../frame/keymap.ts';
import { OverlayStack, type Dock, AppOverlays, Toasts } from './overlay-stack.ts';
import type { AppCommand, Dialog, DialogEffect, Context, ScreenName, Toast } from '../frame/screen.ts';
import { Hints, Notices } from './notices.ts';

export type { AppEnd, AppOptions } from './app-options.ts';

/** Runs the session; resolves when the user has quit. An unfinished run is stopped first and can be resumed. Rejects only for a bug. */
export const runApp = (options: AppOptions): Promise<AppEnd> => new App(options).run();

class App {
  readonly #of: AppOptions;
  readonly #paints: Scheduler;
  readonly #stage: ScreenRouter;
  readonly #appKeys: typeof APP_KEYS;
  readonly #end = Promise.withResolvers<AppEnd>();
  #projectService: ProjectInfo;
  readonly #boxes = new OverlayStack();
  readonly #toasts = new Toasts();
  readonly #leaving: ReturnType<typeof openQuitFlow>;
  readonly #carrying: RunOwnership;
  readonly #runs: Runs;
  readonly #beginning: Startup;
  readonly #own: AppOverlays;
  readonly #acts: AppEffects;
  readonly #looks: DisplaySettings;
  readonly #files: ReturnType<typeof openFileSearch>;
  readonly #authors: ReturnType<typeof openChangeAuthors>;
  readonly #hints: Hints;
  readonly #held = new HeldKey();
  readonly #inputQueue: InputQueue;
  readonly #keyFlash: KeyFlash;
  readonly #notices: Notices;
  #title = '';

  constructor(options: AppOptions) {
    this.#of = options;
    const own = options.keys ?? {};
    this.#stage = new ScreenRouter(own);
    this.#appKeys = rebind(APP_KEYS, own);
    this.#projectService = sanitiseProject(options.projectService.info());
    const { terminal, schedule = openScheduler } = options;
    this.#paints = schedule({ paint: () => this.#guarded(() => this.#paint()), load: () => terminal.load() });
    const { projectService, world } = options;
    const common = {
      world,
      projectService,
      fail: (error: unknown): void => this.#end.reject(error),
      toast: (one: Toast): void => this.#toast(one),
      changed: (): void => this.#paints.soon(),
      answered: (): void =>
        this.#guarded(() => {
          this.#inputQueue.answered();
          this.#paints.now();
        }),
      act: (effect: DialogEffect): void => this.#do(effect),
    };
    this.#inputQueue = new InputQueue(common);
    this.#notices = new Notices(world, options.notices ?? MUTED, (one) => terminal.notify(one));
    this.#runs = new Runs({
      ...common,
      happened: (...what) => {
        if (what[0].type === 'changes.undone') this.#authors.renew();
        this.#notices.happened(...what);
      },
      begun: () => {
        this.#boxes.forgetAll();
        this.#paints.now();
      },
      refused: (text, task) => {
        this.#backToStart({ level: 'error', text }, task);
        this.#paints.now();
      },
    });
    const services = { ...common, boxes: this.#boxes, runs: this.#runs, leave: (): void => this.#resolve() };
    this.#leaving = openQuitFlow(services, () => this.#context());
    this.#carrying = new RunOwnership(services, options.attach?.agent ?? null, (agent) =>
      this.#stage.openAgent(agent, this.#context().state),
    );
    this.#beginning = openStartup(services, options);
    this.#hints = new Hints(projectService);
    this.#keyFlash = new KeyFlash(world, common.changed);
    this.#looks = openSettings(options);
    this.#files = openFileSearch(services);
    this.#authors = openChangeAuthors(services);
    this.#own = new AppOverlays({ boxes: this.#boxes, page: () => this.#stage.page, keys: this.#appKeys, own });
    this.#acts = this.#effects(services);
  }

  #effects(services: AppServices): AppEffects {
    const { terminal } = this.#of;
    return new AppEffects({
      ...services,
      terminal,
      settings: this.#looks,
      startup: this.#beginning,
      commands: this.#commands(),
      show: (name) => this.#show(name),
      letGo: () => this.#backToStart(null),
      renewAuthors: () => this.#authors.renew(),
      queue: (action) => this.#inputQueue.add(action),
      input: (input) => this.#input(input),
      changed: () => this.#paints.now(),
    });
  }

  #commands(): Readonly<Record<AppCommand, () => void>> {
    const { terminal } = this.#of;
    return {
      quit: () => this.#leaving.quit(),
      detach: () => this.#carrying.detach(),
      'go on here': () => this.#carrying.takeOver(),
      suspend: () => terminal.suspend(),
      redraw: () => terminal.redraw(),
      mouse: () => this.#toast(this.#looks.mouse()),
      untrusted: () => this.#beginning.begin(),
      trust: () => void this.#beginning.ask(),
      help: () => this.#own.help(this.#context()),
      palette: () => this.#own.palette(),
      'copy mode': () => this.#own.copyMode(this.#frame(this.#context(), [])),
      themes: () => this.#own.themes(this.#context()),
      inbox: () => this.#boxes.openInbox(this.#context()),
    };
  }

  run(): Promise<AppEnd> {
    const { terminal, projectService, keys = {} } = this.#of;
    for (const text of ownKeyFaults(keys)) this.#toast({ level: 'warn', text });
    terminal.onInput((input) => this.#guarded(() => this.#input(input)));
    terminal.onResize(() => this.#paints.now());
    projectService.onChange(() => {
      this.#projectService = sanitiseProject(projectService.info());
      this.#paints.soon();
    });
    this.#beginning.start();
    this.#paints.now();
    return this.#end.promise;
  }

  #context(): Context {
    const { world, glyphs } = this.#of;
    const { feed } = this.#runs;
    const now = world.now();
    const shown = feed === null ? NO_RUN : ofRun(feed, now);
    const { session } = shown.state;
    return {
      projectService: this.#projectService,
      look: this.#looks.now(),
      files: this.#files,
      glyphs,
      now,
      ...shown,
      ...(session === null ? {} : { accepted: this.#of.projectService.accepted(session).all() }),
      state: withAuthors(shown.state, this.#authors.of(shown.state)),
    };
  }

  #paint(): void {
    if (this.#acts.away) return;
    const { terminal } = this.#of;
    const context = this.#context();
    this.#settle(context);
    terminal.paint(this.#frame(context, this.#toasts.all));
    // In copy mode the frame is frozen, so new content was not seen.
    if (this.#boxes.top?.kind !== 'copy') {
      this.#stage.page.painted(context);
      this.#boxes.painted(context, terminal.size(), this.#stage.page.typing(context));
    }
    const title = windowTitle(context);
    if (title !== this.#title) terminal.setTitle((this.#title = title));
    const runs = hasClock(context.state, this.#runs.feed !== null) || this.#stage.page.moving(context);
    this.#paints.clock(this.#toasts.hasExpiring || this.#runs.starting || this.#acts.isDrafting || runs);
    if (this.#stage.page.unfinished()) this.#paints.soon();
  }

  #frame(context: Context, toasts: readonly Toast[]): Frame {
    const { all: overlays, top } = this.#boxes;
    const { page } = this.#stage;
    const shown = { page, overlays, top, toasts, keyFlash: this.#keyFlash.label, dock: this.#dock(context) };
    return frameOf(shown, context, this.#of.terminal.size());
  }

  #dock(context: Context): Dock {
    return this.#boxes.dock(context, this.#of.terminal.size(), this.#stage.page.typing(context));
  }

  /** Updates the screen for time and the run: expired toasts, a new phase, questions. */
  #settle(context: Context): void {
    this.#followPhase(context.state);
    this.#toasts.expire(this.#of.world.now(), this.#stage.page.name, context.state.approvals.length > 0);
    this.#boxes.settle(context);
    this.#carrying.settle(this.#stage.page.typing(context));
    const { length: docked } = this.#dock(context).lines;
    const size = this.#of.terminal.size();
    // On a small terminal a hint would cover what it explains.
    if (size.height >= HINT_ROWS)
      this.#hint(this.#hints.next(this.#stage.page.name, context, this.#boxes.top?.kind ?? null, docked > 0));
    this.#stage.page.settle(context, bodySize(size, docked));
  }

  #followPhase(state: RunState): void {
    const wanted = this.#stage.changedScreen(state, this.#runs.feed !== null || this.#runs.starting);
    if (wanted === null) return;
    if (state.finished?.status === 'rejected') return this.#backToStart({ level: 'info', text: 'Plan discarded.' });
    const busy = wanted === 'result' && (this.#boxes.top !== undefined || this.#stage.page.typing(this.#context()));
    if (busy) this.#toast({ level: 'info', text: 'Finished. Press v for the report.', about: 'screen' });
    else this.#stage.show(wanted);
  }

  #hint(toast: Toast | null): void {
    if (toast !== null) this.#toast(toast);
  }

  #toast(toast: Toast): void {
    this.#toasts.add(toast, this.#of.world.now(), this.#stage.page.name);
  }

  #input(input: Input): void {
    if (input.is === 'focus' || input.is === 'blur') return this.#notices.focus(input.is === 'focus');
    if (input.is === 'key' && !this.#looks.now().still) this.#keyFlash.press(input.key, this.#of.glyphs);
    this.#toasts.dismiss();
    // A key may have been held for a while.
    const timed = input.is === 'key' ? { ...input, since: this.#held.since(input.key, this.#context().now) } : input;
    if (input.is === 'key' && input.key === 'ctrl-c') this.#inputQueue.drop('What you typed before was not done.');
    this.#inputQueue.add(() => this.#led(timed));
    this.#paints.now();
  }

  #led(input: Input): DialogEffect | null {
    const context = this.#context();
    this.#settle(context);
    const { terminal } = this.#of;
    const size = terminal.size();
    const { page } = this.#stage;
    const rows = this.#dock(context).lines.length;
    const isPointed = input.is === 'click' || input.is === 'wheel';
    const field = isPointed ? (page.body(context, bodySize(size, rows)).field ?? 0) : 0;
    return dispatch(input, {
      context,
      size,
      page,
      boxes: this.#boxes,
      dock: { top: dockTop(size, rows, field), rows },
      keys: this.#appKeys,
      isQuit: () => this.#leaving.registerCtrlC(),
    });
  }

  #do(effect: DialogEffect): void {
    if (effect.toast) this.#toast(effect.toast);
    if (effect.dialog) this.#boxes.push(overlayFor(effect.dialog, this.#context()));
    for (const command of effect.commands ?? []) this.#submit(command, effect.again);
    const { drafted } = effect;
    if (drafted) this.#inputQueue.first(() => this.#stage.page.drafted(drafted, this.#context()));
    if (effect.app === undefined) return;
    this.#acts.do(effect.app);
    if (typeof effect.app === 'object' && 'copy' in effect.app) this.#hint(this.#hints.copied());
  }

  #show(name: ScreenName): void {
    if (name !== 'start') this.#stage.show(name);
    else if (this.#runs.feed === null || this.#runs.feed.state.finished) this.#backToStart(null);
    else this.#toast({ level: 'info', text: 'The run is active. Press q to quit or X to stop it.' });
  }

  #backToStart(why: Toast | null, task = ''): void {
    this.#runs.letGo();
    this.#projectService = sanitiseProject(this.#of.projectService.info());
    this.#stage.reset(task);
    if (why !== null) this.#toast(why);
  }

  #submit(command: Command, again?: Dialog): void {
    this.#runs.submit(command, () => {
      // If an answer is refused, its question is offered again.
      if (command.do === 'answer') this.#boxes.forget(command.approval);
      if (again !== undefined && this.#boxes.top === undefined) this.#do({ dialog: again });
    });
  }

  #resolve(): void {
    this.#paints.stop();
    const feed = this.#runs.last;
    feed?.stop();
    const { continues } = this.#carrying;
    this.#end.resolve({ session: feed?.controls.session ?? null, state: feed?.state ?? EMPTY, continues });
  }

  /** An exception in a view ends the session with its stack instead of being lost in a callback. */
  #guarded(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#paints.stop();
      this.#end.reject(error);
    }
  }
}

/** What a context has of the shown run; its time stands still while the run does not go on. */
const ofRun = (feed: RunFeed, now: Millis): Omit<Context, 'projectService' | 'glyphs'> => ({
  state: feed.shown,
  now: feed.time(now),
  live: feed.live.texts(),
  reasoning: feed.live.reasoning(),
  calls: feed.live.calls(),
  preview: (mode, agent) => feed.previews.mode(mode, agent),
  amended: (edits) => feed.previews.plan(edits),
  activity: (agent) => feed.live.activity(agent, now),
  ...(feed.elsewhere === undefined ? {} : { elsewhere: feed.elsewhere }),
});

const NO_RUN = { state: EMPTY, live: new Map<string, string>() };

/** True if the screen shows running times. Nothing counts while a plan waits for approval, or after the end. */
export function hasClock(state: RunState, isThere: boolean): boolean {
  if (state.finished !== null) return false;
  const planning = isThere && (state.phase === 'planning' || state.phase === 'starting');
  return planning || state.approvals.length > 0 || (state.phase !== 'approving' && hasRunningAgent(state));
}
