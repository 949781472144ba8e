/** `mimir reset`: restores a terminal after Mimir was killed: screen, cursor, mouse, keyboard. */
import { LEAVE } from '../../ui/tui/index.ts';
import { command } from '../verb.ts';

export const resetVerb = command('reset', (_, io) => {
  if (process.stdin.isTTY) process.stdin.setRawMode(false);
  // Also turns off mouse modes that other programs may have left on.
  io.write(`\u001b[?1003l\u001b[?1015l\u001b[?1005l${LEAVE}`);
  io.complain('mimir: the terminal is restored.');
});
