/**
 * The commit at the end of a run whose approved plan asks for one: `main` writes the message and calls `git_commit` once, behind the
 * reviews and the question that any commit has. Work that failed, or that a review did not pass, is not committed.
 */
import type { WorkOrder } from '../../domain/agents/agent.ts';
import { ROOT } from '../../domain/ids.ts';
import type { SoundPlan } from '../../domain/plan/plan.ts';
import { headOf } from '../../domain/text/text.ts';
import { OFFLINE } from '../../policy/models.ts';
import { isTakenOut } from '../../events/queries.ts';
import type { RunState } from '../../events/state.ts';
import { runAgent } from '../agents/agent-loop.ts';
import { closedGates } from '../reviews/record.ts';
import { orderOf } from '../agents/agent-spec.ts';
import type { RunParts } from './parts.ts';
import type { RunOptions } from './run-options.ts';

const TOOL = 'git_commit';
/** One reply for the commit, one for a second try after an error, one for the last words. */
const REPLIES = 3;
/** Bytes of the report that `main` reads before it writes the message. */
const MOST_REPORT = 12_000;

/** The plan with what it starts with: the decision on the plan `before`, else `--commit` or what the plan's file says. */
export function startingCommit(plan: SoundPlan, { commit }: RunOptions, before: SoundPlan | null): SoundPlan {
  const { commit: ofFile, ...rest } = plan;
  const isWanted = before === null ? commit === true || ofFile === true : before.commit === true;
  return isWanted ? { ...rest, commit: true } : rest;
}

/** Commits what the run has done. Resolves with a section for the report; empty when the plan asks for no commit. */
export async function commitStep(parts: RunParts, report: string): Promise<string> {
  const { recorder, signal } = parts;
  if (recorder.state().plan?.commit !== true || signal.aborted) return '';
  const problem = whyNotCommitted(parts);
  if (problem !== null) return section(`Not committed: ${problem}.`);
  const before = recorder.state().seq;
  const outcome = await runAgent(commitOrder(parts, report), parts.gate, signal);
  const made = recorder
    .stored(before)
    .findLast((event) => event.type === 'tool.finished' && event.agent === ROOT && event.tool === TOOL);
  if (made?.type === 'tool.finished') return section(made.ok ? made.output : `Not committed: ${made.output}`);
  return section(`Not committed: ${outcome.is === 'completed' ? outcome.summary : outcome.reason}`);
}

const section = (text: string): string => `## Commit\n\n${text}`;

/** Why the work of the run is not committed, or null. */
function whyNotCommitted({ recorder, options, root }: RunParts): string | null {
  const state = recorder.state();
  const open = notDone(state);
  if (open.length > 0) return `${open.join(', ')} did not complete`;
  if (closedGates(state).length > 0) return 'a review did not pass';
  if (state.agents.get(ROOT)?.model.used === OFFLINE) return 'the offline analyst writes no commit message';
  return options.toolsOf(root.capabilities).includes(TOOL) ? null : 'main may not use git here';
}

const notDone = ({ agents }: RunState): readonly string[] =>
  [...agents.values()].flatMap((one) =>
    one.taskId !== null && !isTakenOut(one) && one.outcome !== 'completed' ? [one.name] : [],
  );

function commitOrder({ options, root }: RunParts, report: string): WorkOrder {
  const order = orderOf(options, root, []);
  return {
    ...order,
    task: [
      'The work of this run is done and reviewed. Commit it now with one call of `git_commit`, without `paths`, so that all of its changes are in it.',
      'The message: a first line of at most 72 characters that says what changed, an empty line, and why, in the style of the commits of this repository. Then end with one short sentence.',
      `# The person's task\n\n${options.task}`,
      `# What was done\n\n${headOf(report, MOST_REPORT)}`,
    ].join('\n\n'),
    tools: order.tools.filter((tool) => tool === TOOL || tool === 'git'),
    iterations: REPLIES,
    commits: true,
    turns: [],
  };
}
