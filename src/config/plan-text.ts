/** Plan files as text: YAML (JSON is a part of it) in and out. What a plan may say is checked by others. */
import { stringify } from 'yaml';
import type { Result } from '../domain/result.ts';
import { fail, ok } from '../domain/result.ts';
import { faultText } from './fault.ts';
import { readTree } from './tree.ts';
import { plainOf } from './tree-walk.ts';

/** The value in `text`, or what is wrong with file, line and column. As careful as with configuration. */
export function parsePlanText(text: string, file: string): Result<unknown, string> {
  const tree = readTree(text, file);
  return tree.ok ? ok(plainOf(tree.value)) : fail(faultText(tree.fault));
}

/** Quoted texts stay on one line: over several, the library writes some that it reads back as others. */
export const stringifyYaml = (value: unknown): string =>
  stringify(value, { lineWidth: 120, aliasDuplicateObjects: false, doubleQuotedMinMultiLineLength: LONGEST });
const LONGEST = 1e9;
