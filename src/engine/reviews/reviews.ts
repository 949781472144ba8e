/** Mandatory reviews: after each task that changed files, before each commit, and at the end of the run. They judge the tree, whoever
 * changed it. One review runs at a time; without a verdict the gate stays closed. */
import type { MergeEnd } from '../../domain/changes/changes.ts';
import { type AgentId, type RoleName, ROOT } from '../../domain/ids.ts';
import { fail, messageOf, ok, type Result } from '../../domain/result.ts';
import type { TreeId } from '../../ports/tree.ts';
import type { NewAgent } from '../agents/index.ts';
import { type CommitGate, orAborted } from '../gate/index.ts';
import { judgeBatch } from './batch.ts';
import * as judging from './judge.ts';
import { mayChange, nodesInForce } from './review-plan.ts';
import { closedGates, gateWords, passedTree, verdictOnCommit } from '../../events/index.ts';
import type { MandatoryReview, Trigger } from '../../domain/agents/agent.ts';

/** Triggers that review changes since the run began. */
const JUDGING: readonly Trigger[] = ['on-write', 'on-commit', 'always', 'manual'];

/** Opening them makes the gate ask them before commits. */
export class MandatoryReviews {
  private readonly parts: judging.ReviewParts;
  private readonly writing = new Set<AgentId>();
  /** Whether the run began in this process, so that every change since was seen. */
  private fresh = false;
  private over = false;
  private last: Promise<unknown> = Promise.resolve();
  private looking: Promise<void> = Promise.resolve();

  constructor(parts: Omit<judging.ReviewParts, 'writing'>) {
    this.parts = { ...parts, writing: this.writing };
    parts.gate.hook({ beforeCommit: this.beforeCommit });
  }

  /** The reviews that a trigger starts: of the approved plan and of the present rules. */
  nodes(trigger: Trigger): readonly MandatoryReview[] {
    const { options, recorder } = this.parts;
    const { nodes, fault } = nodesInForce(options, recorder.state().plan);
    if (fault !== null) this.parts.fail(fault, 'denied');
    return nodes.filter(({ triggers }) => triggers.includes(trigger));
  }

  /** Whether this agent's work may require a review before others build on it. */
  judges({ capabilities }: NewAgent): boolean {
    return mayChange(capabilities);
  }

  /** Records the tree that all changes are compared with, if any agent may change files. Where nothing is judged, agents begin meanwhile:
   * commands are compared behind this look, and a file tool tells what it has changed. */
  async atStart(mayChangeFiles: boolean): Promise<void> {
    const { recorder, options, signal } = this.parts;
    const { firstTree, agents } = recorder.state();
    if (firstTree !== null) return;
    // After work has begun, earlier changes cannot be told apart any more.
    if ([...agents.values()].some(({ id, firstRunAt }) => id !== ROOT && firstRunAt !== null)) return;
    const isJudged = JUDGING.some((one) => this.nodes(one).length > 0);
    if (!isJudged && !mayChangeFiles) return;
    const look = isJudged ? judging.treeNow(this.parts) : options.tools.snapshot?.(signal);
    this.looking = Promise.resolve(look).then((tree) => {
      if (tree?.ok !== true || signal.aborted) return;
      recorder.record({ type: 'forced.began', tree: tree.value });
      this.fresh = true;
    });
    // A fault of the log is met by whoever awaits it.
    this.looking.catch(() => undefined);
    if (isJudged) await this.looking;
  }

  /** Resolves when the look of `atStart` has ended. */
  looked(): Promise<void> {
    return this.looking;
  }

  /** Call before the agent begins, or, of an agent with a tree of its own, before that is merged: until then the project has none of its changes.
   * The present tree; null where it cannot be determined, or contains changes of the agent already. */
  begin({ agent }: NewAgent, merges = false): Promise<TreeId | null> | null {
    this.writing.add(agent);
    if (this.nodes('on-write').length === 0) return null;
    // An agent that has worked before may have changed the tree, also between two processes.
    const begunBefore = !merges && (this.parts.recorder.state().agents.get(agent)?.firstRunAt ?? null) !== null;
    return begunBefore || !this.fresh
      ? null
      : judging.treeNow(this.parts).then((tree) => (tree.ok ? tree.value : null));
  }

  /** Merges a tree of its own, whose changes are reviewed then; while its agent resolves conflicts in a new tree, it does not change the project. */
  async merging(
    one: NewAgent,
    merge: () => Promise<MergeEnd | null>,
  ): Promise<{ readonly before: TreeId | null; readonly end: MergeEnd | null }> {
    const before = await this.begin(one, true);
    const end = await merge();
    if (end?.resolve !== undefined) this.writing.delete(one.agent);
    return { before, end };
  }

  /** Call after the agent ended in any way. `before` as returned by `begin`. */
  async afterTask({ agent }: NewAgent, before: TreeId | null): Promise<judging.ReviewOutcome> {
    this.writing.delete(agent);
    return this.nodes('on-write').length === 0 ? 'open' : this.inTurn(() => this.onWrite(agent, before));
  }

  readonly beforeCommit: CommitGate['beforeCommit'] = async (order, proposal, signal) => {
    const nodes = this.nodes('on-commit');
    if (nodes.length === 0) return ok(undefined);
    const { supervisor, recorder } = this.parts;
    const { agent } = order;
    const waits = { status: 'waiting', reason: 'its commit is judged', waitingFor: { is: 'review' } } as const;
    recorder.record({ type: 'agent.status', agent, ...waits });
    const takeSlotAgain = supervisor.yieldSlot(agent);
    // An agent that is ended does not wait for other agents' reviews; its own review notices the end in its turn.
    const judged = this.inTurn(() => judgeCommit(this.parts, nodes, { agent, proposal, signal }));
    const passed = await orAborted(judged, signal, fail(STOPPED));
    await takeSlotAgain();
    if (recorder.state().agents.get(agent)?.status === 'waiting')
      recorder.record({ type: 'agent.status', agent, status: 'running', reason: '' });
    return passed;
  };

  /** In a run without a plan: reviews the pending work for every review with trigger `always`. */
  async ofBatch(): Promise<void> {
    await this.inTurn(async () => {
      for (const node of this.nodes('always')) if (!this.parts.signal.aborted) await judgeBatch(this.parts, node);
    });
  }

  /** Ends an interrupted review of a resumed run without a plan that nobody requests again. */
  endCut(): Promise<void> {
    return this.inTurn(() => Promise.resolve(judging.endCut(this.parts)));
  }

  /** Call when all tasks have ended, before the report. */
  async atEnd(): Promise<void> {
    await this.last;
    // A later review may change the tree that an earlier one judged; then all review again.
    for (let tries = 1; !this.parts.signal.aborted; tries += 1) {
      const still = await this.inTurn(() => judgeAll(this.parts, this.atLast()));
      if (still || this.parts.signal.aborted) break;
      if (tries === judging.TRIES) {
        closeAll(this.parts, this.atLast());
        break;
      }
    }
    this.over = true;
    await this.last;
    if (!this.parts.signal.aborted) await this.endCut();
  }

  /** Call when more work follows the end: another `atEnd` reviews it. */
  goOn(): void {
    this.over = false;
  }

  /** Starts the review `role`, whose trigger is manual, on everything that changed since the run began; after pending reviews. */
  byHand(role: RoleName): Result<string, string> {
    const { recorder, schedule, fail: stop } = this.parts;
    const node = this.nodes('manual').find((one) => one.role === role);
    if (node === undefined) return fail(`no rule defines ${role} as a manual review`);
    if (schedule.now() === null || this.over) return fail('no agent is working: there is nothing to review yet');
    const { firstTree: from } = recorder.state();
    if (from === null) return fail('cannot determine what changed');
    this.inTurn(async () => {
      const tree = await judging.treeNow(this.parts);
      if (tree.ok) await judging.ask(this.parts, node, { trigger: 'manual', agent: ROOT, from, to: tree.value });
    }).catch((error: unknown) => stop(messageOf(error)));
    return ok(`${role} is reviewing the changes`);
  }

  /** Runs reviews one after the other; each sees the results of the one before. */
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = this.last.then(work);
    this.last = next.catch(() => undefined);
    return next;
  }

  private atLast(): AtEnd {
    return { writes: this.nodes('on-write').filter(({ after }) => after.length > 0), always: this.nodes('always') };
  }

  private async onWrite(agent: AgentId, before: TreeId | null): Promise<judging.ReviewOutcome> {
    let passage: judging.ReviewOutcome = 'open';
    for (const node of this.nodes('on-write')) {
      const one = await judging.judgeWritten(this.parts, node, agent, before);
      if (one === null) return null;
      if (one === 'closed') passage = 'closed';
    }
    return this.parts.signal.aborted ? null : passage;
  }
}

// Reviews before a commit: each judges exactly the proposed tree, and the first that does not pass prevents the commit.

const STOPPED = 'stopped before the commit was reviewed';

interface Committing {
  readonly agent: AgentId;
  readonly proposal: Parameters<CommitGate['beforeCommit']>[1];
  readonly signal: AbortSignal;
}

/** Ok when all `nodes` pass or only warn; otherwise the reason, in words for the model. */
async function judgeCommit(
  parts: judging.ReviewParts,
  nodes: readonly MandatoryReview[],
  { agent, proposal, signal }: Committing,
): Promise<Result<void, string>> {
  const { tree, from, files, patch } = proposal;
  for (const node of nodes) {
    if (signal.aborted) return fail(STOPPED);
    const known = verdictOnCommit(parts.recorder.state(), node.role, tree, from);
    const what = { trigger: 'on-commit', whose: judging.nameOf(parts, agent), files, patch, tree, from } as const;
    const verdict = known === null ? await judging.judge(parts, node, what, signal) : judging.judged(known);
    // A review that ended together with the asking agent has no result.
    if (verdict === null || signal.aborted) return fail(STOPPED);
    if (judging.decide(parts, node, 'on-commit', agent, tree, verdict) === 'closed')
      return fail(refusal(parts, node, agent));
  }
  return ok(undefined);
}

function refusal({ recorder }: judging.ReviewParts, { role, because }: MandatoryReview, agent: AgentId): string {
  const state = recorder.state();
  const gate = state.gates.find((one) => one.agent === agent && one.role === role && one.trigger === 'on-commit');
  const words = gate === undefined ? role : gateWords(state, gate);
  return `Not committed: the ${role} review of exactly this did not pass — ${because}\n${words}`;
}

// Reviews after all work of a planned run: unreviewed changes first, then the run as a whole.

interface AtEnd {
  /** Reviews of written changes, in a plan with tasks that write. */
  readonly writes: readonly MandatoryReview[];
  readonly always: readonly MandatoryReview[];
}

/** Runs all reviews at the end; false when the project changed meanwhile and no gate is closed. */
async function judgeAll(parts: judging.ReviewParts, { writes, always }: AtEnd): Promise<boolean> {
  if (writes.length + always.length === 0) return true;
  const before = await judging.treeNow(parts);
  for (const node of writes) await leftOver(parts, node);
  for (const node of always) await wholeRun(parts, node);
  if (!before.ok || closedGates(parts.recorder.state()).length > 0) return true;
  return judging.isStill(parts, before.value);
}

/** Closes the gates because the project never became stable. */
function closeAll(parts: judging.ReviewParts, { writes, always }: AtEnd): void {
  const changing = judging.noPass(judging.KEEPS_CHANGING);
  for (const node of always) judging.decide(parts, node, 'always', ROOT, '', changing);
  for (const node of writes) judging.decide(parts, node, 'on-write', ROOT, '', changing);
}

/** Reviews changes made after the last review of a task, by its left-over processes or by others. */
async function leftOver(parts: judging.ReviewParts, node: MandatoryReview): Promise<void> {
  const tree = await judging.treeNow(parts);
  const state = parts.recorder.state();
  const closed = state.gates.some(
    // What is left over is the run's own, and is reviewed again when it has changed since.
    ({ agent, role, trigger, open }) => agent !== ROOT && role === node.role && trigger === 'on-write' && !open,
  );
  if (closed || parts.signal.aborted) return;
  if (!tree.ok) judging.decide(parts, node, 'on-write', ROOT, '', judging.noPass(tree.fault));
  else if (tree.value !== passedTree(state, node.role)) await judging.judgeWritten(parts, node, ROOT, null);
}

async function wholeRun(parts: judging.ReviewParts, node: MandatoryReview): Promise<void> {
  const { firstTree } = parts.recorder.state();
  const tree = await judging.treeNow(parts);
  if (parts.signal.aborted) return;
  const verdict = !tree.ok
    ? judging.noPass(tree.fault)
    : firstTree === null
      ? judging.noPass(judging.NOT_KNOWN)
      : await judging.ask(parts, node, { trigger: 'always', agent: ROOT, from: firstTree, to: tree.value });
  if (verdict !== null) judging.decide(parts, node, 'always', ROOT, tree.ok ? tree.value : '', verdict);
}
