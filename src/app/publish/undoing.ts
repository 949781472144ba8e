/** Takes back what is left of the changes of one agent: shown first, and exactly that is written. */
import { hash } from 'node:crypto';
import { type AgentId, ROOT, type SessionId } from '../../domain/ids.ts';
import { mayChangeFiles } from '../../domain/agents/tool-facts.ts';
import { plural } from '../../domain/lists.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import { type AuthoredHunk, isOfAgents } from '../../domain/changes/authorship.ts';
import type { LeftChange, Undone } from '../../domain/changes/undo.ts';
import type { AgentState, EventBody, RunState } from '../../events/index.ts';
import type { Rules } from '../../policy/index.ts';
import type { ChangesPort, FileContent, FileUndo, UndoEnd } from '../../ports/changes.ts';
import type { Log } from '../../ports/log.ts';
import { unifiedDiff } from '../../tools/index.ts';
import { ControlFault, type RemoteRun } from '../../ports/control.ts';
import { asRefusal, reachRun } from '../client/index.ts';
import { exitOnFault, world, wrongUse } from '../process/index.ts';
import { authorsIn, changesIn, type ProjectPlace, stateOf } from '../workspace/index.ts';

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
  /** Does what `preview` has shown as `digest`; refused while an agent changes the project, and if anything has changed since. */
  undo(undone: Undone, digest: string, path?: string): Promise<Result<UndoEnd, string>>;
  /** What `place`, a file or `FILE:LINE` as it is now, names of the agent's changes; a fault if there is none. */
  at(agent: AgentId, place: string): Promise<Result<{ readonly undone: Undone; readonly path: string }, string>>;
  /** Takes back the last undo of this agent; a fault if there is none. */
  back(agent: AgentId): Promise<Result<UndoEnd, string>>;
}

export interface UndoParts {
  readonly project: ProjectPlace;
  readonly box: Rules['box'];
  readonly log: Pick<Log, 'each' | 'at' | 'sessions'>;
  /** Opens the log for writing. */
  readonly writing: <T>(act: (log: Pick<Log, 'append' | 'claim' | 'release'>) => Promise<T>) => Promise<T>;
  readonly session: SessionId;
  readonly state: RunState;
}

/** Opens the changes of a stored session. */
export function openUndoing(parts: UndoParts): Undoing {
  const { project, box, log, session, state } = parts;
  const nameOf = (id: AgentId): string => state.agents.get(id)?.name ?? id;
  const { signal } = new AbortController();
  const filesNow = async () => (await authorsIn(project, box, log, session))?.files.filter(isOfAgents) ?? [];
  async function found(undone: Undone, path?: string) {
    const all = await filesNow();
    const changes = await changesIn(project, box);
    if (changes === null) return fail('no changes of agents are known here');
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
    async at(agent, place) {
      const [, path = place, line] = /^(.+?):(\d+)(?:-\d+)?$/.exec(place) ?? [];
      const file = (await filesNow()).find((one) => one.path === path);
      if (file === undefined) return fail(`no agent has changed "${path}"`);
      if (line === undefined) return ok({ undone: { agent }, path });
      const isAt = ({ agents, to }: AuthoredHunk): boolean =>
        agents.includes(agent) && Number(line) >= to.at && Number(line) <= Math.max(to.at, to.at + to.lines - 1);
      const hunk = file.hunks.findIndex(isAt);
      return hunk === -1 ? fail(`${nameOf(agent)} has no change at ${place}`) : ok({ undone: { agent, hunk }, path });
    },
    undo: (undone, digest, path) =>
      carriedOut(parts, { agent: undone.agent }, async () => {
        const now = await found(undone, path);
        if (!now.ok) return now;
        const { changes, files, digest: isNow } = now.value;
        if (isNow !== digest) return fail('a file has changed since this was shown; show it again');
        return ok({ changes, end: await changes.undo(files, { session, agent: undone.agent }) });
      }),
    back: (agent) =>
      carriedOut(parts, { agent, restored: true }, async () => {
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

interface Mark {
  readonly agent: AgentId;
  readonly restored?: true;
}

/** Recorded by the run that goes on, else here. Checks that ran on another tree are stale afterwards. */
const carriedOut = (
  { project, log, writing, session, state }: UndoParts,
  mark: Mark,
  act: () => Promise<Result<Undid, string>>,
): Promise<Result<UndoEnd, string>> =>
  writing(async (open) => {
    // Looked at first: the process of the run has claimed the session already.
    const now = stateOf(log, session);
    const run = now.finished === null ? await reachedOrExit(project, session) : null;
    if (run !== null) return whileAtWork(run, now, mark, act).finally(() => run.close());
    if (!exitOnFault(() => open.claim(session)).ok) return fail(AT_WORK);
    try {
      const done = await act();
      if (!done.ok) return done;
      const { changes, end } = done.value;
      const hasChecks = [...state.agents.values()].some(({ checks = [] }) => checks.length > 0);
      const tree = hasChecks ? await changes.tree(new AbortController().signal) : fail('');
      const events: EventBody[] = [
        ...(end.written.length === 0
          ? []
          : [
              { type: 'changes.undone', ...mark, files: end.written } as const,
              ...reviewsAgain(now, 'changes were undone'),
            ]),
        ...(tree.ok ? [{ type: 'check.compared', tree: tree.value } as const] : []),
      ];
      if (events.length > 0) exitOnFault(() => open.append(session, new Date(world.now()).toISOString(), events));
      return ok(end);
    } finally {
      open.release(session);
    }
  });

async function reachedOrExit(project: ProjectPlace, session: SessionId): Promise<RemoteRun | null> {
  try {
    return await reachRun(project, session);
  } catch (error) {
    if (error instanceof ControlFault) throw wrongUse(error.message);
    throw error;
  }
}

/** Closes the reviews that have passed: they say nothing about the project as it is now. What was changed by hand after reviews of written
 * changes belongs to the run as a whole. `what`: `changes were undone`. */
export function reviewsAgain({ gates, session }: RunState, what: string): readonly EventBody[] {
  const passed = gates.filter(({ open, trigger }) => open && (trigger === 'always' || trigger === 'on-write'));
  const one = new Map(passed.map((gate) => [`${gate.trigger} ${gate.role}`, gate]));
  return [...one.values()].map((gate) => ({
    ...gate,
    type: 'forced.gate',
    agent: ROOT,
    open: false,
    why: `${what} after it had passed: \`mimir resume ${session ?? ''}\` reviews again`,
  }));
}

/** The run checks and reviews at its end what is there then. */
async function whileAtWork(
  { controls }: RemoteRun,
  now: RunState,
  mark: Mark,
  act: () => Promise<Result<Undid, string>>,
): Promise<Result<UndoEnd, string>> {
  const busy = changingAgent(now);
  if (busy !== null) return fail(`${busy} is changing files; try again when that is done`);
  const done = await act();
  if (!done.ok) return done;
  const { end } = done.value;
  if (end.written.length === 0) return ok(end);
  const recorded = await controls.submit({ do: 'changes undone', ...mark, files: [...end.written] }).catch(asRefusal);
  const what = mark.restored ? 'restored' : 'undone';
  return recorded.ok ? ok(end) : fail(`${what}, but not recorded: ${recorded.fault.text}`);
}

const AT_WORK = 'the run is still at work and does not answer; stop it, or wait for its end';

/** The name of an agent in the middle of an act that may change the project: what changes meanwhile would count as its own. */
function changingAgent({ agents }: RunState): string | null {
  const isChanging = ({ blocks, ownTree }: AgentState): boolean =>
    ownTree === undefined &&
    blocks.some((block) => block.is === 'tool' && block.ok === null && mayChangeFiles(block.tool));
  return [...agents.values()].find(isChanging)?.name ?? null;
}

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
