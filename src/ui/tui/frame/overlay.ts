/** What every box over a screen has in common: it is drawn, it takes all keys, and it ends in an effect. */
import type { DialogEffect, Context } from './screen.ts';
import type { Hint } from './keymap.ts';
import type { Input, Size } from '../terminal/terminal.ts';
import { box } from '../text/box.ts';
import { fit, restyle, span } from '../../../app/views/text/clip.ts';
import type { Cursor, Ink, Line } from '../../../app/views/text/line.ts';

export interface OverlayView {
  /** The box; the app puts it in the middle. */
  readonly lines: readonly Line[];
  /** In the box's own columns and rows. */
  readonly cursor: Cursor | null;
}

/** What a key led to. `overlay: null` closes the box. */
export interface Pressed {
  readonly overlay: Overlay | null;
  readonly effect?: DialogEffect;
}

/** A box and its own state; a key gives the next one, nothing changes in place. */
export interface Overlay {
  readonly title: string;
  /** For boxes that the app treats differently. */
  readonly kind: 'dialog' | 'inbox' | 'quit' | 'palette' | 'help' | 'copy' | 'hand over';
  view(context: Context, size: Size): OverlayView;
  press(input: Input, context: Context, size: Size): Pressed;
  /** Follows what happened meanwhile, before each painting and key; null closes. Absent: nothing can happen to it. */
  settle?(context: Context): Overlay | null;
  /** It was put on the screen. Absent: it is the same to it. */
  painted?(context: Context): Overlay;
  /** It was closed from outside, by no key of its own. Absent: it is the same to it. */
  dropped?(): void;
  /** For the footer, while the box is open. */
  hints(context: Context): readonly Hint[];
}

export interface Frame {
  readonly title: string;
  readonly titleEnd?: Line;
  readonly foot?: Line;
  readonly ink?: Ink;
  readonly width: number;
  readonly body: readonly Line[];
}

/** Columns a box takes on a screen: `wanted` where there is room, else nearly all. */
export const boxWidth = (size: Size, wanted: number): number =>
  Math.max(0, Math.min(wanted, size.width - (size.width >= 60 ? 4 : 0)));

/** Rows between the borders that a box may have at most; header and footer stay in sight. */
export const boxRows = (size: Size): number => Math.max(1, size.height - 4);

/** The box of a dialog, with a background of its own so that nothing shines through. */
export function framed(of: Frame, { glyphs }: Context): readonly Line[] {
  const back = { bg: 'surface' } as const;
  const lines = box({
    width: of.width,
    height: of.body.length + 2,
    glyphs,
    border: 'round',
    style: { fg: of.ink ?? 'focus', ...back },
    fill: back,
    title: [span(of.title, { fg: 'title', bold: true, ...back })],
    ...(of.titleEnd ? { titleEnd: restyle(of.titleEnd, back) } : {}),
    ...(of.foot ? { foot: restyle(of.foot, back) } : {}),
    body: of.body.map((line) => restyle(line, back)),
  });
  return lines.map((line) => fit(restyle(line, back), of.width, back));
}

/** `y stop and quit   Esc stay`: the keys inside a box, first the one that does something. */
export const keyLine = (pairs: readonly (readonly [key: string, words: string])[]): Line =>
  pairs.flatMap(
    ([key, words], index): Line => [
      span(index === 0 ? '' : '   '),
      span(key, { fg: 'focus', bold: true }),
      span(` ${words}`, { fg: 'muted' }),
    ],
  );

export const stay = (overlay: Overlay): Pressed => ({ overlay });
export const closed = (effect?: DialogEffect): Pressed =>
  effect === undefined ? { overlay: null } : { overlay: null, effect };

/** The rows from `top` that fit, `top` moved so that the last row is never above the end. */
export function windowed(
  lines: readonly Line[],
  top: number,
  rows: number,
): { readonly shown: readonly Line[]; readonly top: number } {
  const from = Math.max(0, Math.min(top, lines.length - rows));
  return { shown: lines.slice(from, from + rows), top: from };
}

/** Where a scrolling key leads to, or null when it isn't one. Clamped. */
export function scrolled(input: Input, top: number, total: number, rows: number): number | null {
  const most = Math.max(0, total - rows);
  const by = (step: number): number => Math.max(0, Math.min(most, Math.min(top, most) + step));
  if (input.is === 'wheel') return by(3 * input.by);
  if (input.is !== 'key') return null;
  const page = Math.max(1, rows - 1);
  const steps: Readonly<Record<string, number>> = {
    up: -1,
    k: -1,
    down: 1,
    j: 1,
    pageup: -page,
    'ctrl-u': -(page >> 1),
    pagedown: page,
    ' ': page,
    'ctrl-d': page >> 1,
    g: -total,
    home: -total,
    G: total,
    end: total,
  };
  const step = Object.hasOwn(steps, input.key) ? steps[input.key] : undefined;
  return step === undefined ? null : by(step);
}
