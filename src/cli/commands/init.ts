/** `mimir init`: writes a first, commented `.mimir/config.yml`. Never overwrites anything. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileErrorText, sanitise, wrongUse } from '../../app/process/index.ts';
import type { ProjectTrust } from '../../config/index.ts';
import { projectOf, type ProjectPlace, trustOf, trustNow } from '../../app/workspace/index.ts';
import FIRST from '../data/first-config.json' with { type: 'json' };
import { command } from '../verb.ts';

export const initVerb = command('init', (args, io) => {
  const project = projectOf(args, io);
  const folder = join(project.root, '.mimir');
  const file = join(folder, 'config.yml');
  if (existsSync(file)) throw wrongUse(`${file} already exists and was not changed`);
  const before = trustOf(project, []);
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, FIRST.lines.join('\n'), { flag: 'wx' });
  } catch (error) {
    throw wrongUse(`${file} cannot be written: ${fileErrorText(error)}`);
  }
  io.say(`Wrote ${sanitise(file)}. \`mimir config show\` shows the settings in effect.`);
  for (const line of trusted(project, before)) io.say(sanitise(line));
});

/** Trusts what was just written; earlier files of others stay untrusted. */
function trusted(project: ProjectPlace, before: ProjectTrust): readonly string[] {
  if (before.problem !== null || before.state === 'new' || before.state === 'changed')
    return ['The project has more settings that are not trusted yet: `mimir trust` shows them.'];
  const given = trustNow(project, trustOf(project, []).digest);
  return given.ok ? [] : [`It is not recorded as trusted: ${given.fault}`];
}
