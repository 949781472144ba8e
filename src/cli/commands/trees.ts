/** `mimir trees`: lists the own trees of agents, and removes those that hold nothing that the project lacks. */
import { openOwnTrees, type TreeRow } from '../../app/project/own-trees.ts';
import { world, wrongUse } from '../../app/process/index.ts';
import { formatDuration, plural } from '../../app/views/index.ts';
import { projectOf } from '../../app/workspace/index.ts';
import { command, tell } from '../verb.ts';

export const treesVerb = command('trees', async (args, io) => {
  const [what = 'list'] = args.words;
  if (what !== 'list' && what !== 'clean') throw wrongUse(`there is no "mimir trees ${what}"\n  use list or clean`);
  const trees = await openOwnTrees(projectOf(args, io), io);
  try {
    const rows = await trees.rows();
    if (what === 'list') return tell(args, io, rows, rows.length === 0 ? [NONE] : rows.map(lineOf));
    const gone = rows.filter(({ is }) => is === 'merged' || is === 'unchanged');
    for (const row of gone) await trees.remove(row);
    const kept = rows.length - gone.length;
    const left = kept === 0 ? '' : `; kept: ${kept}`;
    tell(args, io, { removed: gone.map(({ name }) => name), kept }, [`removed ${plural(gone.length, 'tree')}${left}`]);
  } finally {
    trees.close();
  }
});

const NONE = 'No agent has left a tree of its own here.';

/** `unmerged  code 1  12 MB  3m ago  k7f3a2.S1.1  2 files changed in the project as well` */
export const lineOf = ({ name, is, agent, bytes, at, because, patch }: TreeRow): string =>
  [
    is.padEnd(9),
    (agent ?? 'unknown').padEnd(12),
    `${Math.ceil(bytes / 1_000_000)} MB`.padStart(7),
    at === null ? '' : `${formatDuration(world.now() - at)} ago`,
    name,
    because ?? '',
    patch ?? '',
  ]
    .filter((part) => part !== '')
    .join('  ');
