/**
 * Sequences that reach beyond the screen: clipboard (OSC 52), notices (OSC 9 and 777). Inside of tmux and screen they are wrapped,
 * so that the terminal around gets them. Texts are made harmless here; what to say is the caller's.
 */
import { toLabel } from '../../../app/views/text/sanitise.ts';
import type { Notice } from './terminal.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Base64 characters that terminals take for the clipboard. */
const MOST_COPIED = 74_000;
const MOST_SAID = 300;

/** What puts a text into the clipboard; null when it is too long for that. */
export function clipboardBytes(text: string, env: Environment): string | null {
  const encoded = Buffer.from(text, 'utf8').toString('base64');
  if (encoded.length > MOST_COPIED) return null;
  const sequence = `\u001b]52;c;${encoded}\u0007`;
  // tmux itself takes it where `set-clipboard` is on, and hands on what is wrapped where `allow-passthrough` is.
  return isTmux(env) ? sequence + through(sequence, env) : through(sequence, env);
}

/** What tells a person who looks elsewhere; empty when neither bell nor desktop is wanted. */
export function noticeBytes({ title, body, bell, desktop }: Notice, env: Environment): string {
  const said = desktop && takesNotices(env) ? through(saying(title, body, env), env) : '';
  return said + (bell ? '\u0007' : '');
}

/** Does this terminal take notices at all? Consoles and unknown ones would show litter. */
function takesNotices(env: Environment): boolean {
  const term = env['TERM'] ?? '';
  return term !== '' && !/^(?:dumb|linux|vt\d+|ansi|cons25)/.test(term);
}

function saying(title: string, body: string, env: Environment): string {
  const [head, text] = [oneLine(title), oneLine(body)];
  if (!knows777(env)) return `\u001b]9;${head}: ${text}\u0007`;
  // Here a semicolon ends a part.
  return `\u001b]777;notify;${head.replaceAll(';', ',')};${text.replaceAll(';', ',')}\u0007`;
}

const oneLine = (text: string): string => toLabel(text).slice(0, MOST_SAID);

/** Those that know both would tell everything twice. */
const knows777 = (env: Environment): boolean =>
  /^(?:rxvt-unicode|foot|xterm-ghostty|ghostty)/.test(env['TERM'] ?? '') || env['TERM_PROGRAM'] === 'ghostty';

const isTmux = (env: Environment): boolean => (env['TMUX'] ?? '') !== '';
const isScreen = (env: Environment): boolean => !isTmux(env) && (env['STY'] ?? '') !== '';

/** GNU screen takes no longer strings. */
const PIECE = 240;

/** A sequence for the terminal around tmux or screen; the same one where there is neither. */
export function through(sequence: string, env: Environment): string {
  if (isTmux(env)) return `\u001bPtmux;${sequence.replaceAll('\u001b', '\u001b\u001b')}\u001b\\`;
  if (!isScreen(env)) return sequence;
  const pieces = Array.from({ length: Math.ceil(sequence.length / PIECE) }, (_, index) =>
    sequence.slice(index * PIECE, (index + 1) * PIECE),
  );
  return pieces.map((piece) => `\u001bP${piece}\u001b\\`).join('');
}
