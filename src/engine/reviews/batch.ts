/** Reviews in a run without a plan: each batch of work is reviewed once. Unreviewed work is a gate with `due` in the log. */
import { type Budget, withoutAbsent } from '../../domain/budget.ts';
import { type AgentId, type Millis, ROOT } from '../../domain/ids.ts';
import { bytesIn } from '../../domain/text/text.ts';
import * as events from '../../events/index.ts';
import type { TreeId } from '../../ports/tree.ts';
import * as judging from './judge.ts';
import type { RunContext } from '../gate/index.ts';
import type { MandatoryReview, Trigger } from '../../domain/agents/agent.ts';
import { defined } from '../../domain/result.ts';

const WORK: ReadonlySet<events.MimirEvent['type']> = new Set([
  'model.started',
  'model.finished',
  'tool.started',
  'tool.finished',
]);

/** Whether the event belongs to work. Reviewers' events do not. */
export const isWork = ({ agents }: events.RunState, event: events.MimirEvent): boolean =>
  WORK.has(event.type) && 'agent' in event && event.agent !== null && agents.get(event.agent)?.forced === null;

const gateOf = ({ gates }: events.RunState, { role }: MandatoryReview): events.ReviewGate | undefined =>
  gates.find((one) => one.agent === ROOT && one.role === role && one.trigger === 'always');

/** Whether there is work that `node` has not reviewed. */
export const isDue = (state: events.RunState, node: MandatoryReview): boolean => gateOf(state, node)?.due !== undefined;

type MarkParts = Pick<RunContext, 'recorder' | 'world'>;

/** Events that mark a review of `node` as pending; none if it is already. `after`: an event of work, which may have been reviewed. */
export function dueFrom(
  { recorder, world }: MarkParts,
  node: MandatoryReview,
  after = Infinity,
): readonly events.EventBody[] {
  const gate = gateOf(recorder.state(), node);
  const upTo = gate?.upTo ?? 0;
  return gate?.due !== undefined || after <= upTo
    ? []
    : [dueEvent(node, { upTo, ...defined({ saidUpTo: gate?.saidUpTo }) }, world.now())];
}

/** In a run without a plan: marks that an agent begins to work, which will have to be reviewed. */
export function markWork(
  { recorder, world, signal }: RunContext,
  reviews: { nodes(trigger: Trigger): readonly MandatoryReview[] },
): void {
  if (!recorder.state().idle || signal.aborted) return;
  const events = reviews.nodes('always').flatMap((node) => dueFrom({ recorder, world }, node));
  if (events.length > 0) recorder.record(...events);
}

/** Events for work in the log after the last reviewed event, left unmarked because the run was cut off. */
export function dueByLog(parts: MarkParts, node: MandatoryReview): readonly events.EventBody[] {
  const { recorder } = parts;
  const state = recorder.state();
  const last = [...recorder.each(gateOf(state, node)?.upTo)].findLast((event) => isWork(state, event));
  return last === undefined ? [] : dueFrom(parts, node, last.seq);
}

/** Events that clear pending reviews that no rule requires any more. */
export const expiredReviews = (
  { gates }: events.RunState,
  nodes: readonly MandatoryReview[],
): readonly events.EventBody[] =>
  gates
    .filter(({ role, due }) => due !== undefined && !nodes.some((node) => node.role === role))
    .map(({ agent, role, trigger, tree, onFailure }) => {
      const why = 'no rule requires it any more';
      return { type: 'forced.gate', agent, role, trigger, tree, open: true, onFailure, why };
    });

type Extent = Pick<events.ReviewGate, 'upTo' | 'saidUpTo'>;

const dueEvent = (
  { role, onFailure, budget, estimatedSeconds }: MandatoryReview,
  extent: Extent,
  since: Millis,
): events.EventBody => ({
  type: 'forced.gate',
  agent: ROOT,
  role,
  trigger: 'always',
  tree: '',
  open: false,
  onFailure,
  why: 'new work is reviewed when the agent is idle',
  ...extent,
  due: { since, keeps: kept(budget, estimatedSeconds) },
});

const kept = ({ maxTokens, maxCost }: Budget, seconds: number): Budget =>
  withoutAbsent({ maxTokens, maxCost, maxDuration: seconds * 1000 });

/** Reviews what was done since `node`'s last review. Records nothing where the run was stopped first; the review then stays pending. Work
 * done meanwhile is pending again. */
export async function judgeBatch(parts: judging.ReviewParts, node: MandatoryReview): Promise<void> {
  const { recorder, signal } = parts;
  for (let tries = 1; isDue(recorder.state(), node); tries += 1) {
    const { seq } = recorder.state();
    const tree = await judging.treeNow(parts);
    if (signal.aborted) return;
    const verdict = tree.ok ? await ofTree(parts, node, tree.value) : judging.noPass(tree.fault);
    if (verdict === null || signal.aborted) return;
    const judgedTree = tree.ok ? tree.value : '';
    if (!verdict.pass || (await judging.isStill(parts, judgedTree)))
      return settle(parts, node, seq, judgedTree, verdict);
    if (tries === judging.TRIES) return settle(parts, node, seq, '', judging.noPass(judging.KEEPS_CHANGING));
  }
}

async function ofTree(
  parts: judging.ReviewParts,
  node: MandatoryReview,
  to: TreeId,
): Promise<judging.JudgedTree | null> {
  const { recorder } = parts;
  const state = recorder.state();
  const from = events.passedTree(state, node.role);
  if (from === null) return judging.noPass(judging.NOT_KNOWN);
  const gate = gateOf(state, node);
  const told = gate?.saidUpTo ?? gate?.upTo ?? 0;
  const said = events.verdictOn(state, node.role, to);
  // An earlier pass does not cover work done since, even though the files are the same.
  const holds = said !== null && (!said.pass || lookedUpTo(parts, node, to) !== null);
  const done = (): readonly string[] => doneIn(recorder.state(), [...recorder.each(told)]);
  return judging.ask(parts, node, { trigger: 'always', agent: ROOT, from, to, done }, holds ? said : null);
}

/** The number of the last event that the author of a verdict on `tree` knew of. A reviewer that was cut off and continued knows nothing of
 * work done meanwhile. Null: there is no such verdict. */
function lookedUpTo({ recorder }: judging.ReviewParts, node: MandatoryReview, tree: TreeId): number | null {
  const state = recorder.state();
  const { upTo = 0 } = gateOf(state, node) ?? {};
  const said = events.verdictOn(state, node.role, tree);
  const since = [...recorder.each(upTo)];
  if (said === null || !isGivenIn(since, node, said.agent)) return null;
  return since.find((event) => event.type === 'agent.created' && event.agent === said.agent)?.seq ?? upTo;
}

/** Whether the verdict was given after this review became pending. */
function isGivenIn(since: readonly events.MimirEvent[], { role }: MandatoryReview, agent: AgentId): boolean {
  const marked = since.findLastIndex(
    (event) => event.type === 'forced.gate' && event.role === role && event.due !== undefined,
  );
  return since.slice(marked + 1).some((event) => event.type === 'forced.verdict' && event.agent === agent);
}

/** Records the gate, and in the same batch that work since event `begun` is pending. */
function settle(
  parts: judging.ReviewParts,
  node: MandatoryReview,
  begun: number,
  tree: string,
  { pass, why }: judging.JudgedTree,
): void {
  const { recorder, world } = parts;
  const { role, onFailure } = node;
  const state = recorder.state();
  const looked = lookedUpTo(parts, node, tree);
  const upTo = Math.min(begun, looked ?? begun);
  const before = gateOf(state, node);
  const said: Extent = looked === null ? { saidUpTo: before?.saidUpTo ?? before?.upTo ?? 0 } : {};
  const gate: events.ReviewGate = {
    agent: ROOT,
    role,
    trigger: 'always',
    tree,
    open: pass,
    onFailure,
    why,
    upTo,
    ...said,
  };
  const again = [...recorder.each(upTo)].some((event) => isWork(state, event));
  recorder.record({ type: 'forced.gate', ...gate }, ...(again ? [dueEvent(node, { upTo, ...said }, world.now())] : []));
}

/** Bytes of all lines. Actions come before messages, so that long messages cannot hide them. */
const MOST = 24_000;
/** Characters of a line. The end of a command may matter most, so a cut is stated. */
const [LONGEST_ACT, LONGEST_WORDS] = [1500, 300];

/** Actions that cannot be undone, each with its agent, then messages; omitted lines are counted. */
export function doneIn({ agents }: events.RunState, events: readonly events.MimirEvent[]): readonly string[] {
  const line = (agent: AgentId, what: string, longest: number): readonly string[] => {
    const one = agents.get(agent);
    if (one === undefined || one.forced !== null) return [];
    return [cut(`${one.name} ${what}`.replaceAll('\n', ' '), longest)];
  };
  const acts = events.flatMap((event) =>
    event.type === 'tool.started' && event.repeat === 'never'
      ? line(event.agent, `did: ${event.label}`, LONGEST_ACT)
      : [],
  );
  const words = events.flatMap((event) =>
    event.type === 'agent.message' ? line(event.agent, `said: ${event.text}`, LONGEST_WORDS) : [],
  );
  const [shown, left] = fitting(acts, MOST);
  const [said, unsaid] = left > 0 ? [[], words.length] : fitting(words, MOST - bytesOf(shown));
  return [
    ...shown,
    ...(left === 0 ? [] : [`AND ${left} MORE ACTIONS that are not shown: do not pass what you cannot see`]),
    ...said,
    ...(unsaid === 0 ? [] : [`and ${unsaid} more ${unsaid === 1 ? 'message' : 'messages'}`]),
  ];
}

function cut(line: string, longest: number): string {
  const left = line.length - longest;
  return left <= 0 ? line.toWellFormed() : `${line.slice(0, longest).toWellFormed()}… (${left} MORE CHARACTERS)`;
}

const bytesOf = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + bytesIn(line) + 1, 0);

/** The first lines that fit, and the number of lines that do not. */
function fitting(lines: readonly string[], room: number): readonly [readonly string[], number] {
  let taken = 0;
  const shown = lines.filter((line) => (taken += bytesIn(line) + 1) <= room);
  return [shown, lines.length - shown.length];
}
