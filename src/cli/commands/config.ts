/** `mimir config schema|show`: the JSON schema of the configuration; every value and the layer it comes from. */
import { configSchemaJson } from '../../config/schema/schema.ts';
import { showConfig } from '../../config/settings/show.ts';
import { CWD } from '../../app/process/flags/common.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import type { Io } from '../../app/process/io.ts';
import { harmless } from '../../app/process/io.ts';
import type { Here } from '../../app/project/project-trust.ts';
import { trustLine } from '../../app/project/project-trust.ts';
import { hereOf, projectOf } from '../../app/project/project.ts';
import type { Verb } from '../verb.ts';

export const configVerb: Verb = {
  usage: 'mimir config schema|show',
  summary: 'Prints the JSON schema of the configuration, or what holds here and where it is written.',
  example: 'mimir config schema > mimir.schema.json',
  words: 1,
  flags: { ...CWD },
  run(args, io) {
    const [what] = args.words;
    if (what === 'schema') io.write(`${JSON.stringify(configSchemaJson(), null, 2)}\n`);
    else if (what === 'show') show(hereOf(projectOf(args, io), io, {}), io);
    else throw new Exit(EXIT.wrongUse, 'mimir config schema, or mimir config show');
    return Promise.resolve(EXIT.done);
  },
};

function show({ config, trust }: Here, io: Io): void {
  const line = trustLine(trust);
  for (const each of [...showConfig(config), ...(line === '' ? [] : ['', line])]) io.say(harmless(each));
}
