/**
 * A provider from how it was set up: which models it serves, what they cost here, and its client, which is loaded at the
 * first call (or a moment before, by `warm`), since client libraries are slow to load. What goes over the wire is the client's.
 */
import { ModelId } from '../domain/ids.ts';
import type { ModelOption } from '../domain/plan/plan.ts';
import { FREE } from '../domain/models/price.ts';
import type { OwnModel, ProviderSetup } from '../domain/models/provider.ts';
import { isLoopback, isOwnServer, RETRY_FOR } from '../domain/models/provider.ts';
import type { World } from '../ports/world.ts';
import { KNOWN, optionOf, providerOf } from './catalogue/catalogue.ts';
import type { Aliases, Known } from './catalogue/catalogue.ts';
import type { PublishedModels } from './catalogue/published-prices.ts';
import type { ProviderTerms } from '../ports/model.ts';
import type { Caller, Provider } from './provider.ts';

export interface Serving {
  /** Those of a person's own models as well. */
  readonly aliases: Aliases;
  readonly world: World;
  readonly published: PublishedModels;
}

export interface ServedProvider extends Provider {
  /** Begins to load the client, so that the first call needn't wait for it. */
  warm(): void;
}

/** Tokens, where nobody said how many: what small servers on one's own machine are commonly started with. */
const UNKNOWN_WINDOW = 32_768;
const UNKNOWN_SPEED = 50;

/** The provider of one setup. Nothing is loaded and nobody is called before the first `call`, `count` or `warm`. */
export function servedBy(setup: ProviderSetup, { aliases, world, published }: Serving): ServedProvider {
  const own = setup.models.map((model) => ({ model, id: ModelId.parse(`${setup.name}/${model.name}`) }));
  const known = KNOWN.filter(({ id }) => providerOf(id) === setup.name);
  const options = [
    ...known.map((model) => knownOption(model, own.find(({ id }) => id === model.id)?.model, setup, aliases)),
    ...own
      .filter(({ id }) => !known.some((model) => model.id === id))
      .map(({ model, id }) => ownOption(id, model, setup, { aliases, published })),
  ];
  const terms = (model: ModelId): ProviderTerms => ({
    retryFor: setup.retryForMs ?? RETRY_FOR,
    answersAs: setup.answersAs?.[model.slice(setup.name.length + 1)] ?? [],
    own: isOwnServer(setup),
  });
  let loading: Promise<Caller> | null = null;
  const caller = (): Promise<Caller> => (loading ??= load(setup, world));
  return {
    name: setup.name,
    models: () => options,
    call: async (request, signal, onDelta) => (await caller()).call(request, signal, onDelta),
    count: async (request, signal) => (await (await caller()).count?.(request, signal)) ?? null,
    termsOf: terms,
    // A client that can't be loaded is told by the call that needs it.
    warm: () => void Promise.all([caller(), loadClient(setup)]).catch(() => undefined),
  };
}

async function load(setup: ProviderSetup, world: World): Promise<Caller> {
  if (setup.kind === 'anthropic') return (await import('./anthropic/adapter.ts')).anthropicCaller(setup, world);
  return (await import('./openai/adapter.ts')).openaiCaller(setup, world);
}

/** OpenAI's library is loaded apart from what speaks to it. */
async function loadClient({ kind }: ProviderSetup): Promise<void> {
  if (kind !== 'anthropic') await import('./openai/client.ts');
}

/** A model of the catalogue, with what the person said of it. */
function knownOption(model: Known, own: OwnModel | undefined, setup: ProviderSetup, aliases: Aliases): ModelOption {
  const price = own?.price ?? (isLoopback(setup.baseUrl) ? FREE : model.price);
  return spoken(optionOf({ ...model, price, window: own?.window ?? model.window }, aliases, setup.unusable), setup);
}

/** Where agents work with its models by words, none of them lacks tool calls. */
function spoken({ tools, ...option }: ModelOption, { protocol }: ProviderSetup): ModelOption {
  if (protocol === undefined) return tools === undefined ? option : { ...option, tools };
  return { ...option, protocol };
}

/** A model that only the person knows. A quarter of the window is left for its answer, as far as answers go. */
function ownOption(
  id: ModelId,
  own: OwnModel,
  setup: ProviderSetup,
  { aliases, published }: Pick<Serving, 'aliases' | 'published'>,
): ModelOption {
  const { price = null, window: known = null } = published.get(id) ?? {};
  const window = own.window ?? known ?? UNKNOWN_WINDOW;
  const option = optionOf(
    {
      id,
      window,
      outputLimit: Math.min(8192, Math.floor(window / 4)),
      price: own.price ?? (isLoopback(setup.baseUrl) ? FREE : price),
      speed: UNKNOWN_SPEED,
    },
    aliases,
    setup.unusable,
  );
  // A name that is not its own alone is told with its provider: `local/gpt-5`.
  return spoken(option.aliases.length === 0 ? { ...option, label: id } : option, setup);
}
