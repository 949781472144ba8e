/** Which models a verb has here: the person's providers in words, and the port over all of them. */
import type { ConfiguredProvider } from '../../config/providers/providers.ts';
import type { Loaded } from '../../config/settings/load.ts';
import { reasonText } from '../../domain/reason.ts';
import type { OpenModels } from '../../models/open.ts';
import { publishedOf } from '../../models/catalogue/published-prices.ts';
import { OFFLINE, modelProblem, resolveModel } from '../../policy/models.ts';
import { BUILT_IN } from '../../config/providers/providers.ts';
import { roleModelsFrom } from '../process/flags/common.ts';
import { EXIT, Exit } from '../process/exit.ts';
import type { Arguments } from '../process/flags/flags.ts';
import { world } from '../process/world.ts';

export interface Providers {
  /** What the screens say: `anthropic, local (http://127.0.0.1:11434/v1)`. */
  readonly words: string;
  /** No provider is configured at all: the offline analyst stands in. */
  readonly offlineOnly: boolean;
  /** The models of one run; their code is loaded by then. `readable`: the offline analyst streams at a rate that people can follow. */
  open(pace: 'readable' | 'none'): Promise<OpenModels>;
}

/** The providers of this configuration; ends the verb with 3 where rules leave nothing, with 6 where nobody can be asked. */
export async function openProviders(args: Arguments, config: Loaded): Promise<Providers> {
  const asked = args.get('model');
  const offlineAsked = asked !== undefined && resolveModel(asked, config.models) === OFFLINE;
  const usable = config.providers.filter(({ unusable }) => unusable === null);
  const configured = config.providers.filter((provider) => provider.configured);
  if (offlineAsked && args.has('no-offline')) {
    throw new Exit(EXIT.wrongUse, '--model offline and --no-offline rule each other out\n  leave one of them out');
  }
  const alone = usable.length === 0;
  if (alone && !offlineAsked) refuseNobody(args, configured);
  refuseUnusable([...args.all('model').slice(-1), ...roleModelsFrom(args).values()], config);
  if (alone || offlineAsked) refuseDeniedOffline(config);
  const published = await publishedOf(config.providers, world.now());
  return {
    words: alone ? 'offline (no provider)' : offlineAsked ? 'offline' : usable.map(wordsOf).join(', '),
    offlineOnly: configured.length === 0,
    open: async (pace) => (await import('./model-port.ts')).portOf(config, published, pace),
  };
}

/** A model that somebody asked for by a flag is never replaced by another in silence because its provider lacks a key. */
function refuseUnusable(names: readonly string[], { models, providers }: Loaded): void {
  for (const name of names) {
    const id = resolveModel(name, models);
    const provider = providers.find((one) => id?.startsWith(`${one.name}/`) === true);
    if (provider === undefined || provider.unusable === null) continue;
    throw new Exit(
      provider.forbidden === true ? EXIT.refused : EXIT.noProvider,
      `${name} can't be used: ${provider.unusable}\n  set what is missing, ask for another model (\`mimir models\` lists them), or use the built-in analyst: --model offline`,
    );
  }
}

/** A provider by its name, with its address where that isn't its maker's own. */
function wordsOf({ name, baseUrl }: ConfiguredProvider): string {
  const own = BUILT_IN.find((one) => one.name === name)?.baseUrl !== baseUrl;
  return own ? `${name} (${baseUrl})` : name;
}

/** Nobody can be asked: because nothing is set up, which the analyst bridges, or because what is set up can't be used. */
function refuseNobody(args: Arguments, configured: readonly ConfiguredProvider[]): void {
  if (configured.length > 0) {
    const lines = configured.map(({ name, unusable }) => `\n  ${name}: ${unusable}`).join('');
    // What the rules forbid is no missing key: nothing that could be set helps.
    const forbidden = configured.every((one) => one.forbidden === true);
    const help = forbidden ? 'ask whoever wrote that rule, or use' : 'set what is missing, or use';
    throw new Exit(
      forbidden ? EXIT.refused : EXIT.noProvider,
      `no provider can be used:${lines}\n  ${help} the built-in analyst: --model offline`,
    );
  }
  if (!args.has('no-offline')) return;
  throw new Exit(
    EXIT.noProvider,
    `no model provider is configured, and --no-offline rules the built-in analyst out\n  set ${KEYS}, or name a provider in your config.yml`,
  );
}

/** The variables that a key is looked for in, for advice. */
export const KEYS = BUILT_IN.map(({ keyEnv }) => keyEnv)
  .join(', ')
  .replace(/, (\w+)$/, ' or $1');

function refuseDeniedOffline({ rules }: Loaded): void {
  const problem = modelProblem(OFFLINE, rules);
  if (problem === null) return;
  throw new Exit(EXIT.refused, `no model may be used: ${OFFLINE} is denied by ${reasonText(problem)}`);
}
