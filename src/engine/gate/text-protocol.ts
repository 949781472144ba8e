/** The text protocol, for agents whose model has no tool calls: one command per turn, in a fenced block of its reply.
 * Turns conversations into text and replies into calls of `bash`. Pure, except for the last section. */
import type { WorkOrder } from '../../domain/agents/agent.ts';
import { sandboxFor } from '../../domain/agents/role.ts';
import { CallId, depthOf, providerOf } from '../../domain/ids.ts';
import type { ModelOption } from '../../domain/plan/plan.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import { ownField } from '../../domain/text/text.ts';
import type { Json, ModelReply, ToolCall, ToolResult, Turn } from '../../domain/turn.ts';
import { isForced } from '../../events/index.ts';
import { OFFLINE } from '../../policy/index.ts';
import { firstLineEchoed, isHereDocOpen } from '../../policy/commands/words.ts';
import type { ModelRequest } from '../../ports/model.ts';
import type { Tool, ToolContext, ToolPort } from '../../ports/tool.ts';
import type { AskFault, Question, RunContext } from './context.ts';

const SHELL = 'bash';
/** Prefix of the ids of calls that were parsed from text; ids of other calls never begin with it. */
const PREFIX = 'text_';

export const isTextCall = ({ id, tool }: ToolCall): boolean => tool === SHELL && id.startsWith(PREFIX);

/** Renames a foreign call id that begins with the prefix. */
export const withoutPrefix = (id: CallId): CallId =>
  id.startsWith(PREFIX) ? CallId.parse(`model_${id}`.slice(0, 200)) : id;

/** The reply as the engine takes it: exactly one call, or the end (`[COMPLETE]`). A reply without a command or with
 * several becomes a call that is answered with the fault. `asked` is the id of the model call. */
export function readReply(reply: ModelReply, asked: CallId): ModelReply {
  const { opaque: _, ...plain } = reply;
  // Tool calls that a server invents are not part of this protocol.
  if (reply.stopReason === 'output limit' || reply.stopReason === 'refused') return { ...plain, calls: [] };
  const input = inputOf(reply.text);
  if (input === null) return { ...plain, calls: [], stopReason: 'end' };
  return { ...plain, calls: [{ id: CallId.parse(`${PREFIX}${asked}`), tool: SHELL, input }], stopReason: 'tool use' };
}

/** The input of the call; null when the reply ends the work. */
function inputOf(text: string): Json | null {
  const { commands, open } = fencesIn(text);
  const [block] = commands;
  if (open) return problem('no end');
  if (commands.length > 1) return problem('several commands');
  if (block === undefined || block.command.trim() === '') return ENDED.test(text) ? null : problem('no command');
  if (isHereDocOpen(block.command)) return problem('no end');
  return { command: block.command, ...(block.timeout === null ? {} : { timeout: block.timeout }) };
}

const ENDED = /(?:^|\n)\s*\[(?:COMPLETE|DONE)\]\s*$/;
const problem = (is: Unreadable): Json => ({ problem: is });

/** Why the reply behind this call could not be carried out; null for any other call. */
export function unreadableReason(call: ToolCall): Unreadable | null {
  const reason = isTextCall(call) ? textField(call.input, 'problem') : null;
  return reason === null || !isUnreadable(reason) ? null : reason;
}
const isUnreadable = (reason: string): reason is Unreadable => Object.hasOwn(UNREADABLE, reason);
const commandOf = ({ input }: ToolCall): string | null => textField(input, 'command');

function textField(input: Json, key: string): string | null {
  const value = ownField(input, key);
  return typeof value === 'string' ? value : null;
}

/** Whether the call's command begins with a marker, so that its output may be more than output. */
export const hasMarker = (call: ToolCall): boolean => isTextCall(call) && markerOf(commandOf(call) ?? '') !== null;

/** What the finished command of `call` asks for by its marker; null for ordinary commands. */
export function markerRequest(call: ToolCall, result: Pick<ToolResult, 'ok' | 'text'>): Marked | null {
  const command = isTextCall(call) ? commandOf(call) : null;
  return command === null ? null : markerResult(command, result);
}

/** The number of replies at the end of `turns` that could not be carried out, without one in between that could. */
export function unreadableInARow(turns: readonly Turn[]): number {
  const replies = turns.flatMap((turn) =>
    turn.by === 'model' ? [turn.calls.some((call) => unreadableReason(call) !== null)] : [],
  );
  return replies.length - 1 - replies.lastIndexOf(false);
}

/** The agent's final output; null where `turn` and the results after it hold none. */
export function finalOutput(turn: Turn, next: Turn | undefined): string | null {
  if (turn.by !== 'model' || next?.by !== 'tools') return null;
  const [call, more] = turn.calls;
  const result = next.results.find((one) => one.call === call?.id);
  if (call === undefined || more !== undefined || result === undefined) return null;
  const marked = markerRequest(call, result);
  if (marked?.is !== 'final') return null;
  return marked.text === '' ? fencesIn(turn.text).words : marked.text;
}

/** The final output that ended the agent; null when it did not end that way, or something followed. */
export const lastFinalOutput = (turns: readonly Turn[]): string | null => {
  const before = turns.at(-2);
  return before === undefined ? null : finalOutput(before, turns.at(-1));
};

/** The conversation as text, turn for turn. Tool calls of other models and their results are written out. */
export const textTurns = (turns: readonly Turn[]): readonly Turn[] =>
  turns.map((turn, at): Turn => {
    if (turn.by === 'user') return turn;
    const before = turns[at - 1];
    if (turn.by === 'tools')
      return { by: 'user', text: resultsText(turn.results, before?.by === 'model' ? before.calls : []) };
    const toolCalls = turn.calls.filter((call) => !isTextCall(call)).map(callText);
    return { by: 'model', text: [turn.text, ...toolCalls].filter((part) => part !== '').join('\n\n'), calls: [] };
  });

/** A tool call from before or after the agent used a model with tool calls. */
function callText(call: ToolCall): string {
  const command = call.tool === SHELL ? commandOf(call) : null;
  return command === null ? `(used ${call.tool}: ${JSON.stringify(call.input)})` : fenced(command);
}

function resultsText(results: readonly ToolResult[], calls: readonly ToolCall[]): string {
  const parts = results.map(({ call: id, text }) => {
    const call = calls.find((one) => one.id === id);
    if (call === undefined || unreadableReason(call) !== null) return text;
    return `${call.tool === SHELL ? 'Result of the command' : `Result of ${call.tool}`}:\n\n${text}`;
  });
  return parts.join('\n\n');
}

// Markers of the text protocol. A marker counts only where the agent's own command begins with an `echo` (or `printf`)
// of it and the output begins with the same line, so that no printed file can trigger one. Pure.

export type Marked =
  | { readonly is: 'spawn'; readonly name: string | null; readonly task: string }
  | { readonly is: 'finding'; readonly task: string; readonly from: number }
  | { readonly is: 'final'; readonly text: string };

const NAME = String.raw`[\p{L}\p{N}][\p{L}\p{N} ._-]{0,59}`;
/** The arguments of `read_finding`: the task or its agent, and the first character. */
const FINDING = String.raw`READ_FINDING::(#?[\p{L}\p{N}][\p{L}\p{N}:._-]{0,199})(?: from (\d{1,9}))?`;
const MARKER = new RegExp(`^(?:MIMIR|MINI_SWE_AGENT)_(?:(SPAWN_CHILD)(?:::(${NAME}))?|${FINDING}|FINAL_OUTPUT)$`, 'u');

/** The marker that `command` begins with, as written; null when it begins with none. */
function markerOf(command: string): string | null {
  const line = firstLineEchoed(command)?.trimEnd() ?? '';
  return MARKER.test(line) ? line : null;
}

/** The line that the bash tool puts before the output of a successful command. */
const ENDED_WELL = /^exit code 0 after [^\n]*(?:\n|$)/;

/** What a finished command asks for by its marker; null when its output is only read. */
function markerResult(command: string, result: { readonly ok: boolean; readonly text: string }): Marked | null {
  const marker = markerOf(command);
  if (marker === null || !result.ok || !ENDED_WELL.test(result.text)) return null;
  const rest = afterMarker(result.text.replace(ENDED_WELL, ''), marker);
  if (rest === null) return null;
  const [, spawn, name, task, from] = MARKER.exec(marker) ?? [];
  if (task !== undefined) return { is: 'finding', task, from: Number(from ?? 0) };
  return spawn === undefined ? { is: 'final', text: rest } : { is: 'spawn', name: nameOf(name), task: rest };
}

const nameOf = (written: string | undefined): string | null => written?.trim() ?? null;

/** The output after its first line, when that line is the marker; otherwise null. */
function afterMarker(output: string, marker: string): string | null {
  if (!output.startsWith(marker)) return null;
  const rest = output.slice(marker.length);
  const end = /^[ \t\r]*(?:\n|$)/.exec(rest);
  if (end !== null) return rest.slice(end[0].length).trim();
  // For `echo "MARKER\ntask"`, bash prints the escape sequence itself; other shells print a line break.
  return rest.startsWith('\\n') ? rest.replaceAll('\\n', '\n').trim() : null;
}

// The commands of a reply: fenced blocks marked `bash`, parsed as in CommonMark. Pure.

interface Fenced {
  readonly command: string;
  /** Seconds, from `timeout=300` after `bash`; null where it is missing. */
  readonly timeout: number | null;
}

interface Fences {
  readonly commands: readonly Fenced[];
  /** The last block has no end, so its command may be incomplete. */
  readonly open: boolean;
  readonly words: string;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)$/;
const SHELLS = /^(?:bash|sh|shell)(?:\s|$)/i;
const TIMEOUT = /\btimeout=(\d{1,3})\b/;
/** Some models put their reasoning before the answer in this form; it is not part of the answer. */
const THOUGHT = /^\s*<think(?:ing)?>[\s\S]*?<\/think(?:ing)?>/i;

/** The commands of `text`, and the text around them. */
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
  // A line with more backticks after its fence is inline code.
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

/** `command` in a fence that nothing in it closes. */
export function fenced(command: string): string {
  const longest = Math.max(2, ...[...command.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}bash\n${command}\n${fence}`;
}

type Unreadable = 'no command' | 'several commands' | 'no end';
const FORM = 'one block that begins with a line ```bash and ends with a line ```';

/** Sent to the model as the result of such a reply. */
export const UNREADABLE: Readonly<Record<Unreadable, string>> = {
  'no command': `Nothing was run: your reply holds no command. Reply with exactly ${FORM}. If you are done, say so with MIMIR_FINAL_OUTPUT, or end your reply with a line [COMPLETE].`,
  'several commands': `Nothing was run: your reply holds several commands. Reply with exactly ${FORM}; put several steps into one command with && or on lines of the same block.`,
  'no end': `Nothing was run: the command in your reply has no end. Reply with exactly ${FORM}. If the command itself holds a line of three backticks, begin and end the block with four.`,
};

/** After this many replies in a row without a command that can be run, the agent fails. */
const MOST_UNREADABLE = 3;
const GIVEN_UP = `The last ${MOST_UNREADABLE} replies of the model did not hold exactly one command (protocol: text)`;

interface ProtocolOptions {
  readonly sandbox: 'none' | 'read-only' | 'read-write';
  /** Roles that a child may have; empty when the agent cannot spawn. */
  readonly children: readonly string[];
  /** Whether it can read the answers of finished tasks. */
  readonly findings: boolean;
}

/** The section of the system prompt about the protocol. It overrides what the prompt says about tools before it. */
export const protocolPrompt = ({ sandbox, children, findings }: ProtocolOptions): string =>
  [
    OPENING,
    `${COMMANDS}${SANDBOXES[sandbox]}`,
    ENDING,
    ...(findings ? [FINDINGS] : []),
    ...(children.length === 0 ? [] : [spawning(children)]),
  ].join('\n\n');

const OPENING = `## How you act: one command a turn

You cannot call tools. The tools named above (\`read_file\`, \`search\`, \`update_todos\`, \`ask_user\`, \`Task\` …) do not exist for
you: you read, search and change files with shell commands only.

Each reply says in one or two sentences what you are about to do and why, followed by exactly one block with one command:

\`\`\`bash
grep -rn "parseConfig" src | head -40
\`\`\``;

const COMMANDS = `- Each reply has exactly one such block; with none or several, nothing is run. Join several steps in one block with \`&&\`.
- Each command is a fresh shell in the same folder: \`cd\` and variables do not last, files do. There is no standard input and no
  terminal: a command must not ask, page or open an editor. It is stopped after 120 seconds; \`\`\`bash timeout=600 gives it 600.
- You get its exit code and its output as the next message. Long output is cut: look at parts (\`sed -n 1,80p FILE\`), not at whole trees.
- Write a file with \`cat > FILE <<'END'\` … \`END\`. If what you write holds a line of three backticks, begin and end your block with four.`;

const SANDBOXES: Readonly<Record<ProtocolOptions['sandbox'], string>> = {
  none: '',
  'read-only': '\n- Commands run in a sandbox without network, and cannot change the project.',
  'read-write':
    '\n- Commands run in a sandbox without network. Only the project can be written, but not .git and .mimir; /tmp is your own and stays until you have ended; HOME is empty each time, but for caches of packages and builds.',
};

const ENDING = `How you end (instead of what is said above): with a command that begins with an echo of MIMIR_FINAL_OUTPUT. The text that
it prints below that line is your result, and all that others see of your work:

\`\`\`bash
echo MIMIR_FINAL_OUTPUT; cat <<'END'
The answer first, then the evidence, each with its path:line.
END
\`\`\`

Or without a command: a reply that is your result, with [COMPLETE] as its last line.`;

const FINDINGS = `If a finding of another task is cut (its text mentions \`read_finding\`), get the rest with a command that echoes
MIMIR_READ_FINDING, the task or its agent, and the character to start from:

\`\`\`bash
echo "MIMIR_READ_FINDING::ROOT::S2 from 6000"
\`\`\``;

const spawning = (roles: readonly string[]): string =>
  `You can give a self-contained part to a child agent, with a command that begins with an echo of MIMIR_SPAWN_CHILD. The text that it
prints below that line is the child's task. The child knows nothing else, so include all that it needs. Its result is the output
of your command:

\`\`\`bash
echo MIMIR_SPAWN_CHILD; cat <<'END'
Find every place that reads the configuration. Answer with a list of path:line, one sentence each.
END
\`\`\`

\`MIMIR_SPAWN_CHILD::NAME\` gives it a name. A name that is one of these roles gives it that role: ${roles.join(', ')}.`;

type Query = Pick<Question, 'order' | 'purpose' | 'closing'>;
type TextParts = Pick<RunContext, 'recorder' | 'rules'> & { readonly tools: ToolPort };

/** Decided by the role, or by the present model: an agent that falls back to a model of the other kind changes its
 * protocol. The offline analyst always uses tool calls. */
const usesText = ({ protocol }: WorkOrder, model: Pick<ModelOption, 'id' | 'protocol'>): boolean =>
  (protocol === 'text' && model.id !== OFFLINE) || model.protocol === 'text';

/** Whether the agent can continue with `model`: by tool calls, or by text where it has a shell. */
export const canUseModel = (order: WorkOrder, model: ModelOption): boolean =>
  usesText(order, model) ? order.tools.includes(SHELL) : model.tools !== false;

/** Plans, reports and summaries are text in either protocol. */
const isWork = ({ purpose }: Query): boolean => purpose === undefined || purpose.is === 'work';

/** The roles that the prompt offers for children; other role names work too. */
const CHILDREN = ['code', 'explore', 'plan'];

/** The request as sent: unchanged for models with tool calls, otherwise text only, without tools. */
export function encodeRequest(
  parts: TextParts,
  question: Query,
  model: ModelOption,
  draft: ModelRequest,
): ModelRequest {
  const { order } = question;
  if (!usesText(order, model)) return draft;
  const turns = textTurns(draft.turns);
  // A compaction request keeps the system prompt of the conversation, so that the provider's cache still applies.
  if (!isWork(question) && draft.purpose.is !== 'compact') return { ...draft, tools: [], turns };
  const { tools } = parts;
  const maySpawn = taskToolOf(tools, order) !== undefined && depthOf(order.agent) < parts.rules().maxNestingDepth.value;
  const words = protocolPrompt({
    sandbox: sandboxOf(tools, order),
    children: maySpawn ? CHILDREN : [],
    findings: findingToolOf(tools, order) !== undefined,
  });
  return { ...draft, system: `${draft.system}\n\n${words}`, tools: [], turns };
}

/** The reply as the engine takes it. `call` is the id of the model call. */
export function decodeReply(question: Query, model: ModelOption, call: CallId, reply: ModelReply): ModelReply {
  const { order, closing } = question;
  const own = reply.calls.map((one) => ({ ...one, id: withoutPrefix(one.id) }));
  if (!usesText(order, model)) return { ...reply, calls: uniqueCalls(own) };
  // A closing answer is its text; a command in it is not run.
  if (closing) return { ...reply, calls: [], stopReason: reply.stopReason === 'tool use' ? 'end' : reply.stopReason };
  return isWork(question) ? readReply(reply, call) : { ...reply, calls: [] };
}

/** Refuses an agent that cannot work by text: one without a shell, and a reviewer, whose verdict is a tool call. */
export function checkProtocol(parts: TextParts, question: Query, model: ModelOption): Result<null, AskFault> {
  const { order } = question;
  if (!isWork(question) || !usesText(order, model)) return ok(null);
  const cause = textSetting(order, model);
  if (isForced(parts.recorder.state(), order.agent))
    return fail({
      is: 'denied',
      text: `${cause}, but a reviewer needs tool calls for its verdict`,
    });
  if (order.tools.includes(SHELL)) return ok(null);
  const noBox = parts.tools.sandbox.is === 'none' && !order.capabilities.includes('write');
  const why = noBox ? 'the role is read-only, and there is no sandbox for its shell' : 'give it bash_execution';
  const text = `${cause}: its agents need a shell, and role ${order.role} has none here (${why}); or use a model with tool calls`;
  return fail({ is: 'denied', text });
}

const textSetting = ({ protocol, role }: WorkOrder, { id }: ModelOption): string =>
  protocol === 'text' ? `role ${role} has protocol: text` : `${id} has protocol: text (providers.${providerOf(id)})`;

/** The reply, or a fault after too many replies in a row without a runnable command. */
export function limitUnreadable(question: Question, reply: ModelReply): Result<ModelReply, AskFault> {
  const { text, calls } = reply;
  const unread = isWork(question) ? unreadableInARow([...question.turns, { by: 'model', text, calls }]) : 0;
  return unread < MOST_UNREADABLE ? ok(reply) : fail({ is: 'model', text: GIVEN_UP });
}

/** The tool that permits the agent's children; undefined where it cannot spawn. */
export const taskToolOf = ({ tools }: ToolPort, order: WorkOrder): Tool | undefined =>
  tools.find(({ name, capability }) => capability === 'spawn' && order.tools.includes(name));

/** The tool that reads findings; undefined where the agent has none to read. */
export const findingToolOf = ({ tools }: ToolPort, order: WorkOrder): Tool | undefined =>
  tools.find(({ name }) => name === 'read_finding' && order.tools.includes(name));

export const sandboxOf = ({ sandbox }: ToolPort, { capabilities }: WorkOrder): ToolContext['sandbox'] =>
  sandbox.is === 'none' ? 'none' : sandboxFor(capabilities);

/** Gives repeated call ids in one reply an id of their own. */
function uniqueCalls(calls: readonly ToolCall[]): readonly ToolCall[] {
  const seen = new Set<CallId>();
  return calls.map((call) => {
    let id = call.id;
    for (let n = 2; seen.has(id); n += 1) id = CallId.parse(`${call.id}-${n}`);
    seen.add(id);
    return id === call.id ? call : { ...call, id };
  });
}
