/** Takes back what is left of the changes of one agent: shown first, and exactly that is written. */
import { hash } from 'node:crypto';
import type { AgentId, SessionId } from '../../domain/ids.ts';
import { plural } from '../../domain/lists.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { LeftChange, Undone } from '../../domain/changes/undo.ts';
import type { RunState } from '../../events/index.ts';
import type { Rules } from '../../policy/index.ts';
import type { ChangesPort, FileContent, FileUndo, UndoEnd } from '../../ports/changes.ts';
import type { Log } from '../../ports/log.ts';
import { unifiedDiff } from '../../tools/index.ts';
import { exitOnFault, world } from '../process/index.ts';
import { authorsIn, changesIn, type ProjectPlace } from '../workspace/index.ts';

/** A file with changes of the agent. */
export interface ShownUndo {
  readonly path: string;
  /** What an undo does to it, for people: hunks, or a line where it is not text. Empty: nothing. */
  readonly text: string;
  /** The agent's changes as a patch; empty where they are not text. */
  readonly patch: string;
  /** What of them stays, each with the reason. */
  readonly stays: readonly string[];
}

export interface UndoPreview {
  readonly files: readonly ShownUndo[];
  /** How many files it writes. */
  readonly writes: number;
  /** The files with their hunks, and what stays, for people; empty without changes. */
  readonly lines: readonly string[];
  /** Of what is shown: exactly this is undone. */
  readonly digest: string;
  /** An earlier undo of this agent can be taken back. */
  readonly hasUndo: boolean;
}

export interface Undoing {
  /** What an undo would do; a fault where nothing is known of the changes. `path`: only of this file. Changes nothing. */
  preview(undone: Undone, path?: string): Promise<Result<UndoPreview, string>>;
  /** Does what `preview` has shown as `digest`; refused while the run is at work, and if anything has changed since. */
  undo(undone: Undone, digest: string, path?: string): Promise<Result<UndoEnd, string>>;
  /** Takes back the last undo of this agent; a fault if there is none. */
  back(agent: AgentId): Promise<Result<UndoEnd, string>>;
}

export interface UndoParts {
  readonly project: ProjectPlace;
  readonly box: Rules['box'];
  readonly log: Pick<Log, 'each'>;
  /** Opens the log for writing. */
  readonly writing: <T>(act: (log: Pick<Log, 'append' | 'claim' | 'release'>) => Promise<T>) => Promise<T>;
  readonly session: SessionId;
  readonly state: RunState;
}

/** Opens the changes of a stored session. */
export function openUndoing({ project, box, log, writing, session, state }: UndoParts): Undoing {
  const nameOf = (id: AgentId): string => state.agents.get(id)?.name ?? id;
  const { signal } = new AbortController();
  /** While no run of the session is at work. Checks that ran on another tree are stale afterwards. */
  const carriedOut = (act: () => Promise<Result<Undid, string>>): Promise<Result<UndoEnd, string>> =>
    writing(async (open) => {
      if (!exitOnFault(() => open.claim(session)).ok) return fail(AT_WORK);
      try {
        const done = await act();
        if (!done.ok) return done;
        const hasChecks = [...state.agents.values()].some(({ checks = [] }) => checks.length > 0);
        const tree = hasChecks ? await done.value.changes.tree(signal) : fail('');
        const time = new Date(world.now()).toISOString();
        if (tree.ok) exitOnFault(() => open.append(session, time, [{ type: 'check.compared', tree: tree.value }]));
        return ok(done.value.end);
      } finally {
        open.release(session);
      }
    });
  async function found(undone: Undone, path?: string) {
    const all = await authorsIn(project, box, log, session);
    const changes = await changesIn(project, box);
    if (all === null || changes === null) return fail('no changes of agents are known here');
    const files = path === undefined ? all : all.filter((file) => file.path === path);
    const without = await changes.without(files, undone, signal);
    return without.ok ? ok({ changes, files: without.value, digest: digestOf(without.value) }) : without;
  }
  return {
    async preview(undone, path) {
      const now = await found(undone, path);
      if (!now.ok) return now;
      const files = now.value.files.map((file) => shownOf(file, nameOf));
      return ok({
        files,
        writes: files.filter(({ text }) => text !== '').length,
        lines: files.flatMap(linesOf),
        digest: now.value.digest,
        hasUndo: now.value.changes.hasUndo({ session, agent: undone.agent }),
      });
    },
    undo: (undone, digest, path) =>
      carriedOut(async () => {
        const now = await found(undone, path);
        if (!now.ok) return now;
        const { changes, files, digest: isNow } = now.value;
        if (isNow !== digest) return fail('a file has changed since this was shown; show it again');
        return ok({ changes, end: await changes.undo(files, { session, agent: undone.agent }) });
      }),
    back: (agent) =>
      carriedOut(async () => {
        const changes = await changesIn(project, box);
        const end = (await changes?.back({ session, agent })) ?? null;
        return changes === null || end === null ? fail(`nothing of ${nameOf(agent)} was undone`) : ok({ changes, end });
      }),
  };
}

interface Undid {
  readonly changes: ChangesPort;
  readonly end: UndoEnd;
}

const AT_WORK = 'the run is still at work; stop it, or wait for its end';

const digestOf = (files: readonly FileUndo[]): string =>
  hash(
    'sha256',
    JSON.stringify(files.map(({ path, before, after, stays }) => [path, stays, keyOf(before), keyOf(after)])),
  );

const keyOf = (content: FileContent | null): string | null =>
  content === null ? null : `${content.mode} ${hash('sha256', content.bytes)}`;

function shownOf(file: FileUndo, nameOf: (id: AgentId) => string): ShownUndo {
  const { path, before, after, left, stays: whole } = file;
  const stays = [...(whole === undefined ? [] : [`stays: ${whole}`]), ...left.map((one) => leftLine(one, nameOf))];
  if (keyOf(before) === keyOf(after)) return { path, text: '', patch: '', stays };
  const [from, to] = [textIn(before), textIn(after)];
  const isText = from !== undefined && to !== undefined;
  const undo = isText ? unifiedDiff({ name: path, before: from, after: to }) : '';
  const patch = isText ? unifiedDiff({ name: path, before: to, after: from }) : '';
  return { path, text: [undo, factsLine(file, undo)].filter((line) => line !== '').join('\n'), patch, stays };
}

const linesOf = ({ path, text, stays }: ShownUndo): readonly string[] => [
  ...(text === '' ? [] : text.split('\n')),
  ...stays.map((line) => `! ${path}: ${line}`),
];

/** What a patch does not show: the mode, or that the content is another one. */
function factsLine({ path, before, after }: FileUndo, patch: string): string {
  const isMode = before !== null && after !== null && before.mode !== after.mode;
  if (isMode) return `${path}: mode ${before.mode.toString(8)} -> ${after.mode.toString(8)}`;
  return patch === '' ? `${path}: ${sizeOf(before)} -> ${sizeOf(after)}` : '';
}

function leftLine({ at, is, by }: LeftChange, nameOf: (id: AgentId) => string): string {
  const what = at === null ? 'all of it' : `line ${at}`;
  const who = by.length === 0 ? 'the person' : by.map(nameOf).join(' and ');
  return is === 'shared'
    ? `${what} stays: it may be of ${who}`
    : `${what} stays: ${who} changed it or what is beside it`;
}

const sizeOf = (content: FileContent | null): string =>
  content === null ? 'no file' : plural(content.bytes.length, 'byte');

/** Null for no file; undefined if it is not text. */
function textIn(content: FileContent | null): string | null | undefined {
  if (content === null) return null;
  const text = content.bytes.toString();
  return text.includes('\0') || !Buffer.from(text).equals(content.bytes) ? undefined : text;
}
