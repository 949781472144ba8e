/**
 * What a forced agent is asked about: the project as it is, what changed since it let everything pass, and whether it held
 * still while it was judged. A tree is judged once. When that is to happen is forced.ts's.
 */
import type { ForcedNode, Trigger } from '../../domain/agents/mandatory-review.ts';
import type { AgentId } from '../../domain/ids.ts';
import type { Result } from '../../domain/result.ts';
import { fail } from '../../domain/result.ts';
import type { GivenVerdict } from '../../events/decisions.ts';
import type { Since, TreeId } from '../../ports/tree.ts';
import type { Judged, JudgeParts } from './judge.ts';
import { decide, judge, judged, nameOf } from './judge.ts';
import { passedTree, verdictOn } from './record.ts';

/** Times a tree is judged that changes under the reviewer's eyes with nobody at work. */
export const TRIES = 3;
export const NOT_KNOWN = 'it is not known how the project was before the run';
export const KEEPS_CHANGING = 'the project kept changing while it was judged, with no agent at work';

/** `open`: what waited may go on. Null: the run was stopped first. */
export type Passage = 'open' | 'closed' | null;

export interface LookParts extends JudgeParts {
  readonly signal: AbortSignal;
  /** Agents at work that may change files. */
  readonly writing: ReadonlySet<AgentId>;
}

export async function treeNow(parts: LookParts): Promise<Result<TreeId, string>> {
  const { options, signal } = parts;
  if (options.trees === undefined) return fail('nothing here can tell what changed in the project');
  return options.trees.now(signal, sinceOf(parts));
}

/** What the log says of the beginning of the run; nothing before its first tree. */
function sinceOf({ recorder }: LookParts): Since | undefined {
  const { firstTree: tree, firstTreeAt: at, written = [] } = recorder.state();
  return tree === null ? undefined : { tree, at: at ?? 0, written };
}

/** Is the project still what was judged? What others at work write meanwhile is judged when they have ended. */
export async function isStill(parts: LookParts, tree: TreeId): Promise<boolean> {
  if (parts.writing.size > 0) return true;
  const now = await treeNow(parts);
  return now.ok && now.value === tree;
}

interface Question {
  readonly trigger: Exclude<Trigger, 'on-commit'>;
  readonly agent: AgentId;
  readonly from: TreeId;
  readonly to: TreeId;
  /** Of a burst of a run without a plan: what was done in it, up to the step in which its reviewer is made. */
  readonly done?: () => readonly string[];
}

/** What is said of a tree: what was said of it holds, otherwise a new agent judges it. Null when the run was stopped first. */
export async function ask(
  parts: LookParts,
  node: ForcedNode,
  { trigger, agent, from, to, done }: Question,
  known: GivenVerdict | null = verdictOn(parts.recorder.state(), node.role, to),
): Promise<Judged | null> {
  const { options, signal } = parts;
  if (known !== null) return judged(known);
  const changes =
    (await options.trees?.changes(from, to, signal, sinceOf(parts))) ?? fail('nothing here can tell what changed');
  if (signal.aborted) return null;
  if (!changes.ok) return { pass: false, why: changes.fault };
  const what = { trigger, whose: nameOf(parts, agent), ...changes.value, tree: to };
  return judge(parts, node, done === undefined ? what : { ...what, done: done() });
}

/** After work of `agent`: all that changed since the last pass, judged until it holds still. `before`: as it was before that work. */
export async function judgeWritten(
  parts: LookParts,
  node: ForcedNode,
  agent: AgentId,
  before: TreeId | null,
): Promise<Passage> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const tree = await treeNow(parts);
    if (parts.signal.aborted) return null;
    const verdict = tree.ok ? await ofTree(parts, node, agent, before, tree.value) : { pass: false, why: tree.fault };
    if (verdict === null) return null;
    const judgedTree = tree.ok ? tree.value : '';
    if (!verdict.pass || (await isStill(parts, judgedTree)))
      return decide(parts, node, 'on-write', agent, judgedTree, verdict);
  }
  return decide(parts, node, 'on-write', agent, '', { pass: false, why: KEEPS_CHANGING });
}

async function ofTree(
  parts: LookParts,
  node: ForcedNode,
  agent: AgentId,
  before: TreeId | null,
  tree: TreeId,
): Promise<Judged | null> {
  const from = passedTree(parts.recorder.state(), node.role);
  if (from === null) return { pass: false, why: NOT_KNOWN };
  if (tree === before || tree === from) return { pass: true, why: 'nothing changed that was not judged' };
  return ask(parts, node, { trigger: 'on-write', agent, from, to: tree });
}
