/** What becomes of a file when the changes of one agent are taken back. Pure: the content now comes from the caller. */
import type { AuthoredFile, AuthoredHunk, AuthoredStep, HunkRange, LineRange } from './authorship.ts';
import type { FileVersion } from './changes.ts';
import type { AgentId } from '../ids.ts';
import { linesOf } from '../text/line-steps.ts';

/** Whose changes are taken back; `hunk`: only this one of the file's hunks, whoever made it. */
export interface Undone {
  readonly agent: AgentId;
  readonly hunk?: number;
}

/** A change that stays. */
export interface LeftChange {
  /** Its first line now, from 1; null for the content as a whole or the mode. */
  readonly at: number | null;
  /** Others changed the lines beside it or built on it, or it may be theirs; in both cases `by` names them. */
  readonly is: 'built on' | 'shared';
  /** Empty: the person. */
  readonly by: readonly AgentId[];
}

/** A file without these changes. */
export interface FileWithout {
  /** Its lines, null for no file. Absent: they stay. */
  readonly content?: string | null;
  /** The earlier version whose content it gets, null for no file. Absent: none. */
  readonly whole?: FileVersion | null;
  /** Absent: it stays. */
  readonly mode?: string;
  readonly left: readonly LeftChange[];
}

/** What was changed last is taken back as a whole, so that the lines of earlier agents that it replaced return; the rest by hunks. `now` is the
 * content that the hunks lead to, null for no file. Undefined where it is another one. */
export function fileWithout(file: AuthoredFile, now: string | null, undone: Undone): FileWithout | undefined {
  if (undone.hunk !== undefined) return contentWithout(file, now, undone);
  const whole = wholeWithout(file, undone.agent);
  const isLast = whole.whole !== undefined && whole.left.length === 0;
  const isByLines =
    file.whole === undefined && (file.hunks.length > 0 || (file.start === null) === (file.now === null));
  return withMode(file, undone.agent, isByLines && !isLast ? contentWithout(file, now, undone) : whole);
}

function withMode(file: AuthoredFile, agent: AgentId, content: FileWithout | undefined): FileWithout | undefined {
  const isGone = content?.content === null || content?.whole === null;
  if (content === undefined || isGone || file.mode === undefined) return content;
  const mode = modeWithout(file, agent);
  return { ...content, ...mode, left: [...content.left, ...mode.left] };
}

/** The lines without the hunks. Those stay beside which or on which others changed something. */
export function contentWithout(
  { start, hunks }: Pick<AuthoredFile, 'start' | 'hunks'>,
  now: string | null,
  { agent, hunk: only }: Undone,
): FileWithout | undefined {
  const lines = [...linesOf(now ?? '')];
  const left: LeftChange[] = [];
  const isWanted = ({ agents }: AuthoredHunk, nth: number): boolean =>
    only === undefined ? agents.includes(agent) : nth === only;
  const staysBy = (one: AuthoredHunk, nth: number): Omit<LeftChange, 'at'> | null => {
    const others = one.agents.filter((id) => id !== agent);
    if (only === undefined && others.length > 0) return { is: 'shared', by: others };
    const beside = [nth - 1, nth + 1].flatMap((at) => {
      const other = hunks[at];
      if (other === undefined || (isWanted(other, at) && other.agents.length === 1)) return [];
      return areBeside(one, other) && !isApart(one, at) ? [other] : [];
    });
    return beside.length === 0 ? null : { is: 'built on', by: [...new Set(beside.flatMap(({ agents }) => agents))] };
  };
  /** Lines that were only added go without those that others added before or after them, but not around lines of others. */
  const isApart = (one: AuthoredHunk, at: number): boolean => {
    const other = hunks[at];
    if (other === undefined || one.removed.length + other.removed.length > 0) return false;
    const around = [at - 1, at + 1].every((next) => {
      const own = hunks[next];
      return own !== undefined && isWanted(own, next) && areBeside(own, other);
    });
    return !around;
  };
  const taken = hunks.filter((hunk, nth) => {
    if (!isWanted(hunk, nth)) return false;
    const stays = staysBy(hunk, nth);
    if (stays !== null) left.push({ at: hunk.to.lines === 0 ? hunk.to.at + 1 : hunk.to.at, ...stays });
    return stays === null;
  });
  for (const hunk of hunks.toReversed()) {
    const { to, removed, added } = hunk;
    const at = to.lines === 0 ? to.at : to.at - 1;
    if (lines.slice(at, at + to.lines).join('') !== added.join('')) return undefined;
    if (taken.includes(hunk)) lines.splice(at, to.lines, ...removed);
  }
  if (taken.length === 0) return { left };
  return { content: start === null && lines.length === 0 ? null : lines.join(''), left };
}

const areBeside = (a: HunkRange, b: HunkRange): boolean => touch(a, b) || touch(b, a);

/** Whether no line is between two hunks, of which `first` comes first. */
function touch(first: HunkRange, next: HunkRange): boolean {
  const endOf = ({ at, lines }: LineRange): number => (lines === 0 ? at : at + lines - 1);
  const beforeOf = ({ at, lines }: LineRange): number => (lines === 0 ? at : at - 1);
  return endOf(first.from) === beforeOf(next.from) && endOf(first.to) === beforeOf(next.to);
}

/** The content as a whole without the agent's last changes of it. */
function wholeWithout(file: AuthoredFile, agent: AgentId): FileWithout {
  const { to, left } = lastWithout(file, agent, ({ before, after }) => before?.blob !== after?.blob);
  return to === undefined || to?.blob === file.now?.blob ? { left } : { whole: to, left };
}

function modeWithout(file: AuthoredFile, agent: AgentId): Pick<FileWithout, 'mode' | 'left'> {
  const { to, left } = lastWithout(file, agent, ({ before, after }) => before?.mode !== after?.mode);
  return to === undefined || to === null ? { left } : { mode: to.mode, left };
}

/** The version before the last changes, as far as they are of the agent alone; undefined: none of them is. */
function lastWithout(
  { steps }: Pick<AuthoredFile, 'steps'>,
  agent: AgentId,
  isChange: (step: AuthoredStep) => boolean,
): { readonly to?: FileVersion | null; readonly left: readonly LeftChange[] } {
  const changes = steps.filter(isChange);
  const isOwn = ({ agents }: AuthoredStep): boolean => agents.length === 1 && agents[0] === agent;
  const until = changes.findLastIndex((step) => !isOwn(step));
  const earlier = changes.slice(0, until + 1).some(({ agents }) => agents.includes(agent));
  const { agents = [] } = changes[until] ?? {};
  const by = agents.filter((id) => id !== agent);
  const left: readonly LeftChange[] = earlier
    ? [{ at: null, is: agents.includes(agent) ? 'shared' : 'built on', by }]
    : [];
  const [first] = changes.slice(until + 1);
  return first === undefined ? { left } : { to: first.before, left };
}
