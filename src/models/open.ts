/**
 * Opens the models of a run: one port over several providers. Providers come from how they were set up (providers.ts).
 * Which model an agent gets is policy's to say.
 */
import { ModelId, providerOf } from '../domain/ids.ts';
import { FREE } from '../domain/models/price.ts';
import { isLoopback, isOwnServer, type OwnModel, type ProviderSetup, RETRY_FOR } from '../domain/models/provider.ts';
import type { ModelOption } from '../domain/plan/plan.ts';
import { fail } from '../domain/result.ts';
import type { ModelPort, ProviderTerms } from '../ports/model.ts';
import type { World } from '../ports/world.ts';
import { type Aliases, KNOWN, type Known, knownModels, optionOf } from './catalogue/catalogue.ts';
import type { PublishedModels } from './catalogue/published-prices.ts';
import type { Caller, Provider } from './provider.ts';

/**
 * One port over `providers`. A model belongs to the first provider that lists it as usable, else to the first that lists
 * it at all; a call of a model that is unknown or not usable is the fault `refused` with the reason.
 */
export function routeModels(providers: readonly Provider[]): ModelPort {
  const listed = providers.flatMap((provider) => provider.models().map((option) => ({ provider, option })));
  const ids = [...new Set(listed.map(({ option }) => option.id))];
  const routes = new Map(
    ids.flatMap((id) => {
      const all = listed.filter(({ option }) => option.id === id);
      const route = all.find(({ option }) => option.usable.yes) ?? all[0];
      return route === undefined ? [] : [[id, route] as const];
    }),
  );
  const options = [...routes.values()].map(({ option }) => option);

  return {
    models: () => options,
    async call(request, signal, onDelta) {
      const route = routes.get(request.model);
      if (route === undefined) return fail({ is: 'refused', message: `no provider knows the model ${request.model}` });
      const { provider, option } = route;
      if (!option.usable.yes) return fail({ is: 'refused', message: `${option.label}: ${option.usable.because}` });
      return provider.call(request, signal, onDelta);
    },
    termsOf: (model) => routes.get(model)?.provider.termsOf?.(model) ?? null,
    count: async (request, signal) => (await routes.get(request.model)?.provider.count?.(request, signal)) ?? null,
  };
}

export interface ModelOptions {
  /** Alias -> canonical id, as policy has them, with those of the person's own models. */
  readonly aliases: Aliases;
  /** The built-in analyst, which is always usable. */
  readonly analyst?: Provider;
  readonly world: World;
  /** Every provider that is known here, usable or not; they come in this order. */
  readonly providers: readonly ProviderSetup[];
  /** What is published of the person's own models (published-prices.ts); nothing when it is left out. */
  readonly published?: PublishedModels;
  /** Plays some or all models, for tests and bug reports; it wins over the others. */
  readonly script?: Provider;
}

export interface OpenModels extends ModelPort {
  /** Begins to load the client that calls this model, if any; returns at once. */
  warm(model: ModelId): void;
}

/** The models of a run: a script if there is one, the offline analyst, those of the providers, and the rest of the catalogue. */
export function openModels(options: ModelOptions): OpenModels {
  const { aliases, analyst, world, providers, published = new Map(), script } = options;
  const served = providers.map((setup) => servedBy(setup, { aliases, world, published }));
  const port = routeModels([
    ...(script === undefined ? [] : [script]),
    ...(analyst === undefined ? [] : [analyst]),
    ...served,
    knownModels(
      aliases,
      providers.map(({ name }) => name),
    ),
  ]);
  return { ...port, warm: (model) => served.find(({ name }) => name === providerOf(model))?.warm() };
}

// A provider from how it was set up: which models it serves, what they cost here, and its client, which is loaded at the
// first call (or a moment before, by `warm`), since client libraries are slow to load. What goes over the wire is the client's.

interface Serving {
  /** Those of a person's own models as well. */
  readonly aliases: Aliases;
  readonly world: World;
  readonly published: PublishedModels;
}

interface ServedProvider extends Provider {
  /** Begins to load the client, so that the first call needn't wait for it. */
  warm(): void;
}

/** Tokens, where nobody said how many: what small servers on one's own machine are commonly started with. */
const UNKNOWN_WINDOW = 32_768;
const UNKNOWN_SPEED = 50;

/** The provider of one setup. Nothing is loaded and nobody is called before the first `call`, `count` or `warm`. */
function servedBy(setup: ProviderSetup, { aliases, world, published }: Serving): ServedProvider {
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
