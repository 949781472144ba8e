/** Opens the terminal: joins its parts to the `Terminal` of terminal.ts; sends clipboard texts, titles and notifications. */
import { type EndSignal, saveCopy, signalCode } from '../../../app/process/index.ts';
import { toLabel, toTerminal } from '../../../app/views/index.ts';
import { fail, ok, type Result } from '../../../domain/result.ts';
import type { Theme } from '../../../domain/theme.ts';
import { backgroundFrom, capabilities, type ColourChoice, type Environment, NO_OSC } from './styles.ts';
import { attachTo, editExternally } from './external-editor.ts';
import { listen } from './input.ts';
import { Life } from './lifecycle.ts';
import { Painter } from './painter.ts';
import type { Input, Notice, Size, Terminal } from './terminal.ts';

export interface OpenOptions {
  readonly theme: Theme;
  readonly colour?: ColourChoice;
  /** False leaves the mouse to the terminal's own selection. */
  readonly mouse?: boolean;
  /** A private folder for texts in $EDITOR and the last copy; the system's temporary folder by default. */
  readonly folder?: string;
  /** False sends no hyperlinks. */
  readonly links?: boolean;
  /** Called if the terminal reports its background within a second: returns the theme for it, or null to keep the present one. */
  background?(mode: 'dark' | 'light'): Theme | null;
  /** Called for a terminating signal: save, then `close()` and exit with `code`. */
  signalled(signal: EndSignal, code: number): void;
  /** Writes a crash report and returns its path; the process then exits with 70. */
  crashed(error: unknown): string | null;
}

/** Queued bytes above which painting is postponed. */
const MAX_QUEUED = 64 * 1024;
/** The size of a frame after which the frame rate is reduced. */
const LARGE_FRAME = 20_000;
/** Milliseconds after which an answer about the background is ignored: by then the colours would change visibly. */
const ANSWER_TIME = 1000;
const RESIZE_TIME = 16;

/** Takes the terminal of this process; stdin and stdout must be terminals (callers check `isTTY` and `capabilities`). */
export function openTerminal(options: OpenOptions): Terminal {
  const { stdout } = process;
  const folder = options.folder ?? process.env['TMPDIR'] ?? '/tmp';
  const { depth, unicode, links, answers, background } = capabilities(process.env, options.colour);
  const listeners: Listeners = { input: [], resize: [] };
  const painter = new Painter({
    theme: options.theme,
    depth,
    unicode,
    links: links && (options.links ?? true),
    size: sizeOf(stdout),
    background,
    write: (bytes) => stdout.write(bytes),
  });
  const life = lifeOf(options, painter, listeners);
  const unwatch = watchSize(stdout, () => {
    painter.startOver(sizeOf(stdout));
    for (const listener of listeners.resize) listener();
  });
  life.enter();
  if (answers) stdout.write('\u001b]11;?\u0007');

  return {
    size: () => painter.size,
    unicode,
    paint(frame) {
      if (life.isOurs) painter.paint(frame);
    },
    load: () => (stdout.writableLength > MAX_QUEUED ? 'full' : painter.last > LARGE_FRAME ? 'heavy' : 'light'),
    setTheme: (theme) => painter.setTheme(theme),
    ...oscFunctions(life, stdout, folder),
    setMouse: (on) => life.setMouse(on),
    onInput: (listener) => listeners.input.push(listener),
    onResize: (listener) => listeners.resize.push(listener),
    redraw: () => painter.startOver(),
    suspend: () => life.suspend(),
    lend: (to) => lendTerminal(life, () => ('edit' in to ? editExternally(to.edit, folder) : attachTo(to.attach))),
    close() {
      unwatch();
      life.close();
      painter.destroy();
    },
  };
}

/** The functions that act outside the screen; they send nothing while the terminal is released. */
function oscFunctions(
  life: Life,
  stdout: NodeJS.WriteStream,
  folder: string,
): Pick<Terminal, 'setTitle' | 'copy' | 'notify'> {
  const send = (bytes: string | null): boolean => {
    const sends = life.isOurs && bytes !== null && bytes !== '';
    if (sends) stdout.write(bytes);
    return sends;
  };
  return {
    setTitle: (text) => void send(`\u001b]2;${toLabel(text).slice(0, 200)}\u0007`),
    copy: (text) => ({ clipboard: send(clipboardBytes(text, process.env)), file: saveCopy(text, folder) }),
    notify: (notice) => void send(noticeBytes(notice, process.env)),
  };
}

async function lendTerminal(
  life: Life,
  program: () => Promise<Result<string, string>>,
): Promise<Result<string, string>> {
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

function lifeOf(options: OpenOptions, painter: Painter, heard: Listeners): Life {
  const { stdin, stdout } = process;
  let hasHungUp = false;
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
    // A closed terminal is reported twice: by the signal and by the end of its input.
    if (signal === 'SIGHUP' && hasHungUp) return;
    hasHungUp ||= signal === 'SIGHUP';
    options.signalled(signal, code);
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
          // Only terminals with the kitty keyboard protocol answer this; LEAVE disables it.
          if (/^.\[\?\d+u$/su.test(text)) stdout.write('\u001b[>1u');
          answered(text);
        },
        onEnd: () => signalled('SIGHUP', signalCode('SIGHUP')),
      }),
    entered() {
      painter.startOver(sizeOf(stdout));
      painter.paintAgain();
      for (const listener of heard.resize) listener();
    },
    signalled,
    crashed: (error) => options.crashed(error),
  });
}

/** Calls back once for a series of size changes; the returned function stops. */
function watchSize(stdout: NodeJS.WriteStream, changed: () => void): () => void {
  let waiting: NodeJS.Timeout | undefined;
  const resized = (): void => {
    waiting ??= setTimeout(() => {
      waiting = undefined;
      changed();
    }, RESIZE_TIME);
  };
  // Node reports no resize if a series ends at the initial size, but terminals may have cut their content.
  const signalled = (...told: readonly unknown[]): void => {
    // Without a signal number the event comes from this process, which asks Node to read the size.
    if (told.length > 0) resized();
  };
  stdout.on('resize', resized);
  process.on('SIGWINCH', signalled);
  // SIGHUP reports a closed terminal; write errors until then are ignored.
  stdout.on('error', () => {});
  return () => {
    clearTimeout(waiting);
    stdout.off('resize', resized);
    process.off('SIGWINCH', signalled);
  };
}

/** Maximum base64 characters that terminals accept for the clipboard. */
const MAX_COPIED = 74_000;
const MAX_NOTICE = 300;

/** The OSC 52 sequence that copies a text; null if it is too long. */
export function clipboardBytes(text: string, env: Environment): string | null {
  const encoded = Buffer.from(text, 'utf8').toString('base64');
  if (encoded.length > MAX_COPIED) return null;
  const sequence = `\u001b]52;c;${encoded}\u0007`;
  // tmux handles the sequence if `set-clipboard` is on, and passes on the wrapped one if `allow-passthrough` is.
  return isTmux(env) ? sequence + passThrough(sequence, env) : passThrough(sequence, env);
}

/** The notification sequence (OSC 9 or 777) and the bell; empty if neither is wanted. Texts are sanitised. */
export function noticeBytes({ title, body, bell, desktop }: Notice, env: Environment): string {
  const said = desktop && !NO_OSC.test(env['TERM'] ?? '') ? passThrough(noticeSequence(title, body, env), env) : '';
  return said + (bell ? '\u0007' : '');
}

function noticeSequence(title: string, body: string, env: Environment): string {
  const [head, text] = [oneLine(title), oneLine(body)];
  if (!knows777(env)) return `\u001b]9;${head}: ${text}\u0007`;
  // A semicolon separates the parts here.
  return `\u001b]777;notify;${head.replaceAll(';', ',')};${text.replaceAll(';', ',')}\u0007`;
}

const oneLine = (text: string): string => toLabel(text).slice(0, MAX_NOTICE);

/** Terminals that support both would notify twice. */
const knows777 = (env: Environment): boolean =>
  /^(?:rxvt-unicode|foot|xterm-ghostty|ghostty)/.test(env['TERM'] ?? '') || env['TERM_PROGRAM'] === 'ghostty';

const isTmux = (env: Environment): boolean => (env['TMUX'] ?? '') !== '';
const isScreen = (env: Environment): boolean => !isTmux(env) && (env['STY'] ?? '') !== '';

/** The maximum length of a string in GNU screen. */
const PIECE = 240;

/** Wraps a sequence for the terminal around tmux or screen; unchanged without them. */
export function passThrough(sequence: string, env: Environment): string {
  if (isTmux(env)) return `\u001bPtmux;${sequence.replaceAll('\u001b', '\u001b\u001b')}\u001b\\`;
  if (!isScreen(env)) return sequence;
  const pieces = Array.from({ length: Math.ceil(sequence.length / PIECE) }, (_, index) =>
    sequence.slice(index * PIECE, (index + 1) * PIECE),
  );
  return pieces.map((piece) => `\u001bP${piece}\u001b\\`).join('');
}
