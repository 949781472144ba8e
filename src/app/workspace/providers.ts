/** The model providers of a configuration: their names for the screens, and the port to all of them. */
import { BUILT_IN } from '../../domain/models/provider.ts';
import { type ConfiguredProvider, type Loaded } from '../../config/index.ts';
import type { ModelId } from '../../domain/ids.ts';
import type { ModelOption } from '../../domain/plan/plan.ts';
import { reasonText } from '../../domain/reason.ts';
import type { ForeignModels } from '../../integrations/index.ts';
import type { OpenModels } from '../../models/index.ts';
import { chooseModel, modelProblem, OFFLINE, resolveModel } from '../../policy/index.ts';
import { type Arguments, EXIT, Exit, world, wrongUse } from '../process/index.ts';
import { roleModelsFrom } from './config.ts';

export interface Providers {
  /** The text for the screens: `anthropic, local (http://127.0.0.1:11434/v1)`. */
  readonly words: string;
  /** True if no provider is configured, so that the offline analyst is used. */
  readonly offlineOnly: boolean;
  /** Loads and opens the models for one run. `readable`: the offline analyst streams at a rate that people can follow. */
  open(pace: 'readable' | 'none', agents?: ForeignModels): Promise<OpenModels>;
}

/** Opens the providers. Throws an `Exit`: 3 if rules forbid them all, 6 if none is available. */
export async function openProviders(args: Arguments, config: Loaded): Promise<Providers> {
  const offlineAsked = asksOffline(args, config);
  const usable = config.providers.filter(({ unusable }) => unusable === null);
  const configured = config.providers.filter((provider) => provider.configured);
  if (offlineAsked && args.has('no-offline'))
    throw wrongUse('--model offline contradicts --no-offline\n  remove one of them');
  // Workers have keys of their own.
  const byWorkers = args.has('cluster') && configured.length > 0 && !offlineAsked;
  const withoutProvider = usable.length === 0 && !byWorkers;
  if (!byWorkers) refuseMissing(args, config, { configured, isNone: withoutProvider && !offlineAsked });
  if (withoutProvider || offlineAsked) refuseDeniedOffline(config);
  const { publishedOf } = await import('../../models/index.ts');
  const published = await publishedOf(config.providers, world.now());
  return {
    words: wordsFor(usable, { withoutProvider, offlineAsked }),
    offlineOnly: configured.length === 0,
    open: async (pace, agents) => (await import('./model-port.ts')).portOf(config, published, pace, agents),
  };
}

function asksOffline(args: Arguments, { models }: Loaded): boolean {
  const asked = args.get('model');
  return asked !== undefined && resolveModel(asked, models) === OFFLINE;
}

/** Refuses what cannot be used: no provider at all, or a model that a flag names. */
function refuseMissing(
  args: Arguments,
  config: Loaded,
  { configured, isNone }: { readonly configured: readonly ConfiguredProvider[]; readonly isNone: boolean },
): void {
  if (isNone) refuseNoProvider(args, configured);
  refuseUnusable([...args.all('model').slice(-1), ...roleModelsFrom(args).values()], config);
}

function wordsFor(
  usable: readonly ConfiguredProvider[],
  { withoutProvider, offlineAsked }: { readonly withoutProvider: boolean; readonly offlineAsked: boolean },
): string {
  if (withoutProvider) return 'offline (no provider)';
  if (offlineAsked) return 'offline';
  return usable.length === 0 ? 'those of the workers' : usable.map(wordsOf).join(', ');
}

/** The model that plans: the one asked for, else the first usable one of the role main; null where none can be used. */
export function plannerModel(
  models: readonly ModelOption[],
  { roles, rules }: Pick<Loaded, 'roles' | 'rules'>,
  { model: asked, offlineOnly }: { readonly model: string | null; readonly offlineOnly: boolean },
): ModelId | null {
  const fallbacks = roles.find(({ name }) => name === 'main')?.models ?? [];
  const chosen = chooseModel({ asked, role: 'main', fallbacks, rules, models, offlineOnly });
  return chosen.ok ? chosen.value.choice.used : null;
}

/** Refuses a model that a flag names and that is unusable, instead of silently replacing it. */
function refuseUnusable(names: readonly string[], { models, providers }: Loaded): void {
  for (const name of names) {
    const id = resolveModel(name, models);
    const provider = providers.find((one) => id?.startsWith(`${one.name}/`) === true);
    if (provider === undefined || provider.unusable === null) continue;
    throw new Exit(
      provider.forbidden === true ? EXIT.refused : EXIT.noProvider,
      `${name} is not available: ${provider.unusable}\n  set what is missing, choose another model (\`mimir models\` lists them), or use the built-in analyst: --model offline`,
    );
  }
}

/** The provider's name, with its address if that is not the default one. */
function wordsOf({ name, baseUrl }: ConfiguredProvider): string {
  const own = BUILT_IN.find((one) => one.name === name)?.baseUrl !== baseUrl;
  return own ? `${name} (${baseUrl})` : name;
}

/** Refuses to continue without a provider: if the configured ones are unusable, or if --no-offline excludes the analyst. */
function refuseNoProvider(args: Arguments, configured: readonly ConfiguredProvider[]): void {
  if (configured.length > 0) {
    const lines = configured.map(({ name, unusable }) => `\n  ${name}: ${unusable}`).join('');
    // Setting a missing key does not help against a rule.
    const forbidden = configured.every((one) => one.forbidden === true);
    const help = forbidden ? 'ask the author of that rule, or use' : 'set what is missing, or use';
    throw new Exit(
      forbidden ? EXIT.refused : EXIT.noProvider,
      `no provider is available:${lines}\n  ${help} the built-in analyst: --model offline`,
    );
  }
  if (!args.has('no-offline')) return;
  throw new Exit(
    EXIT.noProvider,
    `no model provider is configured, and --no-offline excludes the offline analyst\n  set ${KEYS}, or configure a provider in your config.yml`,
  );
}

/** The environment variables of API keys, for advice. */
export const KEYS = BUILT_IN.map(({ keyEnv }) => keyEnv)
  .join(', ')
  .replace(/, (\w+)$/, ' or $1');

function refuseDeniedOffline({ rules }: Loaded): void {
  const problem = modelProblem(OFFLINE, rules);
  if (problem === null) return;
  throw new Exit(EXIT.refused, `no model may be used: ${OFFLINE} is denied by ${reasonText(problem)}`);
}
