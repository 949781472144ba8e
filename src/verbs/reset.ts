/** `mimir reset`: gives a terminal back that a killed Mimir could not: screen, cursor, mouse, keyboard. */
import { LEAVE } from '../tui/term/lifecycle.ts';
import { EXIT } from './exit.ts';
import type { Verb } from './verb.ts';

export const resetVerb: Verb = {
  usage: 'mimir reset',
  summary: 'Brings a terminal back after a crash that nothing could catch, such as kill -9.',
  example: 'mimir reset',
  words: 0,
  flags: {},
  run(_, io) {
    if (process.stdin.isTTY) process.stdin.setRawMode(false);
    io.write(LEAVE);
    return Promise.resolve(EXIT.done);
  },
};
