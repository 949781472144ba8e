/** `mimir diff`: what is left of the changes of one agent, as a patch; `git apply -R` takes them back. */
import { type Arguments, EXIT, Exit, type Io, sanitise, wrongUse } from '../../app/process/index.ts';
import { openOwnTrees } from '../../app/project/own-trees.ts';
import { openUndoing, type ShownUndo, type UndoParts } from '../../app/publish/index.ts';
import { agentNamed, environmentOf, openProjectLog, projectOf, readConfig } from '../../app/workspace/index.ts';
import type { AgentState } from '../../events/index.ts';
import { command } from '../verb.ts';

export const diffVerb = command('diff', async (args, io) => {
  const { undoing, one } = changesOf(args, io, 'diff');
  const shown = await undoing.preview({ agent: one.id });
  if (!shown.ok) throw wrongUse(shown.fault);
  const { files } = shown.value;
  const lacking = await lackingOf(args, io, one);
  for (const patch of [...files.map((file) => file.patch), lacking])
    if (patch !== '') io.write(`${io.terminal ? sanitise(patch) : patch}\n`);
  tellLeftOut(io, files);
  if (files.length === 0 && lacking === '') io.complain(`${one.name} has no changes in the project`);
});

/** What is not in the patch, each file with the reason. */
function tellLeftOut(io: Io, files: readonly ShownUndo[]): void {
  for (const { path, text, patch, stays } of files) {
    const notes = [...(text !== '' && patch === '' ? ['it is not shown as lines'] : []), ...stays];
    if (notes.length > 0) io.complain(sanitise(`${path}: not in the patch: ${notes.join('; ')}`));
  }
}

/** What the project lacks of the agent's own tree, as a patch; empty where there is none. */
async function lackingOf(args: Arguments, io: Io, { ownTree }: AgentState): Promise<string> {
  if (ownTree === undefined || ownTree.stands === 'merged') return '';
  const trees = await openOwnTrees(projectOf(args, io), io);
  try {
    const row = (await trees.rows()).find(({ name }) => name === ownTree.name);
    return row === undefined ? '' : (await trees.patch(row)).trimEnd();
  } finally {
    trees.close();
  }
}

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
