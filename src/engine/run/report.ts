/**
 * The end of a run: the results of finished agents become one report, written by `main` through the gate (charged to
 * ROOT), beside the plain lines `Agent N: <summary>` (O059). One agent's answer is the report itself.
 */
import type { Finding, WorkOrder } from '../../domain/agents/agent.ts';
import { AS_DATA, findingText, freeTag, textsIn } from '../../domain/agents/brief.ts';
import type { AgentId } from '../../domain/ids.ts';
import { ROOT } from '../../domain/ids.ts';
import type { SoundPlan } from '../../domain/plan/plan.ts';
import { headOf } from '../../domain/text/text.ts';
import { isFinal, isTakenOut } from '../../events/queries.ts';
import type { RunState } from '../../events/state.ts';
import { OFFLINE } from '../../policy/models.ts';
import { runAgent } from '../agents/agent-loop.ts';
import type { FindingLimits } from '../agents/agent-spec.ts';
import { findingLimits, findingsOf, orderOf } from '../agents/agent-spec.ts';
import { notDoneSection } from '../agents/unanswered.ts';
import { askRoot } from '../messaging/ask-root.ts';
import { sinceThen } from '../messaging/child-end.ts';
import { closedGates, reviewWords } from '../reviews/record.ts';
import type { RunParts } from './parts.ts';
import type { RunOptions, RunResult } from './run-options.ts';
import { finish, result } from './run-result.ts';

/** `talked`: what ROOT has answered to the person meanwhile, and done for them. */
export async function merge(parts: RunParts, talked: readonly string[]): Promise<RunResult> {
  if (parts.signal.aborted) return result(parts);
  const before = parts.recorder.state();
  // Children that ROOT has taken on answer to it as its own do.
  const agents = [...before.agents.values()].filter((one) => one.id !== ROOT && [one.parent, one.owner].includes(ROOT));
  // Those that judge have no part of the work: what they said stands below the report.
  const ended = agents.filter((one) => isFinal(one) && one.forced === null && !isTakenOut(one));
  const only = ended.length === 1 && talked.length === 0 ? ended[0] : undefined;
  const report = only
    ? only.summary
    : await writeReport(
        parts,
        ended.map(({ id }) => id),
        talked,
      );
  return concluded(parts, report, before, commitStep);
}

/**
 * Ends a run with `report`, and with what was answered since `before`: to messages that came while it was written, or for which a
 * run that was over goes on. Waits for all that works, and has it judged; `lastStep` acts after that and adds its section to the report.
 */
export async function concluded(
  parts: RunParts,
  report: string,
  before: RunState,
  lastStep: (parts: RunParts, report: string) => Promise<string> = () => Promise.resolve(''),
): Promise<RunResult> {
  const { children, forced, recorder } = parts;
  while (children.working() && !parts.signal.aborted) {
    await children.settled();
    forced.goOn();
    await forced.atEnd();
  }
  if (parts.signal.aborted) return result(parts);
  const last = await lastStep(parts, report);
  if (parts.signal.aborted) return result(parts);
  const after = recorder.state();
  const reviews = reviewWords(after);
  const all = [
    report,
    ...lateAnswers(before, after).map(({ name, text }) => `## ${name}, later\n\n${text}`),
    notDoneSection(after),
    last,
    ...(reviews === '' ? [] : [`## Reviews\n\n${reviews}`]),
  ];
  return finish(parts, all.filter((part) => part !== '').join('\n\n'));
}

/** What agents have said beyond what they had before. */
const lateAnswers = (before: RunState, after: RunState): readonly { readonly name: string; readonly text: string }[] =>
  [...after.agents.values()].flatMap((one) => {
    const known = before.agents.get(one.id)?.summary ?? '';
    if (one.id === ROOT || one.forced !== null || one.call !== null || one.summary === known) return [];
    return [{ name: one.name, text: sinceThen(known, one.summary) }];
  });

/** Bytes of what one agent and all together hand to the merge; less for a model with a small window. */
const FOR_THE_REPORT: FindingLimits = { one: 24_000, all: 160_000 };
/** After a model that found it too long. */
const LESS = 4;

async function writeReport(parts: RunParts, ended: readonly AgentId[], talked: readonly string[]): Promise<string> {
  const { options, recorder } = parts;
  const model = recorder.state().agents.get(ROOT)?.model.used ?? parts.root.model.used;
  const limits = findingLimits(options, model, FOR_THE_REPORT);
  const results = findingsOf(recorder.state(), ended, limits);
  if (results.every(({ outcome }) => outcome === 'skipped')) return '';
  let reply = await askForReport(parts, results, talked);
  if (!reply.ok && reply.fault.is === 'too long')
    reply = await askForReport(
      parts,
      findingsOf(recorder.state(), ended, { one: limits.one / LESS, all: limits.all / LESS }),
      talked,
    );
  if (reply.ok && reply.value.text.trim() !== '') return reply.value.text;
  const why = reply.ok ? 'the model gave no answer' : reply.fault.text;
  // The work is done: a merge that could not be written must not take it away.
  return `(The report could not be written: ${why}. What each agent found follows.)\n\n${results
    .map(({ role, ...one }) => `## ${role}\n\n${answerIn(one)}`)
    .join('\n\n')}`;
}

const answerIn = ({ summary, cut }: Pick<Finding, 'summary' | 'cut'>): string =>
  cut === undefined ? summary : `${summary.trimEnd()}\n… (cut)`;

function askForReport(
  { options, root, gate, signal }: RunParts,
  results: readonly Finding[],
  talked: readonly string[],
): ReturnType<typeof askRoot> {
  const order: WorkOrder = {
    ...orderOf(options, root, results),
    system: options.prompts.merge,
    tools: [],
    capabilities: [],
  };
  const tag = freeTag([...textsIn(results), ...talked]);
  const found = results.map(({ cut, ...one }) =>
    findingText({ ...one, summary: answerIn({ summary: one.summary, ...(cut === undefined ? {} : { cut }) }) }, tag),
  );
  const meanwhile = talked.length === 0 ? '' : `\n\n# What you told the person meanwhile\n\n${talked.join('\n\n')}`;
  const told = gate.tell(
    order,
    `# Task\n${options.task}\n\n# What the agents found\n\n${AS_DATA}\n\n${found.join('\n\n')}${meanwhile}`,
  );
  const purpose = { is: 'merge', task: options.task, results } as const;
  return askRoot(gate, { order, turns: [told], purpose }, 'at the end', signal);
}

// The commit at the end of a run whose approved plan asks for one: `main` writes the message and calls `git_commit` once, behind the
// reviews and the question that any commit has. Work that failed, or that a review did not pass, is not committed.

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
async function commitStep(parts: RunParts, report: string): Promise<string> {
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
