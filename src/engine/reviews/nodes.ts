/** The forced agents of a run as they hold now: those of its approved plan, and those of the rules, which may be tighter by now. */
import type { ForcedNode } from '../../domain/agents/mandatory-review.ts';
import type { SoundPlan } from '../../domain/plan/plan.ts';
import { expectedRuns, forcedNodes } from './review-plan.ts';
import type { RunOptions } from '../run/run-options.ts';

interface InForce {
  readonly nodes: readonly ForcedNode[];
  /** Why those of the rules can't be had; null where they can. */
  readonly fault: string | null;
}

/** Never less than the plan that was approved says. */
export function nodesInForce(options: RunOptions, plan: SoundPlan | null): InForce {
  const planned = plan?.forced ?? [];
  if ((options.rules.forcedAgents ?? []).length === 0) return { nodes: planned, fault: null };
  const now = forcedNodes(options, plan?.tasks ?? []);
  if (!now.ok) return { nodes: planned, fault: now.fault };
  const both = planned.map((node) => {
    const same = now.value.find(({ role }) => role === node.role);
    return same === undefined ? node : asStrictAs(node, same);
  });
  const fresh = now.value.filter(({ role }) => !planned.some((node) => node.role === role));
  return { nodes: [...both, ...fresh], fault: null };
}

/** The locked nodes of a plan that was amended: what the rules add to it now, and never less than the one before had. */
export function nodesAfter(options: RunOptions, before: SoundPlan, after: SoundPlan): readonly ForcedNode[] {
  const ruled = after.forced ?? [];
  const kept = (before.forced ?? []).map((node) => {
    const same = ruled.find(({ role }) => role === node.role);
    const strict = same === undefined ? node : asStrictAs(node, same);
    if (same !== undefined && same.onFailure === strict.onFailure && same.triggers.length === strict.triggers.length)
      return same;
    return { ...strict, ...expectedRuns(options, after.tasks, strict.triggers) };
  });
  return [...kept, ...ruled.filter(({ role }) => !kept.some((node) => node.role === role))];
}

const asStrictAs = (node: ForcedNode, ruled: ForcedNode): ForcedNode => ({
  ...node,
  triggers: [...new Set([...node.triggers, ...ruled.triggers])],
  onFailure: node.onFailure === 'block' ? node.onFailure : ruled.onFailure,
  // A plan that was made without a trigger doesn't say whose work it concerns.
  after: [...new Set([...node.after, ...ruled.after])],
  model: ruled.model,
});
