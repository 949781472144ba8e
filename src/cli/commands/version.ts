/** `mimir version`, and `mimir --version`. */
import { packageVersion } from '../../app/process/index.ts';
import { command } from '../verb.ts';

export const versionVerb = command('version', (_, io) => {
  io.say(packageVersion());
});
