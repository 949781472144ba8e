/** Merges one agent's tree into the project. What changes the project is recorded before and after, so that a merge that was cut off is carried to
 * its end, and no merge happens twice. A conflict is a question to a person; unanswered, the work stays in its tree and in a patch. */
import type { MergeEnd } from '../../domain/changes/changes.ts';
import type { AgentId } from '../../domain/ids.ts';
import { plural } from '../../domain/lists.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { AgentState, ApprovalRequest } from '../../events/index.ts';
import type { Merge, MergeConflict, MergeRequest, WorkspacePort } from '../../ports/workspace.ts';
import type { Recorder } from '../gate/index.ts';

/** How to go on where both sides changed the same: the project's side, the agent's, the agent resolves it, or a patch; `stop`: ask again later.
 * `merge`: what the agent has resolved is merged. */
export type Choice = 'mine' | 'theirs' | 'agent' | 'merge' | 'patch' | 'stop';

export interface Merging {
  readonly recorder: Recorder;
  readonly workspaces: WorkspacePort;
  readonly signal: AbortSignal;
  /** Asks a person; null where nobody can be asked. */
  readonly choose: ((request: ApprovalRequest) => Promise<Choice>) | null;
}

/** How often it begins anew where the project changes meanwhile. */
const TRIES = 5;

/** Merges the tree of `agent`. How it ended is in the log then; null where it was stopped before, so that it has to be called again. */
export async function mergeTree(parts: Merging, agent: AgentId): Promise<MergeEnd | null> {
  let last: Attempt = { is: 'stopped' };
  for (let tries = 0; tries < TRIES && (tries === 0 || last.is === 'again'); tries += 1)
    last = await attempt(parts, agent);
  if (last.is === 'stopped') return null;
  const end: MergeEnd = last.is === 'ended' ? last.end : { is: 'unmerged', because: last.because };
  const { recorder } = parts;
  const tree = recorder.state().agents.get(agent)?.ownTree?.name ?? '';
  recorder.record({ type: 'merge.finished', agent, tree, ...end });
  return end;
}

type Attempt =
  | { readonly is: 'ended'; readonly end: MergeEnd }
  | { readonly is: 'again'; readonly because: string }
  | { readonly is: 'stopped' };

async function attempt(parts: Merging, agent: AgentId): Promise<Attempt> {
  const { recorder, workspaces, signal } = parts;
  const one = recorder.state().agents.get(agent);
  if (one?.ownTree === undefined || signal.aborted) return { is: 'stopped' };
  const { begun, name, base } = one.ownTree;
  const wish: MergeRequest = { name, base, writes: one.writes };
  // A part of what has begun may be done: the rest of it is merged, never the tree once more.
  const found =
    begun === undefined
      ? await workspaces.merge(wish, signal)
      : await workspaces.rest({ ours: begun.ours, merged: begun.to }, signal);
  if (signal.aborted) return { is: 'stopped' };
  if (!found.ok) return { is: 'ended', end: { is: 'unmerged', because: found.fault } };
  const merge = found.value;
  const chosen = isAsked(one, merge) ? await choiceFor(parts, one, wish, merge) : ok(null);
  return chosen.ok ? applied(parts, one, merge, chosen.value) : chosen.fault;
}

/** What an agent has resolved is seen before it is merged. */
const isAsked = ({ ownTree }: AgentState, { conflicts }: Merge): boolean =>
  conflicts.length > 0 || (ownTree?.resolves !== undefined && ownTree.begun === undefined);

/** Not stopped in its midst: what has begun ends, or is carried on by the next process. */
async function applied(
  { recorder, workspaces }: Merging,
  { id: agent, ownTree }: AgentState,
  merge: Merge,
  took: 'mine' | 'theirs' | null,
): Promise<Attempt> {
  const { merged, withTheirs = merged } = merge;
  const to = took === 'theirs' ? withTheirs : merged;
  const { name: tree = '', begun } = ownTree ?? {};
  const { ours, theirs } = begun ?? merge;
  const { signal } = new AbortController();
  if (to !== merge.ours) {
    recorder.record({ type: 'merge.started', agent, tree, ours, to, theirs });
    const done = await workspaces.apply(merge.ours, to, signal);
    if (!done.ok) return { is: 'again', because: done.fault };
  }
  const files = await workspaces.files(ours, to, signal);
  return {
    is: 'ended',
    end: mergedEnd({ ...NO_FILES, ...(files.ok ? files.value : {}), theirs }, took, merge.leftOut),
  };
}

const NO_FILES = { files: [], more: 0 };

/** Without what says nothing. */
const mergedEnd = (
  { theirs, ...of }: Pick<Merge, 'files' | 'more' | 'rest' | 'theirs'>,
  took: 'mine' | 'theirs' | null,
  leftOut: readonly string[],
): MergeEnd => ({
  is: 'merged',
  theirs,
  ...(of.files.length === 0 ? {} : { changed: { ...of, also: [] } }),
  ...(took === null ? {} : { took }),
  ...(leftOut.length === 0 ? {} : { leftOut }),
});

/** Whose side is taken, null where both go together; a fault where the merge ends without one. */
async function choiceFor(
  parts: Merging,
  one: AgentState,
  wish: MergeRequest,
  merge: Merge,
): Promise<Result<'mine' | 'theirs' | null, Attempt>> {
  const choice = await asked(parts, one, merge);
  if (choice === 'stop') return fail({ is: 'stopped' });
  const { conflicts } = merge;
  if (conflicts.length === 0 && choice !== 'patch') return ok(null);
  if (choice === 'mine' || choice === 'theirs') return ok(choice);
  const files = `${plural(conflicts.length, 'file')} changed in the project as well`;
  if (choice === 'agent') {
    const because = `${files}; ${one.name} resolves that`;
    return fail({ is: 'ended', end: { is: 'unmerged', because, resolve: conflicts.map(conflictText) } });
  }
  const patch = await parts.workspaces.patch(wish, parts.signal);
  const because = conflicts.length === 0 ? 'nobody has merged what was resolved' : files;
  return fail({ is: 'ended', end: { is: 'unmerged', because, ...(patch.ok ? { patch: patch.value } : {}) } });
}

/** A person's answer; `patch` where nobody can be asked. */
async function asked({ choose, workspaces, signal }: Merging, one: AgentState, merge: Merge): Promise<Choice> {
  if (choose === null) return 'patch';
  const { ours, merged, withTheirs = merged, conflicts } = merge;
  const isClear = conflicts.length === 0;
  const differ = await workspaces.changes(isClear ? ours : merged, withTheirs, signal);
  const shown = differ.ok ? changedLines(differ.value.patch) : '';
  return choose(isClear ? resolvedQuestion(one, shown) : conflictQuestion(one, merge, shown));
}

const conflictText = ({ path, kind }: MergeConflict): string => `${path} (${kind})`;

/** A diff without git's own lines where the names above the first hunk say the same. */
export const changedLines = (patch: string): string =>
  patch
    .split(/^(?=diff --git )/m)
    .map((file) => (/^@@ /m.test(file) ? file.replaceAll(/^(?:diff --git|index) .*\n/gm, '') : file))
    .join('');

/** The most conflicts that a question names. */
const NAMED = 20;

/** `differ`: the lines that mine and theirs do not have in common, as a diff. */
function conflictQuestion({ name }: AgentState, { conflicts, files, more }: Merge, differ: string): ApprovalRequest {
  const some = conflicts.slice(0, NAMED).map(conflictText);
  const rest = conflicts.length > NAMED ? [`and ${conflicts.length - NAMED} more`] : [];
  const others = files.length + more;
  return {
    ...QUESTION,
    title: `merge of ${name}: ${plural(conflicts.length, 'file')} changed on both sides`,
    exact: [
      ...some,
      ...rest,
      '',
      `mine: keep these files as they are in the project${others === 0 ? '' : `; merge the other changes (${others})`}`,
      `theirs: take these files as ${name} has them; merge the other changes`,
      `agent: ${name} resolves it in a new tree, with what is left of its budget; you see the result before it is merged`,
      'patch: merge nothing; keep the tree, and its changes as a patch',
      ...(differ === '' ? [] : ['', 'mine is -, theirs is +:', differ]),
    ].join('\n'),
    options: ['mine', 'theirs', 'agent', 'patch'],
  };
}

/** `changes`: all that the project gets, as a diff. */
const resolvedQuestion = ({ name, ownTree }: AgentState, changes: string): ApprovalRequest => ({
  ...QUESTION,
  title: `merge of ${name}: it has resolved ${plural(ownTree?.resolves?.length ?? 0, 'conflict')}`,
  exact: [
    'merge: change the project as shown',
    'patch: merge nothing; keep the tree, and its changes as a patch',
    '',
    changes === '' ? 'nothing is left to change' : changes,
  ].join('\n'),
  options: ['merge', 'patch'],
});

const QUESTION = { action: 'merge', unsandboxed: false, because: '' } as const;
