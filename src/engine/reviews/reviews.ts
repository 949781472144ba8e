/**
 * The gates of forced agents: after each task that changed files, before each commit,
 * at the end of the run. What counts is the tree, whatever wrote it. One review at a time; fails closed.
 */
import type { ForcedNode, Trigger } from '../../domain/agents/mandatory-review.ts';
import { type AgentId, ROOT } from '../../domain/ids.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { TreeId } from '../../ports/tree.ts';
import type { NewAgent } from '../agents/agent-spec.ts';
import type { CommitGate } from '../gate/tools/permit.ts';
import { judgeBurst } from './batch.ts';
import { decide, judge, judged, type JudgeParts, nameOf } from './judge.ts';
import type { LookParts, Passage } from './look.ts';
import { ask, isStill, judgeWritten, KEEPS_CHANGING, NOT_KNOWN, treeNow, TRIES } from './look.ts';
import { nodesInForce } from './nodes.ts';
import { closedGates, gateWords, passedTree, verdictOnCommit } from './record.ts';
import { endCut } from './repeat.ts';
import { mayChange } from './review-plan.ts';

/** Triggers that judge what became of the project since the run began. */
const JUDGING: readonly Trigger[] = ['on-write', 'on-commit', 'always', 'manual'];

export interface Forced {
  readonly beforeCommit: CommitGate['beforeCommit'];
  /** Can the work of this agent be such that a rule has it judged before others build on it? */
  judges(one: NewAgent): boolean;
  /** Before anybody begins: what all changes are measured against. */
  atStart(): Promise<void>;
  /** Before it begins: the tree as it is; null where nothing can tell, or its own changes are in it already. */
  begin(one: NewAgent): Promise<TreeId | null> | null;
  /** After it ended, however. `before` as `begin` gave it. */
  afterTask(one: NewAgent, before: TreeId | null): Promise<Passage>;
  /** Of a run without a plan: what was done and is not judged yet, by all whose trigger is `always`. */
  ofBurst(): Promise<void>;
  /** Of a run without a plan that goes on: when nobody asks any more for a review that was cut off. */
  endCut(): Promise<void>;
  /** When all tasks have ended, before the report. */
  atEnd(): Promise<void>;
  /** Has `atEnd` been through? Nobody judges anything any more then. */
  isOver(): boolean;
  /** More work came after the end: what it changes is judged by another `atEnd`. */
  goOn(): void;
  /** At a person's wish, on all that has changed so far; behind those that wait. */
  byHand(node: ForcedNode): Promise<void>;
  /** The locked nodes that a trigger starts: of the approved plan, and of the rules as they are now. */
  nodes(trigger: Trigger): readonly ForcedNode[];
}

interface GatesParts extends JudgeParts {
  readonly signal: AbortSignal;
  /** Stops the run so that it can be resumed: what the rules ask for now can't be done. */
  pause(text: string, is: 'denied'): void;
}

export const openForced = (parts: GatesParts): Forced => new Gates(parts);

class Gates implements Forced {
  private readonly parts: GatesParts & LookParts;
  private readonly writing = new Set<AgentId>();
  /** Did the run begin in this process, so that every change since was seen? */
  private fresh = false;
  private over = false;
  private last: Promise<unknown> = Promise.resolve();

  constructor(parts: GatesParts) {
    this.parts = { ...parts, writing: this.writing };
  }

  nodes(trigger: Trigger): readonly ForcedNode[] {
    const { options, recorder } = this.parts;
    const { nodes, fault } = nodesInForce(options, recorder.state().plan);
    if (fault !== null) this.parts.pause(fault, 'denied');
    return nodes.filter(({ triggers }) => triggers.includes(trigger));
  }

  judges({ capabilities }: NewAgent): boolean {
    return mayChange(capabilities);
  }

  async atStart(): Promise<void> {
    const { recorder } = this.parts;
    const { firstTree, agents } = recorder.state();
    if (firstTree !== null || !JUDGING.some((one) => this.nodes(one).length > 0)) return;
    // Work that was done already can't be told from what was there before.
    if ([...agents.values()].some(({ id, firstRunAt }) => id !== ROOT && firstRunAt !== null)) return;
    const tree = await treeNow(this.parts);
    if (!tree.ok) return;
    recorder.record({ type: 'forced.began', tree: tree.value });
    this.fresh = true;
  }

  begin({ agent }: NewAgent): Promise<TreeId | null> | null {
    this.writing.add(agent);
    if (this.nodes('on-write').length === 0) return null;
    // Of one that worked before some changes are in the tree already; what came to it between two processes nobody knows.
    const begunBefore = (this.parts.recorder.state().agents.get(agent)?.firstRunAt ?? null) !== null;
    return begunBefore || !this.fresh ? null : treeNow(this.parts).then((tree) => (tree.ok ? tree.value : null));
  }

  async afterTask({ agent }: NewAgent, before: TreeId | null): Promise<Passage> {
    this.writing.delete(agent);
    return this.nodes('on-write').length === 0 ? 'open' : this.inTurn(() => this.onWrite(agent, before));
  }

  readonly beforeCommit: Forced['beforeCommit'] = async (order, proposal, signal) => {
    const nodes = this.nodes('on-commit');
    if (nodes.length === 0) return ok(undefined);
    const { crew, recorder } = this.parts;
    const { agent } = order;
    const waits = { status: 'waiting', reason: 'its commit is judged', waitingFor: { is: 'review' } } as const;
    recorder.record({ type: 'agent.status', agent, ...waits });
    const takeSlotAgain = crew().lend(agent);
    // Whoever is ended does not wait for reviews of others; its own finds that out in its turn.
    const ended = Promise.withResolvers<Result<void, string>>();
    const leave = (): void => ended.resolve(fail(STOPPED));
    signal.addEventListener('abort', leave, { once: true });
    const passed = await Promise.race([
      this.inTurn(() => judgeCommit(this.parts, nodes, { agent, proposal, signal })),
      ended.promise,
    ]);
    signal.removeEventListener('abort', leave);
    await takeSlotAgain();
    if (recorder.state().agents.get(agent)?.status === 'waiting')
      recorder.record({ type: 'agent.status', agent, status: 'running', reason: '' });
    return passed;
  };

  async ofBurst(): Promise<void> {
    await this.inTurn(async () => {
      for (const node of this.nodes('always')) if (!this.parts.signal.aborted) await judgeBurst(this.parts, node);
    });
  }

  endCut(): Promise<void> {
    return this.inTurn(() => Promise.resolve(endCut(this.parts)));
  }

  async atEnd(): Promise<void> {
    await this.last;
    // What one judged may be other by the time the next one has: then all look again.
    for (let tries = 1; !this.parts.signal.aborted; tries += 1) {
      const still = await this.inTurn(() => judgeAll(this.parts, this.atLast()));
      if (still || this.parts.signal.aborted) break;
      if (tries === TRIES) {
        closeAll(this.parts, this.atLast());
        break;
      }
    }
    this.over = true;
    await this.last;
    if (!this.parts.signal.aborted) await this.endCut();
  }

  isOver(): boolean {
    return this.over;
  }

  goOn(): void {
    this.over = false;
  }

  async byHand(node: ForcedNode): Promise<void> {
    await this.inTurn(async () => {
      const tree = await treeNow(this.parts);
      const { firstTree } = this.parts.recorder.state();
      if (tree.ok && firstTree !== null)
        await ask(this.parts, node, { trigger: 'manual', agent: ROOT, from: firstTree, to: tree.value });
    });
  }

  /** One after the other: each judges what the one before left. */
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = this.last.then(work);
    this.last = next.catch(() => undefined);
    return next;
  }

  private atLast(): AtEnd {
    return { writes: this.nodes('on-write').filter(({ after }) => after.length > 0), always: this.nodes('always') };
  }

  private async onWrite(agent: AgentId, before: TreeId | null): Promise<Passage> {
    let passage: Passage = 'open';
    for (const node of this.nodes('on-write')) {
      const one = await judgeWritten(this.parts, node, agent, before);
      if (one === null) return null;
      if (one === 'closed') passage = 'closed';
    }
    return this.parts.signal.aborted ? null : passage;
  }
}

// Forced agents before a commit: each judges exactly the tree that is proposed; one that does not pass is the end of it.

const STOPPED = 'stopped before the commit was judged';

interface Committing {
  readonly agent: AgentId;
  readonly proposal: Parameters<CommitGate['beforeCommit']>[1];
  readonly signal: AbortSignal;
}

/** Ok when all `nodes` let it pass, or only warn; otherwise why not, in words for the model. */
async function judgeCommit(
  parts: JudgeParts,
  nodes: readonly ForcedNode[],
  { agent, proposal, signal }: Committing,
): Promise<Result<void, string>> {
  const { tree, from, files, patch } = proposal;
  for (const node of nodes) {
    if (signal.aborted) return fail(STOPPED);
    const known = verdictOnCommit(parts.recorder.state(), node.role, tree, from);
    const what = { trigger: 'on-commit', whose: nameOf(parts, agent), files, patch, tree, from } as const;
    const verdict = known === null ? await judge(parts, node, what, signal) : judged(known);
    // A review that ended with who asked for it says nothing of the commit.
    if (verdict === null || signal.aborted) return fail(STOPPED);
    if (decide(parts, node, 'on-commit', agent, tree, verdict) === 'closed') return fail(refusal(parts, node, agent));
  }
  return ok(undefined);
}

function refusal({ recorder }: JudgeParts, { role, because }: ForcedNode, agent: AgentId): string {
  const state = recorder.state();
  const gate = state.gates.find((one) => one.agent === agent && one.role === role && one.trigger === 'on-commit');
  const words = gate === undefined ? role : gateWords(state, gate);
  return `Not committed: the ${role} review of exactly this did not pass — ${because}\n${words}`;
}

// Forced agents when all the work of a run with a plan is done: what came after the last review, and then the run as a whole.

interface AtEnd {
  /** Those that judge what was written, in a plan that has somebody who writes. */
  readonly writes: readonly ForcedNode[];
  readonly always: readonly ForcedNode[];
}

/** All that is judged at the end; false when the project is not as it was before, and nothing keeps a gate closed. */
async function judgeAll(parts: LookParts, { writes, always }: AtEnd): Promise<boolean> {
  if (writes.length + always.length === 0) return true;
  const before = await treeNow(parts);
  for (const node of writes) await leftOver(parts, node);
  for (const node of always) await wholeRun(parts, node);
  if (!before.ok || closedGates(parts.recorder.state()).length > 0) return true;
  return isStill(parts, before.value);
}

/** It never held still. */
function closeAll(parts: LookParts, { writes, always }: AtEnd): void {
  const why = KEEPS_CHANGING;
  for (const node of always) decide(parts, node, 'always', ROOT, '', { pass: false, why });
  for (const node of writes) decide(parts, node, 'on-write', ROOT, '', { pass: false, why });
}

/** Changes after the last review of a task: by what it left running, or by somebody else. */
async function leftOver(parts: LookParts, node: ForcedNode): Promise<void> {
  const tree = await treeNow(parts);
  const state = parts.recorder.state();
  const closed = state.gates.some(({ role, trigger, open }) => role === node.role && trigger === 'on-write' && !open);
  if (closed || parts.signal.aborted) return;
  if (!tree.ok) decide(parts, node, 'on-write', ROOT, '', { pass: false, why: tree.fault });
  else if (tree.value !== passedTree(state, node.role)) await judgeWritten(parts, node, ROOT, null);
}

async function wholeRun(parts: LookParts, node: ForcedNode): Promise<void> {
  const { firstTree } = parts.recorder.state();
  const tree = await treeNow(parts);
  if (parts.signal.aborted) return;
  const verdict = !tree.ok
    ? { pass: false, why: tree.fault }
    : firstTree === null
      ? { pass: false, why: NOT_KNOWN }
      : await ask(parts, node, { trigger: 'always', agent: ROOT, from: firstTree, to: tree.value });
  if (verdict !== null) decide(parts, node, 'always', ROOT, tree.ok ? tree.value : '', verdict);
}
