/**
 * The gates of forced agents (CONTRACT O136 to O138, SECURITY 2.3): after each task that changed files, before each commit,
 * at the end of the run. What counts is the tree, whatever wrote it. One review at a time; fails closed.
 */
import type { ForcedNode, Trigger } from '../domain/forced.ts';
import type { AgentId } from '../domain/ids.ts';
import { ROOT } from '../domain/ids.ts';
import type { Result } from '../domain/result.ts';
import { fail, ok } from '../domain/result.ts';
import type { TreeId } from '../ports/tree.ts';
import type { Judged, JudgeParts } from './forced-judge.ts';
import { judgeCommit, STOPPED } from './forced-commit.ts';
import { decide, judge, judged, nameOf } from './forced-judge.ts';
import { nodesInForce } from './forced-nodes.ts';
import { mayChange } from './forced-plan.ts';
import { closedGates, passedTree, verdictOn } from './forced-record.ts';
import type { CommitGate } from './gate-forced.ts';
import type { NewAgent } from './orders.ts';

/** Times a tree is judged that changes under the reviewer's eyes with nobody at work. */
const TRIES = 3;
/** Triggers that judge what became of the project since the run began. */
const JUDGING: readonly Trigger[] = ['on-write', 'on-commit', 'always', 'manual'];
const NOT_KNOWN = 'it is not known how the project was before the run';
const KEEPS_CHANGING = 'the project kept changing while it was judged, with no agent at work';

/** `open`: what waited may go on. Null: the run was stopped first. */
type Passage = 'open' | 'closed' | null;

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
  private readonly parts: GatesParts;
  /** Agents at work that may change files. */
  private readonly writing = new Set<AgentId>();
  /** Did the run begin in this process, so that every change since was seen? */
  private fresh = false;
  private over = false;
  private last: Promise<unknown> = Promise.resolve();

  constructor(parts: GatesParts) {
    this.parts = parts;
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
    const tree = await this.now();
    if (!tree.ok) return;
    recorder.record({ type: 'forced.began', tree: tree.value });
    this.fresh = true;
  }

  begin({ agent }: NewAgent): Promise<TreeId | null> | null {
    this.writing.add(agent);
    if (this.nodes('on-write').length === 0) return null;
    // Of one that worked before some changes are in the tree already; what came to it between two processes nobody knows.
    const begunBefore = (this.parts.recorder.state().agents.get(agent)?.firstRunAt ?? null) !== null;
    return begunBefore || !this.fresh ? null : this.now().then((tree) => (tree.ok ? tree.value : null));
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
    recorder.record({ type: 'agent.status', agent, status: 'waiting', reason: 'its commit is judged' });
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

  async atEnd(): Promise<void> {
    await this.last;
    // What one judged may be other by the time the next one has: then all look again.
    for (let tries = 1; !this.parts.signal.aborted; tries += 1) {
      const still = await this.inTurn(() => this.everything());
      if (still || this.parts.signal.aborted) break;
      if (tries === TRIES) {
        this.closeAll(KEEPS_CHANGING);
        break;
      }
    }
    this.over = true;
    await this.last;
  }

  isOver(): boolean {
    return this.over;
  }

  goOn(): void {
    this.over = false;
  }

  async byHand(node: ForcedNode): Promise<void> {
    await this.inTurn(async () => {
      const tree = await this.now();
      const { firstTree } = this.parts.recorder.state();
      if (tree.ok && firstTree !== null) await this.ask(node, 'manual', ROOT, { from: firstTree, to: tree.value });
    });
  }

  /** One after the other: each judges what the one before left. */
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = this.last.then(work);
    this.last = next.catch(() => undefined);
    return next;
  }

  private async now(): Promise<Result<TreeId, string>> {
    const { options, signal } = this.parts;
    if (options.trees === undefined) return fail('nothing here can tell what changed in the project');
    return options.trees.now(signal);
  }

  private async onWrite(agent: AgentId, before: TreeId | null): Promise<Passage> {
    let passage: Passage = 'open';
    for (const node of this.nodes('on-write')) {
      const one = await this.ofBatch(node, agent, before);
      if (one === null) return null;
      if (one === 'closed') passage = 'closed';
    }
    return this.parts.signal.aborted ? null : passage;
  }

  /** All that changed since the last pass, judged until it holds still. */
  private async ofBatch(node: ForcedNode, agent: AgentId, before: TreeId | null): Promise<Passage> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const tree = await this.now();
      if (this.parts.signal.aborted) return null;
      const verdict = tree.ok ? await this.ofTree(node, agent, before, tree.value) : { pass: false, why: tree.fault };
      if (verdict === null) return null;
      const judgedTree = tree.ok ? tree.value : '';
      if (!verdict.pass || (await this.isStill(judgedTree)))
        return decide(this.parts, node, 'on-write', agent, judgedTree, verdict);
    }
    return decide(this.parts, node, 'on-write', agent, '', { pass: false, why: KEEPS_CHANGING });
  }

  private async ofTree(node: ForcedNode, agent: AgentId, before: TreeId | null, tree: TreeId): Promise<Judged | null> {
    const from = passedTree(this.parts.recorder.state(), node.role);
    if (from === null) return { pass: false, why: NOT_KNOWN };
    if (tree === before || tree === from) return { pass: true, why: 'nothing changed that was not judged' };
    return this.ask(node, 'on-write', agent, { from, to: tree });
  }

  /** Is the project still what was judged? What others at work write meanwhile is judged when they have ended. */
  private async isStill(tree: TreeId): Promise<boolean> {
    if (this.writing.size > 0) return true;
    const now = await this.now();
    return now.ok && now.value === tree;
  }

  /** All that is judged at the end; false when the project is not as it was before, and nothing keeps a gate closed. */
  private async everything(): Promise<boolean> {
    const writes = this.nodes('on-write').filter(({ after }) => after.length > 0);
    const always = this.nodes('always');
    if (writes.length + always.length === 0) return true;
    const before = await this.now();
    for (const node of writes) await this.leftOver(node);
    for (const node of always) await this.wholeRun(node);
    if (!before.ok || closedGates(this.parts.recorder.state()).length > 0) return true;
    return this.isStill(before.value);
  }

  private closeAll(why: string): void {
    for (const node of this.nodes('always')) decide(this.parts, node, 'always', ROOT, '', { pass: false, why });
    for (const node of this.nodes('on-write'))
      if (node.after.length > 0) decide(this.parts, node, 'on-write', ROOT, '', { pass: false, why });
  }

  /** Changes after the last review of a task: by what it left running, or by somebody else. */
  private async leftOver(node: ForcedNode): Promise<void> {
    const tree = await this.now();
    const state = this.parts.recorder.state();
    const closed = state.gates.some(({ role, trigger, open }) => role === node.role && trigger === 'on-write' && !open);
    if (closed || this.parts.signal.aborted) return;
    if (!tree.ok) decide(this.parts, node, 'on-write', ROOT, '', { pass: false, why: tree.fault });
    else if (tree.value !== passedTree(state, node.role)) await this.ofBatch(node, ROOT, null);
  }

  private async wholeRun(node: ForcedNode): Promise<void> {
    const { firstTree } = this.parts.recorder.state();
    const tree = await this.now();
    if (this.parts.signal.aborted) return;
    const verdict = !tree.ok
      ? { pass: false, why: tree.fault }
      : firstTree === null
        ? { pass: false, why: NOT_KNOWN }
        : await this.ask(node, 'always', ROOT, { from: firstTree, to: tree.value });
    if (verdict !== null) decide(this.parts, node, 'always', ROOT, tree.ok ? tree.value : '', verdict);
  }

  /** A tree is judged once: what was said of it holds. */
  private async ask(
    node: ForcedNode,
    trigger: Exclude<Trigger, 'on-commit'>,
    agent: AgentId,
    { from, to }: { readonly from: TreeId; readonly to: TreeId },
  ): Promise<Judged | null> {
    const { options, recorder, signal } = this.parts;
    const known = verdictOn(recorder.state(), node.role, to);
    if (known !== null) return judged(known);
    const changes = (await options.trees?.changes(from, to, signal)) ?? fail('nothing here can tell what changed');
    if (signal.aborted) return null;
    if (!changes.ok) return { pass: false, why: changes.fault };
    return judge(this.parts, node, { trigger, whose: nameOf(this.parts, agent), ...changes.value, tree: to });
  }
}
