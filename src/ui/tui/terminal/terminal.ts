/** The interface of the terminal; open.ts implements it. */
import type { Frame } from '../../../app/views/index.ts';
import type { Millis } from '../../../domain/ids.ts';
import type { Result } from '../../../domain/result.ts';
import type { Theme } from '../../../domain/theme.ts';

/** An input. `key` names are: a printable grapheme as itself (`a`, `J`, `?`, `é`), or `enter`, `esc`, `tab`, `backtab`,
 * `backspace`, `delete`, `up`, `down`, `left`, `right`, `home`, `end`, `pageup`, `pagedown`, `space` as ` `, `f1`…;
 * prefixed by `ctrl-`, `alt-`, `shift-` where they change the meaning (`ctrl-c`, `alt-enter`, `shift-enter`, `alt-b`). */
export type Input =
  /** `since`: when the key was pressed, if it repeats; added by the app. */
  | { readonly is: 'key'; readonly key: string; readonly since?: Millis }
  | { readonly is: 'paste'; readonly text: string }
  /** The text from the user's editor, which replaces the field's text. */
  | { readonly is: 'edited'; readonly text: string }
  | { readonly is: 'wheel'; readonly x: number; readonly y: number; readonly by: 1 | -1 }
  | { readonly is: 'click'; readonly x: number; readonly y: number }
  | { readonly is: 'focus' }
  | { readonly is: 'blur' };

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A notification for a user who looks elsewhere. */
export interface Notice {
  readonly title: string;
  readonly body: string;
  readonly bell: boolean;
  readonly desktop: boolean;
}

/** The destinations of a copied text. */
export interface Copied {
  /** True if it was sent to the clipboard; whether the terminal accepted it is unknown. False if it is too long. */
  readonly clipboard: boolean;
  /** The private file with the text, as a path for people; null if it could not be written. */
  readonly file: string | null;
}

/** The output load: light, heavy (after a large frame, fewer frames are better), or full (painting would only add to the queue). */
export type Load = 'light' | 'heavy' | 'full';

export interface Terminal {
  size(): Size;
  /** False if the locale allows only ASCII. */
  readonly unicode: boolean;
  /** Paints a frame of sanitised lines, clipped and padded to the size. */
  paint(frame: Frame): void;
  load(): Load;
  setTheme(theme: Theme): void;
  /** Sets the window title; sanitised here. */
  setTitle(text: string): void;
  /** Copies a text to the clipboard by OSC 52, and always to a file. */
  copy(text: string): Copied;
  /** Notifies the user by the desktop and the bell; sanitised here. */
  notify(notice: Notice): void;
  /** Sends mouse events to Mimir, or leaves the mouse to the terminal's selection. */
  setMouse(on: boolean): void;
  onInput(listener: (input: Input) => void): void;
  onResize(listener: () => void): void;
  /** Makes the next paint send every cell (Ctrl-L). */
  redraw(): void;
  /** Releases the terminal, stops the process as Ctrl-Z does, and takes the terminal again on `fg`. */
  suspend(): void;
  /** Releases the terminal for $VISUAL or $EDITOR with a text, or for a session of Mimir's tmux server, and takes it again. Returns the edited
   * text, or why there is none or nothing to see. */
  lend(to: { readonly edit: string } | { readonly attach: string }): Promise<Result<string, string>>;
  /** Releases the terminal. Idempotent and synchronous; also called on exit, crash and signals. */
  close(): void;
}
