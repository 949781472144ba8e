/**
 * Forced agents of a run without a plan, which has no end at which `always` could be: each burst of work is judged once. What is not
 * judged yet stands in the log as a gate that is due, so that neither a stop nor a crash loses it. When it is judged is idle-review.ts's.
 */
import type { ForcedNode } from '../../domain/agents/mandatory-review.ts';
import type { Budget } from '../../domain/budget.ts';
import { withoutAbsent } from '../../domain/budget.ts';
import type { AgentId, Millis } from '../../domain/ids.ts';
import { ROOT } from '../../domain/ids.ts';
import { bytesIn } from '../../domain/text/text.ts';
import type { ForcedGate } from '../../events/decisions.ts';
import type { EventBody, MimirEvent } from '../../events/event.ts';
import type { RunState } from '../../events/state.ts';
import type { TreeId } from '../../ports/tree.ts';
import type { RunParts } from '../run/parts.ts';
import type { Judged, JudgeParts } from './judge.ts';
import type { LookParts } from './look.ts';
import { ask, isStill, KEEPS_CHANGING, NOT_KNOWN, treeNow, TRIES } from './look.ts';
import { passedTree, verdictOn } from './record.ts';

const WORK: ReadonlySet<MimirEvent['type']> = new Set([
  'model.started',
  'model.finished',
  'tool.started',
  'tool.finished',
]);

/** Does it tell of work? That of those who judge is none. */
export const isWork = ({ agents }: RunState, event: MimirEvent): boolean =>
  WORK.has(event.type) && 'agent' in event && event.agent !== null && agents.get(event.agent)?.forced === null;

/** The gate of what these agents judge of a run without a plan, as it stands last. */
const gateOf = ({ gates }: RunState, { role }: ForcedNode): ForcedGate | undefined =>
  gates.find((one) => one.agent === ROOT && one.role === role && one.trigger === 'always');

/** Is there work of which `node` has not said anything? */
export const isDue = (state: RunState, node: ForcedNode): boolean => gateOf(state, node)?.due !== undefined;

type MarkParts = Pick<JudgeParts, 'recorder' | 'world'>;

/** From now on a review of `node` is due; nothing where it was already. `after`: an event of work, which may be judged already. */
export function dueFrom({ recorder, world }: MarkParts, node: ForcedNode, after = Infinity): readonly EventBody[] {
  const gate = gateOf(recorder.state(), node);
  const upTo = gate?.upTo ?? 0;
  return gate?.due !== undefined || after <= upTo ? [] : [dueEvent(node, { upTo, ...saidIn(gate) }, world.now())];
}

/** Of a run without a plan: somebody begins to work, and what comes of it is to be judged. */
export function markWork({
  recorder,
  world,
  forced,
  signal,
}: Pick<RunParts, 'recorder' | 'world' | 'forced' | 'signal'>): void {
  if (!recorder.state().idle || signal.aborted) return;
  const events = forced.nodes('always').flatMap((node) => dueFrom({ recorder, world }, node));
  if (events.length > 0) recorder.record(...events);
}

/** Work that is in the log behind what was judged: the run was cut off before that was written down. */
export function dueByLog(parts: MarkParts, node: ForcedNode): readonly EventBody[] {
  const { recorder } = parts;
  const state = recorder.state();
  const last = recorder.stored(gateOf(state, node)?.upTo ?? 0).findLast((event) => isWork(state, event));
  return last === undefined ? [] : dueFrom(parts, node, last.seq);
}

/** Reviews that were due by rules that there are no more. */
export const lapsed = ({ gates }: RunState, nodes: readonly ForcedNode[]): readonly EventBody[] =>
  gates
    .filter(({ role, due }) => due !== undefined && !nodes.some((node) => node.role === role))
    .map(({ agent, role, trigger, tree, onFailure }) => {
      const why = 'no rule asks for it any more';
      return { type: 'forced.gate', agent, role, trigger, tree, open: true, onFailure, why };
    });

type Extent = Pick<ForcedGate, 'upTo' | 'saidUpTo'>;

const saidIn = (gate: Extent | undefined): Extent => (gate?.saidUpTo === undefined ? {} : { saidUpTo: gate.saidUpTo });

const dueEvent = (
  { role, onFailure, budget, estimatedSeconds }: ForcedNode,
  extent: Extent,
  since: Millis,
): EventBody => ({
  type: 'forced.gate',
  agent: ROOT,
  role,
  trigger: 'always',
  tree: '',
  open: false,
  onFailure,
  why: 'what is done now is judged when it rests',
  ...extent,
  due: { since, keeps: kept(budget, estimatedSeconds) },
});

const kept = ({ maxTokens, maxCost }: Budget, seconds: number): Budget =>
  withoutAbsent({ maxTokens, maxCost, maxDuration: seconds * 1000 });

/**
 * Judges what was done since `node` judged last. Without a word in the log where the run was stopped first: it is due then as it was.
 * What is done meanwhile is due again.
 */
export async function judgeBurst(parts: LookParts, node: ForcedNode): Promise<void> {
  const { recorder, signal } = parts;
  for (let tries = 1; isDue(recorder.state(), node); tries += 1) {
    const { seq } = recorder.state();
    const tree = await treeNow(parts);
    if (signal.aborted) return;
    const verdict = tree.ok ? await ofTree(parts, node, tree.value) : { pass: false, why: tree.fault };
    if (verdict === null || signal.aborted) return;
    const judgedTree = tree.ok ? tree.value : '';
    if (!verdict.pass || (await isStill(parts, judgedTree))) return settle(parts, node, seq, judgedTree, verdict);
    if (tries === TRIES) return settle(parts, node, seq, '', { pass: false, why: KEEPS_CHANGING });
  }
}

async function ofTree(parts: LookParts, node: ForcedNode, to: TreeId): Promise<Judged | null> {
  const { recorder } = parts;
  const state = recorder.state();
  const from = passedTree(state, node.role);
  if (from === null) return { pass: false, why: NOT_KNOWN };
  const gate = gateOf(state, node);
  const told = gate?.saidUpTo ?? gate?.upTo ?? 0;
  const said = verdictOn(state, node.role, to);
  // A pass of before says nothing of what was done since, though the files are the same.
  const holds = said !== null && (!said.pass || lookedUpTo(parts, node, to) !== null);
  const done = (): readonly string[] => doneIn(recorder.state(), recorder.stored(told));
  return ask(parts, node, { trigger: 'always', agent: ROOT, from, to, done }, holds ? said : null);
}

/**
 * How far whoever has a verdict on `tree`, given when this review was due already, was told of what was done: one that was cut off and went
 * on knows nothing of what came beside it. Null: there is no such verdict.
 */
function lookedUpTo({ recorder }: LookParts, node: ForcedNode, tree: TreeId): number | null {
  const state = recorder.state();
  const { upTo = 0 } = gateOf(state, node) ?? {};
  const said = verdictOn(state, node.role, tree);
  const since = recorder.stored(upTo);
  if (said === null || !isGivenIn(since, node, said.agent)) return null;
  return since.find((event) => event.type === 'agent.created' && event.agent === said.agent)?.seq ?? upTo;
}

/** Was it said when this review was due already? */
function isGivenIn(since: readonly MimirEvent[], { role }: ForcedNode, agent: AgentId): boolean {
  const marked = since.findLastIndex(
    (event) => event.type === 'forced.gate' && event.role === role && event.due !== undefined,
  );
  return since.slice(marked + 1).some((event) => event.type === 'forced.verdict' && event.agent === agent);
}

/** Recorded in one: what was done since the event `begun` is due as soon as the rest is judged. */
function settle(parts: LookParts, node: ForcedNode, begun: number, tree: string, { pass, why }: Judged): void {
  const { recorder, world } = parts;
  const { role, onFailure } = node;
  const state = recorder.state();
  const looked = lookedUpTo(parts, node, tree);
  const upTo = Math.min(begun, looked ?? begun);
  const before = gateOf(state, node);
  const said: Extent = looked === null ? { saidUpTo: before?.saidUpTo ?? before?.upTo ?? 0 } : {};
  const gate: ForcedGate = { agent: ROOT, role, trigger: 'always', tree, open: pass, onFailure, why, upTo, ...said };
  const again = recorder.stored(upTo).some((event) => isWork(state, event));
  recorder.record({ type: 'forced.gate', ...gate }, ...(again ? [dueEvent(node, { upTo, ...said }, world.now())] : []));
}

// What was done in a burst of work, in lines for whoever judges it: what had an effect, and what was said. Pure.

/** Bytes of all lines. Acts come before words: who talks much hides nothing behind that. */
const MOST = 24_000;
/** Characters of a line. A long command may have its sting at the end: what is cut says so. */
const [LONGEST_ACT, LONGEST_WORDS] = [1500, 300];

/** Acts that can't be taken back, each with its agent, then what was said; what is left out is counted. */
export function doneIn({ agents }: RunState, events: readonly MimirEvent[]): readonly string[] {
  const worker = (agent: AgentId): string | null => {
    const one = agents.get(agent);
    return one === undefined || one.forced !== null ? null : one.name;
  };
  const line = (agent: AgentId, what: string, longest: number): readonly string[] => {
    const name = worker(agent);
    return name === null ? [] : [cut(`${name} ${what}`.replaceAll('\n', ' '), longest)];
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
    ...(left === 0 ? [] : [`AND ${left} MORE ACTS that are not shown: what you can't see you can't pass`]),
    ...said,
    ...(unsaid === 0 ? [] : [`and ${unsaid} more of what was said`]),
  ];
}

function cut(line: string, longest: number): string {
  const left = line.length - longest;
  return left <= 0 ? line.toWellFormed() : `${line.slice(0, longest).toWellFormed()}… (${left} MORE CHARACTERS)`;
}

const bytesOf = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + bytesIn(line) + 1, 0);

/** The first that have room, and how many have none. */
function fitting(lines: readonly string[], room: number): readonly [readonly string[], number] {
  let taken = 0;
  const shown = lines.filter((line) => (taken += bytesIn(line) + 1) <= room);
  return [shown, lines.length - shown.length];
}
