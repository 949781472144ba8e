/**
 * Scripts as plain JSON, for bug reports and the command line: replies by agent id, by purpose (`plan`, `merge`), by role,
 * or `*` for whoever is left, in this order. What a reply means is scripted.ts's to say.
 */
import { z } from 'zod';
import { ModelId } from '../domain/ids.ts';
import { fail, ok } from '../domain/result.ts';
import type { Result } from '../domain/result.ts';
import type { ModelFault, ModelRequest } from '../ports/model.ts';
import type { World } from '../ports/world.ts';
import { scriptedModel, scriptedProvider } from './scripted.ts';
import type { ScriptedReply } from './scripted.ts';
import type { Provider } from './provider.ts';

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
