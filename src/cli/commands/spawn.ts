/** `mimir spawn`: starts a child of the calling agent, or of ROOT for a person, and returns at once. */
import { statSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { readSpawn } from '../../app/actions/index.ts';
import { agentSocketOf, doneOrExit, withSessionClient } from '../../app/client/index.ts';
import { type Arguments, EXIT, Exit, type Io, wrongUse } from '../../app/process/index.ts';
import type { SpawnRequest } from '../../domain/agents/agent.ts';
import type { AgentId, SessionId } from '../../domain/ids.ts';
import type { SessionRecord } from '../../events/index.ts';
import type { SessionClient } from '../../ports/control.ts';
import { picked } from '../sessions/rows.ts';
import { named, selfOf } from '../sessions/target.ts';
import { command, tell, LISTS } from '../verb.ts';

export const spawnVerb = command('spawn', spawn);

async function spawn(args: Arguments, io: Io): Promise<number> {
  const wish = readSpawn(args);
  // Without an active run, starts one that has no plan and waits for children.
  const isFirst =
    agentSocketOf(io) === null &&
    !args.has('run') &&
    (await (
      await import('../../app/project/hosting.ts')
    ).startFirstRun(args, io, (root) => requireFolder(wish, root, io)));
  return withSessionClient(args, io, async (client) => {
    const { record, seen } = await selfOf(client, args.get('run'));
    const root = seen.family.sessions[0]?.working_dir ?? record.working_dir;
    const command = { do: 'spawn', parent: record.agent, wish: withFolder(wish, root, io) } as const;
    const done = await client.submit(record.run, command);
    // A run that was started only for this child is no longer needed.
    if (!done.ok && isFirst) await client.submit(record.run, { do: 'stop run', reason: 'its first child was refused' });
    // A wrong folder is a mistake of the caller (exit 2), not a refusal by a rule.
    if (!done.ok) requireFolder(wish, root, io);
    const receipt = doneOrExit(done);
    const child = await childIn(client, record.run, receipt.agent);
    const where = io.terminal ? whereWords(client, record.run, isFirst, args) : null;
    tell(args, io, picked(child, LISTS.spawned), [
      `Spawned ${named(child)}${child.tmux_session === null ? '' : ` in tmux session ${child.tmux_session}`}`,
      // For an unknown role, the role that it works as.
      ...(receipt.note === undefined ? [] : [`  ${receipt.note}`]),
      ...(where === null ? [] : [`  ${where}`]),
    ]);
    return EXIT.done;
  });
}

/** For a person at a terminal: names the run if it was chosen automatically; null if the choice is clear. */
function whereWords(client: SessionClient, run: SessionId, isFirst: boolean, args: Arguments): string | null {
  if (client.as !== null || args.has('run')) return null;
  if (isFirst) return `in the new run ${run}: \`mimir attach ${run}\` shows it, \`mimir kill ${run}\` ends it`;
  const living = client.runs().filter(({ state }) => state === 'running').length;
  return living < 2 ? null : `in run ${run}, the newest of ${living} active runs: --run SESSION chooses another`;
}

async function childIn(client: SessionClient, run: SessionId, agent: AgentId | undefined): Promise<SessionRecord> {
  const { family } = await client.look(run);
  const child = family.sessions.find((one) => one.agent === agent);
  if (child === undefined)
    throw new Exit(EXIT.refused, 'the child is not among the sessions\n  `mimir children` lists them');
  return child;
}

/** The request with its folder relative to the project `root`; exits with 2 if the folder is outside. */
function withFolder(wish: SpawnRequest, root: string, io: Pick<Io, 'where'>): SpawnRequest {
  if (wish.workingDir === null) return wish;
  const folder = relative(root, resolve(io.where(), wish.workingDir));
  if (folder === '..' || folder.startsWith('../'))
    throw wrongUse(`--working-dir ${wish.workingDir} is outside the project ${root}\n  use a folder in the project`);
  return { ...wish, workingDir: folder === '' ? '.' : folder };
}

function requireFolder(wish: SpawnRequest, root: string, io: Pick<Io, 'where'>): void {
  const { workingDir } = withFolder(wish, root, io);
  if (workingDir === null || statSync(resolve(root, workingDir), { throwIfNoEntry: false })?.isDirectory() === true)
    return;
  throw wrongUse(
    `--working-dir ${wish.workingDir ?? ''}: there is no such folder in the project ${root}\n  use a folder in the project`,
  );
}
