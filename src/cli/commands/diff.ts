/** `mimir diff`: what is left of the changes of one agent, as a patch; `git apply -R` takes them back. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT, Exit, sanitise, wrongUse } from '../../app/process/index.ts';
import { agentNamed, authorsIn, environmentOf, projectOf, readConfig } from '../../app/workspace/index.ts';
import { type AuthoredFile, contentWithout } from '../../domain/authorship.ts';
import type { AgentId } from '../../domain/ids.ts';
import { unifiedDiff } from '../../tools/index.ts';
import { command } from '../verb.ts';

export const diffVerb = command('diff', async (args, io) => {
  const [named] = args.words;
  if (named === undefined) throw wrongUse('missing argument: AGENT\n  mimir diff AGENT; `mimir show` lists the agents');
  const project = projectOf(args, io);
  const { reader, session, one } = agentNamed(project, named);
  const loaded = readConfig(project, environmentOf(project, io), {}, 'look');
  if (!loaded.ok) throw new Exit(EXIT.refused, 'the configuration has faults\n  `mimir doctor` lists them');
  const files = await authorsIn(project, loaded.value.config.rules.box, reader, session);
  const patches = (files ?? []).map((file) => patchOf(project.root, file, one.id));
  for (const { patch } of patches) if (patch !== '') io.write(`${io.terminal ? sanitise(patch) : patch}\n`);
  for (const { note } of patches) if (note !== null) io.complain(note);
  if (patches.every(({ patch, note }) => patch === '' && note === null))
    io.complain(`${one.name} has no changes in the project`);
});

/** The patch of a file; empty if nothing of the agent is in it. `note`: what the patch does not tell. */
function patchOf(root: string, file: AuthoredFile, agent: AgentId) {
  const isOwn = ({ agents }: { readonly agents: readonly AgentId[] }): boolean => agents.includes(agent);
  const left = (why: string) => ({ patch: '', note: `${file.path}: not in the patch: ${why}` });
  if (file.whole?.includes(agent) === true) return left('it is not shown as lines');
  if (!file.hunks.some(isOwn)) return { patch: '', note: null };
  const after = file.now === null ? null : readFileSync(join(root, file.path), 'utf8');
  const without = contentWithout(file, after, agent);
  if (without === undefined) return left('it was changed just now, or its line ends differ');
  const at = without.left.map(({ to }) => Math.max(1, to.at)).join(', ');
  const notes = [
    ...(at === '' ? [] : [`not in the patch: line ${at}, where others changed the same lines or those beside them`]),
    ...(file.hunks.some((hunk) => isOwn(hunk) && hunk.agents.length > 1) ? ['some lines may be of another agent'] : []),
  ];
  const note = notes.length === 0 ? null : `${file.path}: ${notes.join('; ')}`;
  return { patch: unifiedDiff({ name: file.path, before: without.content, after }), note };
}
