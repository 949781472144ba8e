/** Forced agents when all the work of a run with a plan is done: what came after the last review, and then the run as a whole. */
import type { ForcedNode } from '../../domain/agents/mandatory-review.ts';
import { ROOT } from '../../domain/ids.ts';
import { decide } from './judge.ts';
import type { LookParts } from './look.ts';
import { ask, isStill, judgeWritten, KEEPS_CHANGING, NOT_KNOWN, treeNow } from './look.ts';
import { closedGates, passedTree } from './record.ts';

export interface AtEnd {
  /** Those that judge what was written, in a plan that has somebody who writes. */
  readonly writes: readonly ForcedNode[];
  readonly always: readonly ForcedNode[];
}

/** All that is judged at the end; false when the project is not as it was before, and nothing keeps a gate closed. */
export async function judgeAll(parts: LookParts, { writes, always }: AtEnd): Promise<boolean> {
  if (writes.length + always.length === 0) return true;
  const before = await treeNow(parts);
  for (const node of writes) await leftOver(parts, node);
  for (const node of always) await wholeRun(parts, node);
  if (!before.ok || closedGates(parts.recorder.state()).length > 0) return true;
  return isStill(parts, before.value);
}

/** It never held still. */
export function closeAll(parts: LookParts, { writes, always }: AtEnd): void {
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
