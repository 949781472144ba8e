/** How fast the analyst speaks: at a rate that can be read along on a screen, or at once where nobody watches. */
import type { World } from '../../ports/world.ts';

export type Pace = { readonly is: 'none' } | { readonly is: 'readable'; readonly world: Pick<World, 'sleep'> };

/** Milliseconds before the first word: long enough to see whose turn it is. */
const BREATH = 600;
const MS_PER_WORD = 13;
const LONGEST = 2500;
const WORDS_PER_DELTA = 3;

/** Gives `text` to `onText` in groups of words. Returns at once when `signal` is aborted. */
export async function speak(
  text: string,
  pace: Pace,
  signal: AbortSignal,
  onText: (delta: string) => void,
): Promise<void> {
  const words = text.match(/\s*\S+\s*/g) ?? [];
  if (pace.is === 'none') {
    if (text !== '') onText(text);
    return;
  }
  await pace.world.sleep(BREATH, signal);
  const perWord = Math.min(MS_PER_WORD, LONGEST / Math.max(1, words.length));
  // A long answer comes in larger groups rather than in sleeps too short to be kept.
  const group = Math.max(WORDS_PER_DELTA, Math.ceil(30 / perWord));
  for (let at = 0; at < words.length && !signal.aborted; at += group) {
    const some = words.slice(at, at + group);
    onText(some.join(''));
    await pace.world.sleep(perWord * some.length, signal);
  }
}
