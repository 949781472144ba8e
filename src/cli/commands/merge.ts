/** `mimir merge`: merges the tree of a task that the project lacks, or shows what that would do. */
import { mergeEndText, mergeLines, openOwnTrees, type TreeRow } from '../../app/project/own-trees.ts';
import { type Arguments, EXIT, type Io, sanitise, wrongUse } from '../../app/process/index.ts';
import { projectOf } from '../../app/workspace/index.ts';
import type { Merge } from '../../ports/workspace.ts';
import { command, tell } from '../verb.ts';
import { lineOf } from './trees.ts';

export const mergeVerb = command('merge', async (args, io) => {
  const trees = await openOwnTrees(projectOf(args, io), io);
  try {
    const row = chosen(await trees.rows(), args.words[0]);
    if (!args.has('preview')) refuseUnmergeable(row);
    const merge = await trees.preview(row);
    if (args.has('preview')) return tell(args, io, { tree: row, ...merge }, mergeLines(merge));
    const choice = choiceOf(args);
    if (merge.conflicts.length > 0 && choice === null) return refuse(io, merge);
    const end = await trees.merge(row, choice ?? 'merge');
    tell(args, io, { tree: row.name, ...end }, [sanitise(mergeEndText(row.name, end))]);
    return end.is === 'merged' || choice === 'patch' ? EXIT.done : EXIT.agentFailed;
  } finally {
    trees.close();
  }
});

const CHOICES = ['mine', 'theirs', 'patch'] as const;

function choiceOf(args: Arguments): (typeof CHOICES)[number] | null {
  const given = CHOICES.filter((one) => args.has(one));
  if (given.length > 1) throw wrongUse(`--${given.join(' and --')} cannot be combined\n  choose one of them`);
  return given[0] ?? null;
}

/** The tree that `word` names: itself, its task, its agent; without a word the only one that is not merged. */
function chosen(rows: readonly TreeRow[], word: string | undefined): TreeRow {
  const open = rows.filter(({ is }) => is === 'unmerged' || is === 'dirty');
  if (word === undefined && open.length === 0) throw wrongUse('there is no tree to merge\n  `mimir trees` lists all');
  const isNamed = ({ name, task, agent }: TreeRow): boolean => [name, task, agent].some((one) => one === word);
  const found = word === undefined ? open : rows.filter(isNamed);
  const [one, other] = found.length > 1 ? found.filter(({ is }) => is === 'unmerged') : found;
  if (one !== undefined && other === undefined) return one;
  const problem = found.length === 0 ? `there is no tree of "${word ?? ''}"` : 'there are several trees';
  if (open.length === 0) throw wrongUse(`${problem}\n  \`mimir trees\` lists them`);
  throw wrongUse([`${problem}; name one of them:`, ...open.map(lineOf)].join('\n  '));
}

function refuseUnmergeable({ name, is }: TreeRow): void {
  if (is === 'live') throw wrongUse(`${name} is still at work: its run merges it`);
  if (is !== 'unmerged' && is !== 'dirty') throw wrongUse(`${name} holds nothing that the project lacks`);
}

function refuse(io: Io, merge: Merge): number {
  for (const line of mergeLines(merge)) io.complain(line);
  io.complain('nothing was merged: choose --mine, --theirs or --patch for the files that changed on both sides');
  io.complain('its agent resolves them: open the session in mimir and press M there (in line mode: merge --agent)');
  return EXIT.agentFailed;
}
