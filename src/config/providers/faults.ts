/** Checks the configured providers before anything runs: addresses, names, models. */
import { BUILT_IN, PROVIDER_FACTS, PROVIDER_KINDS } from '../../domain/models/provider.ts';
import { isTooShortToHide, SHORTEST_HIDDEN } from '../../domain/text/redact.ts';
import { baseUrlProblem, type Layer, NAMES_SECRET } from '../files/layer.ts';
import { type ConfigFault, type Environment, fileFault } from '../files/read-text.ts';
import { addressIn, headerFaults, type ProviderEntry, wireNameOf } from './providers.ts';

/** The faults of the providers of one file. */
export const providerFaults = (layer: Layer): readonly ConfigFault[] =>
  Object.entries(layer.settings.providers ?? {}).flatMap(([name, entry]) => [
    ...nameFaults(layer, name),
    ...addressFaults(layer, name, entry),
    ...modelFaults(layer, name, entry),
    ...protocolFaults(layer, name, entry),
    ...headerFaults(layer, name, entry),
  ]);

/** A model of this provider would be mistaken for the built-in analyst, which no list of allowed models restricts. */
const nameFaults = (layer: Layer, name: string): readonly ConfigFault[] =>
  name === 'offline'
    ? [layer.fault(['providers', name], 'the name "offline" belongs to the built-in provider', 'choose another name')]
    : [];

function addressFaults(layer: Layer, name: string, { kind, baseUrl }: ProviderEntry): readonly ConfigFault[] {
  if (baseUrl !== undefined) {
    const problem = baseUrlProblem(baseUrl);
    const path = ['providers', name, 'baseUrl'];
    return problem === null ? [] : [layer.fault(path, `${path.join('.')} ${problem.problem}`, problem.remedy)];
  }
  if (PROVIDER_FACTS[kind].own !== true || BUILT_IN.some((one) => one.name === name)) return [];
  const remedy = 'add the address of its API: baseUrl: "http://127.0.0.1:11434/v1"';
  return [layer.fault(['providers', name], `provider "${name}" has no baseUrl`, remedy)];
}

/** The vendors' own models all support tool calls, so the text protocol would only reduce them. */
function protocolFaults(layer: Layer, name: string, { kind, protocol }: ProviderEntry): readonly ConfigFault[] {
  if (protocol === undefined || PROVIDER_FACTS[kind].own === true) return [];
  const kinds = PROVIDER_KINDS.filter((one) => PROVIDER_FACTS[one].own).join(' or ');
  const problem = `protocol: ${protocol} is only for providers of kind ${kinds}`;
  return [layer.fault(['providers', name, 'protocol'], problem, 'remove it')];
}

const modelFaults = (
  layer: Layer,
  name: string,
  { models = [], prices, windows, answersAs }: ProviderEntry,
): readonly ConfigFault[] =>
  Object.entries({ prices, windows, answersAs }).flatMap(([section, map]) =>
    Object.keys(map ?? {})
      .filter((model) => wireNameOf(name, model, models) === null)
      .map((model) => {
        const problem = `${section} names "${model}", which provider "${name}" does not have`;
        return layer.fault(['providers', name, section, model], problem, `add it to providers.${name}.models`);
      }),
  );

/** Faults of addresses in the environment, by the name of their variable. */
export const environmentFaults = (env: Environment): readonly ConfigFault[] =>
  BUILT_IN.flatMap((builtIn) => {
    const address = addressIn(env, builtIn);
    const problem = address === null ? null : baseUrlProblem(address);
    return problem === null ? [] : [fileFault(builtIn.baseUrlEnv ?? builtIn.name, problem.problem, problem.remedy)];
  });

// The environment variables with secrets, whatever key of the configuration names them. They are removed from the process at the start, and
// their values are kept out of everything that is written or shown.

export interface Secret {
  readonly name: string;
  readonly value: string;
}

/** The variables that are set, among those that `settings` name for a secret and those of the built-in providers' keys. */
export function secretsIn(settings: unknown, env: Environment): readonly Secret[] {
  const names = new Set([...BUILT_IN.map(({ keyEnv }) => keyEnv), ...namedIn(settings, false)]);
  return [...names].flatMap((name) => {
    const value = (env[name] ?? '').trim();
    return value === '' ? [] : [{ name, value }];
  });
}

/** A warning for each secret that is too short to be filtered from texts, because it might be a word. */
export const shortSecretNotes = (secrets: readonly Secret[]): readonly string[] =>
  secrets
    .filter(({ value }) => isTooShortToHide(value))
    .map(
      ({ name }) =>
        `${name}: its value is shorter than ${SHORTEST_HIDDEN} characters and could be an ordinary word, so it is not redacted in logs, on screens and in what models read`,
    );

/** `inHeaders`: within headers, `{env: NAME}` names a variable. */
function namedIn(value: unknown, inHeaders: boolean): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, below]: [string, unknown]) => {
    // The variables that an agent of another program gets.
    if (key === 'env' && Array.isArray(below)) return below.filter((name) => typeof name === 'string');
    const isName = NAMES_SECRET.includes(key) || (inHeaders && key === 'env');
    return isName && typeof below === 'string' ? [below] : namedIn(below, inHeaders || key === 'headers');
  });
}
