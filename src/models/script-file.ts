/**
 * Scripts as plain JSON, for bug reports and the command line: replies by agent id, by purpose (`plan`, `merge`), by role,
 * or `*` for whoever is left, in this order. What a reply means is scripted.ts's to say.
 */
import { z } from 'zod';
import { NO_USAGE, type Usage } from '../domain/budget.ts';
import { type Millis, ModelId } from '../domain/ids.ts';
import type { ModelOption } from '../domain/plan/plan.ts';
import { fail, ok, type Result } from '../domain/result.ts';
import type { Json, ModelReply, StopReason, ToolCall } from '../domain/turn.ts';
import type { Delta, ModelFault, ModelRequest, ProviderTerms } from '../ports/model.ts';
import type { World } from '../ports/world.ts';
import { bytesOf, bytesOfTurn, type Provider, tokensIn, toolCallId, unlessAborted } from './provider.ts';

const Tokens = z.int().min(0);
const Counted = z.strictObject({ input: Tokens, output: Tokens, cacheRead: Tokens, cacheWrite: Tokens });
/** A model in canonical form. */
const Id = z.string().regex(/^[a-z0-9][a-z0-9_-]*\/\S+$/);

/** Every cause that there is: one that is missing here does not compile. */
const CAUSES = {
  'rate limited': 'rate limited',
  overloaded: 'overloaded',
  unreachable: 'unreachable',
  cut: 'cut',
  silent: 'silent',
  refused: 'refused',
  unauthorised: 'unauthorised',
  'no credit': 'no credit',
  malformed: 'malformed',
  'too long': 'too long',
  mismatch: 'mismatch',
  aborted: 'aborted',
} as const satisfies { readonly [Cause in ModelFault['is']]: Cause };

const Reply = z.strictObject({
  text: z.string().optional(),
  calls: z.array(z.strictObject({ tool: z.string(), input: z.json() })).optional(),
  usage: Counted.partial().optional(),
  stopReason: z.enum(['end', 'tool use', 'output limit', 'refused']).optional(),
  fault: z
    .strictObject({
      is: z.enum(CAUSES),
      message: z.string(),
      retryAfterMs: z.number().min(0).optional(),
      spent: Counted.optional(),
    })
    .optional(),
  /** Who says that it answers. */
  model: Id.optional(),
  delay: z.number().min(0).optional(),
});

const Script = z.strictObject({
  /** Canonical ids that the script plays; `scripted/model` when left out. */
  models: z.array(Id).optional(),
  replies: z.record(z.string(), z.array(Reply)),
});

/** The provider that a script in JSON form describes, or in one line what is wrong with it and where. */
export function readScript(json: unknown, world?: Pick<World, 'sleep'>): Result<Provider, string> {
  const parsed = Script.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return fail(`the script doesn't fit at ${issue?.path.join('.') || 'its top'}: ${issue?.message ?? 'not JSON'}`);
  }
  const { models, replies } = parsed.data;
  return ok(
    scriptedProvider({
      replies: (request, n) => replyFor(replies, request, n),
      ...(models === undefined ? {} : { models: models.map((id) => scriptedModel(id)) }),
      ...(world === undefined ? {} : { world }),
    }),
  );
}

type Replies = z.infer<typeof Script>['replies'];

function replyFor(replies: Replies, request: ModelRequest, n: number): ScriptedReply | undefined {
  const { purpose } = request;
  const names = [request.agent, purpose.is === 'work' ? purpose.role : purpose.is, '*'];
  const name = names.find((each) => Object.hasOwn(replies, each));
  const found = name === undefined ? undefined : replies[name]?.[n];
  return found === undefined ? undefined : withoutUndefined(found);
}

/** Zod's optional keys are `T | undefined`; ours are absent or there. */
function withoutUndefined(reply: z.infer<typeof Reply>): ScriptedReply {
  const { text, calls, usage, stopReason, fault, model, delay } = reply;
  return {
    ...(text === undefined ? {} : { text }),
    ...(calls === undefined ? {} : { calls }),
    ...(usage === undefined ? {} : { usage: tokensGiven(usage) }),
    ...(stopReason === undefined ? {} : { stopReason }),
    ...(fault === undefined ? {} : { fault: faultGiven(fault) }),
    ...(model === undefined ? {} : { model: ModelId.parse(model) }),
    ...(delay === undefined ? {} : { delay }),
  };
}

const tokensGiven = (usage: NonNullable<z.infer<typeof Reply>['usage']>): NonNullable<ScriptedReply['usage']> =>
  Object.fromEntries(Object.entries(usage).filter(([, tokens]) => tokens !== undefined));

const faultGiven = ({ retryAfterMs, spent, ...fault }: NonNullable<z.infer<typeof Reply>['fault']>): ModelFault => ({
  ...fault,
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  ...(spent === undefined ? {} : { spent }),
});

// A provider that says what a script says: for tests and bug reports. Strict: a call that the script doesn't know is a
// clear fault, never an invented reply. Files in JSON form are read by script-file.ts.

/** One reply, or one fault. What is left out is derived: usage from sizes, the stop reason from the calls. */
export interface ScriptedReply {
  readonly text?: string;
  readonly calls?: readonly { readonly tool: string; readonly input: Json }[];
  readonly usage?: Partial<Usage>;
  readonly stopReason?: StopReason;
  readonly fault?: ModelFault;
  /** Who says that it answers; the model that was asked when left out. */
  readonly model?: ModelId;
  /** As a model that takes no setting of its effort answers where one was asked for. */
  readonly withoutEffort?: true;
  /** Milliseconds before the reply begins, by the world's clock (none without a world). */
  readonly delay?: Millis;
}

export interface ScriptedOptions {
  /**
   * The reply to a call, or a promise of it (a test holds a call by not resolving). `n` counts the calls of this agent
   * with the same purpose before this one: 0 for the first, and a resumed agent goes on where its turns end.
   * `undefined` means that the script has ended: a fault.
   */
  readonly replies: (
    request: ModelRequest,
    n: number,
  ) => ScriptedReply | undefined | Promise<ScriptedReply | undefined>;
  /** `scripted/model` alone when left out. Any ids: a script may play a known model. */
  readonly models?: readonly ModelOption[];
  readonly world?: Pick<World, 'sleep'>;
  /** What the provider counts where it is asked to; it counts nothing when left out. */
  readonly count?: (request: ModelRequest) => number | null;
  /** What a call that is aborted has used up by then; nothing when left out. */
  readonly aborted?: Usage;
  /** What the gate is told of the provider; the usual terms when left out. */
  readonly terms?: ProviderTerms;
}

/** A usable model of price 0 for scripts; the id in canonical form, `scripted/model` by default. */
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

/**
 * Plays `replies`. Text streams word by word, the arguments of a call in one piece; aborting resolves at once with `aborted`, also
 * while a reply is awaited.
 */
export function scriptedProvider(options: ScriptedOptions): Provider {
  const models = options.models ?? [scriptedModel()];
  const made = new Map<string, number>();

  const { count, terms } = options;
  return {
    name: 'scripted',
    models: () => models,
    ...(terms === undefined ? {} : { termsOf: () => terms }),
    ...(count === undefined ? {} : { count: (request: ModelRequest) => Promise.resolve(count(request)) }),
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

const withoutEffort = (reply: ScriptedReply): Pick<ModelReply, 'withoutEffort'> =>
  reply.withoutEffort === undefined ? {} : { withoutEffort: true };

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
    ...withoutEffort(reply),
    usage: { ...usageBySize(request, text, calls), ...reply.usage },
    model: reply.model ?? request.model,
  });
}

/** What the call would have cost a model that reads everything it is sent: four bytes a token. */
function usageBySize(request: ModelRequest, text: string, calls: readonly ToolCall[]): Usage {
  const read = request.turns.reduce((sum, turn) => sum + bytesOfTurn(turn), bytesOf(request.system));
  return { ...NO_USAGE, input: tokensIn(read), output: tokensIn(bytesOfTurn({ by: 'model', text, calls })) };
}

function scriptEnded(request: ModelRequest, n: number): ModelFault {
  const { purpose } = request;
  const whose = purpose.is === 'work' ? `${request.agent} (${purpose.role})` : `${request.agent} (${purpose.is})`;
  return { is: 'refused', message: `the script has no reply ${n + 1} for ${whose}` };
}
