/** `mimir version`, and `mimir --version`. */
import { EXIT, packageVersion } from '../../app/process/index.ts';
import type { Verb } from '../verb.ts';

export const versionVerb: Verb = {
  usage: 'mimir version',
  summary: 'Prints the version.',
  example: 'mimir --version',
  words: 0,
  flags: {},
  run: (_, io) => {
    io.say(packageVersion());
    return Promise.resolve(EXIT.done);
  },
};
