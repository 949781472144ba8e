/** What is wrong with providers as they are written: addresses, names, models that nobody has. Told before anything runs. */
import { baseUrlProblem } from '../schema/base-url.ts';
import type { ConfigFault } from '../files/fault.ts';
import { headerFaults, type ProviderEntry } from './headers.ts';
import type { Layer } from '../files/layer.ts';
import type { Environment } from '../files/paths.ts';
import { addressIn, BUILT_IN, wireNameOf } from './providers.ts';

/** What is wrong with the providers of one file. */
export const providerFaults = (layer: Layer): readonly ConfigFault[] =>
  Object.entries(layer.settings.providers ?? {}).flatMap(([name, entry]) => [
    ...nameFaults(layer, name),
    ...addressFaults(layer, name, entry),
    ...modelFaults(layer, name, entry),
    ...protocolFaults(layer, name, entry),
    ...headerFaults(layer, name, entry),
  ]);

/** A model of this name would be taken for the built-in analyst, which no list of allowed models binds. */
const nameFaults = (layer: Layer, name: string): readonly ConfigFault[] =>
  name === 'offline'
    ? [layer.fault(['providers', name], 'there is a built-in provider "offline"', 'give yours another name')]
    : [];

function addressFaults(layer: Layer, name: string, { kind, baseUrl }: ProviderEntry): readonly ConfigFault[] {
  if (baseUrl !== undefined) {
    const problem = baseUrlProblem(baseUrl);
    const path = ['providers', name, 'baseUrl'];
    return problem === null ? [] : [layer.fault(path, `${path.join('.')} ${problem.problem}`, problem.remedy)];
  }
  if (kind !== 'openai-compatible' || BUILT_IN.some((one) => one.name === name)) return [];
  const problem = `provider "${name}" has no baseUrl`;
  return [
    layer.fault(['providers', name], problem, 'add the address of its API: baseUrl: "http://127.0.0.1:11434/v1"'),
  ];
}

/** The makers' own models all take tool calls; without them they would only do less. */
const protocolFaults = (layer: Layer, name: string, { kind, protocol }: ProviderEntry): readonly ConfigFault[] =>
  protocol === undefined || kind === 'openai-compatible'
    ? []
    : [
        layer.fault(
          ['providers', name, 'protocol'],
          `protocol: ${protocol} is for providers of kind openai-compatible`,
          'take it out',
        ),
      ];

function modelFaults(
  layer: Layer,
  name: string,
  { models = [], prices, windows, answersAs }: ProviderEntry,
): readonly ConfigFault[] {
  return Object.entries({ prices, windows, answersAs }).flatMap(([section, map]) =>
    Object.keys(map ?? {})
      .filter((model) => wireNameOf(name, model, models) === null)
      .map((model) =>
        layer.fault(
          ['providers', name, section, model],
          `${section} names "${model}", which provider "${name}" doesn't have`,
          `add it to providers.${name}.models`,
        ),
      ),
  );
}

/** A host as `new URL` has it: a name or an address, with a port or without. */
const HOST = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/** Entries that no host could ever be: a list of those alone would call nobody, without a word. */
export const endpointFaults = (layer: Layer): readonly ConfigFault[] =>
  (layer.settings.enforcement?.allowedEndpoints ?? []).flatMap((written, index) =>
    HOST.test(written)
      ? []
      : [
          layer.fault(
            ['enforcement', 'allowedEndpoints', index],
            `allowedEndpoints names "${written}", which is no host`,
            'write the host alone, or host:port: api.anthropic.com',
          ),
        ],
  );

/** What is wrong with addresses in the environment, by the name of their variable. */
export const environmentFaults = (env: Environment): readonly ConfigFault[] =>
  BUILT_IN.flatMap((builtIn) => {
    const address = addressIn(env, builtIn);
    const problem = address === null ? null : baseUrlProblem(address);
    if (problem === null) return [];
    return [{ file: builtIn.baseUrlEnv ?? builtIn.name, line: null, column: null, ...problem }];
  });
