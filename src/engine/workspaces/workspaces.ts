/** The trees of a run's agents: made before an agent with one begins, and merged in plan order when its work has ended well. */
import type { AgentOutcome } from '../../domain/agents/agent.ts';
import type { Role } from '../../domain/agents/role.ts';
import type { MergeEnd } from '../../domain/changes/changes.ts';
import { type AgentId, ROOT } from '../../domain/ids.ts';
import { checkEndText } from '../../domain/plan/task-checks.ts';
import { defined, fail, ok, type Result } from '../../domain/result.ts';
import { headOf } from '../../domain/text/text.ts';
import { type AgentState, isFinal, type OwnTree, workspaceOf } from '../../events/index.ts';
import type { TreeContent, WorkspacePort } from '../../ports/workspace.ts';
import { type AgentModules, closeFailed, type NewAgent, workOrderFor } from '../agents/index.ts';
import { orAborted } from '../gate/index.ts';
import { type Choice, mergeTree } from './merge.ts';

export const NO_TREES = 'trees of their own are not available here';
type Merge = () => Promise<MergeEnd | null>;
export type Workspaces = ReturnType<typeof openWorkspaces>;

export function openWorkspaces(parts: AgentModules) {
  /** Agents whose work has begun here and whose merge has not ended. */
  const open = new Set<AgentId>();
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const look of waiting) look();
  };
  parts.recorder.onRecord(({ type }) => {
    if (type === 'agent.finished' || type === 'plan.amended' || type === 'agent.changed') wake();
  });
  /** Resolves when none of `before` can change the project by a merge any more; at once when the run stops. */
  const turn = async (before: () => readonly AgentId[]): Promise<void> => {
    const mine = Promise.withResolvers<void>();
    const look = (): void => {
      if (!before().some((id) => open.has(id) || !hasEnded(parts, id))) mine.resolve();
    };
    waiting.add(look);
    look();
    await orAborted(mine.promise, parts.signal, undefined);
    waiting.delete(look);
  };
  return {
    /** Prepares the agent's tree, runs its `work`, and, when that has completed, calls `merged` in its turn, which merges it. `treesBefore`: the
     * agents with trees of their own that come earlier in the plan. `again`: a further attempt. Null: the run was stopped. */
    async around(
      one: NewAgent,
      { treesBefore, again }: { readonly treesBefore: () => readonly AgentId[]; readonly again: boolean },
      work: () => Promise<AgentOutcome | null>,
      merged: (merge: Merge) => Promise<AgentOutcome | null>,
    ): Promise<Result<AgentOutcome | null, string>> {
      open.add(one.agent);
      try {
        const ready = await prepare(parts, one, again);
        if (parts.signal.aborted) return ok(null);
        if (!ready.ok) return ready;
        if (ready.value) return ok(ready.value.outcome);
        const outcome = await work();
        if (outcome !== 'completed') return ok(outcome);
        if (stateOf(parts, one.agent)?.ownTree?.stands === 'merged')
          return ok(await merged(() => Promise.resolve(MERGED)));
        await turn(treesBefore);
        if (parts.signal.aborted) return ok(null);
        return ok(await merged(() => merge(parts, one.agent)));
      } finally {
        open.delete(one.agent);
        wake();
      }
    },
  };
}

/** Of a tree that an earlier process has merged. */
const MERGED: MergeEnd = { is: 'merged' };

const stateOf = ({ recorder }: AgentModules, agent: AgentId): AgentState | undefined =>
  recorder.state().agents.get(agent);

function hasEnded(parts: AgentModules, agent: AgentId): boolean {
  const one = stateOf(parts, agent);
  return one === undefined || isFinal(one);
}

/** Makes the tree, or opens the one that an earlier attempt or process has left. After a merge, a further attempt gets a new one, and so does an
 * agent that is to resolve conflicts. */
async function openOrMake(parts: AgentModules, agent: AgentId, again: boolean): Promise<Result<void, string>> {
  const { workspaces } = parts.options;
  const one = stateOf(parts, agent);
  if (workspaces === undefined || one === undefined) return fail(NO_TREES);
  const { ownTree, outcome } = one;
  if (ownTree === undefined) return make(parts, agent, 1);
  if (ownTree.resolve !== undefined) return makeToResolve(parts, workspaces, one, ownTree);
  if (ownTree.stands === 'merged')
    return outcome === 'completed' && !again ? ok(undefined) : make(parts, agent, attemptOf(ownTree.name) + 1);
  const opened = await workspaces.open(ownTree.name);
  // A merge that has begun needs no tree.
  return opened.ok || ownTree.begun !== undefined ? ok(undefined) : opened;
}

async function prepare(parts: AgentModules, one: NewAgent, again: boolean): ReturnType<typeof setUpTree> {
  const made = await openOrMake(parts, one.agent, again);
  return made.ok && !parts.signal.aborted ? setUpTree(parts, one) : made.ok ? ok(null) : made;
}

/** The most time that the command takes which prepares a tree. */
const SETUP_TIME = 15 * 60_000;

/** Runs the command that prepares trees, once in each: as a check of which nothing but exit code 0 passes. How the agent has ended meanwhile, if it has. */
async function setUpTree(
  { options, gate, supervisor, recorder }: AgentModules,
  one: NewAgent,
): Promise<Result<{ readonly outcome: AgentOutcome | null } | null, string>> {
  const { agent, taskId: task } = one;
  const run = options.workspaces?.setup;
  if (run === undefined || !isToSetUp(recorder.state().agents.get(agent), run)) return ok(null);
  const check = { run, expect: 0, timeout: SETUP_TIME };
  // It makes what the task needs, in places that the task may not change; a merge leaves those out.
  const { writes: _writes, ...order } = workOrderFor(options, one, []);
  let fault: string | null = null;
  const ended = await supervisor.prepare(agent, async (signal) => {
    const call = { attempt: 0, check, asks: true, ...(task === null ? {} : { task }) } as const;
    const end = await gate.check(order, call, signal);
    if (end !== null && !end.passed)
      fault = [`${run}: ${checkEndText(end, check)}`, end.lines].filter((text) => text !== '').join('\n');
  });
  return ended === null && fault !== null ? fail(fault) : ok(ended);
}

/** Whether `run` has not passed in its tree yet, which is not merged. */
function isToSetUp({ ownTree, checks = [] }: Partial<AgentState> = {}, run: string): boolean {
  if (ownTree?.stands !== 'open') return false;
  return !checks.some((check) => check.run === run && check.started >= ownTree.at && check.end?.passed === true);
}

const attemptOf = (name: string): number => Number(name.split('.').at(-1));

/** A tree with the changes of `last`, merged into the project as it is now, in which the work begins anew. */
async function makeToResolve(
  parts: AgentModules,
  workspaces: WorkspacePort,
  { id, writes }: AgentState,
  last: OwnTree,
): Promise<Result<void, string>> {
  const found = await workspaces.merge({ name: last.name, base: last.base, writes }, parts.signal);
  if (!found.ok) return found;
  const { ours, merged, marked: content = merged } = found.value;
  return make(parts, id, attemptOf(last.name) + 1, { of: last.name, ours, content });
}

/** `from`: the tree before, whose conflicts are resolved in this one. */
async function make(
  { recorder, options, signal }: AgentModules,
  agent: AgentId,
  attempt: number,
  from?: TreeContent,
): Promise<Result<void, string>> {
  const tree = `${recorder.state().session ?? ''}.${agent.slice(`${ROOT}::`.length).replaceAll('::', '-')}.${attempt}`;
  const made = await options.workspaces?.make(tree, signal, from);
  if (made?.ok !== true) return made ?? fail(NO_TREES);
  const resolves = recorder.state().agents.get(agent)?.ownTree?.resolve;
  recorder.record(
    { type: 'tree.made', agent, tree, base: made.value.base, ...defined({ resolves }) },
    // Recorded with it, so that no process takes the work of the tree before for the work of this one.
    ...(resolves === undefined ? [] : [{ type: 'agent.status', agent, ...RESOLVES } as const]),
  );
  return ok(undefined);
}

const RESOLVES = { status: 'pending', reason: 'resolves conflicts' } as const;
const CHOICES = ['mine', 'theirs', 'agent', 'merge'] as const;

async function merge(parts: AgentModules, agent: AgentId): Promise<MergeEnd | null> {
  const { recorder, options, signal, gate } = parts;
  if (options.workspaces === undefined) return null;
  return mergeTree(
    {
      recorder,
      workspaces: options.workspaces,
      signal,
      choose: options.person
        ? async (request): Promise<Choice> => {
            const answer = await gate.approvals.ask({ agent: ROOT }, null, request, signal);
            return answer.is === 'withdrawn' ? 'stop' : (CHOICES.find((one) => one === answer.text) ?? 'patch');
          }
        : null,
    },
    agent,
  );
}

/** Bytes of the former answer that a new attempt reads. */
export const LAST_ANSWER = 4000;

/** What an agent is told that resolves conflicts in its tree; null for any other. */
export function resolvingText({ ownTree, summary, error }: AgentState): string | null {
  const conflicts = ownTree?.resolves;
  if (conflicts === undefined) return null;
  const answer = error ?? headOf(summary, LAST_ANSWER);
  return [
    '## Conflicts to resolve',
    'You have done this task in another tree. Your changes are in this tree already, merged into the project as it is now; git shows them as changes since the last commit.',
    `These files changed in the project as well:\n\n${conflicts.map((one) => `- ${one}`).join('\n')}`,
    'Where a file has signs of conflict, the project’s version stands between <<<<<<< and =======, and yours between ======= and >>>>>>>. Change each file so that it does what both sides wanted, leave no sign of conflict, and check the result. Leave everything else as it is.',
    ...(answer === '' ? [] : [`What came of your work before:\n\n${answer}`]),
  ].join('\n\n');
}

/** The tree of a child of `parent` with this role: none, its parent's or one of its own; or why it cannot have one. */
export function treeOfChild(
  { options: { workspaces }, recorder }: Pick<AgentModules, 'options' | 'recorder'>,
  parent: AgentId,
  { name, tree }: Role,
): Result<Pick<NewAgent, 'tree'>, string> {
  if (tree !== 'own' || workspaceOf(recorder.state(), parent) !== undefined) return ok({});
  const problem = workspaces === undefined ? NO_TREES : workspaces.whyNot();
  return problem === null ? ok({ tree }) : fail(`${name} works in a tree of its own: ${problem}`);
}

/** Runs the `work` of an agent outside of the plan, in its own tree if it has one, which is merged then; its failure is recorded. `again`: the agent
 * had ended before. `merging` carries the merge out. */
export async function inItsTree(
  parts: AgentModules & { readonly workspaces: Workspaces },
  one: NewAgent,
  again: boolean,
  work: (one: NewAgent) => Promise<AgentOutcome | null>,
  merging: (merge: Merge) => ReturnType<Merge> = (merge) => merge(),
): Promise<AgentOutcome | null> {
  if (one.tree !== 'own') return work(one);
  const resolving = (): NewAgent => {
    const state = stateOf(parts, one.agent);
    const text = state === undefined ? null : resolvingText(state);
    return text === null ? one : { ...one, task: `${one.task}\n\n${text}` };
  };
  const done = await parts.workspaces.around(
    one,
    { treesBefore: () => [], again },
    () => work(resolving()),
    async (merge) => {
      const end = await merging(merge);
      if (end?.resolve !== undefined) return inItsTree(parts, one, false, work, merging);
      return end === null ? null : 'completed';
    },
  );
  return done.ok ? done.value : treeFailed(parts, one.agent, done.fault);
}

/** Records that the agent has failed because of its tree, of which its owner is told. */
export const treeFailed = (parts: AgentModules, agent: AgentId, fault: string): AgentOutcome =>
  closeFailed(parts, agent, '', { error: `its own tree could not be used: ${fault}` });
