/** The own trees of agents on disk, between runs: what each holds, and their merge into the project. */
import type { Trigger } from '../../domain/agents/agent.ts';
import type { MergeEnd } from '../../domain/changes/changes.ts';
import { SessionId, type TaskId } from '../../domain/ids.ts';
import { reasonText } from '../../domain/reason.ts';
import { defined } from '../../domain/result.ts';
import { openRedactor } from '../../domain/text/redact.ts';
import { openRecorder, steadyWorld } from '../../engine/gate/index.ts';
import { changedLines, type Choice, mergeTree } from '../../engine/workspaces/index.ts';
import { type AgentState, isFinal, type OwnTree, type RunState } from '../../events/index.ts';
import type { Rules } from '../../policy/index.ts';
import type { Merge, WorkspacePort } from '../../ports/workspace.ts';
import { type Io, sanitise, world, wrongUse } from '../process/index.ts';
import { reviewsAgain } from '../publish/index.ts';
import { plural } from '../views/index.ts';
import { configForRun, openProjectLog, type ProjectPlace, stateOf } from '../workspace/index.ts';
import { openProjectTools, trySandbox } from '../workspace/sandbox.ts';

/**
 * `live`: its agent works in it, or has not changed anything and may go on in it. `merged`: the project has its changes. `dirty`: it was merged and has changed since. `unmerged`: the project
 * may not have its changes. `unchanged`: there is nothing to merge. */
export type TreeClass = 'live' | 'merged' | 'dirty' | 'unmerged' | 'unchanged';

export interface TreeRow {
  readonly name: string;
  readonly is: TreeClass;
  readonly session: string;
  /** Null where the log of its session is gone. */
  readonly agent: string | null;
  readonly task: TaskId | null;
  readonly bytes: number;
  /** When it was made, in milliseconds since 1970; null where nobody knows. */
  readonly at: number | null;
  readonly because?: string;
  readonly patch?: string;
}

/** `conflicting`: the lines that the sides of conflicts do not have in common, as a diff. */
export interface Preview extends Merge {
  readonly conflicting?: string;
}

export interface OpenTrees {
  rows(): Promise<readonly TreeRow[]>;
  preview(row: TreeRow): Promise<Preview>;
  /** What the project lacks of it, as a patch; of files that both sides have changed the agent's side. */
  patch(row: TreeRow): Promise<string>;
  /** Merges it and records that in the log of its session. `choice`: of files that both sides have changed. */
  merge(row: TreeRow, choice: Choice): Promise<MergeEnd>;
  remove(row: TreeRow): Promise<void>;
  close(): void;
}

const { signal } = new AbortController();

/** Opens the trees of a project. Rejects with an `Exit`. */
export async function openOwnTrees(project: ProjectPlace, io: Io): Promise<OpenTrees> {
  const { config } = configForRun(project, io, {});
  const { workspaces } = openProjectTools(project, await trySandbox(project, config.rules));
  const log = openProjectLog(project, config);
  const states = new Map<string, RunState | null>();
  const stateIn = (session: string): RunState | null => {
    const found = log.sessions().find((one) => one.session === session);
    const known = states.get(session) ?? (found === undefined ? null : stateOf(log, found.session));
    states.set(session, known);
    return known;
  };
  const isRunning = (session: string): boolean =>
    log.sessions().some((one) => one.session === session && one.state === 'running');
  const found = (row: TreeRow): AgentState => {
    const state = stateIn(row.session);
    const [agent, later] = [agentOf(state, row.name), ofLater(state, row.name)?.ownTree];
    if (agent !== null) return agent;
    throw wrongUse(
      later === undefined
        ? `the log of session ${row.session} has no agent that worked in the tree ${row.name}`
        : `the changes of the tree ${row.name} are in ${later.name} as well: merge that`,
    );
  };
  return {
    rows: () => Promise.all(workspaces.names().map((name) => rowOf(workspaces, name, stateIn, isRunning))),
    ...looksAt(workspaces, found),
    async merge(row, choice) {
      const { id } = found(row);
      // What its agent resolves, the run merges.
      if (choice !== 'patch' && choice !== 'agent') refuseUnreviewed(config.rules);
      const session = SessionId.parse(row.session);
      const claim = log.claim(session);
      if (!claim.ok) throw wrongUse(`session ${session} is running in another process: ${claim.holder}`);
      try {
        const redactor = openRedactor(config.secrets.map(({ value }) => value));
        const recorder = openRecorder(log, session, steadyWorld(world), redactor);
        const end = await mergeTree({ recorder, workspaces, signal, choose: () => Promise.resolve(choice) }, id);
        if (end?.is === 'merged') recorder.record(...reviewsAgain(recorder.state(), 'a tree was merged'));
        recorder.close();
        return end ?? { is: 'unmerged' };
      } finally {
        log.release(session);
      }
    },
    remove: ({ name }) => workspaces.remove(name),
    close: () => log.close(),
  };
}

/** What merges would do. */
function looksAt(workspaces: WorkspacePort, found: (row: TreeRow) => AgentState): Pick<OpenTrees, 'preview' | 'patch'> {
  const patchOf = async (from: string, to: string): Promise<string> => {
    const differ = await workspaces.changes(from, to, signal);
    return differ.ok ? differ.value.patch : '';
  };
  const merged = async (row: TreeRow): Promise<Merge> => {
    const { ownTree, writes } = found(row);
    const merge = await workspaces.merge({ name: row.name, base: ownTree?.base ?? '', writes }, signal);
    if (!merge.ok) throw wrongUse(merge.fault);
    return merge.value;
  };
  return {
    async preview(row) {
      const merge = await merged(row);
      if (merge.withTheirs === undefined) return merge;
      return { ...merge, conflicting: changedLines(await patchOf(merge.merged, merge.withTheirs)) };
    },
    async patch(row) {
      const { ours, merged: to, withTheirs = to } = await merged(row);
      return patchOf(ours, withTheirs);
    },
  };
}

/** Mandatory reviews of an agent's work judge what a run merges; a merge by hand would pass them by. A review of the whole is made again. */
function refuseUnreviewed({ forcedAgents = [] }: Rules): void {
  const ofWork = (when: Trigger): boolean => when !== 'manual' && when !== 'always';
  const review = forcedAgents.find((one) => one.onFailure !== 'warn' && one.triggers.some(ofWork));
  if (review === undefined) return;
  throw wrongUse(
    `the ${review.name} review has to judge what agents change, and a merge by hand has none: ${reasonText(review.from)}\n  run the task again, or keep its changes as a patch`,
  );
}

const agentOf = (state: RunState | null, name: string): AgentState | null =>
  [...(state?.agents.values() ?? [])].find(({ ownTree }) => ownTree?.name === name) ?? null;

async function rowOf(
  workspaces: WorkspacePort,
  name: string,
  stateIn: (session: string) => RunState | null,
  isRunning: (session: string) => boolean,
): Promise<TreeRow> {
  const [session = ''] = name.split('.');
  const state = stateIn(session);
  const one = agentOf(state, name);
  const look = await workspaces.look(name, one?.ownTree?.base ?? '', signal);
  const { bytes, dirty } = look ?? { bytes: 0, dirty: true };
  if (one === null) return { name, is: classOf(state, name, null, dirty), session, bytes, ...knownOf(state, name) };
  const found = classOf(state, name, one.ownTree ?? null, dirty);
  return { name, is: isLive(one, found, isRunning(session)) ? 'live' : found, session, bytes, ...factsOf(one) };
}

/** Of a tree that no agent works in any more. */
function knownOf(state: RunState | null, name: string): Pick<TreeRow, 'agent' | 'task' | 'at'> {
  const later = ofLater(state, name);
  return { agent: later?.name ?? null, task: later?.taskId ?? null, at: null };
}

/** An interrupted agent goes on in its tree, even where that has nothing yet; what has changes can be merged until then. */
const isLive = (one: AgentState, found: TreeClass, isRunning: boolean): boolean =>
  mayWork(one) && (isRunning || found === 'unchanged');

/** Until its merge has ended. */
const mayWork = (one: AgentState): boolean => !isFinal(one) || one.ownTree?.stands === 'open';

function factsOf({ name, taskId, ownTree }: AgentState): Omit<TreeRow, 'name' | 'is' | 'session' | 'bytes'> {
  const { at = null, stands, because, patch } = ownTree ?? {};
  const open = stands === 'merged' ? {} : defined({ because, patch });
  return { agent: name, task: taskId, at, ...open };
}

/** `dirty`: whether it differs from what its changes are counted from. */
function classOf(state: RunState | null, name: string, tree: OwnTree | null, dirty: boolean): TreeClass {
  if (tree === null) return isInLater(state, name) ? 'merged' : 'unmerged';
  if (tree.stands === 'merged') return dirty ? 'dirty' : 'merged';
  return dirty || tree.begun !== undefined ? 'unmerged' : 'unchanged';
}

/** A further attempt gets a new tree when the one before is merged, or to resolve its conflicts: then it counts as merged with that. */
function isInLater(state: RunState | null, name: string): boolean {
  const later = ofLater(state, name)?.ownTree;
  return later !== undefined && (later.stands === 'merged' || later.resolves === undefined);
}

/** The agent that worked in this tree, and then in a later one. */
function ofLater(state: RunState | null, name: string): AgentState | null {
  const stem = name.slice(0, name.lastIndexOf('.'));
  return [...(state?.agents.values() ?? [])].find(({ ownTree }) => ownTree?.name.startsWith(`${stem}.`)) ?? null;
}

/** How a merge ended, as a sentence. */
export function mergeEndText(name: string, { is, changed, because = '', patch }: MergeEnd): string {
  if (is === 'merged') return `merged ${name}: ${plural((changed?.files.length ?? 0) + (changed?.more ?? 0), 'file')}`;
  return `not merged: ${because}${patch === undefined ? '' : `; its changes are kept in ${patch}`}`;
}

const MARKS = { added: '+', changed: '~', removed: '-' } as const;

/** What a merge would do: conflicts, what is left out, files with their hunks. Sanitised. */
export function mergeLines({ files, more, conflicts, conflicting = '', leftOut }: Preview): readonly string[] {
  const lines = [
    ...conflicts.map(({ path, kind }) => `! ${path}: changed on both sides (${kind})`),
    ...(conflicting === '' ? [] : ['mine is -, theirs is +:', ...conflicting.split('\n').map((line) => `    ${line}`)]),
    ...leftOut.map((because) => `x ${because}`),
    ...files.flatMap(({ path, is, added, removed, diff = '' }) => [
      `${MARKS[is]} ${path}  +${added} -${removed}`,
      ...(diff === '' ? [] : diff.split('\n').map((line) => `    ${line}`)),
    ]),
    ...(more === 0 ? [] : [`and ${plural(more, 'more file')}`]),
  ];
  return lines.length === 0 ? ['nothing to merge'] : lines.map((line) => sanitise(line));
}
