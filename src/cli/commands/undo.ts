/** `mimir undo`: takes back what is left of the changes of one agent; shows it in full and asks first. */
import * as cli from '../../app/process/index.ts';
import type { Undoing } from '../../app/publish/index.ts';
import { plural } from '../../app/views/index.ts';
import type { AgentId } from '../../domain/ids.ts';
import type { Result } from '../../domain/result.ts';
import type { UndoEnd } from '../../ports/changes.ts';
import { command } from '../verb.ts';
import { changesOf } from './diff.ts';

export const undoVerb = command('undo', async (args, io) => {
  const { undoing, one, named } = changesOf(args, io, 'undo');
  if (args.has('back')) return endOf(await undoing.back(one.id), io, (files) => `restored ${files} of ${one.name}`);
  const { undone, path } = await undoneOf(args.get('at'), undoing, one.id, named);
  const shown = await undoing.preview(undone, path);
  if (!shown.ok) throw cli.wrongUse(shown.fault);
  const { lines, writes, digest } = shown.value;
  for (const line of lines.length === 0 ? [`${one.name} has no changes in the project`] : lines)
    io.say(cli.sanitise(line));
  if (args.has('preview') || writes === 0) return cli.EXIT.done;
  if (!args.has('yes')) await confirm(writes, named, io);
  const restore = `\`mimir undo ${named} --back\` restores them`;
  const done = await undoing.undo(undone, digest, path);
  return endOf(done, io, (count) => `undid the changes of ${one.name} in ${count}; ${restore}`);
});

/** All changes of the agent, or those at `place`. Throws an `Exit` where there are none. */
async function undoneOf(place: string | undefined, undoing: Undoing, agent: AgentId, named: string) {
  if (place === undefined) return { undone: { agent }, path: undefined };
  const at = await undoing.at(agent, place);
  if (!at.ok) throw cli.wrongUse(`${at.fault}\n  \`mimir diff ${named}\` shows its changes`);
  return at.value;
}

/** Throws an `Exit` (4) without a yes. */
async function confirm(writes: number, named: string, io: cli.Io): Promise<void> {
  if (!io.terminal)
    throw new cli.Exit(
      cli.EXIT.notApproved,
      `nothing was undone: nobody can be asked here\n  \`mimir undo ${named}\` asks in a terminal; with --yes it is approved in advance`,
    );
  const answer = await io.ask(`Undo these changes in ${plural(writes, 'file')}? y yes, anything else no: `, 'fresh');
  if (!cli.IS_YES.test(answer?.trim() ?? '')) throw new cli.Exit(cli.EXIT.notApproved, 'nothing was undone');
}

/** Prints how it ended; the exit code. */
function endOf(done: Result<UndoEnd, string>, io: cli.Io, text: (files: string) => string): number {
  if (!done.ok) throw cli.wrongUse(done.fault);
  const { written, failed } = done.value;
  for (const line of failed) io.complain(`not written: ${cli.sanitise(line)}`);
  if (written.length > 0) io.say(text(plural(written.length, 'file')));
  return failed.length === 0 ? cli.EXIT.done : cli.EXIT.agentFailed;
}
