/** The commands in a reply of the text protocol: fenced blocks that are marked `bash`. Fences are read as CommonMark has them. Pure. */

export interface Fenced {
  readonly command: string;
  /** Seconds, as `timeout=300` behind `bash` says; null: nothing was said. */
  readonly timeout: number | null;
}

export interface Fences {
  readonly commands: readonly Fenced[];
  /** A block was begun and not ended: what would be run might be half of what was meant. */
  readonly open: boolean;
  /** The text without the blocks of commands. */
  readonly words: string;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)$/;
const SHELLS = /^(?:bash|sh|shell)(?:\s|$)/i;
const TIMEOUT = /\btimeout=(\d{1,3})\b/;
/** How some models think aloud before they answer: what stands there is no part of the answer. */
const THOUGHT = /^\s*<think(?:ing)?>[\s\S]*?<\/think(?:ing)?>/i;

/** All commands of `text`, and what is around them. */
export function fencesIn(text: string): Fences {
  const commands: Fenced[] = [];
  const words: string[] = [];
  let block: Block | null = null;
  for (const line of text.replace(THOUGHT, '').split(/\r?\n/)) {
    if (block === null) block = opened(line);
    else if (closes(line, block)) {
      if (block.shell) commands.push({ command: block.lines.join('\n'), timeout: block.timeout });
      else words.push(block.first, ...block.lines, line);
      block = null;
      continue;
    } else block.lines.push(line);
    if (block === null) words.push(line);
  }
  return { commands, open: block !== null, words: words.join('\n').trim() };
}

interface Block {
  readonly fence: string;
  readonly first: string;
  readonly shell: boolean;
  readonly timeout: number | null;
  readonly lines: string[];
}

function opened(line: string): Block | null {
  const [, fence, rest = ''] = FENCE.exec(line) ?? [];
  // A line with more backticks behind its fence is code in a sentence.
  if (fence === undefined || (fence.startsWith('`') && rest.includes('`'))) return null;
  const mark = rest.trim();
  const timeout = TIMEOUT.exec(mark)?.[1];
  const seconds = timeout === undefined ? null : Math.min(600, Math.max(1, Number(timeout)));
  return { fence, first: line, shell: SHELLS.test(mark), timeout: seconds, lines: [] };
}

const closes = (line: string, { fence }: Block): boolean => {
  const [, end, rest = ''] = FENCE.exec(line) ?? [];
  return end !== undefined && end[0] === fence[0] && end.length >= fence.length && rest.trim() === '';
};

/** `command` as a block of its own, with a fence that nothing in it closes. */
export function fenced(command: string): string {
  const longest = Math.max(2, ...[...command.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}bash\n${command}\n${fence}`;
}
