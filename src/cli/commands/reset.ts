/** `mimir reset`: gives a terminal back that a killed Mimir could not: screen, cursor, mouse, keyboard. */
import { LEAVE } from '../../ui/tui/terminal/lifecycle.ts';
import { EXIT } from '../../app/process/exit.ts';
import type { Verb } from '../verb.ts';

export const resetVerb: Verb = {
  usage: 'mimir reset',
  summary: 'Brings a terminal back after a crash that nothing could catch, such as kill -9.',
  example: 'mimir reset',
  words: 0,
  flags: {},
  run(_, io) {
    if (process.stdin.isTTY) process.stdin.setRawMode(false);
    // Also what other programs may have left on: all motion, old reports of the mouse.
    io.write(`\u001b[?1003l\u001b[?1015l\u001b[?1005l${LEAVE}`);
    io.complain('mimir: the terminal has its screen, cursor, colours, title, mouse, keyboard and pastes back.');
    return Promise.resolve(EXIT.done);
  },
};
