/**
 * Where plan templates lie: all of a folder at once, those with a fault told apart. What is in a project's folder is read through
 * no link. Which folders count, and which of two of a name, is for others.
 */
import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { type Result, fail } from '../../domain/result.ts';
import type { ConfigFault } from '../files/fault.ts';
import { readText } from '../files/read-text.ts';
import { type Template, TEMPLATE_NAME, readTemplate } from './templates.ts';

export interface TemplateFolder {
  readonly path: string;
  /** How people would name it: `.mimir/plans`. */
  readonly shown: string;
  /** Of a project: nothing is read through a link, neither a folder nor a file. */
  readonly strict: boolean;
}

/** All templates of a folder by name, and what is wrong with those that can't be read. A folder that isn't there has none. */
export function templatesIn(folder: TemplateFolder): {
  readonly templates: readonly Template[];
  readonly faults: readonly ConfigFault[];
} {
  const read = filesIn(folder).map((name) => oneOf(folder, name));
  return {
    templates: read.flatMap((one) => (one.ok ? [one.value] : [])),
    faults: read.flatMap((one) => (one.ok ? [] : one.fault)),
  };
}

function filesIn({ path: folder, strict }: TemplateFolder): readonly string[] {
  const isReal = (place: string): boolean => lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
  try {
    if (strict && !(isReal(folder) && isReal(path.dirname(folder)))) return [];
    return readdirSync(folder)
      .filter((name) => name.endsWith('.yml'))
      .toSorted();
  } catch {
    return [];
  }
}

function oneOf(
  { path: folder, shown, strict }: TemplateFolder,
  name: string,
): Result<Template, readonly ConfigFault[]> {
  const [file, stem] = [`${shown}/${name}`, path.parse(name).name];
  const whole = { file, line: null, column: null };
  if (!TEMPLATE_NAME.test(stem)) {
    return fail([
      { ...whole, problem: "can't be the name of a template", remedy: 'use lower-case letters, digits and "-"' },
    ]);
  }
  const text = readText({
    path: path.join(folder, name),
    shown: file,
    links: strict ? 'refuse' : 'follow',
    owner: 'any',
  });
  if (!text.ok) return fail([text.fault]);
  const read = readTemplate({ shown: file, stem, text: text.value ?? '' });
  if (!read.ok || read.value.info.name === stem) return read;
  const remedy = `name the file ${read.value.info.name}.yml, or the template ${stem}`;
  return fail([{ ...whole, problem: `calls itself "${read.value.info.name}"`, remedy }]);
}
