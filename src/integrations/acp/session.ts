/** The conversation with one foreign agent as replies of a model: what it asks and tells while it works on a prompt becomes calls of Mimir's own tools
 * (todos, permissions, what it did), so that rules, approvals, log and screens treat it like any other agent. Its last message is the answer. */
import type { RequestPermissionRequest, RequestPermissionResponse, SessionUpdate } from '@agentclientprotocol/sdk';
import type { StopReason } from '@agentclientprotocol/sdk';
import { NO_USAGE, type Usage } from '../../domain/budget.ts';
import type { Json, Turn } from '../../domain/turn.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import { headOf } from '../../domain/text/text.ts';
import type { Delta } from '../../ports/model.ts';
import type { World } from '../../ports/world.ts';
import type { AgentEvents, Connection } from './connection.ts';

/** A call of one of Mimir's tools, without its id. */
export interface AgentCall {
  readonly tool: 'update_todos' | 'agent_command' | 'agent_edit' | 'agent_did' | 'ask_user';
  readonly input: Json;
}

/** What the agent has to say now: calls that need a result before it goes on, or its answer. */
export interface AgentReply {
  readonly text: string;
  readonly calls: readonly AgentCall[];
  /** Null while it goes on. */
  readonly stopReason: StopReason | null;
  /** US dollars since the last reply, if the agent tells its cost. */
  readonly cost: number | null;
  /** Tokens since the last reply; zero where the agent tells none. */
  readonly usage: Usage;
}

type ToolUpdate = Extract<SessionUpdate, { sessionUpdate: 'tool_call' | 'tool_call_update' }>;

interface Asked {
  readonly call: AgentCall;
  answer(isAllowed: boolean, text: string): void;
}

/** So many calls are told at once: Mimir carries out at most 16 of one reply. */
const MOST_CALLS = 15;
/** What the agent did is told when so much has been done, or with the next thing that it asks. */
const DONE_TOGETHER = 8;
/** How long a cancelled turn may take to end; then its process is ended. */
const CANCEL_MS = 10_000;

export class AgentSession implements AgentEvents {
  readonly #world: Pick<World, 'sleep'>;
  #connection: Connection | null = null;
  #prompt: Promise<void> | null = null;
  #stopReason: StopReason | null = null;
  /** Why its process can no longer be used. */
  fault: string | null = null;
  /** Of the agent's session. */
  id = '';
  /** Messages of the person and of other agents, which are its next prompt. */
  readonly #messages: string[] = [];
  readonly #permissions: Asked[] = [];
  readonly #asked = new Map<string, Asked>();
  readonly #done: string[] = [];
  readonly #titles = new Map<string, string>();
  #todos: AgentCall | null = null;
  #text = '';
  /** What it answered to earlier prompts than the present one. */
  #answers: string[] = [];
  /** What it said before its last act, and whether that was told already. */
  #earlier = '';
  #isTold = true;
  #isClosing = false;
  #isCancelled = false;
  #news: string | null = null;
  /** How many turns of the conversation it has had. */
  #taken = 0;
  #cost: number | null = null;
  #toldCost = 0;
  #used = NO_USAGE;
  #toldUsed = NO_USAGE;
  #changed = Promise.withResolvers<void>();
  #show: (delta: Delta) => void = () => undefined;

  constructor(world: Pick<World, 'sleep'>) {
    this.#world = world;
  }

  /** `news` is told of it before anything else, so that the session is known; `prompt` is its first prompt, in place of these turns. */
  begin(connection: Connection, news: string, prompt: string, turns: readonly Turn[]): void {
    this.#connection = connection;
    this.id = connection.session;
    this.#news = news;
    this.#messages.push(prompt);
    this.#taken = turns.length;
    void connection.lost.then((why) => this.#lose(why));
  }

  /** Takes the turns that it has not had: results of calls answer permissions, messages are its next prompt. */
  take(turns: readonly Turn[]): void {
    for (const turn of turns.slice(this.#taken)) {
      if (turn.by === 'user') this.#messages.push(turn.text);
      if (turn.by !== 'tools') continue;
      for (const { call, ok: isAllowed, text } of turn.results) {
        this.#asked.get(call)?.answer(isAllowed, text);
        this.#asked.delete(call);
      }
    }
    this.#taken = turns.length;
  }

  /** Ends the present turn and asks for an answer by `text`: nothing else can be asked or told any more. */
  close(text: string): void {
    this.#cancel();
    this.#isClosing = true;
    this.#messages.push(text);
  }

  /** Resolves when the agent has something to say: at most 15 calls, whose ids `idOf` gives, or its answer. A fault, in words, where
   * its process is lost. Aborting `signal` cancels the agent's turn and resolves with null within a second. */
  async reply(
    signal: AbortSignal,
    show: (delta: Delta) => void,
    idOf: (index: number) => string,
  ): Promise<Result<AgentReply | null, string>> {
    this.#show = show;
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    for (;;) {
      if (this.fault !== null) return fail(this.fault);
      if (signal.aborted) {
        this.#cancel();
        return ok(null);
      }
      const news = this.#news;
      this.#news = null;
      if (news !== null) return ok(this.#replyWith([didCall(news)], null));
      const calls = this.#takeCalls(idOf);
      if (calls.length > 0) return ok(this.#replyWith(calls, null));
      if (this.#prompt === null) {
        if (this.#messages.length === 0 && this.#stopReason !== null) return ok(this.#replyWith([], this.#stopReason));
        this.#send(this.#messages.splice(0).join('\n\n') || GO_ON);
      }
      await Promise.race([this.#changed.promise, aborted]);
      this.#changed = Promise.withResolvers();
    }
  }

  async end(): Promise<void> {
    await this.#connection?.end();
  }

  update(update: SessionUpdate): void {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
      case 'agent_thought_chunk': {
        const { content, sessionUpdate } = update;
        const is = sessionUpdate === 'agent_message_chunk' ? 'text' : 'reasoning';
        if (content.type !== 'text') return;
        if (is === 'text') this.#text += content.text;
        return this.#show({ is, text: content.text });
      }
      case 'tool_call':
      case 'tool_call_update':
        return this.#toolCall(update);
      case 'plan':
        this.#todos = todosOf(update.entries);
        return this.#changed.resolve();
      case 'usage_update':
        if (update.cost?.currency === 'USD') this.#cost = update.cost.amount;
        return;
      default:
    }
  }

  permission(request: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    const { promise, resolve } = Promise.withResolvers<RequestPermissionResponse>();
    const { toolCall } = request;
    const title = toolCall.title ?? this.#titles.get(toolCall.toolCallId) ?? 'an act without a name';
    this.#permissions.push({
      call: callOf(toolCall, title),
      answer: (isAllowed) => resolve(outcomeOf(request, isAllowed)),
    });
    this.#changed.resolve();
    return promise;
  }

  question(text: string, options: readonly string[]): Promise<string | null> {
    const { promise, resolve } = Promise.withResolvers<string | null>();
    const input = { question: headOf(text, 2000), options: options.map((one) => headOf(one, 200)) };
    this.#permissions.push({
      call: { tool: 'ask_user', input },
      answer: (isAnswered, given) => resolve(isAnswered ? given : null),
    });
    this.#changed.resolve();
    return promise;
  }

  used(usage: Usage): void {
    this.#used = usage;
  }

  #send(text: string): void {
    const connection = this.#connection;
    if (connection === null) return;
    [this.#stopReason, this.#isCancelled] = [null, false];
    this.#endText();
    if (!this.#isTold) this.#answers.push(this.#earlier);
    [this.#earlier, this.#isTold] = ['', true];
    this.#prompt = connection.prompt(text).then((ended) => {
      this.#prompt = null;
      if (ended.ok) this.#stopReason = this.#isCancelled ? null : ended.value;
      else this.fault ??= ended.fault;
      this.#changed.resolve();
    });
  }

  /** Permissions that are open are refused, as the protocol asks for after a cancellation. */
  #cancel(): void {
    for (const one of [...this.#permissions.splice(0), ...this.#asked.values()]) one.answer(false, '');
    this.#asked.clear();
    const prompt = this.#prompt;
    if (prompt === null) return;
    this.#isCancelled = true;
    this.#connection?.cancel();
    const over = new AbortController();
    void prompt.finally(() => over.abort());
    void this.#world.sleep(CANCEL_MS, over.signal).then(() => (over.signal.aborted ? undefined : this.end()));
  }

  #lose(why: string): void {
    this.fault ??= why;
    for (const one of this.#permissions.splice(0)) one.answer(false, '');
    this.#changed.resolve();
  }

  #toolCall({ toolCallId, title, status }: ToolUpdate): void {
    const name = title ?? this.#titles.get(toolCallId) ?? '';
    if (title !== null && title !== undefined) {
      this.#titles.set(toolCallId, title);
      this.#show({ is: 'call', tool: 'agent_did', text: title });
    }
    this.#endText();
    if (status !== 'completed' && status !== 'failed') return;
    this.#titles.delete(toolCallId);
    this.#done.push(status === 'failed' ? `failed: ${name}` : name);
    if (this.#done.length >= DONE_TOGETHER) this.#changed.resolve();
  }

  /** The text before a tool call is not the answer. */
  #endText(): void {
    if (this.#text.trim() !== '') [this.#earlier, this.#isTold] = [this.#text.trim().toWellFormed(), false];
    this.#text = '';
  }

  #takeCalls(idOf: (index: number) => string): readonly AgentCall[] {
    if (this.#isClosing) {
      for (const one of this.#permissions.splice(0)) one.answer(false, '');
      return [];
    }
    const asked = this.#permissions.splice(0, MOST_CALLS - 1);
    const todos = this.#todos === null ? [] : [this.#todos];
    this.#todos = null;
    const isTold = asked.length > 0 || todos.length > 0 || this.#prompt === null || this.#done.length >= DONE_TOGETHER;
    const done = isTold ? this.#done.splice(0, MOST_CALLS - asked.length - todos.length) : [];
    for (const [index, one] of asked.entries()) this.#asked.set(idOf(todos.length + index), one);
    return [...todos, ...asked.map(({ call }) => call), ...done.map(didCall)];
  }

  #replyWith(calls: readonly AgentCall[], stopReason: StopReason | null): AgentReply {
    const cost = this.#cost === null ? null : Math.max(0, this.#cost - this.#toldCost);
    this.#toldCost = this.#cost ?? 0;
    const usage = lessUsage(this.#used, this.#toldUsed);
    this.#toldUsed = this.#used;
    if (stopReason === null) {
      const text = this.#isTold ? '' : this.#earlier;
      this.#isTold = true;
      return { text, calls, stopReason, cost, usage };
    }
    const last = this.#text.trim().toWellFormed() || this.#earlier;
    const text = [...this.#answers, last].filter((one) => one !== '').join('\n\n') || 'It ended without a message.';
    [this.#stopReason, this.#text, this.#earlier, this.#isTold, this.#answers] = [null, '', '', true, []];
    return { text, calls, stopReason, cost, usage };
  }
}

const lessUsage = (all: Usage, told: Usage): Usage => ({
  input: Math.max(0, all.input - told.input),
  output: Math.max(0, all.output - told.output),
  cacheRead: Math.max(0, all.cacheRead - told.cacheRead),
  cacheWrite: Math.max(0, all.cacheWrite - told.cacheWrite),
});

const didCall = (what: string): AgentCall => ({ tool: 'agent_did', input: { what: line(what, 300) || 'something' } });
const GO_ON = 'You were interrupted. Continue with your task.';
const STATUS = { pending: 'pending', in_progress: 'active', completed: 'completed' } as const;

function todosOf(entries: Extract<SessionUpdate, { sessionUpdate: 'plan' }>['entries']): AgentCall {
  const todos = entries
    .slice(0, 50)
    .map(({ content, status }) => ({ description: line(content, 300) || '-', status: STATUS[status] }));
  return { tool: 'update_todos', input: { todos } };
}

type ToolCallFacts = RequestPermissionRequest['toolCall'];
const WRITES = new Set(['edit', 'delete', 'move']);
/** What these look at is visible in the sandbox anyway. */
const LOOKS = new Set(['read', 'search', 'think']);

function callOf(act: ToolCallFacts, title: string): AgentCall {
  const kind = act.kind ?? 'other';
  if (LOOKS.has(kind)) return didCall(title);
  if (WRITES.has(kind)) return editOf(act, title);
  return {
    tool: 'agent_command',
    input: { command: commandIn(act.rawInput) ?? title, id: headOf(act.toolCallId, 200) },
  };
}

function editOf({ toolCallId, content, locations }: ToolCallFacts, title: string): AgentCall {
  const id = headOf(toolCallId, 200);
  const diffs = (content ?? []).flatMap((one) => (one.type === 'diff' ? [one] : []));
  const path = diffs[0]?.path ?? locations?.[0]?.path ?? '';
  const diff = diffs
    .map(({ path: file, oldText, newText }) =>
      [`${file}:`, ...marked('-', oldText), ...marked('+', newText)].join('\n'),
    )
    .join('\n');
  return { tool: 'agent_edit', input: { path, what: title, id, diff: headOf(diff, 100_000) } };
}

const marked = (mark: string, text: string | null | undefined): readonly string[] =>
  text === null || text === undefined || text === '' ? [] : text.split('\n').map((each) => `${mark}${each}`);

/** The command of an act, where the agent names one. */
function commandIn(rawInput: unknown): string | null {
  if (typeof rawInput !== 'object' || rawInput === null) return null;
  const command: unknown = Reflect.get(rawInput, 'command');
  if (typeof command === 'string') return command;
  return Array.isArray(command) && command.every((word) => typeof word === 'string') ? command.join(' ') : null;
}

/** Never a lasting permission: Mimir decides about each act. */
function outcomeOf({ options }: RequestPermissionRequest, isAllowed: boolean): RequestPermissionResponse {
  const kinds = isAllowed ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always'];
  const option = kinds.flatMap((kind) => options.filter((one) => one.kind === kind))[0];
  return option === undefined
    ? { outcome: { outcome: 'cancelled' } }
    : { outcome: { outcome: 'selected', optionId: option.optionId } };
}

const line = (text: string, most: number): string => headOf(text.replaceAll(/\s+/g, ' ').trim(), most);
