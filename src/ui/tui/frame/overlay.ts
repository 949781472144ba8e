/** The interface of overlays, which are drawn over a screen, take all keys and end in an effect; and helpers to frame and scroll them. */
import type { DialogEffect, Context } from './screen.ts';
import { type Hint, stepOf } from './keymap.ts';
import type { Input, Size } from '../terminal/terminal.ts';
import { box, strong, tint } from '../text/blocks.ts';
import { type Cursor, fit, type Ink, type Line, restyle, span } from '../../../app/views/index.ts';

export interface OverlayView {
  readonly lines: readonly Line[];
  readonly cursor: Cursor | null;
}

/** The result of a key. `overlay: null` closes the overlay. */
export interface Pressed {
  readonly overlay: Overlay | null;
  readonly effect?: DialogEffect;
}

/** An overlay with its state. Immutable: a key returns the next one. */
export interface Overlay {
  readonly title: string;
  /** For overlays that the app treats specially. */
  readonly kind: 'dialog' | 'inbox' | 'quit' | 'palette' | 'help' | 'copy' | 'hand over';
  view(context: Context, size: Size): OverlayView;
  press(input: Input, context: Context, size: Size): Pressed;
  /** Follows the run before each frame and key; null closes. Optional. */
  settle?(context: Context): Overlay | null;
  painted?(context: Context): Overlay;
  /** Called when the app closes the overlay. Optional. */
  dropped?(): void;
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

/** The columns of an overlay: `wanted`, or nearly the whole width. */
export const boxWidth = (size: Size, wanted: number): number =>
  Math.max(0, Math.min(wanted, size.width - (size.width >= 60 ? 4 : 0)));

/** The maximum rows between the borders; header and footer stay visible. */
export const boxRows = (size: Size): number => Math.max(1, size.height - 4);

/** The frame of a dialog, with an opaque background. */
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

/** Keys with what they do: `y stop and quit   Esc stay`, the acting one first. */
export const keyLine = (pairs: readonly (readonly [key: string, words: string])[], gap: string = '   '): Line =>
  pairs.flatMap(
    ([key, words], index): Line => [span(index === 0 ? '' : gap), strong(key, 'focus'), tint(` ${words}`, 'muted')],
  );

export const stay = (overlay: Overlay): Pressed => ({ overlay });
export const closed = (effect?: DialogEffect): Pressed =>
  effect === undefined ? { overlay: null } : { overlay: null, effect };

/** The visible rows from `top`, which is limited so that the last row stays at the end. */
export function windowed(
  lines: readonly Line[],
  top: number,
  rows: number,
): { readonly shown: readonly Line[]; readonly top: number } {
  const from = Math.max(0, Math.min(top, lines.length - rows));
  return { shown: lines.slice(from, from + rows), top: from };
}

/** The first row after a scrolling key, limited; null for other input. */
export function scrolled(input: Input, top: number, total: number, rows: number): number | null {
  const most = Math.max(0, total - rows);
  const by = (step: number): number => Math.max(0, Math.min(most, Math.min(top, most) + step));
  if (input.is === 'wheel') return by(3 * input.by);
  if (input.is !== 'key') return null;
  const step = stepOf(input.key === ' ' ? 'pagedown' : input.key, Math.max(1, rows - 1));
  return step === 0 ? null : by(step);
}
