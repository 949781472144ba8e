/** Whose each changed line of a run is. The acts on a file are replayed in the order of the log, from its content at the start to its
 * content now. What changed between two acts is the person's. Pure: contents and the final hunks come from the caller. */
import type { FileVersion, VersionChange } from './changes.ts';
import type { AgentId } from '../ids.ts';
import { linesOf, stepsBetween } from '../text/line-steps.ts';

/** A change of one file by agents; several where commands ran at the same time, and nobody can tell whose it is. */
export interface Act extends VersionChange {
  readonly agents: readonly AgentId[];
  /** Numbers of the records of the log between which it happened. */
  readonly began: number;
  readonly ended: number;
}

/** A change of a file as it happened; without agents it is the person's. */
export interface AuthoredStep extends Omit<VersionChange, 'path'> {
  readonly agents: readonly AgentId[];
}

/** Lines of a file: `at` is the first one, from 1; of no lines the one before them. */
export interface LineRange {
  readonly at: number;
  readonly lines: number;
}

/** A hunk without context, as `git diff --unified=0` has it. */
export interface HunkRange {
  readonly from: LineRange;
  readonly to: LineRange;
}

/** The part of a hunk that is of the same authors; without agents it is the person's. */
export interface AuthoredHunk extends HunkRange {
  readonly agents: readonly AgentId[];
  /** With their line ends. */
  readonly removed: readonly string[];
  readonly added: readonly string[];
  /** Up to three lines before and behind it, as they are now. */
  readonly around?: { readonly before: readonly string[]; readonly behind: readonly string[] };
}

const AROUND = 3;

export interface AuthoredFile extends Omit<FileHistory, 'acts'> {
  /** What happened to it and was not taken back, in order. */
  readonly steps: readonly AuthoredStep[];
  readonly hunks: readonly AuthoredHunk[];
  /** Who changed the content as a whole: of a binary file, a link, an empty file, or one that may not be shown. */
  readonly whole?: readonly AgentId[];
  readonly mode?: readonly AgentId[];
}

/** What is left of the changes of a run, by path; with the files that only the person changed. */
export interface AuthoredChanges {
  readonly files: readonly AuthoredFile[];
  /** Folders that git ignores, in which something changed that is not compared, each with its number of files, as text. Absent: none. */
  readonly uncovered?: string;
}

/** Whether an agent had a part in it. */
export const isOfAgents = ({ steps }: Pick<AuthoredFile, 'steps'>): boolean =>
  steps.some(({ agents }) => agents.length > 0);

export interface FileHistory {
  readonly path: string;
  readonly start: FileVersion | null;
  readonly now: FileVersion | null;
  /** In the order of the log. */
  readonly acts: readonly Act[];
}

const isSameVersion = (a: FileVersion | null, b: FileVersion | null): boolean =>
  a?.blob === b?.blob && a?.mode === b?.mode;

/**
 * The steps from the start to now, without those that the person has taken back. An act that began before the last one ended saw an older content than the one it changed, so what
 * lies between them is no gap. */
function stepsOf({ start, now, acts }: FileHistory): readonly AuthoredStep[] {
  const steps: AuthoredStep[] = [];
  let at = start;
  let ended = -1;
  const go = (agents: readonly AgentId[], after: FileVersion | null): void => {
    if (isSameVersion(at, after)) return;
    // A version that the person has restored, for example by an undo, is of its former authors.
    const isSame = ({ before }: AuthoredStep): boolean => agents.length === 0 && isSameVersion(before, after);
    const former = steps.findIndex(isSame);
    if (former !== -1) steps.length = former;
    else steps.push({ agents, before: at, after });
    at = after;
  };
  for (const act of acts) {
    // What nobody has recorded is of those whose commands were at work then, or else the person's.
    let by: readonly AgentId[] = [];
    const around = acts.filter((other) => other.began < act.began && other.ended > act.ended);
    for (const one of act.began < ended ? [] : [...around.toSorted((a, b) => a.began - b.began), act]) {
      if (one.began >= ended) go(by, one.before);
      by = [...new Set([...by, ...one.agents])].toSorted();
    }
    go(act.agents, act.after);
    ended = Math.max(ended, act.ended);
  }
  go([], now);
  return steps;
}

/** The authors of a file's final hunks. `textOf` gives null for what is not shown as lines; `ranges` are the hunks between the contents at
 * the start and now. */
export function authorsOf(
  history: FileHistory,
  textOf: (version: FileVersion) => string | null,
  ranges: readonly HunkRange[],
): AuthoredFile {
  const { path, start, now } = history;
  const steps = stepsOf(history);
  const last = (is: (step: AuthoredStep) => boolean): readonly AgentId[] => steps.findLast(is)?.agents ?? [];
  const isMode = start !== null && now !== null && start.mode !== now.mode;
  const mode = isMode ? { mode: last(({ before, after }) => before?.mode !== after?.mode) } : {};
  const file = { path, start, now, steps, ...mode };
  const versions = [start, ...steps.map(({ after }) => after)];
  const texts = versions.map((version) => (version === null ? '' : textOf(version)));
  const isChanged = start?.blob !== now?.blob;
  if (!texts.every((text) => text !== null)) {
    const whole = isChanged ? { whole: last(({ before, after }) => before?.blob !== after?.blob) } : {};
    return { ...file, hunks: [], ...whole };
  }
  const replay = replayed(texts.map(linesOf), steps);
  const latest = last(() => true);
  // An empty file that came or went has no line of anybody.
  const isEmpty = ranges.length === 0 && (start === null) !== (now === null);
  return {
    ...file,
    ...(isEmpty ? { whole: latest } : {}),
    hunks: ranges.flatMap((range) => partsOf(range, replay, latest)),
  };
}

interface Line {
  readonly text: string;
  /** Its number at the start, from 0; null for a line that came later. */
  readonly origin: number | null;
  readonly by: readonly AgentId[];
}

interface Replay {
  readonly start: readonly string[];
  readonly now: readonly Line[];
  /** Who took out a line of the start, by its number. */
  readonly removed: ReadonlyMap<number, readonly AgentId[]>;
}

function replayed(contents: readonly (readonly string[])[], steps: readonly AuthoredStep[]): Replay {
  const [start = []] = contents;
  const removed = new Map<number, readonly AgentId[]>();
  let now: readonly Line[] = start.map((text, origin) => ({ text, origin, by: [] }));
  for (const [step, { agents: by }] of steps.entries()) {
    const old = now;
    let at = 0;
    now = stepsBetween(textsOf(old), contents[step + 1] ?? []).flatMap(({ is, line }): readonly Line[] => {
      if (is === '+') return [{ text: line, origin: null, by }];
      const known = old[at] ?? { text: line, origin: null, by: [] };
      at += 1;
      if (is === ' ') return [known];
      if (known.origin !== null) removed.set(known.origin, by);
      return [];
    });
  }
  return { start, now, removed };
}

/** The parts of a hunk. git may take another of several equal lines for the one that changed than the replay did; such a line is given to the
 * others of its hunk, or else to whoever changed the file last. */
function partsOf(
  { from, to }: HunkRange,
  { start, now, removed }: Replay,
  last: readonly AgentId[],
): readonly AuthoredHunk[] {
  const first = { from: from.lines === 0 ? from.at : from.at - 1, to: to.lines === 0 ? to.at : to.at - 1 };
  const olds = start.slice(first.from, first.from + from.lines);
  const news = now.slice(first.to, first.to + to.lines);
  const gone = olds.map((_, nth) => removed.get(first.from + nth) ?? null);
  const come = news.map(({ origin, by }) => (origin === null ? by : null));
  const known = [...gone, ...come].filter((by) => by !== null);
  const fallback = known.findLast((by) => by.length > 0) ?? known.at(-1) ?? last;
  const at = { from: 0, to: 0 };
  const rangeAt = (lines: number, begin: number): LineRange => ({ at: lines === 0 ? begin : begin + 1, lines });
  return paired(runsOf(gone.map((by) => by ?? fallback)), runsOf(come.map((by) => by ?? fallback))).map(
    ({ by, out, into }): AuthoredHunk => {
      const [begin, end] = [first.to + at.to, first.to + at.to + into];
      const part = {
        agents: by,
        from: rangeAt(out, first.from + at.from),
        to: rangeAt(into, first.to + at.to),
        removed: olds.slice(at.from, at.from + out),
        added: textsOf(news.slice(at.to, at.to + into)),
        around: {
          before: textsOf(now.slice(Math.max(0, begin - AROUND), begin)),
          behind: textsOf(now.slice(end, end + AROUND)),
        },
      };
      at.from += out;
      at.to += into;
      return part;
    },
  );
}

const textsOf = (lines: readonly Line[]): readonly string[] => lines.map(({ text }) => text);

interface Pair {
  readonly by: readonly AgentId[];
  readonly out: number;
  readonly into: number;
}

/** What the same authors took out and put in is one pair; the order of both sides stays. */
function paired(out: readonly Run[], into: readonly Run[]): readonly Pair[] {
  const pairs: Pair[] = [];
  const onlyIn = ({ by, lines }: Run): number => pairs.push({ by, out: 0, into: lines });
  let next = 0;
  for (const { by, key, lines } of out) {
    const match = into.findIndex((fresh, nth) => nth >= next && fresh.key === key);
    if (match !== -1) for (const fresh of into.slice(next, match)) onlyIn(fresh);
    pairs.push({ by, out: lines, into: match === -1 ? 0 : (into[match]?.lines ?? 0) });
    if (match !== -1) next = match + 1;
  }
  for (const fresh of into.slice(next)) onlyIn(fresh);
  return pairs;
}

interface Run {
  readonly by: readonly AgentId[];
  readonly key: string;
  readonly lines: number;
}

function runsOf(authors: readonly (readonly AgentId[])[]): readonly Run[] {
  const runs: (Run & { lines: number })[] = [];
  for (const by of authors) {
    const key = by.join(' ');
    const last = runs.at(-1);
    if (last?.key === key) last.lines += 1;
    else runs.push({ by, key, lines: 1 });
  }
  return runs;
}
