/** Calls OpenAI and compatible servers: by the Responses API for OpenAI itself, by Chat Completions for other servers and those without
 * Responses. What a server does not accept is learned from its refusal, once, and then left out. */
import OpenAI from 'openai';
import type { Usage } from '../../domain/budget.ts';
import { ModelId } from '../../domain/ids.ts';
import { type ProviderSetup, withEffort } from '../../domain/models/provider.ts';
import { defined, fail, type Result } from '../../domain/result.ts';
import type { ModelReply } from '../../domain/turn.ts';
import type { Delta, ModelFault, ModelRequest, Words } from '../../ports/model.ts';
import type { World } from '../../ports/world.ts';
import { type Exchange, exchange, type Reader, type Reading, type Refused } from '../http/exchange.ts';
import { hostOf, NOT_SAID_USED, unknownStop } from '../http/fault.ts';
import { at, type Fields, isFields, listAt, numberAt, textAt } from '../http/json.ts';
import { countInput, type Server, serverOf } from '../http/transport.ts';
import { ABORTED, type Caller, wireName } from '../provider.ts';
import type { ChatReader, Read } from './chat-reply.ts';
import { callsOf, estimated, NOT_COUNTED, readChat, usageOf, withoutCalls } from './chat-reply.ts';
import * as chat from './chat-wire.ts';

const nothing = (): void => undefined;
const SILENT = { error: nothing, warn: nothing, info: nothing, debug: nothing };
/** Keys of an administrator and of webhooks, and names of accounts, which are never sent. */
const UNUSED = { adminAPIKey: null, organization: null, project: null, webhookSecret: null };

/** The client library with every setting given that it would otherwise read from the environment. */
const connect = (setup: ProviderSetup): Server =>
  serverOf(
    setup,
    (options) => new OpenAI({ ...options, ...UNUSED, baseURL: setup.baseUrl, logLevel: 'off', logger: SILENT }),
  );

/** Calls the server of `setup`, and remembers what it accepts. */
export function openaiCaller(setup: ProviderSetup, world: World): Caller {
  const server = connect(setup);
  // Requests with the same key reach the same machine, whose cache knows their beginning.
  const run = world.name(8);
  const traitsOf = new Map<string, chat.Traits>();
  let route: chat.Route = setup.kind === 'openai' ? '/responses' : '/chat/completions';

  /** One request; null if something was learned and the request must be repeated. */
  const once = async (
    request: ModelRequest,
    signal: AbortSignal,
    onDelta: (delta: Delta) => void,
  ): Promise<Result<ModelReply, ModelFault> | null> => {
    const model = wireName(request.model);
    const names = { model, cacheKey: `mimir-${run}-${request.agent}`.slice(0, 64) };
    const traits = traitsOf.get(model) ?? chat.firstTraits(setup, model);
    const asked = route;
    const parts = exchangeOf(setup, { request, traits, names, route }, onDelta);
    const came = await exchange(server, world, { ...parts, ...timesFor(setup, model) }, signal);
    if (came.ok) return came;
    const { fault, refused } = came.fault;
    if (refused === null) return fail(fault);
    if (asked === '/responses' && chat.noSuchRoute(refused)) {
      route = '/chat/completions';
      return null;
    }
    if (fault.is !== 'refused') return fail(fault);
    // A parallel call may have learned the same meanwhile.
    const now = traitsOf.get(model) ?? traits;
    const learned = now === traits ? chat.learn(traits, refused, request, asked) : now;
    if (learned === null) return fail(wordsFor(setup, { request, model, refused, route: asked, fault }));
    traitsOf.set(model, learned);
    return null;
  };

  return {
    async call(request, signal, onDelta) {
      for (;;) {
        if (signal.aborted) return fail(ABORTED);
        const came = await once(request, signal, onDelta);
        if (came !== null) return came;
      }
    },
    async count(request, signal) {
      // Only OpenAI itself counts tokens without answering.
      if (route !== '/responses' || signal.aborted) return null;
      const model = wireName(request.model);
      const traits = traitsOf.get(model) ?? chat.firstTraits(setup, model);
      const body = countedBody(request, traits, model);
      return countInput(server, world, { url: urlOf(setup, '/responses/input_tokens'), body }, signal);
    },
  };
}

/** Some people include the path of the API in the base URL. */
const urlOf = ({ baseUrl }: ProviderSetup, path: string): string =>
  `${baseUrl.replace(/\/(?:chat\/completions|responses)?\/*$/, '')}${path}`;

/** Models that reason without streaming it may be silent for longer. */
const timesFor = ({ silentThinkingMs: ms, idleMs }: ProviderSetup, model: string): Pick<Exchange<unknown>, 'times'> =>
  ms === undefined || !chat.thinksSilently(model) ? {} : { times: { firstEventMs: ms, idleMs: Math.max(ms, idleMs) } };

interface Asked {
  readonly request: ModelRequest;
  readonly traits: chat.Traits;
  readonly names: { readonly model: string; readonly cacheKey: string };
  readonly route: chat.Route;
}

function exchangeOf(setup: ProviderSetup, asked: Asked, onDelta: (delta: Delta) => void): Exchange<ModelReply> {
  const { request, traits, names, route } = asked;
  const isNew = route === '/responses';
  const body = (isNew ? responsesBody : chat.chatBody)(request, traits, names);
  const byTool = chat.isByTool(request, traits);
  const reader = isNew ? readResponses(request, onDelta) : readChat(request, { byTool }, onDelta);
  return { url: urlOf(setup, route), body, reader: countedReader(setup, asked, reader) };
}

/** Providers that always report usage must do so, or no tool call is run; for compatible servers it is estimated. */
function countedReader(setup: ProviderSetup, { request, traits }: Asked, reader: ChatReader): Reader<ModelReply> {
  const whole = (read: Read): Reading<ModelReply> => ({
    is: 'reply',
    reply: replyOf(setup, { request, traits }, read),
  });
  return {
    take: (event) => reader.take(event),
    reading({ announced }, { sent }) {
      const reading = reader.reading(announced);
      if (reading.is !== 'reply') return reading;
      const { reply } = reading;
      if (setup.kind === 'openai-compatible') return whole(estimated(reply, { sent, thought: reader.thought() }));
      const isCounted = reply.calls.length === 0 || reply.usage !== NOT_COUNTED;
      return isCounted ? whole(reply) : { is: 'malformed', why: NOT_SAID_USED };
    },
    spent({ sent, came }) {
      const counted = reader.usage();
      if (counted !== null && Object.values(counted).every((count) => count >= 0)) return counted;
      return { input: sent, output: Math.min(request.maxOutputTokens, came), cacheRead: 0, cacheWrite: 0 };
    },
  };
}

function replyOf(
  { name }: ProviderSetup,
  { request, traits }: Pick<Asked, 'request' | 'traits'>,
  { kept, model, ...reply }: Read,
): ModelReply {
  const answered = ModelId.safeParse(`${name}/${model}`);
  const opaque = chat.opaqueOf(kept, request.model);
  return {
    ...reply,
    model: answered.success ? answered.data : request.model,
    ...(request.effort === undefined || traits.effort ? {} : { withoutEffort: true }),
    ...defined({ opaque }),
  };
}

/** Replaces the fault if the server has no such route, or the model cannot use tools: with advice what to do. */
function wordsFor(
  setup: ProviderSetup,
  said: {
    readonly request: ModelRequest;
    readonly model: string;
    readonly refused: Refused;
    readonly route: chat.Route;
    readonly fault: ModelFault;
  },
): ModelFault {
  const { request, model, refused, route, fault } = said;
  if (chat.noSuchRoute(refused)) {
    const hint = /\/v\d+\/?$/.test(setup.baseUrl) ? '' : '; it usually ends in /v1';
    return { is: 'refused', message: `${hostOf(setup)} returned 404 for ${route}. Check the base URL${hint}` };
  }
  if (request.tools.length === 0 || !chat.refusesTools(refused)) return fault;
  const how = refused.text.includes('enable-auto-tool-choice')
    ? 'start that server with --enable-auto-tool-choice and a --tool-call-parser for the model'
    : 'choose a model that can call tools, or serve this one with a template that can';
  return { is: 'refused', message: `${model} at ${hostOf(setup)} cannot use tools, which agents need: ${how}` };
}

// A request for OpenAI's Responses API. The server stores nothing: encrypted reasoning is sent back to it unchanged.

/** The body of the request. `model` is the name on the wire; `cacheKey` is the same for all requests of one agent. */
export const responsesBody = (
  request: ModelRequest,
  traits: chat.Traits,
  { model, cacheKey }: { readonly model: string; readonly cacheKey: string },
): Fields => ({
  ...countedBody(request, traits, model),
  ...(traits.reasoning === 'none' ? {} : { include: ['reasoning.encrypted_content'] }),
  ...(traits.cacheKey ? { prompt_cache_key: cacheKey } : {}),
  ...(request.tools.length > 0 && request.toolChoice === 'none' && traits.noTools ? { tool_choice: 'none' } : {}),
  max_output_tokens: request.maxOutputTokens,
  store: false,
  stream: true,
  ...(traits.streamOptions ? { stream_options: { include_obfuscation: false } } : {}),
});

function countedBody(request: ModelRequest, traits: chat.Traits, model: string): Fields {
  const tools = request.tools.map(({ name, description, schema }) => {
    const { schema: parameters, strict } = chat.wireSchema(schema, traits.strict);
    return { type: 'function', name, description, parameters, strict };
  });
  return {
    model,
    ...(request.system === '' ? {} : { instructions: request.system.toWellFormed() }),
    input: chat.stepsOf(request.turns, request.model).flatMap((step) => inputOf(step, traits)),
    ...(tools.length === 0 ? {} : { tools, ...(traits.parallel ? { parallel_tool_calls: true } : {}) }),
    ...formatOf(request, traits),
    ...reasoningOf(request, traits),
  };
}

function reasoningOf({ effort }: ModelRequest, traits: chat.Traits): Fields {
  const summary = traits.reasoning === 'summary' ? { summary: 'auto' } : {};
  const reasoning = { ...summary, ...(traits.effort ? withEffort(effort) : {}) };
  return Object.keys(reasoning).length === 0 ? {} : { reasoning };
}

function inputOf(step: chat.Step, { items }: chat.Traits): readonly Fields[] {
  if (step.is === 'user') return [{ role: 'user', content: step.text }];
  const answers = step.answers.map(({ id, text }) => ({ type: 'function_call_output', call_id: id, output: text }));
  if (items && step.kept.items !== undefined) return [...step.kept.items, ...answers];
  return [
    ...(step.text === '' ? [] : [{ role: 'assistant', content: step.text }]),
    ...step.calls.map(({ id, tool, arguments: text }) => ({
      type: 'function_call',
      call_id: id,
      name: tool,
      arguments: text,
    })),
    ...answers,
  ];
}

function formatOf({ format }: ModelRequest, traits: chat.Traits): Fields {
  if (format === null || traits.format !== 'schema') return {};
  return { text: { format: { type: 'json_schema', name: 'reply', ...chat.wireSchema(format, traits.strict) } } };
}

// Reads the event stream of OpenAI's Responses API. Only `response.completed` makes calls that may be executed.

const ENDS: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error']);

/** Events with content beside the pieces; others only keep a stream alive, or begin an answer. */
const SAID = /^response\..*\.(?:done|completed|incomplete|failed)$/;

/** A reader of the reply to `request`; streamed pieces go to `onDelta`. */
function readResponses(request: ModelRequest, onDelta: (delta: Delta) => void): ChatReader {
  const done = new Map<number, Fields>();
  const order = openOrder();
  let end: Fields | null = null;
  let model = '';
  /** The position of the last streamed piece by kind: a piece of another item or part starts a paragraph. */
  const places: Record<Words['is'], string> = { text: '', reasoning: '' };

  const tell = (is: Words['is'], event: Fields): void => {
    const text = textAt(event, 'delta');
    if (text === '') return;
    const place = `${numberAt(event, 'output_index') ?? ''}.${numberAt(event, 'summary_index') ?? ''}`;
    const paragraph = places[is] !== '' && places[is] !== place;
    places[is] = place;
    onDelta({ is, text: paragraph ? `\n\n${text}` : text });
  };
  /** The names of called tools; a name arrives once, before the arguments. */
  const tools = new Map<number, string>();
  const tellCall = (type: string, event: Fields): void => {
    if (type === 'response.output_item.added') tools.set(placeOf(event), textAt(at(event, 'item'), 'name'));
    const text = type === 'response.function_call_arguments.delta' ? textAt(event, 'delta') : '';
    if (text !== '') onDelta({ is: 'call', tool: tools.get(placeOf(event)) ?? '', text });
  };
  const told: ReadonlyMap<string, Words['is']> = new Map(
    Object.entries({
      'response.output_text.delta': 'text',
      'response.refusal.delta': 'text',
      'response.reasoning_summary_text.delta': 'reasoning',
      'response.reasoning_text.delta': 'reasoning',
    } as const),
  );
  const usage = (): Usage | null => {
    const counted = at(at(end, 'response'), 'usage');
    return isFields(counted) ? usageOf(counted, { all: 'input_tokens', output: 'output_tokens' }) : null;
  };

  return {
    usage,
    thought: () => 0,
    take(event) {
      const type = textAt(event, 'type');
      const delta = told.get(type);
      if (delta !== undefined) tell(delta, event);
      model = textAt(at(event, 'response'), 'model') || model;
      tellCall(type, event);
      order.take(type, event);
      if (type === 'response.output_item.done') keepItem(done, event);
      // Routers wrap an error in a frame of their own.
      if (ENDS.has(type) || (type === '' && at(event, 'error'))) end = event;
      if (end !== null) return 'end';
      return (type.endsWith('.delta') ? textAt(event, 'delta') !== '' : SAID.test(type)) ? 'content' : 'nothing';
    },
    reading() {
      if (end === null) return { is: 'cut' };
      const whole = listAt(at(end, 'response'), 'output').filter(isFields);
      // Some servers leave the output of the last event empty.
      const items = whole.length > 0 ? whole : [...done].sort(([a], [b]) => a - b).map(([, item]) => item);
      const reading = readingOf(request, end, { items, model, usage: usage() ?? NOT_COUNTED });
      const calls = reading.is === 'reply' ? reading.reply.calls.length : 0;
      const why = calls === 0 ? null : againstCalls(items, done, order.broken());
      return why === null ? reading : { is: 'malformed', why };
    },
  };
}

/** The kinds of items that are requested; any other is a tool of the server's own. */
const KINDS: ReadonlySet<string> = new Set(['message', 'reasoning', 'function_call']);

/** Why no call of a complete reply may be executed; null if they may. `done` are the items as they streamed. */
function againstCalls(items: readonly Fields[], done: ReadonlyMap<number, Fields>, disorder: boolean): string | null {
  if (!items.every((item) => KINDS.has(textAt(item, 'type'))))
    return 'it has an item of an unknown kind beside its tool calls';
  const called = (some: readonly Fields[]): string =>
    some
      .filter((item) => textAt(item, 'type') === 'function_call')
      .map((item) => textAt(item, 'call_id'))
      .join(' ');
  const streamed = [...done].sort(([a], [b]) => a - b).map(([, item]) => item);
  if (disorder || (streamed.length > 0 && called(streamed) !== called(items))) return 'its items are out of order';
  return null;
}

/** Detects an item that begins before or in place of an earlier one, if the server sends indexes. */
function openOrder() {
  let last = -1;
  let broken = false;
  return {
    take(type: string, event: Fields): void {
      const place = type === 'response.output_item.added' ? numberAt(event, 'output_index') : null;
      if (place === null) return;
      broken ||= place <= last;
      last = Math.max(last, place);
    },
    broken: () => broken,
  };
}

const placeOf = (event: Fields): number => numberAt(event, 'output_index') ?? 0;

function readingOf(
  request: ModelRequest,
  end: Fields,
  { items, model, usage }: Pick<Read, 'model' | 'usage'> & { readonly items: readonly Fields[] },
): Reading<Read> {
  const type = textAt(end, 'type');
  const response = at(end, 'response');
  if (type === 'response.failed') return { is: 'error', error: at(response, 'error') };
  if (type === 'error' || type === '') return { is: 'error', error: at(end, 'error') ?? end };
  const refusal = wordsIn(items, 'refusal');
  const read = { text: refusal || wordsIn(items, 'output_text'), usage, model };
  if (type === 'response.incomplete') return incomplete(read, textAt(at(response, 'incomplete_details'), 'reason'));
  if (refusal !== '') return withoutCalls(read, 'refused');
  return { is: 'reply', reply: wholeReply(request, items, read) };
}

function keepItem(done: Map<number, Fields>, event: Fields): void {
  const item = at(event, 'item');
  if (isFields(item)) done.set(numberAt(event, 'output_index') ?? done.size, item);
}

function incomplete(read: Pick<Read, 'text' | 'usage' | 'model'>, reason: string): Reading<Read> {
  if (reason === 'max_output_tokens') return withoutCalls(read, 'output limit');
  if (reason === 'content_filter') return withoutCalls(read, 'refused');
  return { is: 'malformed', why: unknownStop(reason || 'none was given') };
}

function wholeReply(
  request: ModelRequest,
  items: readonly Fields[],
  read: Pick<Read, 'text' | 'usage' | 'model'>,
): Read {
  const raw = items
    .filter((item) => textAt(item, 'type') === 'function_call')
    .map((item) => ({
      id: textAt(item, 'call_id'),
      tool: textAt(item, 'name'),
      arguments: textAt(item, 'arguments'),
      extra: null,
    }));
  const { calls, kept } = callsOf(request, raw);
  // Reasoning is accepted back only with what followed it in the same order; text and calls alone can be rebuilt.
  const isMore = items.some((item) => textAt(item, 'type') === 'reasoning' || textAt(item, 'phase') !== '');
  // Items with ambiguous calls would be refused, and so would reasoning that nothing follows.
  const isTaken = (raw.length === 0 || kept.ids !== undefined) && textAt(items.at(-1), 'type') !== 'reasoning';
  return {
    ...read,
    calls,
    stopReason: calls.length > 0 ? 'tool use' : 'end',
    kept: isMore && isTaken ? { ...kept, items } : kept,
  };
}

const wordsIn = (items: readonly Fields[], type: 'output_text' | 'refusal'): string =>
  items
    .filter((item) => textAt(item, 'type') === 'message')
    .map((item) =>
      listAt(item, 'content')
        .filter((part) => textAt(part, 'type') === type)
        .map((part) => textAt(part, type === 'refusal' ? 'refusal' : 'text'))
        .join(''),
    )
    .filter((text) => text !== '')
    .join('\n\n');
