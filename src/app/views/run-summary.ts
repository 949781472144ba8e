/** Values about a finished run: estimates and actual use, changed files, unfinished work. The result screen and the report show the same values. */
import type { AuthoredFile } from '../../domain/changes/authorship.ts';
import { addUsage } from '../../domain/budget.ts';
import { fromMicro, type Millis, ROOT, toMicro, type Usd } from '../../domain/ids.ts';
import { memoize } from '../../domain/memoize.ts';
import { likelyPlan, likelyTask } from '../../domain/plan/estimate.ts';
import type { PlanChoices, PlanTask, SoundPlan } from '../../domain/plan/plan.ts';
import { type AgentState, isUnmerged, type ModelShare, type RunState } from '../../events/index.ts';
import { tokensOfAgent, verificationOf, workspaceOf } from '../../events/index.ts';
import { agentTime, statusWord } from './agent-counts.ts';
import { countsOf, sumChanges } from './authors.ts';
import { plural } from '../../domain/lists.ts';
import { inOrder, labelOf, neverRan } from './agents/agent-lines.ts';
import { changesOf } from './agents/transcript-text.ts';
import { clip, clipPath, fitText, type Line, span, wrap } from './text/line.ts';
import { toLabel } from './text/sanitise.ts';
import { widthOf } from './text/width.ts';
import type { FileChange } from '../../domain/changes/changes.ts';

export interface Measures {
  readonly tokens: number;
  /** US dollars; null if unknown. */
  readonly cost: Usd | null;
  readonly ms: Millis;
}

/** A task of the plan with the agent that did it. */
export interface Compared {
  readonly task: PlanTask;
  readonly agent: AgentState;
  readonly estimate: Measures;
  readonly actual: Measures;
}

/** The tasks that ran, in the order of the plan. */
export function comparedTasks(state: RunState): readonly Compared[] {
  const { plan, agents } = state;
  const byTask = new Map([...agents.values()].map((agent) => [agent.taskId, agent]));
  return (plan?.tasks ?? []).flatMap((task) => {
    const agent = byTask.get(task.id);
    if (agent === undefined || neverRan(agent)) return [];
    const { estimatedTokens: tokens, estimatedCost: cost, estimatedSeconds } = expectedTask(task, state);
    const estimate = { tokens, cost, ms: estimatedSeconds * 1000 };
    const actual = {
      tokens: tokensOfAgent(agent),
      cost: agent.priced ? agent.cost : null,
      ms: agentTime(agent, state),
    };
    return [{ task, agent, estimate, actual }];
  });
}

/** The sums; a cost is null if one of its parts is. */
export const comparedSums = (all: readonly Compared[]): { readonly estimate: Measures; readonly actual: Measures } => ({
  estimate: all.map(({ estimate }) => estimate).reduce(addMeasures, NOTHING),
  actual: all.map(({ actual }) => actual).reduce(addMeasures, NOTHING),
});

const NOTHING: Measures = { tokens: 0, cost: 0, ms: 0 };

const addMeasures = (a: Measures, b: Measures): Measures => ({
  tokens: a.tokens + b.tokens,
  cost: a.cost === null || b.cost === null ? null : fromMicro(toMicro(a.cost) + toMicro(b.cost)),
  ms: a.ms + b.ms,
});

/** The used part of an estimate: 1 is exactly as estimated; null if unknown. */
export const shareOf = (actual: number | null, estimate: number | null): number | null =>
  actual === null || estimate === null || estimate === 0 ? null : actual / estimate;

/** A file that agents changed, with what is left of their changes, or with their sums until that is known. */
export interface TouchedFile extends Pick<FileChange, 'path' | 'added' | 'removed' | 'made' | 'gone'> {
  /** Names of the agents, in the order of their changes; none where only the person changed it. */
  readonly by: readonly string[];
  /** The person changed it, too. */
  readonly person?: true;
}

/** Who changed a file, for people. */
export const authorsText = ({ by, person }: TouchedFile): string =>
  [...by, ...(person === true ? ['the person'] : [])].join(', ');

/** Changes that are not among these files, at most one line. */
export const uncoveredLines = ({ uncovered }: Pick<RunState, 'uncovered'>): readonly string[] =>
  uncovered === undefined ? [] : [`Not covered, because git ignores these folders: ${uncovered}`];

/** The files that changed in the project, by path, where it is known also by the person; what is in a tree of its own comes there by a merge. */
export function touchedFiles(state: RunState): readonly TouchedFile[] {
  const files = new Map<string, TouchedFile>();
  for (const agent of inOrder(state)) {
    if (workspaceOf(state, agent.id) !== undefined) continue;
    for (const { path, added, removed, made, gone, also } of changesOf(agent)) {
      const known = files.get(path) ?? { path, added: 0, removed: 0, made, gone, by: [] };
      const by = [...new Set([...known.by, agent.name])];
      // Commands that ran at the same time both have the change.
      const isCounted = also.some((id) => known.by.includes(state.agents.get(id)?.name ?? ''));
      const sums = { added: known.added + added, removed: known.removed + removed };
      files.set(path, { ...known, ...(isCounted ? {} : sums), gone, by });
    }
  }
  for (const file of state.authored ?? []) files.set(file.path, netFile(file, files.get(file.path), state));
  return [...files.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

function netFile(file: AuthoredFile, done: TouchedFile | undefined, { agents }: RunState): TouchedFile {
  const ids = new Set(file.steps.flatMap((step) => step.agents));
  const by = done?.by ?? [...ids].map((id) => agents.get(id)?.name ?? id);
  const isPerson = [...file.hunks.map((one) => one.agents), file.whole, file.mode].some((all) => all?.length === 0);
  const how = { made: file.start === null, gone: file.now === null };
  return { path: file.path, ...countsOf(file.hunks), ...how, by, ...(isPerson ? { person: true } : {}) };
}

/** What changed and by whom: sums, checks, trees that are not merged, the `most` largest files, and an empty line; nothing if nothing did. */
export function changedLines(state: RunState, most: number, width: number, ellipsis = '…'): readonly Line[] {
  const files = touchedFiles(state).toSorted((a, b) => b.added + b.removed - a.added - a.removed);
  const checks = [...state.agents.values()].flatMap((agent) => verificationOf(state, agent) ?? []);
  const verified = checks.filter((one) => one === 'verified').length;
  const { added, removed } = sumChanges(files);
  const left = unmergedIn(state).length;
  const words = [
    files.length > 0 && `${plural(files.length, 'file')} changed, +${added} -${removed}`,
    checks.length > 0 && `checks: ${verified} of ${checks.length} verified`,
    left > 0 && `${plural(left, 'tree')} not merged`,
  ].filter((part) => part !== false);
  const notes = [...(files.length > most ? [`and ${files.length - most} more`] : []), ...uncoveredLines(state)];
  const lines = [
    ...(words.length === 0 ? [] : [[span(words.join(' · '), { fg: 'fg' as const, bold: true })]]),
    ...fileRows(files.slice(0, most), width, ellipsis),
    ...notes.flatMap((text) => wrap([span(`  ${toLabel(text)}`, { fg: 'muted' })], width)),
  ];
  return lines.length === 0 ? [] : [...lines, []];
}

/** One line for each file: its name, counts and authors, in columns. */
export function fileRows(files: readonly TouchedFile[], width: number, ellipsis = '…'): readonly Line[] {
  const cells = files.map(({ path, added, removed }) => [toLabel(path), `+${added}`, `-${removed}`] as const);
  const [room = 0, plus = 0, minus = 0] = [0, 1, 2].map((at) =>
    Math.max(...cells.map((row) => widthOf(row[at] ?? ''))),
  );
  const size = Math.max(8, Math.min(room, width - 36));
  return files.map((file, at) => {
    const [name = '', added = '', removed = ''] = cells[at] ?? [];
    const line: Line = [
      span(file.gone ? '- ' : file.made ? '+ ' : '  ', { fg: file.gone ? 'err' : 'ok', bold: true }),
      span(fitText(clipPath(name, size, ellipsis), size), { fg: 'fg' }),
      span(`  ${added.padStart(plus)}`, { fg: 'ok' }),
      span(` ${removed.padStart(minus)}`, { fg: 'err' }),
      span(`  ${toLabel(authorsText(file))}`, { fg: 'muted' }),
    ];
    return clip(line, width, ellipsis);
  });
}

/** The use per model, the most expensive first. */
export function sharesByModel({ agents }: RunState): readonly ModelShare[] {
  const models = new Map<string, ModelShare>();
  for (const { byModel } of agents.values()) {
    for (const one of byModel) {
      const known = models.get(one.model);
      models.set(one.model, known === undefined ? one : sumOf(known, one));
    }
  }
  return [...models.values()].toSorted((a, b) => b.cost - a.cost);
}

const sumOf = (a: ModelShare, b: ModelShare): ModelShare => ({
  model: a.model,
  calls: a.calls + b.calls,
  usage: addUsage(a.usage, b.usage),
  cost: fromMicro(toMicro(a.cost) + toMicro(b.cost)),
});

/** The agents whose trees are not merged, in the order of the plan. */
export const unmergedIn = ({ agents }: RunState): readonly AgentState[] => [...agents.values()].filter(isUnmerged);

/** The agents of whose changes something is left in the project. */
export function authorsLeft({ agents, authored = [] }: RunState): readonly AgentState[] {
  const left = new Set(
    authored.flatMap(({ hunks, whole = [], mode = [] }) => [
      ...hunks.flatMap((hunk) => hunk.agents),
      ...whole,
      ...mode,
    ]),
  );
  return [...agents.values()].filter(({ id }) => left.has(id));
}

/** The answer of a run as Markdown: its report, or where it was cut off why, and what its agents had answered. Empty before.
 * `isTold`: the reason stands above it. */
export function answerText(state: RunState, isTold = false): string {
  const { finished, agents } = state;
  if (finished === null) return '';
  const isCut =
    finished.status === 'stopped' || (finished.status === 'failed' && agents.get(ROOT)?.outcome === 'killed');
  if (!isCut) return finished.summary;
  const found = inOrder(state).flatMap(({ id, name, forced, call, outcome, summary }) =>
    id === ROOT || forced !== null || call !== null || outcome !== 'completed' || summary.trim() === ''
      ? []
      : [`## ${name}\n\n${summary.trim()}`],
  );
  const why = `**No report was written${isTold ? '.' : `: ${finished.summary}`}**`;
  return [why, ...(found.length === 0 ? [] : ['Until then its agents had answered:']), ...found].join('\n\n');
}

/** Unfinished work, one line each: tasks without a completed agent, reviews that did not pass, undelivered messages. */
export function unfinishedWork(state: RunState): readonly string[] {
  const agents = inOrder(state).filter(({ id }) => id !== ROOT);
  const open = agents.filter(({ outcome, forced }) => outcome !== 'completed' && forced === null);
  // A reason that several tasks share is given once.
  const tasks = [...Map.groupBy(open, (agent) => endingText(agent, state.finished?.summary))].map(
    ([words, same]) => `${same.map(({ id }) => labelOf(state, id)).join(', ')}: ${words}`,
  );
  const gates = state.gates
    .filter(({ open }) => !open)
    .map(({ role, due }) => `review ${due === undefined ? 'failed' : 'pending'}: ${role}`);
  // The child's card shows a notice to main that did not wake it.
  const lost = state.messages.filter(({ delivered, to, notice }) => !delivered && !(to === ROOT && notice)).length;
  return [
    ...tasks,
    ...new Set(gates),
    ...(lost === 0 ? [] : [`${lost} ${lost === 1 ? 'message was' : 'messages were'} never delivered`]),
  ];
}

/** `completed`, `failed, provider refused the request`; without a reason that its outcome or the end of the run (`known`) has. */
export function endingText(agent: AgentState, known = ''): string {
  const how = statusWord(agent);
  const why = (agent.error ?? agent.reason).split('\n')[0] ?? '';
  if (why === '' || how === 'completed' || why === known) return how;
  return why.startsWith(how) ? why : `${how}, ${why}`;
}

/** The plan with estimates corrected by earlier runs, so that each lies in its range; the same plan if nothing is known. */
export const expectedPlan = memoize(
  (plan: SoundPlan, choices: PlanChoices | null) => [plan, choices],
  (plan, choices) => (choices === null ? plan : likelyPlan(plan, choices)),
);

/** The task with its estimates corrected by earlier runs. */
export const expectedTask = (task: PlanTask, { choices }: { readonly choices: PlanChoices | null }): PlanTask =>
  choices === null ? task : likelyTask(task, choices);
