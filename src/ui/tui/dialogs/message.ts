/** A scrolling text in a dialog with its keys: questions, notices, things to read. */
import { type Ink, type Line, wrap } from '../../../app/views/index.ts';
import type { Millis } from '../../../domain/ids.ts';
import { type Hint, upDown } from '../frame/keymap.ts';
import type { Overlay, OverlayView, Pressed } from '../frame/overlay.ts';
import { boxRows, boxWidth, closed, framed, keyLine, scrolled, stay, windowed } from '../frame/overlay.ts';
import type { Context, DialogEffect } from '../frame/screen.ts';
import type { Input, Size } from '../terminal/terminal.ts';
import { tint } from '../text/blocks.ts';

/** A key of the dialog. An empty hint hides it. */
export interface MessageKey {
  readonly keys: readonly string[];
  /** The label of the keys: `⏎/Esc`. */
  readonly label: string;
  readonly hint: string;
  /** `read`: the whole text was on the screen. `stays` keeps the dialog open. */
  run(read: boolean): { readonly stays?: boolean; readonly effect?: DialogEffect };
}

export interface Message {
  readonly title: string;
  readonly kind?: Overlay['kind'];
  readonly ink?: Ink;
  readonly width: number;
  /** Lines of at most `width` columns; `rows` is the number of visible ones. */
  lines(context: Context, width: number, rows: number): readonly Line[];
  keys(context: Context): readonly MessageKey[];
  /** Read only: the keys are named in the footer alone, with the scroll keys. */
  readonly reads?: true;
  /** The dialog opened by itself, so keys of its first 300 ms are ignored. */
  readonly opensItself?: true;
  /** See `Overlay`. */
  readonly settle?: (context: Context) => 'open' | 'over';
  readonly dropped?: () => void;
}

interface Place {
  readonly top: number;
  /** The furthest scroll position. */
  readonly deepest: number;
  readonly since: Millis | null;
}

const IGNORED_MS: Millis = 300;

/** Closes by itself once `settle` returns `over`. */
export function messageOverlay(of: Message, at: Place = { top: 0, deepest: 0, since: null }): Overlay {
  return {
    title: of.title,
    kind: of.kind ?? 'dialog',
    view: (context, size) => view(of, at, context, size),
    press: (input, context, size) => press(of, at, input, context, size),
    hints: (context) => [
      ...(of.reads ? [{ keys: upDown(context.glyphs), hint: 'scroll' }] : []),
      ...hintsOf(of, context),
    ],
    ...(of.opensItself ? { painted: ({ now }) => messageOverlay(of, { ...at, since: at.since ?? now }) } : {}),
    ...(of.settle === undefined
      ? {}
      : { settle: (context) => (of.settle?.(context) === 'over' ? null : messageOverlay(of, at)) }),
    ...(of.dropped === undefined ? {} : { dropped: of.dropped }),
  };
}

const hintsOf = (of: Message, context: Context): readonly Hint[] =>
  of.keys(context).flatMap(({ label, hint }) => (hint === '' ? [] : { keys: label, hint }));

interface Parts {
  readonly width: number;
  readonly lines: readonly Line[];
  readonly rows: number;
  /** The lines of the keys; in a low terminal only the footer names them. */
  readonly tail: readonly Line[];
}

function partsOf(of: Message, context: Context, size: Size): Parts {
  const width = boxWidth(size, of.width);
  const inner = Math.max(1, width - 4);
  const room = boxRows(size);
  const lines = of.lines(context, inner, room);
  const hints = of.reads ? [] : hintsOf(of, context);
  const keys = wrap(keyLine(hints.map(({ keys: key, hint }) => [key, hint] as const)), inner);
  const tail = hints.length > 0 && Math.min(lines.length, 6) + 1 + keys.length <= room ? [[], ...keys] : [];
  return { width, lines, rows: Math.max(1, Math.min(lines.length, room - tail.length)), tail };
}

function view(of: Message, { top: wanted }: Place, context: Context, size: Size): OverlayView {
  const { width, lines, rows, tail } = partsOf(of, context, size);
  const { shown, top } = windowed(lines, wanted, rows);
  const place = lines.length > rows ? [tint(`${top + 1}-${top + rows} of ${lines.length}`, 'muted')] : [];
  const { title, ink = 'focus' } = of;
  return { lines: framed({ title, titleEnd: place, ink, width, body: [...shown, ...tail] }, context), cursor: null };
}

function press(of: Message, at: Place, input: Input, context: Context, size: Size): Pressed {
  const same = stay(messageOverlay(of, at));
  if (of.opensItself && (at.since === null || context.now - at.since < IGNORED_MS)) return same;
  const { lines, rows } = partsOf(of, context, size);
  const meant = input.is === 'key' ? of.keys(context).find(({ keys }) => keys.includes(input.key)) : undefined;
  if (meant !== undefined) {
    const { stays = false, effect } = meant.run(at.deepest + rows >= lines.length);
    return stays ? { ...same, ...(effect === undefined ? {} : { effect }) } : closed(effect);
  }
  const top = scrolled(input, at.top, lines.length, rows);
  return top === null ? same : stay(messageOverlay(of, { ...at, top, deepest: Math.max(at.deepest, top) }));
}

/** A text to read. `linesAt` returns lines of at most `width` columns. */
export const readOverlay = (
  title: string,
  linesAt: (width: number) => readonly Line[],
  width: number = READ_WIDTH,
): Overlay => messageOverlay({ title, width, reads: true, lines: (_, inner) => linesAt(inner), keys: () => CLOSE });

const READ_WIDTH = 92;

/** A key that closes the dialog, with an effect where one is given. */
export const closingKey = (
  keys: readonly string[],
  label: string,
  hint: string,
  effect?: DialogEffect,
): MessageKey => ({ keys, label, hint, run: () => (effect === undefined ? {} : { effect }) });

/** The keys that close a text. */
export const CLOSE: readonly MessageKey[] = [closingKey(['esc', 'q', '?', 'enter'], 'Esc', 'close')];
