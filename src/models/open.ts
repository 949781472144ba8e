/** Opens the models of a run as one port over several providers, and creates providers from their setups. Policy decides which model an agent gets. */
import { ModelId, providerOf } from '../domain/ids.ts';
import type { OwnModel, ProviderKind, ProviderSetup } from '../domain/models/provider.ts';
import { FREE, isLoopback, isOwnServer, RETRY_FOR } from '../domain/models/provider.ts';
import type { ModelOption } from '../domain/plan/plan.ts';
import { fail } from '../domain/result.ts';
import type { ModelPort, ProviderTerms } from '../ports/model.ts';
import type { World } from '../ports/world.ts';
import { type Aliases, KNOWN, type Known, knownModels, optionOf, type PublishedModels } from './catalogue/catalogue.ts';
import type { Caller, Provider } from './provider.ts';

/** One port over `providers`. A model belongs to the first provider that lists it as usable, else to the first that lists it. A call of an
 * unknown or unusable model gives the fault `refused` with the reason. */
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
      if (route === undefined) return fail({ is: 'refused', message: `no provider has the model ${request.model}` });
      const { provider, option } = route;
      if (!option.usable.yes) return fail({ is: 'refused', message: `${option.label}: ${option.usable.because}` });
      return provider.call(request, signal, onDelta);
    },
    termsOf: (model) => routes.get(model)?.provider.termsOf?.(model) ?? null,
    count: async (request, signal) => (await routes.get(request.model)?.provider.count?.(request, signal)) ?? null,
  };
}

export interface ModelOptions {
  /** Alias -> canonical id, from policy and the person's own models. */
  readonly aliases: Aliases;
  /** The built-in analyst, which is always usable. */
  readonly analyst?: Provider;
  readonly world: World;
  /** All configured providers, usable or not, in order of preference. */
  readonly providers: readonly ProviderSetup[];
  /** Published facts about the person's own models; by default none. */
  readonly published?: PublishedModels;
  /** The agents of other programs, each of which is a model. */
  readonly agents?: Provider;
  /** A script that plays models, for tests and bug reports; it takes precedence. */
  readonly script?: Provider;
}

export interface OpenModels extends ModelPort {
  /** Starts loading the client of this model, if any; returns at once. */
  warm(model: ModelId): void;
}

/** The models of a run: a script if there is one, the offline analyst, the providers, and the rest of the catalogue. */
export function openModels(options: ModelOptions): OpenModels {
  const { aliases, analyst, world, providers, published = new Map(), agents, script } = options;
  const served = providers.map((setup) => servedBy(setup, { aliases, world, published }));
  const port = routeModels([
    ...[script, analyst, agents].filter((one) => one !== undefined),
    ...served,
    knownModels(
      aliases,
      providers.map(({ name }) => name),
    ),
  ]);
  return { ...port, warm: (model) => served.find(({ name }) => name === providerOf(model))?.warm() };
}

// Creates a provider from its setup: its models, their prices here, and its client, which is loaded at the first call, or before it by
// `warm`, so that the call does not wait for it.

interface Serving {
  /** Includes those of the person's own models. */
  readonly aliases: Aliases;
  readonly world: World;
  readonly published: PublishedModels;
}

type OpenClient = (setup: ProviderSetup, world: World) => Promise<Caller>;
const openai: OpenClient = async (setup, world) => (await import('./openai/adapter.ts')).openaiCaller(setup, world);

/** The client for each kind of provider. The domain lists the kinds and their defaults. */
const CLIENTS: Readonly<Record<ProviderKind, OpenClient>> = {
  anthropic: async (setup, world) => (await import('./anthropic/adapter.ts')).anthropicCaller(setup, world),
  openai,
  'openai-compatible': openai,
};

/** Assumed for an unknown window, in tokens: a common default of small local servers. */
const UNKNOWN_WINDOW = 32_768;
const UNKNOWN_SPEED = 50;

/** The provider of one setup. Nothing is loaded or called before the first `call`, `count` or `warm`. */
function servedBy(setup: ProviderSetup, { aliases, world, published }: Serving): Provider & { warm(): void } {
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
  const caller = (): Promise<Caller> => (loading ??= CLIENTS[setup.kind](setup, world));
  return {
    name: setup.name,
    models: () => options,
    call: async (request, signal, onDelta) => (await caller()).call(request, signal, onDelta),
    count: async (request, signal) => (await (await caller()).count?.(request, signal)) ?? null,
    termsOf: terms,
    // The call that needs the client reports a failure to load it.
    warm: () => void caller().catch(() => undefined),
  };
}

function knownOption(model: Known, own: OwnModel | undefined, setup: ProviderSetup, aliases: Aliases): ModelOption {
  const price = own?.price ?? (isLoopback(setup.baseUrl) ? FREE : model.price);
  return spoken(optionOf({ ...model, price, window: own?.window ?? model.window }, aliases, setup.unusable), setup);
}

/** Agents may use the models of a provider by the text protocol. */
const spoken = (option: ModelOption, { protocol }: ProviderSetup): ModelOption =>
  protocol === undefined ? option : { ...option, protocol };

/** A model that is known only from the person's settings. Up to a quarter of the window is reserved for the answer. */
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
  // A label that is not unique includes the provider: `local/gpt-5`.
  return spoken(option.aliases.length === 0 ? { ...option, label: id } : option, setup);
}
