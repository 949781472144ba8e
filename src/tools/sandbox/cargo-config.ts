/**
 * What of the person's Cargo configuration a sandbox gets: where packages come from, by another name or address than the
 * usual one, and nothing else. Tokens, programs that Cargo would start (wrappers, linkers, runners, credential providers),
 * proxies and variables stay out.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse, stringify, type TomlTable, type TomlValue } from 'smol-toml';

export interface CargoConfig {
  /** TOML; empty where nothing is left of it. */
  readonly text: string;
  /** Folders that packages are taken from, absolute: they have to be shown. */
  readonly folders: readonly string[];
}

const NOTHING: CargoConfig = { text: '', folders: [] };

/** Larger is no configuration that anybody wrote. */
const MOST_BYTES = 256 * 1024;

/** Keys of a source, and of a registry, that hold names and addresses. */
const NAMES = ['replace-with', 'branch', 'tag', 'rev', 'protocol'] as const;
const ADDRESSES = ['registry', 'git', 'index'] as const;
const FOLDERS = ['directory', 'local-registry'] as const;

/** `cargoHome`: the folder that holds it. What can't be read gives nothing: Cargo itself tells of such a file outside. */
export function cargoConfig(cargoHome: string): CargoConfig {
  const found = ['config.toml', 'config'].map((name) => textOf(path.join(cargoHome, name)));
  const text = found.find((each) => each !== null) ?? null;
  if (text === null) return NOTHING;
  try {
    return filtered(parse(text), path.dirname(cargoHome));
  } catch {
    return NOTHING;
  }
}

function filtered(config: TomlTable, base: string): CargoConfig {
  const folders: string[] = [];
  const places = (table: TomlTable): TomlTable => {
    const kept: TomlTable = {};
    for (const key of NAMES) if (isName(table[key])) kept[key] = table[key];
    for (const key of ADDRESSES) if (typeof table[key] === 'string') kept[key] = withoutUser(table[key]);
    for (const key of FOLDERS) {
      const value = table[key];
      if (typeof value !== 'string') continue;
      // Relative ones are so to the folder above the one that holds the file, which is another one in the sandbox.
      const place = path.resolve(base, value);
      kept[key] = place;
      folders.push(place);
    }
    return kept;
  };
  const all = (tables: TomlValue | undefined): TomlTable => {
    const named = Object.entries(tableOf(tables)).map(([name, table]) => [name, places(tableOf(table))] as const);
    return Object.fromEntries(named.filter(([, table]) => Object.keys(table).length > 0));
  };
  const kept: TomlTable = { source: all(config['source']), registries: all(config['registries']) };
  const registry = tableOf(config['registry']);
  kept['registry'] = isName(registry['default']) ? { default: registry['default'] } : {};
  const rest = Object.fromEntries(Object.entries(kept).filter(([, table]) => Object.keys(tableOf(table)).length > 0));
  return Object.keys(rest).length === 0 ? NOTHING : { text: `${stringify(rest)}\n`, folders };
}

const isName = (value: TomlValue | undefined): value is string =>
  typeof value === 'string' && /^[\w.+/-]{1,200}$/.test(value);

/** An address may hold a user and a password. */
const withoutUser = (address: string): string => address.replace(/^([a-z+]+:\/\/)[^/@]*@/i, '$1');

const isTable = (value: TomlValue | undefined): value is TomlTable =>
  typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date);

const tableOf = (value: TomlValue | undefined): TomlTable => (isTable(value) ? value : {});

function textOf(file: string): string | null {
  try {
    const text = readFileSync(file, 'utf8');
    return text.length > MOST_BYTES ? null : text;
  } catch {
    return null;
  }
}
