/**
 * The protocol of agents whose model has no tool calls: one command a turn, in a fenced block of its text. Here a
 * conversation becomes text, and a reply becomes a call of `bash`; which agents speak so is the gate's to say. Pure.
 */
import { CallId } from '../../../domain/ids.ts';
import type { Json, ModelReply, ToolCall, ToolResult, Turn } from '../../../domain/turn.ts';
import { firstLineEchoed, isHereDocOpen } from '../../../policy/commands/echo.ts';

/** The only tool there is in this protocol. */
export const SHELL = 'bash';
/** Calls that were read out of a text, so that the log says which: no other call's id begins like this. */
const OWN = 'text_';

export const isOwn = ({ id, tool }: ToolCall): boolean => tool === SHELL && id.startsWith(OWN);

/** An id of somebody else's making that looks like one of these is none. */
export const notOwn = (id: CallId): CallId => (id.startsWith(OWN) ? CallId.parse(`model_${id}`.slice(0, 200)) : id);

/**
 * The reply as the engine takes it: exactly one call, or the end (`[COMPLETE]`, D9). What has no command, or several, is a call as
 * well, one that is answered with what was wrong. `asked` is the id of the call of the model.
 */
export function readReply(reply: ModelReply, asked: CallId): ModelReply {
  const { opaque: _, ...plain } = reply;
  // A server may make up calls of tools that it was not given: they are no part of this protocol.
  if (reply.stopReason === 'output limit' || reply.stopReason === 'refused') return { ...plain, calls: [] };
  const input = inputOf(reply.text);
  if (input === null) return { ...plain, calls: [], stopReason: 'end' };
  return { ...plain, calls: [{ id: CallId.parse(`${OWN}${asked}`), tool: SHELL, input }], stopReason: 'tool use' };
}

/** Null: it is at its end. */
function inputOf(text: string): Json | null {
  const { commands, open } = fencesIn(text);
  const [one] = commands;
  if (open) return problem('no end');
  if (commands.length > 1) return problem('several commands');
  if (one === undefined || one.command.trim() === '') return ENDED.test(text) ? null : problem('no command');
  if (isHereDocOpen(one.command)) return problem('no end');
  return { command: one.command, ...(one.timeout === null ? {} : { timeout: one.timeout }) };
}

const ENDED = /(?:^|\n)\s*\[(?:COMPLETE|DONE)\]\s*$/;
const problem = (is: Unread): Json => ({ problem: is });

/** Why the reply that this call stands for could not be carried out; null for any other call. */
export function unreadIn(call: ToolCall): Unread | null {
  const said = isOwn(call) ? textField(call.input, 'problem') : null;
  return said === null || !isUnread(said) ? null : said;
}
const isUnread = (said: string): said is Unread => Object.hasOwn(UNREAD, said);

const commandOf = ({ input }: ToolCall): string | null => textField(input, 'command');

function textField(input: Json, key: string): string | null {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return null;
  const value = Object.entries(input).find(([name]) => name === key)?.[1];
  return typeof value === 'string' ? value : null;
}

/** Does the command of this call begin with a marker, so that what it prints may be more than output? */
export const mayMark = (call: ToolCall): boolean => isOwn(call) && markerOf(commandOf(call) ?? '') !== null;

/** What the command of `call` asks for, now that it has ended. */
export function asksFor(call: ToolCall, result: Pick<ToolResult, 'ok' | 'text'>): Marked | null {
  const command = isOwn(call) ? commandOf(call) : null;
  return command === null ? null : markedBy(command, result);
}

/** How many replies in a row could not be carried out, up to the end of `turns`. */
export function unreadInARow(turns: readonly Turn[]): number {
  const replies = turns.flatMap((turn) =>
    turn.by === 'model' ? [turn.calls.some((call) => unreadIn(call) !== null)] : [],
  );
  return replies.length - 1 - replies.lastIndexOf(false);
}

/** What an agent handed over with its final output; null where `turn` and the results after it are nothing of the kind. */
export function finalOutput(turn: Turn, next: Turn | undefined): string | null {
  if (turn.by !== 'model' || next?.by !== 'tools') return null;
  const [call, more] = turn.calls;
  const result = next.results.find((one) => one.call === call?.id);
  if (call === undefined || more !== undefined || result === undefined) return null;
  const marked = asksFor(call, result);
  if (marked?.is !== 'final') return null;
  return marked.text === '' ? fencesIn(turn.text).words : marked.text;
}

/** The final output that the agent has ended by, nothing having been said since; null when it has not ended so. */
export const handedOver = (turns: readonly Turn[]): string | null => {
  const before = turns.at(-2);
  return before === undefined ? null : finalOutput(before, turns.at(-1));
};

/** The conversation as text, turn for turn: calls of tools and their results, of whichever model, in words. */
export const textTurns = (turns: readonly Turn[]): readonly Turn[] =>
  turns.map((turn, at): Turn => {
    if (turn.by === 'user') return turn;
    const before = turns[at - 1];
    if (turn.by === 'tools')
      return { by: 'user', text: resultsText(turn.results, before?.by === 'model' ? before.calls : []) };
    const others = turn.calls.filter((call) => !isOwn(call)).map(callText);
    return { by: 'model', text: [turn.text, ...others].filter((part) => part !== '').join('\n\n'), calls: [] };
  });

/** A call of a model that has tool calls, which went on before or after. */
function callText(call: ToolCall): string {
  const command = call.tool === SHELL ? commandOf(call) : null;
  return command === null ? `(used ${call.tool}: ${JSON.stringify(call.input)})` : fenced(command);
}

function resultsText(results: readonly ToolResult[], calls: readonly ToolCall[]): string {
  const parts = results.map(({ call: id, text }) => {
    const call = calls.find((one) => one.id === id);
    if (call === undefined || unreadIn(call) !== null) return text;
    return `${call.tool === SHELL ? 'Result of the command' : `Result of ${call.tool}`}:\n\n${text}`;
  });
  return parts.join('\n\n');
}

// The markers of the text protocol. One counts only where the agent's own command begins with an
// `echo` (or `printf`) of it and the output begins with the same line: no printed file, no tool, nobody else can set one off. Pure.

export type Marked =
  | { readonly is: 'spawn'; readonly name: string | null; readonly task: string }
  | { readonly is: 'finding'; readonly task: string; readonly from: number }
  | { readonly is: 'final'; readonly text: string };

const NAME = String.raw`[\p{L}\p{N}][\p{L}\p{N} ._-]{0,59}`;
/** As `read_finding` takes them: the task or its agent, and the character to begin with. */
const FINDING = String.raw`READ_FINDING::(#?[\p{L}\p{N}][\p{L}\p{N}:._-]{0,199})(?: from (\d{1,9}))?`;
const MARKER = new RegExp(`^(?:MIMIR|MINI_SWE_AGENT)_(?:(SPAWN_CHILD)(?:::(${NAME}))?|${FINDING}|FINAL_OUTPUT)$`, 'u');

/** The marker that `command` begins with, as it is written; null: it begins otherwise, and nothing that it prints is one. */
function markerOf(command: string): string | null {
  const line = firstLineEchoed(command)?.trimEnd() ?? '';
  return MARKER.test(line) ? line : null;
}

/** What bash says of a command that ended well, before the output. */
const ENDED_WELL = /^exit code 0 after [^\n]*(?:\n|$)/;

/** What a command that has ended asks for: null, as nearly always, nothing but that its output is read. */
function markedBy(command: string, result: { readonly ok: boolean; readonly text: string }): Marked | null {
  const marker = markerOf(command);
  if (marker === null || !result.ok || !ENDED_WELL.test(result.text)) return null;
  const rest = afterMarker(result.text.replace(ENDED_WELL, ''), marker);
  if (rest === null) return null;
  const [, spawn, name, task, from] = MARKER.exec(marker) ?? [];
  if (task !== undefined) return { is: 'finding', task, from: Number(from ?? 0) };
  return spawn === undefined ? { is: 'final', text: rest } : { is: 'spawn', name: nameOf(name), task: rest };
}

const nameOf = (written: string | undefined): string | null => written?.trim() ?? null;

/** Everything behind the first line, when that is the marker. */
function afterMarker(output: string, marker: string): string | null {
  if (!output.startsWith(marker)) return null;
  const rest = output.slice(marker.length);
  const end = /^[ \t\r]*(?:\n|$)/.exec(rest);
  if (end !== null) return rest.slice(end[0].length).trim();
  // `echo "MARKER\ntask"`: bash leaves the sign for a line's end as it is, other shells don't.
  return rest.startsWith('\\n') ? rest.replaceAll('\\n', '\n').trim() : null;
}

// The commands in a reply of the text protocol: fenced blocks that are marked `bash`. Fences are read as CommonMark has them. Pure.

interface Fenced {
  readonly command: string;
  /** Seconds, as `timeout=300` behind `bash` says; null: nothing was said. */
  readonly timeout: number | null;
}

interface Fences {
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

// The words of the text protocol: what an agent is told of it, and what it is told when a reply could not be read.

/** Why a reply could not be carried out. */
type Unread = 'no command' | 'several commands' | 'no end';

const FORM = 'one block that begins with a line ```bash and ends with a line ```';

/** To the model, as the result of such a reply: short, and with the way on. */
export const UNREAD: Readonly<Record<Unread, string>> = {
  'no command': `Nothing was run: your reply holds no command. Reply with exactly ${FORM}. If you are done, say so with MIMIR_FINAL_OUTPUT, or end your reply with a line [COMPLETE].`,
  'several commands': `Nothing was run: your reply holds several commands. Reply with exactly ${FORM}; put several steps into one command with && or on lines of the same block.`,
  'no end': `Nothing was run: the command in your reply has no end. Reply with exactly ${FORM}. If the command itself holds a line of three backticks, begin and end the block with four.`,
};

/** That many replies in a row without a command that can be run, and the agent is at its end. */
export const MOST_UNREAD = 3;
export const GIVEN_UP = `The last ${MOST_UNREAD} replies of the model did not hold exactly one command (protocol: text)`;

interface Wording {
  /** Where its commands run. */
  readonly box: 'none' | 'read-only' | 'read-write';
  /** Names of roles that a child may have; empty: it can't spawn. */
  readonly children: readonly string[];
  /** Can it read what finished tasks have answered? */
  readonly findings: boolean;
}

/** The section of the system prompt. It takes back what is said of tools before it. */
export const protocolWords = ({ box, children, findings }: Wording): string =>
  [
    OPENING,
    `${COMMANDS}${BOXES[box]}`,
    ENDING,
    ...(findings ? [FINDINGS] : []),
    ...(children.length === 0 ? [] : [spawning(children)]),
  ].join('\n\n');

const OPENING = `## How you act: one command a turn

You have no tools that can be called. What is said above of tools (\`read_file\`, \`search\`, \`update_todos\`, \`ask_user\`, \`Task\` …) does
not hold for you: you read, search and change files by commands of the shell, and by nothing else.

Each reply is a sentence or two on what you are about to do and why, then exactly one block with one command:

\`\`\`bash
grep -rn "parseConfig" src | head -40
\`\`\``;

const COMMANDS = `- Exactly one such block in each reply: with none or with several nothing is run. Several steps go into one block, joined by \`&&\`.
- Each command is a fresh shell in the same folder: \`cd\` and variables do not last, files do. There is no standard input and no
  terminal: nothing may ask, page or open an editor. A command is ended after 120 seconds; \`\`\`bash timeout=600 gives it 600.
- You get its exit code and its output as the next message. Long output is cut: look at parts (\`sed -n 1,80p FILE\`), not at whole trees.
- Write a file with \`cat > FILE <<'END'\` … \`END\`. If what you write holds a line of three backticks, begin and end your block with four.`;

const BOXES: Readonly<Record<Wording['box'], string>> = {
  none: '',
  'read-only': '\n- Commands run in a box without network in which nothing of the project can be changed.',
  'read-write':
    '\n- Commands run in a box without network. Only the project can be written, but not .git and .mimir; /tmp is your own and stays until you have ended; HOME is empty each time, but for caches of packages and builds.',
};

const ENDING = `How you end, whatever is said of it above: with a command that begins with an echo of MIMIR_FINAL_OUTPUT. What
it prints below that line is your result, all that anyone sees of your work:

\`\`\`bash
echo MIMIR_FINAL_OUTPUT; cat <<'END'
The answer first, then the evidence, each with its path:line.
END
\`\`\`

Or without a command: a reply that is your result, with [COMPLETE] as its last line.`;

const FINDINGS = `Where a finding of another task is cut, you get the rest (what is called \`read_finding\` there) as the output of a command that
is an echo of MIMIR_READ_FINDING, the task or its agent, and the character to begin with:

\`\`\`bash
echo "MIMIR_READ_FINDING::ROOT::S2 from 6000"
\`\`\``;

const spawning = (roles: readonly string[]): string =>
  `You can hand a part to a child, when that part stands on its own: with a command that begins with an echo of MIMIR_SPAWN_CHILD. What it
prints below that line is the child's task. The child starts afresh and knows nothing else, so say all that it needs; what it ends
with is what you get as the output of your command:

\`\`\`bash
echo MIMIR_SPAWN_CHILD; cat <<'END'
Find every place that reads the configuration. Answer with a list of path:line, one sentence each.
END
\`\`\`

\`MIMIR_SPAWN_CHILD::NAME\` gives it a name. A name that is one of these roles gives it that role: ${roles.join(', ')}.`;
