/** The boxes over the screen, topmost last, and the toasts. The inbox opens by itself when a question is new and nobody is disturbed. */
import type { Millis } from '../domain/ids.ts';
import type { Approval } from '../events/state.ts';
import { inboxOverlay } from './dialogs/inbox.ts';
import type { Overlay } from './dialogs/overlay.ts';
import type { DialogEffect } from './dialog.ts';
import type { Context, Toast } from './screen.ts';
import type { Input, Size } from './term/terminal.ts';
import { toLabel } from './text/sanitise.ts';
import { STAYS } from './view/toast.ts';

export class Boxes {
  #stack: readonly Overlay[] = [];
  /** Questions that were offered once: they don't open the inbox again. */
  #noticed = new Set<string>();
  /** As it was left: what was typed in it is kept. */
  #inbox: Overlay = inboxOverlay();

  get all(): readonly Overlay[] {
    return this.#stack;
  }

  get top(): Overlay | undefined {
    return this.#stack.at(-1);
  }

  push(overlay: Overlay): void {
    this.#stack = [...this.#stack, overlay];
  }

  pop(): void {
    this.top?.dropped?.();
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
    const top = this.top;
    if (top === undefined) return null;
    const { overlay, effect } = top.press(input, context, size);
    this.#replace(this.#stack.flatMap((one) => (one === top ? (overlay ?? []) : one)));
    return effect ?? null;
  }

  /** All of them are on the screen now. */
  painted(context: Context): void {
    this.#replace(this.#stack.map((one) => one.painted?.(context) ?? one));
  }

  /** What the run did to the boxes: answered questions go. */
  settle(context: Context): void {
    this.#replace(this.#stack.flatMap((one) => (one.settle ? (one.settle(context) ?? []) : one)));
    // What came while the inbox is open is in it.
    if (this.top?.kind === 'inbox') this.#notice(context);
  }

  /** Opens the inbox as it was left, if anything waits in it. */
  openInbox(context: Context): void {
    this.#notice(context);
    const inbox = this.#inbox.settle?.(context) ?? null;
    if (inbox !== null) this.push(inbox);
  }

  #replace(stack: readonly Overlay[]): void {
    this.#stack = stack;
    this.#inbox = stack.find(({ kind }) => kind === 'inbox') ?? this.#inbox;
  }

  #notice({ state }: Context): void {
    for (const { id } of state.approvals) this.#noticed.add(id);
  }

  /** Was this question never offered? */
  isNew({ id }: Approval): boolean {
    return !this.#noticed.has(id);
  }

  /** A question is to be offered again: its answer was refused. */
  forget(approval: string): void {
    this.#noticed.delete(approval);
    const again = (one: Overlay): Overlay => one.again?.(approval) ?? one;
    this.#inbox = again(this.#inbox);
    this.#replace(this.#stack.map(again));
  }

  /** Another run: its questions are others. */
  forgetAll(): void {
    this.#noticed = new Set();
    this.#inbox = inboxOverlay();
  }
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
