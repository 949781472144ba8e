/** Opens the terminal: puts life cycle, input, cells and drawing together behind the contract of terminal.ts. */
import { fail, ok } from '../../../domain/result.ts';
import type { Result } from '../../../domain/result.ts';
import type { Theme } from '../../../domain/theme.ts';
import { toLabel, toTerminal } from '../../../app/views/text/sanitise.ts';
import { clipboardBytes, noticeBytes } from './osc.ts';
import { backgroundFrom, capabilities, type ColourChoice } from './capabilities.ts';
import { keepCopy } from '../../../app/process/clipboard-file.ts';
import { editOutside } from './external-editor.ts';
import { listen } from './input/input.ts';
import { type EndSignal, EXIT_CODES, Life } from './lifecycle.ts';
import { Painter } from './surface/painter.ts';
import type { Input, Size, Terminal } from './terminal.ts';

export interface OpenOptions {
  readonly theme: Theme;
  readonly colour?: ColourChoice;
  /** False leaves the mouse to the terminal's own selection. */
  readonly mouse?: boolean;
  /** A private folder for texts in $EDITOR and the last copy; the system's for temporary files when left out. */
  readonly folder?: string;
  /** False sends no links. */
  readonly links?: boolean;
  /** The terminal said within a second how light its background is: the theme for that, or null to keep what is shown. */
  background?(mode: 'dark' | 'light'): Theme | null;
  /** A signal asks for the end: save, then `close()` and exit with `code`. When left out that happens at once. */
  signalled?(signal: EndSignal, code: number): void;
  /** Writes a report of a crash and returns its path. The process then ends with 70. */
  crashed?(error: unknown): string | null;
}

/** Bytes that may be queued before painting would only add to them. */
const MOST_QUEUED = 64 * 1024;
/** Bytes of a frame after which the next may wait a little longer. */
const LARGE_FRAME = 20_000;
/**
 * An answer about the background that comes later than this would change the colours under the person's eyes. Nothing waits for it;
 * what is loaded at the start and a line over ssh take their part of it.
 */
const ANSWER_TIME = 1000;
/** Resizes come in storms; one in this time is enough. */
const RESIZE_TIME = 16;

/** Takes the terminal of this process; stdin and stdout must be one (callers look at `isTTY` and `capabilities` first). */
export function openTerminal(options: OpenOptions): Terminal {
  const { stdout } = process;
  const folder = options.folder ?? process.env['TMPDIR'] ?? '/tmp';
  const { depth, unicode, links, answers, background } = capabilities(process.env, options.colour);
  const heard: Listeners = { input: [], resize: [] };
  const painter = new Painter({
    theme: options.theme,
    depth,
    unicode,
    links: links && (options.links ?? true),
    size: sizeOf(stdout),
    background,
    write: (bytes) => stdout.write(bytes),
  });
  const life = lifeOf(options, painter, heard, () => {
    close();
  });
  const unwatch = watchSize(stdout, () => {
    painter.startOver(sizeOf(stdout));
    for (const listener of heard.resize) listener();
  });
  const close = (): void => {
    unwatch();
    life.close();
    painter.destroy();
  };
  life.enter();
  if (answers) stdout.write('\u001b]11;?\u0007');

  return {
    size: () => painter.size,
    unicode,
    paint(frame) {
      if (life.isOurs) painter.paint(frame);
    },
    busy: () => stdout.writableLength > MOST_QUEUED,
    heavy: () => painter.last > LARGE_FRAME,
    setTheme(theme) {
      painter.setTheme(theme);
    },
    ...beyond(life, stdout, folder),
    setMouse(on) {
      life.setMouse(on);
    },
    onInput: (listener) => heard.input.push(listener),
    onResize: (listener) => heard.resize.push(listener),
    redraw: () => {
      painter.startOver();
    },
    suspend: () => {
      life.suspend();
    },
    edit: (text) => lent(life, () => editOutside(text, folder)),
    close,
  };
}

/** What reaches further than the screen. Nothing of it is sent while the terminal is somebody else's. */
function beyond(
  life: Life,
  stdout: NodeJS.WriteStream,
  folder: string,
): Pick<Terminal, 'setTitle' | 'copy' | 'notify'> {
  const sent = (bytes: string | null): boolean => {
    const sends = life.isOurs && bytes !== null && bytes !== '';
    if (sends) stdout.write(bytes);
    return sends;
  };
  return {
    setTitle: (text) => void sent(`\u001b]2;${toLabel(text).slice(0, 200)}\u0007`),
    copy: (text) => ({ clipboard: sent(clipboardBytes(text, process.env)), file: keepCopy(text, folder) }),
    notify: (notice) => void sent(noticeBytes(notice, process.env)),
  };
}

/** The terminal to another program and back. */
async function lent(life: Life, program: () => Promise<Result<string, string>>): Promise<Result<string, string>> {
  life.leave();
  const given = await program();
  life.enter();
  return given.ok ? ok(toTerminal(given.value)) : fail(toTerminal(given.fault));
}

interface Listeners {
  readonly input: ((input: Input) => void)[];
  readonly resize: (() => void)[];
}

const sizeOf = ({ columns, rows }: NodeJS.WriteStream): Size => ({ width: columns || 80, height: rows || 24 });

function lifeOf(options: OpenOptions, painter: Painter, heard: Listeners, close: () => void): Life {
  const { stdin, stdout } = process;
  const told = new Set<EndSignal>();
  const asked = performance.now();
  const answered = (text: string): void => {
    const mode = performance.now() - asked < ANSWER_TIME ? backgroundFrom(text) : null;
    if (mode === null) return;
    const isOther = painter.setBackground(mode);
    const theme = options.background?.(mode) ?? null;
    if (theme !== null) painter.setTheme(theme);
    if (isOther || theme !== null) painter.paintAgain();
  };
  const signalled = (signal: EndSignal, code: number): void => {
    // A terminal that goes away says so twice: by the signal and by the end of its input.
    if (signal === 'SIGHUP' && told.has(signal)) return;
    told.add(signal);
    if (options.signalled !== undefined) {
      options.signalled(signal, code);
      return;
    }
    close();
    process.exit(code);
  };
  return new Life({
    input: stdin,
    output: stdout,
    mouse: options.mouse ?? true,
    listen: () =>
      listen(stdin, {
        onInput(input) {
          for (const listener of heard.input) listener(input);
        },
        onReply(text) {
          // Only a terminal that knows kitty's keyboard answers this; LEAVE takes it back.
          if (/^.\[\?\d+u$/su.test(text)) stdout.write('\u001b[>1u');
          answered(text);
        },
        onEnd: () => {
          signalled('SIGHUP', EXIT_CODES.SIGHUP);
        },
      }),
    entered() {
      painter.startOver(sizeOf(stdout));
      painter.paintAgain();
      for (const listener of heard.resize) listener();
    },
    signalled,
    crashed: (error) => options.crashed?.(error) ?? null,
  });
}

/** Calls back when the size changed, once for a storm of changes. The function that comes back stops it. */
function watchSize(stdout: NodeJS.WriteStream, changed: () => void): () => void {
  let waiting: NodeJS.Timeout | undefined;
  const resized = (): void => {
    waiting ??= setTimeout(() => {
      waiting = undefined;
      changed();
    }, RESIZE_TIME);
  };
  // A storm that ends at the size where it began is none for Node, but terminals cut what they show on the way.
  const signalled = (...told: readonly unknown[]): void => {
    // Without a number nobody signalled: that is ourselves, asking Node to look at the size.
    if (told.length > 0) resized();
  };
  stdout.on('resize', resized);
  process.on('SIGWINCH', signalled);
  // A terminal that went away is told by SIGHUP; writes to it until then are nobody's failure.
  stdout.on('error', () => {});
  return () => {
    clearTimeout(waiting);
    stdout.off('resize', resized);
    process.off('SIGWINCH', signalled);
  };
}
