/** What the layers say about the sandbox and about variables of commands, as rules; and paths that can't be kept. */
import path from 'node:path';
import { CREDENTIALS } from '../../domain/text/credentials.ts';
import type { BoxRules, Rule, Rules } from '../../policy/rules.ts';
import type { ConfigFault } from '../files/fault.ts';
import type { Layer } from '../files/layer.ts';

export const NAME_REMEDY = 'write a name such as JAVA_HOME';

/** No key at all where nobody says anything. `passthrough`: a list for each layer that has one. */
export function boxRules(
  layers: readonly Layer[],
  passthrough: readonly Rule<readonly string[]>[],
): Pick<Rules, 'box'> {
  const open = openedBy(layers);
  const box: BoxRules = {
    denyRead: pathsOf(layers, 'denyRead'),
    denyWrite: pathsOf(layers, 'denyWrite'),
    allowWrite: layers.flatMap((layer) => {
      const value = layer.settings.sandbox?.fs?.allowWrite;
      return value === undefined ? [] : [{ value, from: layer.reason(['sandbox', 'fs', 'allowWrite']) }];
    }),
    ...(open.length === 0 ? {} : { allowRead: open }),
    passthrough: inAll(passthrough),
  };
  return Object.values(box).some((list: readonly unknown[]) => list.length > 0) ? { box } : {};
}

const pathsOf = (layers: readonly Layer[], key: 'denyRead' | 'denyWrite'): readonly Rule<string>[] =>
  layers.flatMap((layer) =>
    (layer.settings.sandbox?.fs?.[key] ?? []).map((value, index) => ({
      value,
      from: { ...layer.reason(['sandbox', 'fs', key, index]), rule: `sandbox.fs.${key}: ${value}` },
    })),
  );

/** What an organisation opens bounds what a person may: of two lists, what lies in both, by the names as they are written. */
function openedBy(layers: readonly Layer[]): readonly Rule<string>[] {
  const lists = layers.flatMap((layer): readonly (readonly Rule<string>[])[] => {
    const paths = layer.settings.sandbox?.fs?.allowRead;
    if (paths === undefined) return [];
    return [
      paths.map((value, index) => ({
        value: plain(value),
        from: { ...layer.reason(['sandbox', 'fs', 'allowRead', index]), rule: `sandbox.fs.allowRead: ${value}` },
      })),
    ];
  });
  const [first = [], ...others] = lists;
  const met = others.reduce(
    (before, list) =>
      before.flatMap((one) =>
        list.flatMap((other) => (lies(one.value, other.value) ? [other] : lies(other.value, one.value) ? [one] : [])),
      ),
    first,
  );
  return met.filter(({ value }, index) => met.findIndex((other) => other.value === value) === index);
}

const plain = (written: string): string => path.normalize(written).replace(/(.)\/$/, '$1');
const lies = (folder: string, place: string): boolean => place === folder || place.startsWith(`${folder}/`);

/** What an organisation lists bounds what a person may pass on. */
function inAll([first, ...others]: readonly Rule<readonly string[]>[]): readonly Rule<string>[] {
  if (first === undefined) return [];
  return first.value
    .filter((name) => others.every(({ value }) => value.includes(name)))
    .map((value) => ({ value, from: first.from }));
}

/** Paths that would be kept from nobody. A place to write outside of the project can't be given: the sandbox has no such place. */
export const boxFaults = (layer: Layer): readonly ConfigFault[] => [
  ...(['denyRead', 'denyWrite', 'allowWrite', 'allowRead'] as const).flatMap((key) => pathFaults(layer, key)),
  ...(layer.settings.env?.passthrough ?? []).flatMap((written, index) =>
    /^[A-Za-z_][A-Za-z0-9_]{0,199}$/.test(written)
      ? []
      : [layer.fault(['env', 'passthrough', index], 'env.passthrough names no variable', NAME_REMEDY)],
  ),
];

type PathKey = 'denyRead' | 'denyWrite' | 'allowWrite' | 'allowRead';

function pathFaults(layer: Layer, key: PathKey): readonly ConfigFault[] {
  return (layer.settings.sandbox?.fs?.[key] ?? []).flatMap((written, index) => {
    const fault = (problem: string, remedy: string): readonly ConfigFault[] => [
      layer.fault(['sandbox', 'fs', key, index], `${key} names "${written}", ${problem}`, remedy),
    ];
    if (/[*?]/.test(written)) return fault('and patterns mean nothing here', 'name each file or folder');
    if (key === 'allowRead') return openFault(written, fault);
    return isOutside(written, layer.name === 'project', key)
      ? fault('which is outside of the project', 'name a path inside it')
      : [];
  });
}

/** What lies in the project is read anyway; where credentials are is opened to nobody. */
function openFault(
  written: string,
  fault: (problem: string, remedy: string) => readonly ConfigFault[],
): readonly ConfigFault[] {
  const place = plain(written);
  if (!/^(?:~\/|\/)/.test(written)) return fault('which is no place outside of the project', 'begin it with / or ~/');
  if (['/', '~', '~/'].includes(place)) return fault('which is too much', 'name the folders that commands need');
  return CREDENTIALS.some((name) => lies(`~/${name}`, place))
    ? fault('where credentials lie', 'name a folder that holds none')
    : [];
}

/** A project's rules are about the project: with system folders hidden by it, no sandbox would work. */
function isOutside(written: string, ofProject: boolean, key: PathKey): boolean {
  if (path.isAbsolute(written) || written.startsWith('~')) return ofProject;
  return (ofProject || key === 'allowWrite') && path.normalize(written).startsWith('..');
}

/** A line for each layer that asks for the network: it stays off in this version, which grants less than was asked. */
export const networkNotes = (layers: readonly Layer[]): readonly string[] =>
  layers.flatMap((layer) => {
    if ((layer.settings.sandbox?.network?.allowedDomains ?? []).length === 0) return [];
    const { file, line } = layer.reason(['sandbox', 'network', 'allowedDomains']);
    return [
      `${file ?? layer.name}:${line ?? ''}: sandbox.network.allowedDomains: commands have no network in this version`,
    ];
  });
