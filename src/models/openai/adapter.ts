/**
 * OpenAI, and every server that speaks its language: Responses for OpenAI itself, Chat Completions for the others and for those that know no
 * Responses. What a server doesn't take is learned from its refusal, once, and left out from then on.
 */
import { ModelId } from '../../domain/ids.ts';
import type { ProviderSetup } from '../../domain/models/provider.ts';
import type { Result } from '../../domain/result.ts';
import { fail, ok } from '../../domain/result.ts';
import type { ModelReply } from '../../domain/turn.ts';
import type { Delta, ModelFault, ModelRequest } from '../../ports/model.ts';
import type { World } from '../../ports/world.ts';
import { hostOf } from '../http/fault.ts';
import { readChat } from './chat-reply.ts';
import { chatBody, isByTool } from './chat-wire.ts';
import type { Exchange } from './exchange.ts';
import { countInput, exchange } from './exchange.ts';
import type { Read } from './reading.ts';
import { readResponses } from './responses-reply.ts';
import { countedBody, responsesBody } from './responses-wire.ts';
import type { Refused, Route, Traits } from './traits.ts';
import { firstTraits, learn, noSuchRoute, refusesTools, thinksSilently } from './traits.ts';
import { opaqueOf } from './turns.ts';
import type { Caller } from '../provider.ts';
import { ABORTED } from '../provider.ts';

/** Speaks to the server of `setup`. Loads the client library with the first call; remembers what the server takes. */
export function openaiCaller(setup: ProviderSetup, world: World): Caller {
  // Requests with one key go to one machine, whose cache then knows their beginning.
  const run = world.name(8);
  const traitsOf = new Map<string, Traits>();
  let route: Route = setup.kind === 'openai' ? '/responses' : '/chat/completions';

  /** One request; null when something was learned and it is to be made again. */
  const once = async (
    request: ModelRequest,
    signal: AbortSignal,
    onDelta: (delta: Delta) => void,
  ): Promise<Result<ModelReply, ModelFault> | null> => {
    const model = wireName(request);
    const names = { model, cacheKey: `mimir-${run}-${request.agent}`.slice(0, 64) };
    const traits = traitsOf.get(model) ?? firstTraits(setup, model);
    const asked = route;
    const parts = exchangeOf({ request, traits, names, route, onDelta });
    const came = await exchange(setup, world, { ...parts, ...timesFor(setup, model) }, signal);
    if (came.ok) return ok(replyOf(setup, { request, traits }, came.value));
    const { fault, refused } = came.fault;
    if (refused === null) return fail(fault);
    if (asked === '/responses' && noSuchRoute(refused)) {
      route = '/chat/completions';
      return null;
    }
    if (fault.is !== 'refused') return fail(fault);
    // A call beside this one may have learned the same meanwhile.
    const now = traitsOf.get(model) ?? traits;
    const learned = now === traits ? learn(traits, refused, request, asked) : now;
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
      // Only OpenAI itself counts without answering.
      if (route !== '/responses' || signal.aborted) return null;
      const model = wireName(request);
      const traits = traitsOf.get(model) ?? firstTraits(setup, model);
      return countInput(setup, world, countedBody(request, traits, model), signal);
    },
  };
}

/** Models that think without a word of it may be silent for longer. */
function timesFor({ silentThinkingMs: ms, idleMs }: ProviderSetup, model: string): Pick<Exchange, 'times'> {
  return ms === undefined || !thinksSilently(model)
    ? {}
    : { times: { firstEventMs: ms, idleMs: Math.max(ms, idleMs) } };
}

/** What follows the first slash of a canonical id; there may be more of them. */
const wireName = ({ model }: ModelRequest): string => model.slice(model.indexOf('/') + 1);

function exchangeOf(asked: {
  readonly request: ModelRequest;
  readonly traits: Traits;
  readonly names: { readonly model: string; readonly cacheKey: string };
  readonly route: Route;
  readonly onDelta: (delta: Delta) => void;
}): Exchange {
  const { request, traits, names, route: path, onDelta } = asked;
  const maxOutput = request.maxOutputTokens;
  if (path === '/responses')
    return { path, maxOutput, body: responsesBody(request, traits, names), reader: readResponses(request, onDelta) };
  const reader = readChat(request, { byTool: isByTool(request, traits) }, onDelta);
  return { path, maxOutput, body: chatBody(request, traits, names), reader };
}

function replyOf(
  { name }: ProviderSetup,
  { request, traits }: { readonly request: ModelRequest; readonly traits: Traits },
  { kept, model, ...reply }: Read,
): ModelReply {
  const answered = ModelId.safeParse(`${name}/${model}`);
  const opaque = opaqueOf(kept, request.model);
  return {
    ...reply,
    model: answered.success ? answered.data : request.model,
    ...(request.effort === undefined || traits.effort ? {} : { withoutEffort: true }),
    ...(opaque === undefined ? {} : { opaque }),
  };
}

/** A model that can't use tools can't work here, nor a server that has no such route: that is said, with what to do. */
function wordsFor(
  setup: ProviderSetup,
  said: {
    readonly request: ModelRequest;
    readonly model: string;
    readonly refused: Refused;
    readonly route: Route;
    readonly fault: ModelFault;
  },
): ModelFault {
  const { request, model, refused, route, fault } = said;
  if (noSuchRoute(refused)) {
    const hint = /\/v\d+\/?$/.test(setup.baseUrl) ? '' : '; mostly it ends in /v1';
    return { is: 'refused', message: `${hostOf(setup)} knows no ${route}: check its base URL${hint}` };
  }
  if (request.tools.length === 0 || !refusesTools(refused)) return fault;
  const how = refused.text.includes('enable-auto-tool-choice')
    ? 'start that server with --enable-auto-tool-choice and a --tool-call-parser that fits the model'
    : 'choose a model that can call tools, or serve this one with a template that can';
  return { is: 'refused', message: `${model} at ${hostOf(setup)} can not use tools, which agents need: ${how}` };
}
