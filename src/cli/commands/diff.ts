/** `mimir diff`: what is left of the changes of one agent, as a patch; `git apply -R` takes them back. */
import { type Arguments, EXIT, Exit, type Io, sanitise, wrongUse } from '../../app/process/index.ts';
import { openUndoing, type UndoParts } from '../../app/publish/index.ts';
import { agentNamed, environmentOf, openProjectLog, projectOf, readConfig } from '../../app/workspace/index.ts';
import { command } from '../verb.ts';

export const diffVerb = command('diff', async (args, io) => {
  const { undoing, one } = changesOf(args, io, 'diff');
  const shown = await undoing.preview({ agent: one.id });
  if (!shown.ok) throw wrongUse(shown.fault);
  const { files } = shown.value;
  for (const { patch } of files) if (patch !== '') io.write(`${io.terminal ? sanitise(patch) : patch}\n`);
  for (const { path, text, patch, stays } of files) {
    const notes = [...(text !== '' && patch === '' ? ['it is not shown as lines'] : []), ...stays];
    if (notes.length > 0) io.complain(sanitise(`${path}: not in the patch: ${notes.join('; ')}`));
  }
  if (files.length === 0) io.complain(`${one.name} has no changes in the project`);
});

/** The changes of the agent that the command names. Throws an `Exit`. */
export function changesOf(args: Arguments, io: Io, verb: 'diff' | 'undo') {
  const [named] = args.words;
  if (named === undefined)
    throw wrongUse(`missing argument: AGENT\n  mimir ${verb} AGENT; \`mimir show\` lists the agents`);
  const project = projectOf(args, io);
  const { reader: log, session, state, one } = agentNamed(project, named);
  const loaded = readConfig(project, environmentOf(project, io), {}, 'look');
  if (!loaded.ok) throw new Exit(EXIT.refused, 'the configuration has faults\n  `mimir doctor` lists them');
  const { box } = loaded.value.config.rules;
  const writing: UndoParts['writing'] = async (act) => {
    const open = openProjectLog(project);
    try {
      return await act(open);
    } finally {
      open.close();
    }
  };
  return { undoing: openUndoing({ project, box, log, writing, session, state }), one, named };
}
