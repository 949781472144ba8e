/** A `Terminal` without a terminal: a test sends inputs and looks at the frames that were painted, as text. */
import { fail, ok } from '../../src/domain/result.ts';
import { type Frame, plain } from '../../src/app/views/text/line.ts';
import type { Input, Size, Terminal } from '../../src/ui/tui/terminal/terminal.ts';

export interface FakeTerminal extends Terminal {
  /** The last frame, a string a row. */
  rows(): readonly string[];
  /** The last frame as one text. */
  text(): string;
  frame(): Frame;
  frames(): number;
  /** What the editor outside gives back from now on; null: it failed. */
  edits(text: string | null): void;
  title(): string;
  /** What was asked of the terminal beside painting. */
  readonly done: string[];
  send(input: Input): void;
  /** One key after the other, by their names. */
  press(...keys: readonly string[]): void;
  /** Every letter as a key. */
  type(text: string): void;
  resize(size: Size): void;
}

export function fakeTerminal(width: number, height: number): FakeTerminal {
  let size: Size = { width, height };
  let frame: Frame = { lines: [], cursor: null };
  let frames = 0;
  let title = '';
  let edited: string | null = null;
  const done: string[] = [];
  const inputs: ((input: Input) => void)[] = [];
  const resizes: (() => void)[] = [];
  const send = (input: Input): void => {
    for (const listener of inputs) listener(input);
  };
  return {
    done,
    unicode: true,
    size: () => size,
    paint: (next) => {
      frame = next;
      frames += 1;
    },
    load: () => 'light',
    setTheme: () => undefined,
    setTitle: (text) => {
      title = text;
    },
    copy: (text) => {
      done.push(`copy ${text}`);
      return { clipboard: true, file: null };
    },
    notify: ({ title: head, body, bell }) => void done.push(`notify ${head}: ${body}${bell ? ' (bell)' : ''}`),
    setMouse: (on) => void done.push(`mouse ${on ? 'on' : 'off'}`),
    onInput: (listener) => void inputs.push(listener),
    onResize: (listener) => void resizes.push(listener),
    redraw: () => void done.push('redraw'),
    suspend: () => void done.push('suspend'),
    lend: (to) => {
      if ('attach' in to) done.push(`attach ${to.attach}`);
      return Promise.resolve('edit' in to && edited === null ? fail('The editor ended with 1.') : ok(edited ?? ''));
    },
    close: () => void done.push('close'),
    edits: (text) => {
      edited = text;
    },
    rows: () => frame.lines.map(plain),
    text: () => frame.lines.map(plain).join('\n'),
    frame: () => frame,
    frames: () => frames,
    title: () => title,
    send,
    press: (...keys) => {
      for (const key of keys) send({ is: 'key', key });
    },
    type: (text) => {
      for (const key of text) send({ is: 'key', key });
    },
    resize: (next) => {
      size = next;
      for (const listener of resizes) listener();
    },
  };
}
