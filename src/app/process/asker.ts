/** A line that a person types, in a plain terminal. */
import { createInterface } from 'node:readline/promises';

/** A typed answer that means yes; anything else is no. */
export const SAYS_YES = /^(?:y|yes)$/i;

export interface Asker {
  /**
   * A line typed by the person; null at the end of input. `fresh`: what was typed before is thrown away, since it was meant
   * for something else.
   */
  ask(prompt: string, how?: 'fresh'): Promise<string | null>;
  close(): void;
}

export function openAsker(): Asker {
  const ended = new AbortController();
  return {
    async ask(prompt, how) {
      if (how === 'fresh') await forgetTyped(ended.signal);
      const lines = createInterface({ input: process.stdin, output: process.stdout });
      // In raw mode Ctrl-C is a key of the prompt: it means what it means everywhere.
      lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
      const closed = new Promise<null>((resolve) => lines.once('close', () => resolve(null)));
      try {
        return await Promise.race([lines.question(prompt, { signal: ended.signal }), closed]);
      } catch {
        return null;
      } finally {
        lines.close();
      }
    },
    close: () => ended.abort(),
  };
}

/** Milliseconds in which the terminal hands over what was typed ahead. */
const HANDED_OVER = 60;

/** Only of a terminal: what a pipe holds is meant for the questions to come. */
async function forgetTyped(signal: AbortSignal): Promise<void> {
  const { stdin } = process;
  if (!stdin.isTTY || signal.aborted) return;
  const forget = (typed: Buffer | string): void => {
    if (typed.toString().includes('\u0003')) process.kill(process.pid, 'SIGINT');
  };
  // Raw, for a line that was begun is handed over as well.
  stdin.setRawMode(true);
  stdin.on('data', forget);
  await new Promise((resolve) => {
    setTimeout(resolve, HANDED_OVER);
  });
  stdin.off('data', forget);
  stdin.pause();
  stdin.setRawMode(false);
}
