/** Texts derived from an agent's blocks: a transcript, the last whole sentence of streamed text, and the files it changed. */
import { factsOf } from '../../../domain/agents/tool-facts.ts';
import type { CommandChanges, FileChange } from '../../../domain/changes/changes.ts';
import { memoize } from '../../../domain/memoize.ts';
import type { AgentState, Block } from '../../../events/index.ts';

/** The transcript of an agent as Markdown; empty if it has none. */
export function transcriptText({ name, blocks }: AgentState, task: string): string {
  if (blocks.length === 0) return '';
  return `# ${name}: ${task.split('\n')[0] ?? ''}\n\n${blocks.map(section).join('\n\n')}\n`;
}

function section(block: Block): string {
  switch (block.is) {
    case 'told':
      return block.text
        .trim()
        .split('\n')
        .map((line) => `> ${line}`.trimEnd())
        .join('\n');
    case 'said':
      return block.text.trim();
    case 'note':
      return [`_${block.text}_`, ...(block.more === undefined ? [] : [block.more])].join('\n\n');
    default:
      return [`## ${block.label}${block.ok === false ? ' (failed)' : ''}`, ...fenced(block.output)].join('\n\n');
  }
}

function fenced(text: string): readonly string[] {
  if (text.trim() === '') return [];
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([marks]) => marks.length));
  const fence = '`'.repeat(longest + 1);
  return [`${fence}\n${text.trimEnd()}\n${fence}`];
}

/** Matches lines that hold no sentence: a table row, a rule, a code fence, an empty list item. */
const NO_SENTENCE = /^(?:\||[-=_*\s]*$|`{3}|~{3}|(?:[-*+]|\d+[.)])\s*$)/;
const FENCE = /^\s*(?:`{3}|~{3})/;
/** Only this many characters at the end are searched, because every frame asks. */
const SEARCHED_LENGTH = 4000;

/** The last whole sentence of a text that may still be streaming, without code and tables; empty if there is none yet. */
export function lastSentence(text: string): string {
  const lines = text.slice(-SEARCHED_LENGTH).split('\n');
  const whole: string[] = [];
  let inCode = false;
  for (const [at, line] of lines.entries()) {
    if (FENCE.test(line)) inCode = !inCode;
    else if (!inCode && !NO_SENTENCE.test(line.trim())) whole.push(at < lines.length - 1 ? line : lastSentenceIn(line));
  }
  return whole.flatMap(sentencesOf).at(-1) ?? '';
}

/** The part of an unfinished line up to its last whole sentence. */
const lastSentenceIn = (line: string): string => /^.*[\p{L}\p{N})\]"'`*][.!?:](?=\s|$)/u.exec(line)?.[0] ?? '';

/** Sentences of at least two words: `1.` and `OK` carry no information. List markers are removed. */
const sentencesOf = (line: string): readonly string[] =>
  line
    .trim()
    .replace(/^(?:[-*+>]|\d+[.)]|#{1,6})\s+/, '')
    .split(/(?<=[\p{L}\p{N})\]"'`*][.!?])\s+/u)
    .filter((part) => /\S\s+\S/.test(part.trim()));

/** The files that the agent's tools and commands changed, by first change: what is left of its changes, once the authors of all changes are known,
 * and until then the sum of what it did. Long diffs are cut, but their counts are exact. */
export const changesOf = (agent: Pick<AgentState, 'blocks' | 'net'>): readonly FileChange[] =>
  agent.net ?? changesDone(agent);

const changesDone = memoize(({ blocks }: Pick<AgentState, 'blocks'>) => [blocks], findChanges);

function findChanges({ blocks }: Pick<AgentState, 'blocks'>): readonly FileChange[] {
  let files: readonly FileChange[] = [];
  let merged: readonly FileChange[] = [];
  for (const block of blocks) {
    if (block.is === 'note' && block.merged !== undefined) {
      // What it changed in its tree until now is in the project as the merge has left it.
      merged = withChanges(merged, changesIn(block.merged));
      files = [];
    } else files = withChanges(files, changesOfBlock(block));
  }
  return withChanges(merged, files);
}

function withChanges(known: readonly FileChange[], changes: readonly FileChange[]): readonly FileChange[] {
  if (changes.length === 0) return known;
  const files = new Map(known.map((one) => [one.path, one]));
  for (const change of changes) {
    const before = files.get(change.path);
    files.set(change.path, before === undefined ? change : mergeChanges(before, change));
  }
  return [...files.values()];
}

const mergeChanges = (a: FileChange, b: FileChange): FileChange => ({
  path: a.path,
  added: a.added + b.added,
  removed: a.removed + b.removed,
  made: a.made,
  gone: b.gone,
  also: [...new Set([...a.also, ...b.also])],
  diff: [a.diff, b.diff].filter((text) => text !== '').join('\n'),
});

function changesOfBlock(block: Block): readonly FileChange[] {
  if (block.is === 'note') return block.changed === undefined ? [] : changesIn(block.changed);
  const own = changeOf(block);
  if (block.is !== 'tool' || block.changed === undefined) return own === null ? [] : [own];
  // The result of a tool that changes a file has its diff already.
  return changesIn(block.changed, own?.diff);
}

const changesIn = ({ files, also }: CommandChanges, ownDiff: string = ''): readonly FileChange[] =>
  files.map(({ path, is, added, removed, diff = ownDiff }) => {
    return { path, added, removed, made: is === 'added', gone: is === 'removed', also, diff };
  });

/** The change of one block; null if it changed no file. */
export function changeOf(block: Block): FileChange | null {
  if (block.is !== 'tool' || block.ok !== true || factsOf(block.tool).writes !== true) return null;
  const [first = '', ...rest] = block.output.trimEnd().split('\n');
  const counts = /^(.*): \+(\d+) -(\d+) lines, digest now /.exec(first);
  if (counts === null) return null;
  return {
    path: counts[1] ?? '',
    added: Number(counts[2]),
    removed: Number(counts[3]),
    made: rest.some((line) => line === '--- /dev/null'),
    gone: false,
    also: [],
    diff: rest.filter((line) => !/^(?:--- (?:a\/|\/dev\/null)|\+\+\+ b\/)/.test(line)).join('\n'),
  };
}
