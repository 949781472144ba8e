/** The terminal as the rest of the screen sees it; blessed and the real streams are behind it (open.ts). */
import type { Millis } from '../../../domain/ids.ts';
import type { Result } from '../../../domain/result.ts';
import type { Theme } from '../../../domain/theme.ts';
import type { Frame } from '../../../app/views/text/line.ts';

/**
 * One thing that came in. `key` names are: a printable grapheme as itself (`a`, `J`, `?`, `é`), or `enter`, `esc`, `tab`,
 * `backtab`, `backspace`, `delete`, `up`, `down`, `left`, `right`, `home`, `end`, `pageup`, `pagedown`, `space` as ` `,
 * `f1`…; with `ctrl-`, `alt-`, `shift-` in front where they change the meaning (`ctrl-c`, `alt-enter`, `shift-enter`, `alt-b`).
 */
export type Input =
  /** `since`: when the key went down, as far as can be told: one that repeats is held. Added by the app (held.ts). */
  | { readonly is: 'key'; readonly key: string; readonly since?: Millis }
  | { readonly is: 'paste'; readonly text: string }
  /** What the person saved in their own editor, in the place of the field's text. */
  | { readonly is: 'edited'; readonly text: string }
  | { readonly is: 'wheel'; readonly x: number; readonly y: number; readonly by: 1 | -1 }
  | { readonly is: 'click'; readonly x: number; readonly y: number }
  | { readonly is: 'focus' }
  | { readonly is: 'blur' };

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Something to be told of where nobody looks at the screen. */
export interface Notice {
  readonly title: string;
  readonly body: string;
  readonly bell: boolean;
  readonly desktop: boolean;
}

/** Where a copied text went. */
export interface Copied {
  /** It was sent for the clipboard; whether the terminal obeyed can't be known. False when it is too long for that. */
  readonly clipboard: boolean;
  /** The private file that holds it as well, as people write paths; null when it could not be written. */
  readonly file: string | null;
}

export interface Terminal {
  size(): Size;
  /** False when `LANG` and the like say that only ASCII can be shown. */
  readonly unicode: boolean;
  /** Lines are clipped and padded to the size as a last defence; text in them must be sanitised already. */
  paint(frame: Frame): void;
  /** True while so much output is queued that painting now would only add to it. */
  busy(): boolean;
  /** True after a frame of many bytes: fewer of them are better. Absent: never. */
  heavy?(): boolean;
  setTheme(theme: Theme): void;
  /** Title of the window; sanitised here. */
  setTitle(text: string): void;
  /** Puts a text into the clipboard by OSC 52, and always into a file. */
  copy(text: string): Copied;
  /** Tells the person on their desktop and, where wanted, by the bell; sanitised here. */
  notify(notice: Notice): void;
  /** Mouse events to Mimir, or selecting by the terminal itself. */
  setMouse(on: boolean): void;
  onInput(listener: (input: Input) => void): void;
  onResize(listener: () => void): void;
  /** Forces the next paint to send every cell (Ctrl-L). */
  redraw(): void;
  /** Gives the terminal back, stops the process as Ctrl-Z does, takes it again on `fg`. */
  suspend(): void;
  /** Gives the terminal back for $VISUAL or $EDITOR and takes it again afterwards. The edited text, or why there is none. */
  edit(text: string): Promise<Result<string, string>>;
  /** Gives the terminal back. Idempotent, synchronous; also done on exit, crash and signals. */
  close(): void;
}
