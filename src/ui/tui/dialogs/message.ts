/** A scrolling text in a dialog with its keys: questions, notices, things to read. */
import { type Ink, type Line, plain, wrap } from '../../../app/views/index.ts';
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
  /** It allows something: where the dialog opened by itself, a key that is held since before does nothing. */
  readonly allows?: true;
  /** `read`: the whole text was on the screen, or scrolled past. `stays` keeps the dialog open. */
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

/** Positions in the text, which no resize changes: characters that are no blanks, and 1 for an empty line. */
interface Place {
  /** Of the first visible row. */
  readonly from: number;
  /** Up to which the text was visible. */
  readonly seen: number;
  readonly since: Millis | null;
}

/** The position at the end of each line. */
function endsOf(lines: readonly Line[]): readonly number[] {
  let end = 0;
  return lines.map((line) => (end += Math.max(1, plain(line).replaceAll(/\s/g, '').length)));
}

/** The first line that ends after the position. */
function topOf(from: number, ends: readonly number[]): number {
  const top = ends.findIndex((end) => end > from);
  return top === -1 ? ends.length : top;
}

const IGNORED_MS: Millis = 300;

/** Closes by itself once `settle` returns `over`. */
export const messageOverlay = (of: Message, at: Place = { from: 0, seen: 0, since: null }): Overlay => ({
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
});

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

function view(of: Message, { from }: Place, context: Context, size: Size): OverlayView {
  const { width, lines, rows, tail } = partsOf(of, context, size);
  const { shown, top } = windowed(lines, topOf(from, endsOf(lines)), rows);
  const place = lines.length > rows ? [tint(`${top + 1}-${top + rows} of ${lines.length}`, 'muted')] : [];
  const { title, ink = 'focus' } = of;
  return { lines: framed({ title, titleEnd: place, ink, width, body: [...shown, ...tail] }, context), cursor: null };
}

function press(of: Message, at: Place, input: Input, context: Context, size: Size): Pressed {
  const same = stay(messageOverlay(of, at));
  const from = of.opensItself === true ? (at.since ?? Infinity) + IGNORED_MS : 0;
  if (context.now < from) return same;
  const { lines, rows } = partsOf(of, context, size);
  const visible = visibleOf(at, lines, rows);
  const meant = keyOf(of, input, context);
  if (meant !== undefined)
    return meant.allows && meant.since < from ? same : taken(meant.run(visible.seen >= visible.end), same);
  const top = scrolled(input, visible.top, lines.length, rows);
  if (top === null) return same;
  const { from: first, to } = visible.at(top);
  return stay(messageOverlay(of, { ...at, from: first, seen: Math.max(visible.seen, to) }));
}

/** The key that was pressed, and since when it is down. */
function keyOf(of: Message, input: Input, context: Context): (MessageKey & { readonly since: Millis }) | undefined {
  const key = input.is === 'key' ? of.keys(context).find(({ keys }) => keys.includes(input.key)) : undefined;
  return key && { ...key, since: (input.is === 'key' ? input.since : undefined) ?? context.now };
}

const taken = ({ stays = false, effect }: ReturnType<MessageKey['run']>, same: Pressed): Pressed =>
  stays ? { ...same, ...(effect === undefined ? {} : { effect }) } : closed(effect);

/** The first visible row, what was visible of the text so far, and its end. */
function visibleOf({ from, seen }: Place, lines: readonly Line[], rows: number) {
  const ends = endsOf(lines);
  const end = ends.at(-1) ?? 0;
  const at = (row: number): { readonly from: number; readonly to: number } => ({
    from: ends[row - 1] ?? 0,
    to: ends[row + rows - 1] ?? end,
  });
  const top = Math.min(topOf(from, ends), Math.max(0, lines.length - rows));
  const now = at(top);
  // What a resize has moved into view counts only where nothing before it was left out.
  return { top, at, end, seen: now.from <= seen ? Math.max(seen, now.to) : seen };
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
