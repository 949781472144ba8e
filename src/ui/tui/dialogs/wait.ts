/** Something is waited for that takes seconds: what, since when, and the key that stops it. */
import type { Millis } from '../../../domain/ids.ts';
import { formatDuration } from '../../../app/views/text/format.ts';
import type { Context } from '../frame/screen.ts';
import { toLabel } from '../../../app/views/text/sanitise.ts';
import { wrapText } from '../../../app/views/text/wrap.ts';
import { boxRows, boxWidth, framed, keyLine, stay, type Overlay } from '../frame/overlay.ts';

/** Changed by who waits, and by the box. */
export interface Waited {
  readonly title: string;
  readonly since: Millis;
  words: string;
  /** `left`: the person did not wait for the end of it. */
  is: 'open' | 'stopping' | 'left' | 'over';
  stop(): void;
}

const WIDTH = 64;

/** Closes by itself when it is over. */
export const waitOverlay = (waited: Waited): Overlay => ({
  title: waited.title,
  kind: 'dialog',
  view(context, size) {
    const width = boxWidth(size, WIDTH);
    const inner = Math.max(1, width - 4);
    const words = wrapText(toLabel(wordsOf(waited, context)), inner);
    const keys = [[], keyLine([['Esc', escWords(waited)]])];
    const body = [...words, ...(words.length + keys.length <= boxRows(size) ? keys : [])].slice(0, boxRows(size));
    return { lines: framed({ title: waited.title, width, body }, context), cursor: null };
  },
  press(input) {
    if (input.is !== 'key' || input.key !== 'esc') return stay(this);
    if (waited.is === 'stopping') {
      waited.is = 'left';
      return { overlay: null };
    }
    waited.is = 'stopping';
    waited.stop();
    return stay(this);
  },
  settle() {
    return waited.is === 'over' ? null : this;
  },
  dropped() {
    waited.is = 'left';
    waited.stop();
  },
  hints: () => [{ keys: 'Esc', hint: escWords(waited) }],
});

const escWords = ({ is }: Waited): string => (is === 'stopping' ? 'leave' : 'stop it, fixed rules draft it then');

function wordsOf({ is, words, since }: Waited, { now }: Context): string {
  const time = formatDuration(Math.max(0, now - since));
  return is === 'stopping' ? `Stopping … ${time}` : `${words} … ${time}`;
}
