/** `mimir config schema|show`: the JSON schema of the configuration, or every value with its layer. */
import { configSchemaJson, showConfig } from '../../config/index.ts';
import { type Arguments, sanitise, type Io, wrongUse } from '../../app/process/index.ts';
import { command } from '../verb.ts';

export const configVerb = command('config', async (args, io) => {
  const [what] = args.words;
  if (what === 'schema') io.write(`${JSON.stringify(configSchemaJson(), null, 2)}\n`);
  else if (what === 'show') await show(args, io);
  else throw wrongUse('config needs a subcommand: schema or show');
});

/** Loaded only here, since the schema needs no project and no log. */
async function show(args: Arguments, io: Io): Promise<void> {
  const { projectConfigOf, projectOf, trustLine } = await import('../../app/workspace/index.ts');
  const { config, trust } = projectConfigOf(projectOf(args, io), io, {});
  const line = trustLine(trust);
  for (const each of [...showConfig(config), ...(line === '' ? [] : ['', line])]) io.say(sanitise(each));
}
