/** Plan files as text: YAML (JSON is a part of it) in and out. What a plan may say is checked by others. */
import { Document, isScalar, visit } from 'yaml';
import { fail, ok, type Result } from '../../domain/result.ts';
import { faultText } from '../files/fault.ts';
import { readTree } from '../files/tree.ts';
import { plainOf } from '../files/tree-walk.ts';

/** The value in `text`, or what is wrong with file, line and column. As careful as with configuration. */
export function parsePlanText(text: string, file: string): Result<unknown, string> {
  const tree = readTree(text, file);
  return tree.ok ? ok(plainOf(tree.value)) : fail(faultText(tree.fault));
}

/**
 * Quoted texts stay on one line: over several, the library writes some that it reads back as others. Characters that no file may
 * have (unfit.ts) are written as escapes.
 */
export function stringifyYaml(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_, node) {
      if (isScalar(node) && typeof node.value === 'string' && ODD.test(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  const text = document.toString({ lineWidth: 120, doubleQuotedMinMultiLineLength: LONGEST });
  return text.replaceAll(RAW, (odd) => `\\u${odd.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
const LONGEST = 1e9;
const ODD = /[\r\x7f-\x9f\u2028\u2029]/;
/** Of those, what the library leaves as it is in quotes. */
const RAW = /[\x7f-\x9f\u2028\u2029]/g;
