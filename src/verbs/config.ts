/** `mimir config schema|show`: the JSON schema of the configuration; every value and the layer it comes from. */
import { configSchemaJson } from '../config/schema.ts';
import { showConfig } from '../config/show.ts';
import { CWD } from './common-flags.ts';
import { EXIT, Exit } from './exit.ts';
import type { Io } from './io.ts';
import { harmless } from './io.ts';
import type { Here } from './project-trust.ts';
import { trustLine } from './project-trust.ts';
import { hereOf, projectOf } from './project.ts';
import type { Verb } from './verb.ts';

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
