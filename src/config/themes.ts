/** Themes from `themes/*.yml`: colours by name, with inheritance. The first folder that has the file wins. The screen decides how to show a colour. */
import { readdirSync } from 'node:fs';
import { z } from 'zod';
import { fail, ok, type Result, tried } from '../domain/result.ts';
import { type Theme, TOKENS } from '../domain/theme.ts';
import { faultText, readText } from './files/read-text.ts';
import { PREPARED } from './files/parse-cache.ts';
import { placeOf, plainOf, readTree } from './files/tree.ts';
import { FullColour, ThemeFile } from './schema/schema.ts';

/** The theme if none is requested or the requested one is invalid. */
export const DEFAULT_THEME = 'mimir-dark';

/** Reads a theme with all that it extends. The fault says file, line and remedy; the caller shows it and uses the default. */
export function loadTheme(folders: readonly string[], name: string): Result<Theme, string> {
  const parts: ThemeFile[] = [];
  for (let next: string | null = name; next !== null; ) {
    if (parts.length >= DEEPEST) return fail(`theme ${name} extends more than ${DEEPEST - 1} others, or itself`);
    const read = readTheme(folders, next);
    if (!read.ok) return read;
    parts.unshift(read.value);
    next = read.value.extends;
  }
  return complete(name, parts);
}

const DEEPEST = 4;

/** Names of the themes in these folders, those of the last folder (the shipped ones) first. A missing folder has none. */
export function themeNames(folders: readonly string[]): readonly string[] {
  const names = folders.toReversed().flatMap((folder) => namesIn(folder).toSorted());
  return [...new Set(names)];
}

const namesIn = (folder: string): readonly string[] =>
  tried(() => readdirSync(folder).flatMap((file) => /^([\w-]+)\.yml$/.exec(file)?.[1] ?? []), []);

const TokenSet = z.record(z.enum(TOKENS), FullColour);
function readTheme(folders: readonly string[], name: string): Result<ThemeFile, string> {
  // Keeps the name from being a path.
  if (!/^[\w-]+$/.test(name)) return fail(`"${name}" is not a valid theme name: use letters, digits and hyphens`);
  for (const folder of folders) {
    const file = `${folder}/${name}.yml`;
    const text = readText({ path: file, shown: file, links: 'follow', owner: 'any' });
    if (!text.ok) return fail(faultText(text.fault));
    if (text.value === null) continue;
    const before = PREPARED.themes.get(text.value);
    return before === undefined ? parseTheme(file, text.value) : ok(before);
  }
  return fail(`there is no theme "${name}": looked for ${name}.yml in ${folders.join(', ')}`);
}

/** Parses one file. The result is plain JSON; `file` is used in faults only. */
export function parseTheme(file: string, text: string): Result<ThemeFile, string> {
  const tree = readTree(text, file);
  if (!tree.ok) return fail(faultText(tree.fault));
  const parsed = ThemeFile.safeParse(plainOf(tree.value));
  if (parsed.success) return ok(parsed.data);
  const issue = parsed.error.issues[0];
  const path = issue?.path.map(String) ?? [];
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const place = [...path, ...unknown];
  return fail(`${file}:${placeOf(tree.value, place).line}: ${place.join('.')}: ${wrong(issue, path)}`);
}

function wrong(issue: z.core.$ZodIssue | undefined, path: readonly string[]): string {
  if (issue === undefined) return 'not a theme';
  if (path[0] === 'tokens' && (issue.code === 'unrecognized_keys' || issue.code === 'invalid_key'))
    return `unknown token; use one of: ${TOKENS.join(', ')}`;
  if (issue.code === 'unrecognized_keys') return `unknown key; use one of: ${Object.keys(ThemeFile.shape).join(', ')}`;
  return issue.message;
}

/** Later parts override what they extend. */
function complete(name: string, parts: readonly ThemeFile[]): Result<Theme, string> {
  const given = Object.fromEntries(parts.flatMap(({ tokens }) => Object.entries(tokens)));
  const tokens = TokenSet.safeParse(given);
  if (!tokens.success) {
    const missing = TOKENS.filter((token) => given[token] === undefined);
    return fail(`theme ${name} has no colour for ${missing.join(', ')}: add them, or extend a theme that has them`);
  }
  const {
    mode = 'dark',
    glyphs = 'unicode',
    colours = 'all',
  } = parts.reduce<Partial<ThemeFile>>((soFar, part) => ({ ...soFar, ...part }), {});
  const roles = parts.flatMap((part) => Object.entries(part.roles));
  return ok({
    name,
    mode,
    glyphs,
    colours,
    tokens: tokens.data,
    roles: Object.fromEntries(
      roles.map(([role, value]) => [role, typeof value === 'string' ? tokens.data[value] : value]),
    ),
  });
}
