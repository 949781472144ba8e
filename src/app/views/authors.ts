/** Puts the authors of all changes into a state, so that views show what is left of the changes of each agent instead of all that it did. */
import type { AuthoredChanges, AuthoredFile, AuthoredHunk } from '../../domain/changes/authorship.ts';
import type { FileChange } from '../../domain/changes/changes.ts';
import type { AgentId } from '../../domain/ids.ts';
import { memoize } from '../../domain/memoize.ts';
import { defined } from '../../domain/result.ts';
import { type AgentState, type RunState, workspaceOf } from '../../events/index.ts';
import { changesOf } from './agents/transcript-text.ts';

/** The state with these authors; null: they are not known. */
export const withAuthors = (state: RunState, changes: AuthoredChanges | null): RunState =>
  changes === null ? state : withKnown(state, changes);

const withKnown = memoize(
  (state: RunState, changes: AuthoredChanges) => [state, changes],
  (state, { files: authored, uncovered }): RunState => {
    return { ...state, authored, agents: netAgents(state.agents, authored), ...defined({ uncovered }) };
  },
);

const netAgents = memoize(
  (agents: RunState['agents'], files: readonly AuthoredFile[]) => [agents, files],
  (agents, files): RunState['agents'] => {
    // What is in a tree of its own is not in the project, whoever has changed the same file there.
    const isApart = (id: AgentId): boolean => workspaceOf({ agents }, id) !== undefined;
    return new Map([...agents].map(([id, agent]) => [id, isApart(id) ? agent : netAgent(agent, files)]));
  },
);

const netAgent = memoize(
  (agent: AgentState, files: readonly AuthoredFile[]) => [agent, files],
  (agent, files): AgentState => {
    const done = changesOf(agent);
    if (done.length === 0) return agent;
    const known = new Map(files.map((file) => [file.path, file]));
    const net = done.map((change) => {
      const file = known.get(change.path);
      return file === undefined ? change : netChange(change, file, agent.id);
    });
    return { ...agent, net };
  },
);

function netChange(change: FileChange, file: AuthoredFile, agent: AgentId): FileChange {
  const own = file.hunks.filter(({ agents }) => agents.includes(agent));
  return {
    ...change,
    ...countsOf(own),
    made: change.made && file.start === null && file.now !== null,
    gone: change.gone && file.now === null,
    also: [...new Set(own.flatMap(({ agents }) => agents.filter((id) => id !== agent)))],
    diff: own.map(hunkText).join('\n'),
  };
}

type Counts = Pick<FileChange, 'added' | 'removed'>;

/** The lines that are left of the changes in these hunks. */
export const countsOf = (hunks: readonly AuthoredHunk[]): Counts =>
  sumChanges(hunks.map(({ added, removed }) => ({ added: added.length, removed: removed.length })));

export const sumChanges = (all: readonly Counts[]): Counts => ({
  added: all.reduce((sum, { added }) => sum + added, 0),
  removed: all.reduce((sum, { removed }) => sum + removed, 0),
});

/** The lines of a hunk as a diff has them, with `-` and `+` before them. */
export const diffLinesOf = ({ removed, added }: AuthoredHunk): readonly string[] => [
  ...removed.flatMap((line) => marked('-', line)),
  ...added.flatMap((line) => marked('+', line)),
];

const marked = (sign: string, line: string): readonly string[] =>
  line.endsWith('\n') ? [`${sign}${line.slice(0, -1)}`] : [`${sign}${line}`, String.raw`\ No newline at end of file`];

function hunkText(hunk: AuthoredHunk): string {
  const range = ({ at, lines }: AuthoredHunk['from']): string => (lines === 1 ? `${at}` : `${at},${lines}`);
  return [`@@ -${range(hunk.from)} +${range(hunk.to)} @@`, ...diffLinesOf(hunk)].join('\n');
}
