/** The boxes over the screen, topmost last, and the toasts. Below them the questions, which get the keys only when the person turns to them. */
import type { Millis } from '../../../../domain/ids.ts';
import { Inbox } from '../../dialogs/inbox/inbox.ts';
import type { Docked } from '../../dialogs/inbox/view.ts';
import type { Overlay, OverlayView } from '../../frame/overlay.ts';
import type { DialogEffect, Context, Toast } from '../../frame/screen.ts';
import type { Input, Size } from '../../terminal/terminal.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { isTooSmall } from '../../components/small.ts';
import { STAYS } from '../../components/toast.ts';

/** What has the keys before the screen: a box, or the questions. */
export type Top = Pick<Overlay, 'title' | 'kind' | 'hints'>;

export class Boxes {
  #stack: readonly Overlay[] = [];
  #inbox = new Inbox();
  /** Do the questions have the keys, where no box lies over them? */
  #asked = false;

  get all(): readonly Overlay[] {
    return this.#stack;
  }

  get top(): Top | undefined {
    return this.#stack.at(-1) ?? (this.#asked ? this.#inbox : undefined);
  }

  push(overlay: Overlay): void {
    this.#stack = [...this.#stack, overlay];
  }

  pop(): void {
    if (this.#stack.length === 0) this.#asked = false;
    this.#stack.at(-1)?.dropped?.();
    this.#stack = this.#stack.slice(0, -1);
  }

  /** Closes the box of this kind, if it is open still. */
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
    this.#stack = this.#stack.flatMap((one) => (one === top ? (overlay ?? []) : one));
    return effect ?? null;
  }

  #answer(input: Input, context: Context, size: Size): DialogEffect | null {
    const { inbox, leaves = false, effect } = this.#inbox.press(input, context, this.#docked(size, false));
    this.#inbox = inbox;
    if (leaves) this.#asked = false;
    return effect ?? null;
  }

  /** All of them are on the screen now. `typing`: letters go to a field of the screen. */
  painted(context: Context, size: Size, typing: boolean): void {
    this.#stack = this.#stack.map((one) => one.painted?.(context) ?? one);
    // What lies below a box was not seen.
    if (this.#stack.length === 0 && !isTooSmall(size))
      this.#inbox = this.#inbox.painted(context, this.#docked(size, typing));
  }

  /** What the run did to the boxes: answered questions go. */
  settle(context: Context): void {
    this.#stack = this.#stack.flatMap((one) => (one.settle ? (one.settle(context) ?? []) : one));
    if (this.#inbox.left(context).length === 0) this.#asked = false;
    this.#inbox = this.#inbox.settle(context, this.#asked);
  }

  /** The questions get the keys, if anything waits. */
  openInbox(context: Context): void {
    if (this.#inbox.left(context).length === 0) return;
    this.#asked = true;
    this.#inbox = this.#inbox.settle(context, true).turnedTo(context);
  }

  /** The questions as they stand on the screen; without lines where nothing waits. */
  dock(context: Context, size: Size, typing: boolean): Dock {
    return { ...this.#inbox.view(context, this.#docked(size, typing)), focused: this.#hasKeys };
  }

  get #hasKeys(): boolean {
    return this.#asked && this.#stack.length === 0;
  }

  #docked(size: Size, typing: boolean): Docked {
    return { width: size.width, rows: dockRows(size, this.#asked), focused: this.#hasKeys, typing };
  }

  /** A question is to be offered again: its answer was refused. */
  forget(approval: string): void {
    this.#inbox = this.#inbox.again(approval);
  }

  /** Another run: its questions are others. */
  forgetAll(): void {
    this.#inbox = new Inbox();
    this.#asked = false;
  }
}

/** The questions on the screen. */
export interface Dock extends OverlayView {
  readonly focused: boolean;
}

/** Rows of the screen's own that stay while a question is read: some of what it is about, and the field. */
const KEPT = 4;
/** Where there are fewer between header and footer, a question takes nearly all of them, or one. */
const LOW = 14;

/** The most rows that a question may take: as many as it can use when it has the keys, half of the screen before. */
function dockRows({ height }: Size, asked: boolean): number {
  const rows = Math.max(0, height - 2);
  if (rows < LOW) return asked ? Math.max(1, rows - 1) : 1;
  return asked ? rows - KEPT : rows >> 1;
}

interface ShownToast extends Toast {
  readonly until: Millis;
}

export class Toasts {
  #all: readonly ShownToast[] = [];

  get all(): readonly Toast[] {
    return this.#all;
  }

  /** The same words again take the place of the old ones, and so does news about the same: `Density: card`, then `line`. */
  add(toast: Toast, now: Millis): void {
    const text = toLabel(toast.text);
    const topic = toast.level === 'info' ? /^[^:]+:/.exec(text)?.[0] : undefined;
    const isOld = (one: Toast): boolean =>
      one.text === text || (topic !== undefined && one.level === 'info' && one.text.startsWith(topic));
    const others = this.#all.filter((one) => !isOld(one));
    this.#all = [...others.slice(-4), { ...toast, text, until: now + STAYS[toast.level] }];
  }

  expire(now: Millis): void {
    this.#all = this.#all.filter(({ until }) => until > now);
  }

  /** A key was pressed: errors were read. */
  dismiss(): void {
    this.#all = this.#all.filter(({ level }) => level !== 'error');
  }

  /** Does one of them go by itself? */
  get willGo(): boolean {
    return this.#all.some(({ until }) => Number.isFinite(until));
  }
}
