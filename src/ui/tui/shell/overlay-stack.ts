/** Dialogs, docked questions below them (with keys only once focused), the app's own overlays, and toasts. */
import { type Frame, toLabel } from '../../../app/views/index.ts';
import type { Millis } from '../../../domain/ids.ts';
import { isTooSmall } from '../components/layout.ts';
import { STAYS } from '../components/notices.ts';
import { copyOverlay } from '../dialogs/copy-mode.ts';
import { helpOverlay, paletteOverlay } from '../dialogs/commands.ts';
import { Inbox } from '../dialogs/inbox/inbox.ts';
import type { Docked } from '../dialogs/inbox/view.ts';
import { themesOverlay } from '../dialogs/list.ts';
import { entriesOf, type Entry, helpOf, type HelpPart, type Page, type OwnKeys } from '../frame/keymap.ts';
import type { Overlay, OverlayView } from '../frame/overlay.ts';
import type { Context, DialogEffect, ScreenName, Toast } from '../frame/screen.ts';
import type { Input, Size } from '../terminal/terminal.ts';
import { type APP_KEYS, HELP_NOTES } from './app-keys.ts';

/** What receives keys before the screen: a dialog or the questions. */
export type Top = Pick<Overlay, 'title' | 'kind' | 'hints'>;

export class OverlayStack {
  #stack: readonly Overlay[] = [];
  #inbox = new Inbox();
  /** True if the questions have the focus, unless a dialog is above them. */
  focused = false;

  get all(): readonly Overlay[] {
    return this.#stack;
  }

  get top(): Top | undefined {
    return this.#stack.at(-1) ?? (this.focused ? this.#inbox : undefined);
  }

  push(overlay: Overlay): void {
    this.#stack = [...this.#stack, overlay];
  }

  pop(): void {
    if (this.#stack.length === 0) this.focused = false;
    this.#stack.at(-1)?.dropped?.();
    this.#stack = this.#stack.slice(0, -1);
  }

  close(which: Overlay['kind']): void {
    this.#stack = this.#stack.filter(({ kind }) => kind !== which);
  }

  clear(): void {
    for (const one of this.#stack) one.dropped?.();
    this.#stack = [];
  }

  press(input: Input, context: Context, size: Size): DialogEffect | null {
    const top = this.#stack.at(-1);
    if (top === undefined) return this.#answer(input, context, size);
    const { overlay, effect } = top.press(input, context, size);
    // The key is repeated after the run's answer; until then the dialog stays unchanged.
    if (effect?.checking) return effect;
    this.#stack = this.#stack.flatMap((one) => (one === top ? (overlay ?? []) : one));
    return effect ?? null;
  }

  #answer(input: Input, context: Context, size: Size): DialogEffect | null {
    const { inbox, leaves = false, effect } = this.#inbox.press(input, context, this.#docked(size, false));
    this.#inbox = inbox;
    if (leaves) this.focused = false;
    return effect ?? null;
  }

  /** Called when everything is painted. `typing`: letters go to a field of the screen. */
  painted(context: Context, size: Size, typing: boolean): void {
    this.#stack = this.#stack.map((one) => one.painted?.(context) ?? one);
    // Questions below a dialog were not seen.
    if (this.#stack.length === 0 && !isTooSmall(size))
      this.#inbox = this.#inbox.painted(context, this.#docked(size, typing));
  }

  /** Updates the dialogs after the run changed: answered questions disappear. */
  settle(context: Context): void {
    this.#stack = this.#stack.flatMap((one) => (one.settle ? (one.settle(context) ?? []) : one));
    if (this.#inbox.unanswered(context).length === 0) this.focused = false;
    this.#inbox = this.#inbox.settle(context, this.focused);
  }

  openInbox(context: Context): void {
    if (this.#inbox.unanswered(context).length === 0) return;
    this.focused = true;
    this.#inbox = this.#inbox.settle(context, true).focus(context);
  }

  /** The docked questions; no lines if none are open. */
  dock(context: Context, size: Size, typing: boolean): Dock {
    return { ...this.#inbox.view(context, this.#docked(size, typing)), focused: this.#hasKeys };
  }

  get #hasKeys(): boolean {
    return this.focused && this.#stack.length === 0;
  }

  #docked(size: Size, typing: boolean): Docked {
    return { width: size.width, rows: dockRows(size, this.focused), focused: this.#hasKeys, typing };
  }

  /** Offers a question again after its answer was refused. */
  forget(approval: string): void {
    this.#inbox = this.#inbox.again(approval);
  }

  forgetAll(): void {
    this.#inbox = new Inbox();
    this.focused = false;
  }
}

/** The docked questions on the screen. */
export interface Dock extends OverlayView {
  readonly focused: boolean;
}

/** Rows of the screen that stay visible while a question has the focus. */
const VISIBLE_ROWS = 4;
/** Below this many rows a question takes nearly all of them if focused, otherwise one. */
const FEW_ROWS = 14;

/** The maximum rows of a question: most of the screen if it has the focus, otherwise half. */
function dockRows({ height }: Size, asked: boolean): number {
  const rows = Math.max(0, height - 2);
  if (rows < FEW_ROWS) return asked ? Math.max(1, rows - 1) : 1;
  return asked ? rows - VISIBLE_ROWS : rows >> 1;
}

interface ShownToast extends Toast {
  readonly until: Millis;
  readonly screen: ScreenName;
}

export class Toasts {
  #all: readonly ShownToast[] = [];

  get all(): readonly Toast[] {
    return this.#all;
  }

  /** Adds a toast. It replaces one with the same text or, for information, the same topic (`Density: card`, then `Density: line`). */
  add(toast: Toast, now: Millis, screen: ScreenName): void {
    const text = toLabel(toast.text);
    const topic = toast.level === 'info' ? /^[^:]+:/.exec(text)?.[0] : undefined;
    const isOld = (one: Toast): boolean =>
      one.text === text || (topic !== undefined && one.level === 'info' && one.text.startsWith(topic));
    const others = this.#all.filter((one) => !isOld(one));
    this.#all = [...others.slice(-4), { ...toast, text, until: now + STAYS[toast.level], screen }];
  }

  /** Removes the toasts whose time, screen or question is over. `asked`: a question waits. */
  expire(now: Millis, on: ScreenName, asked: boolean): void {
    const isOver = ({ until, about, screen }: ShownToast): boolean =>
      until <= now || (about === 'screen' && screen !== on) || (about === 'question' && !asked);
    this.#all = this.#all.filter((toast) => !isOver(toast));
  }

  /** Removes errors once a key was pressed. */
  dismiss(): void {
    this.#all = this.#all.filter(({ level }) => level !== 'error');
  }

  get hasExpiring(): boolean {
    return this.#all.some(({ until }) => Number.isFinite(until));
  }
}

interface AppOverlaysParts {
  readonly boxes: OverlayStack;
  readonly page: () => Page;
  readonly keys: typeof APP_KEYS;
  readonly own: OwnKeys;
}

const dialogHelp = (box: Top, context: Context): HelpPart => ({
  title: box.title,
  rows: box.hints(context).map(({ keys, hint }) => ({ keys, help: hint })),
});

/** Entries of the palette that come first because they were run last. */
const MOST_RECENT = 4;

/** Opens the overlays that every screen has: help, palette, copy mode and themes. */
export class AppOverlays {
  readonly #of: AppOverlaysParts;
  /** The actions that were run from the palette, the last one first. */
  #recent: readonly string[] = [];

  constructor(parts: AppOverlaysParts) {
    this.#of = parts;
  }

  help(context: Context): void {
    const { boxes, page, keys, own } = this.#of;
    const { top } = boxes;
    // In the help, the same key closes it.
    if (top?.kind === 'help') return boxes.pop();
    const here = top === undefined ? page().help(context) : [dialogHelp(top, context)];
    const meant = keys.filter((binding) => binding.whyNot(null, context) !== '');
    const parts = [...here, ...helpOf(meant, context.glyphs, own)];
    boxes.push(helpOverlay(parts, HELP_NOTES));
  }

  /** Above a dialog only the app's own actions are possible. */
  palette(): void {
    const { boxes, page, keys } = this.#of;
    if (boxes.top?.kind === 'palette') return boxes.pop();
    const over = boxes.top !== undefined;
    boxes.push(
      paletteOverlay((context): readonly Entry[] => {
        const everywhere = entriesOf(keys, null, context, (effect) => {
          const { ui: _, ...rest } = effect;
          return rest;
        });
        // A screen may have a command of its own that also works everywhere, such as quitting.
        const names = new Set(everywhere.map(({ help }) => help));
        const own = over
          ? []
          : page()
              .entries(context)
              .filter(({ help }) => !names.has(help));
        return this.#recentFirst([...own, ...everywhere]);
      }),
    );
  }

  #recentFirst(entries: readonly Entry[]): readonly Entry[] {
    const noted = entries.map((entry) => ({ ...entry, run: () => this.#note(entry).run() }));
    const recent = this.#recent.flatMap((action) => noted.filter((entry) => entry.action === action));
    return [...recent, ...noted.filter((entry) => !recent.includes(entry))];
  }

  #note(entry: Entry): Entry {
    this.#recent = [entry.action, ...this.#recent.filter((action) => action !== entry.action)].slice(0, MOST_RECENT);
    return entry;
  }

  /** Opens copy mode over the current frame including dialogs, or closes it. */
  copyMode(frame: Frame): void {
    const { boxes } = this.#of;
    if (boxes.top?.kind === 'copy') return boxes.pop();
    boxes.push(copyOverlay(frame, this.#of.own));
  }

  themes(context: Context): void {
    this.#of.boxes.push(themesOverlay(context));
  }
}
