/** Parses the package's own files for parse-cache.ts. Run by the bundler. */
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { Result } from '../../domain/result.ts';
import { OWN_FILE, judgeLayer } from '../files/layer.ts';
import { type Prepared, keyOf } from '../files/parse-cache.ts';
import { parseRole } from '../roles/role-file.ts';
import { OWN_ROLES, roleFiles, roleText } from '../roles/roles.ts';
import { parseTheme } from '../themes.ts';

/** All cached files of the package. Throws if one is invalid. */
export function prepare(packageRoot: string): Prepared {
  const text = (...names: readonly string[]): string => readFileSync(path.join(packageRoot, ...names), 'utf8');
  const settings = text('.mimir/config.yml');
  const roles = roleFiles(path.join(packageRoot, OWN_ROLES)).map((file) =>
    roleText({ shown: OWN_ROLES, owner: 'built-in' }, file, text(OWN_ROLES, file)),
  );
  const themes = readdirSync(path.join(packageRoot, 'themes')).map((file) => text('themes', file));
  return {
    layers: new Map([[keyOf('default', OWN_FILE, settings), sound(judgeLayer('default', OWN_FILE, settings))]]),
    roles: new Map(roles.map((role) => [keyOf(role.file, role.source, role.text), sound(parseRole(role))])),
    themes: new Map(themes.map((theme) => [theme, sound(parseTheme('themes', theme))])),
  };
}

function sound<T>(read: Result<T, unknown>): T {
  if (read.ok) return read.value;
  throw new Error(`the package's own files are invalid: ${JSON.stringify(read.fault)}`);
}
