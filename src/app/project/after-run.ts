/** What a person does with the changes of ended runs: each act is shown first, and done as it was shown. */
import type { AgentId, SessionId } from '../../domain/ids.ts';
import { plural } from '../../domain/lists.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { Undone } from '../../domain/changes/undo.ts';
import type { UndoEnd } from '../../ports/changes.ts';
import type { Receipt, Refusal } from '../../ports/controls.ts';
import type { ChangePreview, ChangeAction, RunChanges } from '../../ports/project-service.ts';
import type { Merge } from '../../ports/workspace.ts';
import { type Io, wrongUse } from '../process/index.ts';
import { openPublishing, openUndoing } from '../publish/index.ts';
import { stateOf } from '../workspace/index.ts';
import type { OpenProject } from './open-project.ts';
import { mergeEndText, mergeLines, openOwnTrees, type OpenTrees, type TreeRow } from './own-trees.ts';

/** One kind of action. Both calls may reject with an `Exit`. */
interface Act<W> {
  preview(session: SessionId, action: W): Promise<Result<ChangePreview, string>>;
  carryOut(session: SessionId, action: W, digest: string): Promise<Result<string, string>>;
}

type Acts = { readonly [K in ChangeAction['do']]: Act<Extract<ChangeAction, { readonly do: K }>> };
type Opened = Pick<OpenProject, 'project' | 'config' | 'log'>;

/** Its calls may reject with an `Exit`. */
export function openRunChanges(opened: Opened, io: Io, leaving: AbortSignal): RunChanges {
  const acts: Acts = {
    request: requests(opened, io, leaving),
    merge: merges(opened, io),
    undo: undos(opened),
  };
  const actOf = (action: ChangeAction): Act<ChangeAction> => acts[action.do];
  return {
    preview: async (session, action) => refusedBy(await actOf(action).preview(session, action)),
    async carryOut(session, action, digest): Promise<Result<Receipt, Refusal>> {
      const done = refusedBy(await actOf(action).carryOut(session, action, digest));
      return done.ok ? ok({ text: done.value }) : done;
    },
  };
}

const refusedBy = <T>(result: Result<T, string>): Result<T, Refusal> =>
  result.ok ? result : fail({ text: result.fault });

function requests({ project, config, log }: Opened, io: Io, leaving: AbortSignal): Acts['request'] {
  const publishing = openPublishing({ project, config, log, env: io.env });
  return {
    async preview(session, action) {
      const shown = await publishing.preview(session, leaving);
      if (!shown.ok) return shown;
      const { kind, lines, digest, url, isComplete, verdict } = shown.value;
      if (isComplete) return ok({ title: `${kind} is open`, lines: [url ?? ''], digest, answers: [] });
      const title = `Push this branch and open the ${kind.toLowerCase()}?`;
      if (verdict === 'deny') return ok({ title: kind, lines, digest, answers: [] });
      return ok({ title, lines, digest, answers: [{ label: 'send it', note: '', action }] });
    },
    async carryOut(session, _, digest) {
      const sent = await publishing.send({ session, digest, by: 'person' }, leaving);
      return sent.ok ? ok(`${sent.value.kind} is open: ${sent.value.url}`) : sent;
    },
  };
}

function merges({ project, log }: Opened, io: Io): Acts['merge'] {
  const inTree = async <T>(
    session: SessionId,
    agent: AgentId,
    act: (trees: OpenTrees, row: TreeRow) => Promise<T>,
  ): Promise<T> => {
    const trees = await openOwnTrees(project, io);
    try {
      const name = stateOf(log, session).agents.get(agent)?.ownTree?.name;
      const row = (await trees.rows()).find((one) => one.name === name);
      if (row === undefined) throw wrongUse('its tree no longer exists');
      return await act(trees, row);
    } finally {
      trees.close();
    }
  };
  return {
    preview: (session, { agent }) =>
      inTree(session, agent, async (trees, row) => {
        const merge = await trees.preview(row);
        const answers = (merge.conflicts.length === 0 ? [WHOLE] : SIDES).map(([choice, label, note]) => {
          const action: ChangeAction = { do: 'merge', agent, choice };
          return { label, note, action };
        });
        return ok({
          title: 'Merge this into the project?',
          lines: mergeLines(merge),
          digest: digestOf(merge),
          answers,
          choose: 'Files that changed on both sides',
        });
      }),
    carryOut: (session, { agent, choice = 'patch' }, digest) =>
      inTree(session, agent, async (trees, row) => {
        if (digestOf(await trees.preview(row)) !== digest) return fail(CHANGED);
        const end = await trees.merge(row, choice);
        const text = mergeEndText(row.agent ?? row.name, end);
        return end.is === 'merged' || choice === 'patch' || end.resolve !== undefined ? ok(text) : fail(text);
      }),
  };
}

const WHOLE = ['mine', 'merge', ''] as const;
const SIDES = [
  ['mine', 'mine', 'keep these files as they are in the project, merge the others'],
  ['theirs', 'theirs', 'take these files as the agent has them'],
  ['agent', 'agent', 'it resolves them in a new tree, and you see the result before it is merged'],
  ['patch', 'patch', 'merge nothing, keep the changes as a patch'],
] as const;

const CHANGED = 'the project or the tree has changed since this was shown; look at it again';
const digestOf = ({ ours, theirs }: Merge): string => `${ours} ${theirs}`;

function undos({ project, config, log }: Opened): Acts['undo'] {
  const opened = (session: SessionId) => {
    const state = stateOf(log, session);
    const undoing = openUndoing({ project, box: config.rules.box, log, writing: (act) => act(log), session, state });
    return { undoing, nameOf: (agent: AgentId) => state.agents.get(agent)?.name ?? agent };
  };
  const undone = ({ agent, hunk }: Extract<ChangeAction, { readonly do: 'undo' }>): Undone =>
    hunk === undefined ? { agent } : { agent, hunk };
  return {
    async preview(session, action) {
      const { undoing, nameOf } = opened(session);
      const shown = await undoing.preview(undone(action), action.path);
      if (!shown.ok) return shown;
      const { lines, writes, digest, hasUndo } = shown.value;
      const { agent, hunk } = action;
      const undo = { label: 'undo', note: 'take these changes back', action };
      const again: ChangeAction = { do: 'undo', agent, restore: true };
      const restore = { label: 'restore', note: 'what was last undone of this agent', action: again };
      const answers = [...(writes === 0 ? [] : [undo]), ...(hasUndo ? [restore] : [])];
      const what = hunk === undefined ? `the changes of ${nameOf(agent)}` : 'this hunk';
      const title = writes === 0 ? 'Nothing to undo' : `Undo ${what}?`;
      return ok({ title, lines: lines.length === 0 ? [NONE] : lines, digest, answers, choose: title });
    },
    async carryOut(session, action, digest) {
      const { undoing, nameOf } = opened(session);
      const { agent, path, restore } = action;
      if (restore === true) return endOf(await undoing.back(agent), `restored changes of ${nameOf(agent)}`);
      return endOf(await undoing.undo(undone(action), digest, path), `undid changes of ${nameOf(agent)}`);
    },
  };
}

const NONE = 'Nothing is left of its changes.';

function endOf(done: Result<UndoEnd, string>, text: string): Result<string, string> {
  if (!done.ok) return done;
  const { written, failed } = done.value;
  const ended = `${text} in ${plural(written.length, 'file')}`;
  return failed.length === 0 ? ok(ended) : fail(`${ended}; not written: ${failed.join('; ')}`);
}
