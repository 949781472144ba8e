/**
 * The gates of forced agents (CONTRACT O136 to O138, SECURITY 2.3): after each task that changed files, before each commit,
 * at the end of the run. What counts is the tree, whatever wrote it. One review at a time; fails closed.
 */
import type { WorkOrder } from '../domain/agent.ts';
import type { ForcedNode, Trigger } from '../domain/forced.ts';
import type { AgentId } from '../domain/ids.ts';
import { ROOT } from '../domain/ids.ts';
import type { Result } from '../domain/result.ts';
import { fail, ok } from '../domain/result.ts';
import type { TreeId } from '../ports/tree.ts';
import type { Judged, JudgeParts } from './forced-judge.ts';
import { judge, judged, nameOf } from './forced-judge.ts';
import { forcedNodes, mayChange } from './forced-plan.ts';
import { gateWords, passedTree, verdictOn, verdictOnCommit } from './forced-record.ts';
import type { CommitGate } from './gate-forced.ts';
import type { NewAgent } from './orders.ts';

/** Times a tree is judged that changes under the reviewer's eyes with nobody at work. */
const TRIES = 3;
const NOT_KNOWN = 'it is not known how the project was before the run';

/** `open`: what waited may go on. Null: the run was stopped first. */
type Passage = 'open' | 'closed' | null;

export interface Forced {
  readonly beforeCommit: CommitGate['beforeCommit'];
  /** Must the work of this agent be judged before others build on it? */
  judges(one: NewAgent): boolean;
  /** Before it begins: the tree as it is, null where nothing can tell. */
  begin(one: NewAgent): Promise<TreeId | null>;
  /** After it ended, however. `before` as `begin` gave it. */
  afterTask(one: NewAgent, before: TreeId | null): Promise<Passage>;
  /** When all tasks have ended, before the report. */
  atEnd(): Promise<void>;
  /** At a person's wish, on all that has changed so far; behind those that wait. */
  byHand(node: ForcedNode): Promise<void>;
  /** The locked nodes that a trigger starts: of the approved plan, and of the rules as they are now. */
  nodes(trigger: Trigger): readonly ForcedNode[];
}

export const openForced = (parts: JudgeParts & { readonly signal: AbortSignal }): Forced => new Gates(parts);

class Gates implements Forced {
  private readonly parts: JudgeParts & { readonly signal: AbortSignal };
  /** Agents at work that may change files. */
  private readonly writing = new Set<AgentId>();
  private last: Promise<unknown> = Promise.resolve();

  constructor(parts: JudgeParts & { readonly signal: AbortSignal }) {
    this.parts = parts;
  }

  nodes(trigger: Trigger): readonly ForcedNode[] {
    const { options, recorder } = this.parts;
    const { plan } = recorder.state();
    const planned = plan?.forced ?? [];
    // Rules may have become tighter since the plan was approved: then they hold, and never less than the plan.
    const now = (options.rules.forcedAgents ?? []).length === 0 ? ok([]) : forcedNodes(options, plan?.tasks ?? []);
    const ruled = now.ok ? now.value : [];
    const both = planned.map((node) => {
      const same = ruled.find(({ role }) => role === node.role);
      if (same === undefined) return node;
      const triggers = [...new Set([...node.triggers, ...same.triggers])];
      const onFailure = node.onFailure === 'block' ? node.onFailure : same.onFailure;
      return { ...node, triggers, onFailure, model: same.model };
    });
    const fresh = ruled.filter(({ role }) => !planned.some((node) => node.role === role));
    return [...both, ...fresh].filter(({ triggers }) => triggers.includes(trigger));
  }

  judges({ capabilities }: NewAgent): boolean {
    return (
      mayChange(capabilities) && (['on-write', 'always', 'manual'] as const).some((one) => this.nodes(one).length > 0)
    );
  }

  async begin({ agent }: NewAgent): Promise<TreeId | null> {
    this.writing.add(agent);
    return this.knowFirst();
  }

  async afterTask({ agent }: NewAgent, before: TreeId | null): Promise<Passage> {
    this.writing.delete(agent);
    return this.inTurn(() => this.onWrite(agent, before));
  }

  readonly beforeCommit: Forced['beforeCommit'] = async (order, proposal, signal) => {
    const nodes = this.nodes('on-commit');
    if (nodes.length === 0) return ok(undefined);
    const { crew, recorder } = this.parts;
    const { agent } = order;
    recorder.record({ type: 'agent.status', agent, status: 'waiting', reason: 'its commit is judged' });
    const takeSlotAgain = crew().lend(agent);
    const passed = await this.inTurn(() => this.onCommit(nodes, order, proposal, signal));
    await takeSlotAgain();
    if (recorder.state().agents.get(agent)?.status === 'waiting')
      recorder.record({ type: 'agent.status', agent, status: 'running', reason: '' });
    return passed;
  };

  async atEnd(): Promise<void> {
    await this.last;
    if (this.parts.signal.aborted) return;
    const first = this.nodes('always').length + this.nodes('on-write').length > 0 ? await this.knowFirst() : null;
    await this.inTurn(() => this.leftOver());
    for (const node of this.nodes('always')) await this.inTurn(() => this.wholeRun(node, first));
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
    if (options.trees === undefined)
      return fail('nothing here can tell what changed: the project is no git repository');
    return options.trees.now(signal);
  }

  /** The tree now; the first time it is asked for it is recorded as the one that the run began with. */
  private async knowFirst(): Promise<TreeId | null> {
    const { recorder } = this.parts;
    const tree = await this.now();
    if (!tree.ok) return null;
    if (recorder.state().firstTree === null) recorder.record({ type: 'forced.began', tree: tree.value });
    return tree.value;
  }

  private async onWrite(agent: AgentId, before: TreeId | null): Promise<Passage> {
    let passage: Passage = 'open';
    for (const node of this.nodes('on-write')) {
      const one = await this.ofBatch(node, agent, before);
      if (one === null) return null;
      if (one === 'closed') passage = 'closed';
    }
    return passage;
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
        return this.decide(node, 'on-write', agent, judgedTree, verdict);
    }
    const why = 'the project kept changing while it was judged, with no agent at work';
    return this.decide(node, 'on-write', agent, '', { pass: false, why });
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

  /** Changes after the last review of a task: by what it left running, or by somebody else. */
  private async leftOver(): Promise<void> {
    const { recorder } = this.parts;
    for (const node of this.nodes('on-write')) {
      const tree = await this.now();
      const state = recorder.state();
      const closed = state.gates.some(
        ({ role, trigger, open }) => role === node.role && trigger === 'on-write' && !open,
      );
      if (closed || !tree.ok || tree.value === passedTree(state, node.role)) continue;
      await this.ofBatch(node, ROOT, null);
    }
  }

  private async wholeRun(node: ForcedNode, tree: TreeId | null): Promise<void> {
    const { firstTree } = this.parts.recorder.state();
    if (tree === null || firstTree === null) {
      const now = await this.now();
      const why = now.ok ? NOT_KNOWN : now.fault;
      this.decide(node, 'always', ROOT, '', { pass: false, why });
      return;
    }
    const verdict = await this.ask(node, 'always', ROOT, { from: firstTree, to: tree });
    if (verdict !== null) this.decide(node, 'always', ROOT, tree, verdict);
  }

  private async onCommit(
    nodes: readonly ForcedNode[],
    { agent }: WorkOrder,
    proposal: Parameters<Forced['beforeCommit']>[1],
    signal: AbortSignal,
  ): Promise<Result<void, string>> {
    const { tree, from, files, patch } = proposal;
    for (const node of nodes) {
      if (signal.aborted) return fail('stopped before the commit was judged');
      const known = verdictOnCommit(this.parts.recorder.state(), node.role, tree, from);
      const what = { trigger: 'on-commit', whose: nameOf(this.parts, agent), files, patch, tree } as const;
      const verdict = known === null ? await judge(this.parts, node, what, signal) : judged(known);
      if (verdict === null) return fail('stopped before the commit was judged');
      const passage = this.decide(node, 'on-commit', agent, tree, verdict);
      if (passage === 'closed') return fail(this.refusal(node, agent));
    }
    return ok(undefined);
  }

  private refusal({ role, because }: ForcedNode, agent: AgentId): string {
    const state = this.parts.recorder.state();
    const gate = state.gates.find((one) => one.agent === agent && one.role === role && one.trigger === 'on-commit');
    const words = gate === undefined ? role : gateWords(state, gate);
    return `Not committed: the ${role} review of exactly this did not pass — ${because}\n${words}`;
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

  private decide(
    node: ForcedNode,
    trigger: Trigger,
    agent: AgentId,
    tree: string,
    { pass, why }: Judged,
  ): 'open' | 'closed' {
    const { role, onFailure } = node;
    this.parts.recorder.record({ type: 'forced.gate', agent, role, trigger, tree, open: pass, onFailure, why });
    return pass || onFailure === 'warn' ? 'open' : 'closed';
  }
}
