/** Filters the person's Cargo configuration for a sandbox: only sources and registries with their names and addresses. Tokens,
 * programs that Cargo would start (wrappers, linkers, runners, credential providers), proxies and variables are left out. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse, stringify, type TomlTable, type TomlValue } from 'smol-toml';
import { tried } from '../../domain/result.ts';

export interface CargoConfig {
  /** TOML; empty when nothing remains. */
  readonly text: string;
  /** Absolute folders that packages are taken from; the sandbox has to show them. */
  readonly folders: readonly string[];
}

const NOTHING: CargoConfig = { text: '', folders: [] };

/** No real configuration is larger. */
const MOST_BYTES = 256 * 1024;

/** The keys of a source or a registry that hold names and addresses. */
const NAMES = ['replace-with', 'branch', 'tag', 'rev', 'protocol'] as const;
const ADDRESSES = ['registry', 'git', 'index'] as const;
const FOLDERS = ['directory', 'local-registry'] as const;

/** Reads the configuration below `cargoHome`. An unreadable one gives nothing: Cargo itself reports it outside. */
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
      // Relative paths start at the parent of the configuration's folder, which is another one in the sandbox.
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

const withoutUser = (address: string): string => address.replace(/^([a-z+]+:\/\/)[^/@]*@/i, '$1');

const isTable = (value: TomlValue | undefined): value is TomlTable =>
  typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date);

const tableOf = (value: TomlValue | undefined): TomlTable => (isTable(value) ? value : {});

const textOf = (file: string): string | null =>
  tried((): string | null => {
    const text = readFileSync(file, 'utf8');
    return text.length > MOST_BYTES ? null : text;
  }, null);
