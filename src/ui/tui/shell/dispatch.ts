/** Routes input to dialog, screen and app; handles Ctrl-C, queues input during previews, and highlights the pressed key. */
import type { Millis } from '../../../domain/ids.ts';
import type { World } from '../../../ports/world.ts';
import { isTooSmall } from '../components/layout.ts';
import { bindingFor, isPlain, keyLabel, type Page } from '../frame/keymap.ts';
import type { Context, DialogEffect } from '../frame/screen.ts';
import type { Input, Size } from '../terminal/terminal.ts';
import type { Glyphs } from '../text/glyphs.ts';
import type { APP_KEYS } from './app-keys.ts';
import type { AppServices } from './app-options.ts';
import { bodySize, inBody } from './frame.ts';
import type { OverlayStack } from './overlay-stack.ts';

export interface Listeners {
  readonly context: Context;
  readonly size: Size;
  readonly page: Page;
  readonly boxes: OverlayStack;
  readonly dock: { readonly top: number; readonly rows: number };
  readonly keys: typeof APP_KEYS;
  readonly isQuit: () => boolean;
}

/** The effect of an input, or null. */
export function dispatch(input: Input, to: Listeners): DialogEffect | null {
  const { context, size, boxes } = to;
  const key = input.is === 'key' ? input.key : null;
  if (key === 'ctrl-c') return stopKey(to);
  const always = key !== null && GLOBAL_KEYS.has(key) && bindingFor(to.keys, key) !== undefined;
  if (key !== null && (isTooSmall(size) || always)) return appKey(key, to);
  return boxes.top ? boxes.press(input, context, size) : pressScreen(input, to);
}

/** The screen comes first. Letters that its field did not take are no commands either. */
function pressScreen(input: Input, to: Listeners): DialogEffect | null {
  const { context, size, page, dock } = to;
  const own = inBody(input, dock);
  if (own === null) return input.is === 'click' ? { app: 'inbox' } : null;
  const effect = page.press(own, context, bodySize(size, dock.rows));
  if (effect !== null || input.is !== 'key') return effect;
  return page.typing(context) && isPlain(input.key) ? null : appKey(input.key, to);
}

/** Keys that no dialog and no field takes. */
const GLOBAL_KEYS: ReadonlySet<string> = new Set(['ctrl-l', 'ctrl-z', 'ctrl-p', 'f1', 'f2', 'f3']);

function appKey(key: string, { keys, context }: Listeners): DialogEffect | null {
  const binding = bindingFor(keys, key);
  if (binding === undefined) return null;
  const why = binding.whyNot(null, context);
  // An empty reason means that the key has no meaning now.
  if (why === '') return null;
  if (why !== null) return { toast: { level: 'info', text: why } };
  const { ui: _, ...effect } = binding.run(null, context, key);
  return effect;
}

/** The first Ctrl-C clears the field, closes the dialog or interrupts the selected agent; a second one quits or asks. */
function stopKey({ context, size, page, boxes, dock, isQuit }: Listeners): DialogEffect | null {
  if (isQuit()) return { app: 'quit' };
  if (boxes.top) {
    boxes.pop();
    return null;
  }
  const effect = page.press({ is: 'key', key: 'ctrl-c' }, context, bodySize(size, dock.rows));
  return effect ?? { toast: { level: 'info', text: 'Press Ctrl-C again to quit.' } };
}

/** Computes an effect. Repeated while the effect says `checking`, which means that it changed nothing yet. */
type AppEffect = () => DialogEffect | null;

/** The delay before a notice that the run is being asked, and before giving up. */
const NOTICE_DELAY: Millis = 100;
const ANSWER_TIMEOUT: Millis = 1000;
type Services = Pick<AppServices, 'world' | 'act' | 'changed'>;

/** Queues input while the run answers a question about it, such as the preview of a mode. */
export class InputQueue {
  readonly #app: Services;
  #queued: readonly AppEffect[] = [];
  #asked: AppEffect | null = null;

  constructor(app: Services) {
    this.#app = app;
  }

  add(action: AppEffect): void {
    this.#queued = [...this.#queued, action];
    if (this.#queued.length === 1) this.answered();
  }

  /** Runs an action before the queued ones, to which it belongs. */
  first(action: AppEffect): void {
    this.#queued = [action, ...this.#queued];
    this.answered();
  }

  /** Runs the queued actions until one has to wait for the run. */
  answered(): void {
    for (let [action] = this.#queued; action !== undefined; [action] = this.#queued) {
      const effect = action();
      if (effect?.checking) return this.#wait(action);
      this.#queued = this.#queued.slice(1);
      if (effect !== null) this.#app.act(effect);
      // Input typed before a dialog appeared was not meant for it.
      if (effect?.dialog !== undefined) this.drop(IGNORED_INPUT);
    }
  }

  /** Discards the queue and tells the user. */
  drop(text: string): void {
    if (this.#queued.length > 0) this.#app.act({ toast: { level: 'warn', text } });
    this.#queued = [];
  }

  #wait(action: AppEffect): void {
    if (this.#asked === action) return;
    this.#asked = action;
    const { world, act, changed } = this.#app;
    const after = async (ms: Millis, say: () => void): Promise<void> => {
      await world.sleep(ms);
      if (this.#queued[0] !== action) return;
      say();
      changed();
    };
    void after(NOTICE_DELAY, () => act({ toast: { level: 'info', text: 'Checking the effect of this change.' } }));
    void after(ANSWER_TIMEOUT, () => this.drop('The run did not answer. Your input was ignored.'));
  }
}

const IGNORED_INPUT = 'Input typed before this question appeared was ignored.';
const FLASH_MS: Millis = 160;

/** Highlights the pressed key in the footer for a moment. */
export class KeyFlash {
  readonly #world: World;
  readonly #over: () => void;
  #label = '';
  #presses = 0;

  /** `over` is called when the highlight ends. */
  constructor(world: World, over: () => void) {
    this.#world = world;
    this.#over = over;
  }

  /** The highlighted key as the footer shows it; empty for none. */
  get label(): string {
    return this.#label;
  }

  press(key: string, glyphs: Glyphs): void {
    this.#label = keyLabel(key, glyphs);
    this.#presses += 1;
    const press = this.#presses;
    void this.#world.sleep(FLASH_MS).then(() => {
      if (press !== this.#presses) return;
      this.#label = '';
      this.#over();
    });
  }
}
