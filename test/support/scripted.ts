/** A provider that plays a script: the replies of each agent, one after the other. A call without a reply is a fault, never invented. */
import { NO_USAGE, type Usage } from '../../src/domain/budget.ts';
import { type Millis, ModelId } from '../../src/domain/ids.ts';
import type { ModelOption } from '../../src/domain/plan/plan.ts';
import { defined, fail, ok, type Result } from '../../src/domain/result.ts';
import {
  bytesOfTurn,
  type Json,
  type ModelReply,
  type StopReason,
  tokensIn,
  type ToolCall,
} from '../../src/domain/turn.ts';
import { bytesIn } from '../../src/domain/text/text.ts';
import { ABORTED, type Provider, toolCallId } from '../../src/models/provider.ts';
import type { Delta, ModelFault, ModelRequest, ProviderTerms } from '../../src/ports/model.ts';
import type { World } from '../../src/ports/world.ts';

/** One reply or one fault. Usage is derived from sizes and the stop reason from the calls, unless given. */
export interface ScriptedReply {
  readonly text?: string;
  readonly calls?: readonly { readonly tool: string; readonly input: Json }[];
  readonly usage?: Partial<Usage>;
  readonly stopReason?: StopReason;
  readonly fault?: ModelFault;
  /** The model that claims to answer; by default the requested one. */
  readonly model?: ModelId;
  /** The model does not support the requested effort. */
  readonly withoutEffort?: true;
  /** The provider counted nothing: the usage is an estimate. */
  readonly estimated?: true;
  /** Milliseconds before the reply begins, by the world's clock (0 without a world). */
  readonly delay?: Millis;
}

export interface ScriptedOptions {
  /**
   * The reply to a call, or a promise of it (a test holds a call by not resolving). `n` is the number of earlier calls of this agent with
   * the same purpose; for a resumed agent it continues from its turns. `undefined` means that the script has ended: a fault.
   */
  readonly replies: (
    request: ModelRequest,
    n: number,
  ) => ScriptedReply | undefined | Promise<ScriptedReply | undefined>;
  /** By default `scripted/model` alone. A script may also play a known model. */
  readonly models?: readonly ModelOption[];
  readonly world?: Pick<World, 'sleep'>;
  /** The provider's own count of tokens; by default it has none. */
  readonly count?: (request: ModelRequest) => number | null;
  /** What an aborted call has used; by default nothing. */
  readonly aborted?: Usage;
  /** The provider's terms; by default the usual ones. */
  readonly terms?: ProviderTerms;
}

/** A usable free model for scripts; `id` is canonical. */
export function scriptedModel(id = 'scripted/model', change: Partial<ModelOption> = {}): ModelOption {
  const model = ModelId.parse(id);
  return {
    id: model,
    label: id.slice(id.indexOf('/') + 1),
    aliases: [],
    window: 200_000,
    outputLimit: 8192,
    price: { input: 0, output: 0 },
    speed: 100,
    usable: { yes: true },
    ...change,
  };
}

/** Plays `replies`. Text streams word by word, the arguments of a call in one piece; an abort resolves at once with `aborted`. */
export function scriptedProvider(options: ScriptedOptions): Provider {
  const models = options.models ?? [scriptedModel()];
  const made = new Map<string, number>();

  const { count, terms } = options;
  return {
    name: 'scripted',
    models: () => models,
    ...defined({
      termsOf: terms && (() => terms),
      count: count && ((request: ModelRequest) => Promise.resolve(count(request))),
    }),
    async call(request, signal, onDelta) {
      const key = `${request.agent} ${request.purpose.is}`;
      const n = made.get(key) ?? request.turns.filter((turn) => turn.by === 'model').length;
      made.set(key, n + 1);
      const next = await unlessAborted(awaited(options, request, n, signal), signal);
      if (!next.ok) return options.aborted === undefined ? next : fail({ ...next.fault, spent: options.aborted });
      return spoken(request, n, next.value, onDelta);
    },
  };
}

async function awaited(
  options: ScriptedOptions,
  request: ModelRequest,
  n: number,
  signal: AbortSignal,
): Promise<ScriptedReply | undefined> {
  const reply = await options.replies(request, n);
  if (reply?.delay !== undefined) await options.world?.sleep(reply.delay, signal);
  return reply;
}

const callsIn = (request: ModelRequest, { calls = [] }: ScriptedReply): readonly ToolCall[] =>
  calls.map((call, index): ToolCall => ({ id: toolCallId(request, index), ...call }));

function spoken(
  request: ModelRequest,
  n: number,
  reply: ScriptedReply | undefined,
  onDelta: (delta: Delta) => void,
): Result<ModelReply, ModelFault> {
  if (reply === undefined) return fail(scriptEnded(request, n));
  const text = reply.text ?? '';
  for (const word of text.match(/\s*\S+\s*/g) ?? []) onDelta({ is: 'text', text: word });
  if (reply.fault !== undefined) return fail(reply.fault);
  const calls = callsIn(request, reply);
  for (const { tool, input } of calls) onDelta({ is: 'call', tool, text: JSON.stringify(input) });
  return ok({
    text,
    calls,
    stopReason: reply.stopReason ?? (calls.length > 0 ? 'tool use' : 'end'),
    ...defined({ withoutEffort: reply.withoutEffort, estimated: reply.estimated }),
    usage: { ...usageBySize(request, text, calls), ...reply.usage },
    model: reply.model ?? request.model,
  });
}

/** The usage of a model that is billed for all input: four bytes per token. */
function usageBySize(request: ModelRequest, text: string, calls: readonly ToolCall[]): Usage {
  const read = request.turns.reduce((sum, turn) => sum + bytesOfTurn(turn), bytesIn(request.system));
  return { ...NO_USAGE, input: tokensIn(read), output: tokensIn(bytesOfTurn({ by: 'model', text, calls })) };
}

function scriptEnded(request: ModelRequest, n: number): ModelFault {
  const { purpose } = request;
  const whose = purpose.is === 'work' ? `${request.agent} (${purpose.role})` : `${request.agent} (${purpose.is})`;
  return { is: 'refused', message: `the script has no reply ${n + 1} for ${whose}` };
}

/** The result of `work`, or the fault `aborted` as soon as `signal` is aborted; a later result is ignored. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<Result<T, ModelFault>> {
  if (signal.aborted) return fail(ABORTED);
  const stop = Promise.withResolvers<Result<T, ModelFault>>();
  const onAbort = (): void => stop.resolve(fail(ABORTED));
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work.then((value) => ({ ok: true as const, value })), stop.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
