/** The texts that models are instructed with, from the package's own `.mimir/prompts`. A broken package is a bug: it throws. */
import path from 'node:path';
import type { Prompts } from '../../domain/prompts.ts';
import { readText } from '../files/read-text.ts';

/** The prompts as they stand in the files; `instructions` are the project's, from instructions.ts. */
export function readPrompts(packageRoot: string, instructions: string): Prompts {
  const text = (name: string): string => promptText(packageRoot, name);
  return {
    common: text('common'),
    plan: text('plan'),
    merge: text('merge'),
    compact: text('compact'),
    children: text('children'),
    instructions,
  };
}

/** One of them, by its name: what few need is read when they do. */
export function promptText(packageRoot: string, name: string): string {
  const shown = `.mimir/prompts/${name}.md`;
  const read = readText({ path: path.join(packageRoot, shown), shown, links: 'follow', owner: 'any' });
  if (!read.ok || read.value === null) throw new Error(`${shown} is missing from the package`);
  return read.value.trim();
}
