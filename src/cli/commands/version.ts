/** `mimir version`, and `mimir --version`. */
import { EXIT } from '../../app/process/exit.ts';
import { packageVersion } from '../../app/process/package-root.ts';
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
