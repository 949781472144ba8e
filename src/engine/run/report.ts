/** The end of a run: `main` merges the results of finished agents into one report, charged to ROOT; the result also has the lines `Agent N:
 * <summary>`. A single agent's answer is the report itself. */
import type { AgentOutcome, Finding, WorkOrder } from '../../domain/agents/agent.ts';
import { AS_DATA, findingText, freeTag, textsIn } from '../../domain/agents/brief.ts';
import { type AgentId, ROOT } from '../../domain/ids.ts';
import type { SoundPlan } from '../../domain/plan/plan.ts';
import { firstLine, headOf, paragraphs } from '../../domain/text/text.ts';
import * as events from '../../events/index.ts';
import { OFFLINE } from '../../policy/index.ts';
import * as agents from '../agents/index.ts';
import { askRoot, notDoneSection, unansweredOf } from '../gate/index.ts';
import { closingSections, hasCheckedTasks, lastChecks } from './last-checks.ts';
import type { RunModules, RunOptions, RunResult } from './open-run.ts';

/** Writes the report and ends the run. `talked`: ROOT's answers to the person meanwhile. */
export async function merge(parts: RunModules, talked: readonly string[]): Promise<RunResult> {
  if (parts.signal.aborted) return result(parts);
  const before = parts.recorder.state();
  // Children that ROOT has adopted count as its own.
  const agents = [...before.agents.values()].filter((one) => one.id !== ROOT && [one.parent, one.owner].includes(ROOT));
  // Reviewers do no work of the task; their verdicts follow below the report.
  const ended = agents.filter((one) => events.isFinal(one) && one.forced === null && !events.isTakenOut(one));
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

/** Ends a run with `report` and with the answers given since `before` (to messages during the merge, or to messages that reopened the run).
 * Waits for everything that works, and has it reviewed; then `lastStep` may act and add a section. */
export async function concluded(
  parts: RunModules,
  report: string,
  before: events.RunState,
  lastStep: (parts: RunModules, report: string) => Promise<string> = () => Promise.resolve(''),
): Promise<RunResult> {
  while (isAtWork(parts)) await settled(parts);
  if (parts.signal.aborted) return result(parts);
  const last = await lastStep(parts, report);
  // A message may have revived an agent meanwhile. Nothing is awaited between this look and the record of the end.
  while (isAtWork(parts)) await settled(parts);
  if (parts.signal.aborted) return result(parts);
  const after = parts.recorder.state();
  const all = [
    unmergedSection(after),
    report,
    ...lateAnswers(before, after).map(({ name, text }) => `## ${name}, later\n\n${text}`),
    notDoneSection(after),
    last,
    ...closingSections(after),
  ];
  return finish(parts, paragraphs(all));
}

const isAtWork = ({ messaging, signal }: RunModules): boolean => messaging.children.working() && !signal.aborted;

async function settled(parts: RunModules): Promise<void> {
  await parts.messaging.children.settled();
  if (hasCheckedTasks(parts)) await lastChecks(parts);
  parts.reviews.goOn();
  await parts.reviews.atEnd();
}

/** The trees whose changes the project does not have. First in a report, because the work in them is easily missed. */
function unmergedSection({ agents }: events.RunState): string {
  const lines = [...agents.values()].filter(events.isUnmerged).map(({ name, ownTree }) => {
    const { because = 'its work did not end well', patch } = ownTree ?? {};
    return `- ${name}: ${because}${patch === undefined ? '' : `; kept as ${patch}`}`;
  });
  return lines.length === 0 ? '' : `## Not merged\n\n${lines.join('\n')}\n\n\`mimir trees\` lists them.`;
}

const lateAnswers = (
  before: events.RunState,
  after: events.RunState,
): readonly { readonly name: string; readonly text: string }[] =>
  [...after.agents.values()].flatMap((one) => {
    const known = before.agents.get(one.id)?.summary ?? '';
    if (one.id === ROOT || one.forced !== null || one.call !== null || one.summary === known) return [];
    return [{ name: one.name, text: agents.newText(known, one.summary) }];
  });

/** Bytes of findings for the merge, per agent and together; less for a model with a small window. */
const FOR_THE_REPORT: agents.FindingLimits = { one: 24_000, all: 160_000 };
/** Divisor for a second try after the model found the request too long. */
const LESS = 4;

async function writeReport(parts: RunModules, ended: readonly AgentId[], talked: readonly string[]): Promise<string> {
  const { options, recorder } = parts;
  const model = events.modelNow(recorder.state(), parts.root);
  const limits = agents.findingLimits(options, model, FOR_THE_REPORT);
  const results = agents.findingsOf(recorder.state(), ended, limits);
  if (results.every(({ outcome }) => outcome === 'skipped')) return '';
  let reply = await askForReport(parts, results, talked);
  if (!reply.ok && reply.fault.is === 'too long')
    reply = await askForReport(
      parts,
      agents.findingsOf(recorder.state(), ended, { one: limits.one / LESS, all: limits.all / LESS }),
      talked,
    );
  if (reply.ok && reply.value.text.trim() !== '') return reply.value.text;
  const why = reply.ok ? 'the model gave no answer' : reply.fault.text;
  // A failed merge must not lose the finished work.
  return `(The report could not be written: ${why}. The agents' results follow.)\n\n${results
    .map(({ role, ...one }) => `## ${role}\n\n${answerIn(one)}`)
    .join('\n\n')}`;
}

const answerIn = ({ summary, cut }: Pick<Finding, 'summary' | 'cut'>): string =>
  cut === undefined ? summary : `${summary.trimEnd()}\n… (cut)`;

function askForReport(
  { options, root, gate, signal }: RunModules,
  results: readonly Finding[],
  talked: readonly string[],
): ReturnType<typeof askRoot> {
  const order: WorkOrder = {
    ...agents.workOrderFor(options, root, results),
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

// The commit that an approved plan asks for, after the reviews and the usual question. Work that failed or did not pass is not committed.

const TOOL = 'git_commit';
/** One reply for the commit, one for a retry after an error, one for the closing text. */
const REPLIES = 3;
/** Bytes of the report that `main` reads before it writes the commit message. */
const MOST_REPORT = 12_000;

/** The plan with its commit setting: as decided on the plan `before`, otherwise from `--commit` or the plan file. */
export function startingCommit(plan: SoundPlan, { commit }: RunOptions, before: SoundPlan | null): SoundPlan {
  const { commit: ofFile, ...rest } = plan;
  const isWanted = before === null ? commit === true || ofFile === true : before.commit === true;
  return isWanted ? { ...rest, commit: true } : rest;
}

/** Commits the work of the run. Resolves with a section for the report; empty when the plan asks for no commit. */
async function commitStep(parts: RunModules, report: string): Promise<string> {
  const { recorder, signal } = parts;
  if (recorder.state().plan?.commit !== true || signal.aborted) return '';
  const problem = whyNotCommitted(parts);
  if (problem !== null) return section(`Not committed: ${problem}.`);
  const before = recorder.state().seq;
  const outcome = await agents.runAgent(commitOrder(parts, report), parts.gate, signal);
  const made = [...recorder.each(before)].findLast(
    (event) => event.type === 'tool.finished' && event.agent === ROOT && event.tool === TOOL,
  );
  if (made?.type === 'tool.finished') return section(made.ok ? made.output : `Not committed: ${made.output}`);
  return section(`Not committed: ${outcome.is === 'completed' ? outcome.summary : outcome.reason}`);
}

const section = (text: string): string => `## Commit\n\n${text}`;

function whyNotCommitted({ recorder, options, root }: RunModules): string | null {
  const state = recorder.state();
  const open = notDone(state);
  if (open.length > 0) return `${open.join(', ')} did not complete`;
  const unmerged = [...state.agents.values()].filter(events.isUnmerged).map(({ name }) => name);
  if (unmerged.length > 0) return `the changes of ${unmerged.join(', ')} are not merged`;
  if (events.closedGates(state).length > 0) return 'a review did not pass';
  if (state.agents.get(ROOT)?.model.used === OFFLINE) return 'the offline analyst writes no commit message';
  return options.toolsOf(root.capabilities).includes(TOOL) ? null : 'main is not allowed to use git';
}

const notDone = ({ agents }: events.RunState): readonly string[] =>
  [...agents.values()].flatMap((one) =>
    one.taskId !== null && !events.isTakenOut(one) && one.outcome !== 'completed' ? [one.name] : [],
  );

function commitOrder({ options, root }: RunModules, report: string): WorkOrder {
  const order = agents.workOrderFor(options, root, []);
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

function finish(parts: RunModules, report: string): RunResult {
  const all = subAgents(parts);
  // Reviews and tasks that were removed from the plan do not count as work.
  const work = all.filter((one) => one.forced === null && !events.isTakenOut(one));
  // A child that was killed by an agent of its own branch counts by that agent's work.
  const isWell = (one: events.AgentState): boolean =>
    (events.workOf(one) === 'completed' && !events.isUnmerged(one)) ||
    (one.spawned !== null && events.workOf(one) === 'killed' && agents.isKilledByAgent(one));
  const state = parts.recorder.state();
  const isWhole =
    unansweredOf(state, ROOT).length === 0 &&
    events.closedGates(state).length === 0 &&
    work.every((one) => one.outcome !== 'completed' || ['verified', null].includes(events.verificationOf(state, one)));
  const success = work.length > 0 && work.every(isWell) && isWhole;
  const status = success ? 'completed' : 'failed';
  close(parts, status, report === '' ? linesOf(all) : report, success ? 'completed' : 'partial');
  return summed(parts, status, null);
}

/** Records the end of a run that was rejected, stopped, or could not continue, after all agents have stopped. Children of a rejected run are
 * abandoned; otherwise they wait for a resume. */
export async function result(parts: RunModules): Promise<RunResult> {
  const { signal, recorder, supervisor, messaging } = parts;
  const error = parts.why().text;
  const status = signal.aborted ? 'stopped' : error !== null ? 'failed' : 'rejected';
  const why = error ?? (status === 'stopped' ? String(signal.reason) : 'User rejected plan');
  if (status === 'rejected') for (const { id } of recorder.state().agents.values()) supervisor.abandon(id);
  if (status !== 'stopped') parts.stop(why);
  await messaging.children.settled();
  close(parts, status, why, 'killed');
  return summed(parts, status, error);
}

/** Records the end of ROOT and of the session, with the totals. */
export function close(parts: RunModules, status: RunResult['status'], summary: string, outcome: AgentOutcome): void {
  const { recorder, world } = parts;
  const why = parts.why();
  const root = recorder.state().agents.get(ROOT);
  const ended: events.EventBody[] =
    status === 'stopped'
      ? interrupted(root)
      : root && !events.isFinal(root)
        ? [agents.finishedEvent(parts, ROOT, outcome, summary, outcome === 'completed' ? null : why.text)]
        : [];
  const spent = events.spentOf(recorder.state());
  const duration = root ? Math.round(events.elapsedOf(root, world.now())) : 0;
  const totals = { cost: spent.cost, tokens: spent.tokens, agents: subAgents(parts).length, duration };
  const by = status === 'stopped' && why.endedBy !== undefined ? { endedBy: why.endedBy } : {};
  // One batch, so that a resume never finds ROOT's end without the session's.
  recorder.record(...ended, { type: 'session.finished', status, summary, ...by, totals });
}

/** A run paused for want of a model has recorded the reason already. */
const interrupted = (root: events.AgentState | undefined): events.EventBody[] =>
  root?.status === 'interrupted' ? [] : [{ type: 'agent.status', agent: ROOT, ...agents.RUN_STOPPED }];

/** The result, computed from the log. */
export function summed(parts: RunModules, status: RunResult['status'], error: string | null): RunResult {
  const state = parts.recorder.state();
  const agents = subAgents(parts);
  const spent = events.spentOf(state);
  return {
    success: status === 'completed',
    status,
    message: status === 'rejected' ? 'User rejected plan' : linesOf(agents),
    metadata: { totalCost: spent.cost, totalTokens: spent.tokens, agentCount: agents.length },
    overBudget: overBudget(parts.recorder.each(0, { types: ['session.resumed', 'budget.exhausted'] })),
    error,
    errorIs: error === null ? null : (parts.why().is ?? 'log'),
  };
}

/** Whether a limit of the run or the day ended anything since the last start or resume. */
function overBudget(events: Iterable<events.MimirEvent>): boolean {
  let isOver = false;
  for (const event of events) {
    if (event.type === 'session.resumed') isOver = false;
    if (event.type === 'budget.exhausted' && event.scope !== 'agent') isOver = true;
  }
  return isOver;
}

const subAgents = ({ recorder }: RunModules): readonly events.AgentState[] =>
  [...recorder.state().agents.values()].filter(({ id }) => id !== ROOT);

const linesOf = (agents: readonly events.AgentState[]): string =>
  agents
    .map(({ summary, error }, index) => `Agent ${index + 1}: ${firstLine(summary === '' ? (error ?? '') : summary)}`)
    .join('\n');
