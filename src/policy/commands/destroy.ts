/**
 * Commands that remove or change everything below a place that nobody means (`rm -rf /`, `rm -rf ~`,
 * `rm -rf "$UNSET"/*`): asked about in every mode, whatever rules and grants say.
 */
import { type Simple, programOf } from './words.ts';

const RECURSIVE: ReadonlyMap<string, RegExp> = new Map([
  ['rm', /^-[a-zA-Z]*[rR]|^--r/],
  ['chmod', /^-[a-zA-Z]*R|^--r/],
  ['chown', /^-[a-zA-Z]*R|^--r/],
  ['chgrp', /^-[a-zA-Z]*R|^--r/],
]);

/** Why `simple` must be asked about; null for nearly all. */
export function destroys(simple: Simple): string | null {
  const program = programOf(simple);
  if (program === null) return null;
  if (program === 'find') return findRemoves(simple) ? 'find that removes far more than this project' : null;
  const flag = RECURSIVE.get(program);
  if (flag === undefined) return null;
  const { words, texts, open } = simple;
  // A word that isn't known might be the option: then any target counts.
  if (!words.some((word, at) => at > 0 && (word === null ? startsUnknown(texts[at] ?? '') : flag.test(word))))
    return null;
  const target = texts.find(
    (text, at) => at > 0 && !(words[at]?.startsWith('-') ?? false) && isWide(words[at] ?? null, text),
  );
  if (target !== undefined) return `${program} of everything in ${target}`;
  return open ? `${program} of whatever comes from elsewhere` : null;
}

const REMOVES: ReadonlySet<string> = new Set(['-delete', 'rm', '/bin/rm', '/usr/bin/rm', 'shred']);

function findRemoves({ words, texts }: Simple): boolean {
  if (!words.some((word) => word !== null && REMOVES.has(word))) return false;
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at] ?? null;
    if (word?.startsWith('-') === true) return false;
    // The project itself is a usual place to look in.
    if (word !== '.' && word !== './' && isWide(word, texts[at] ?? '')) return true;
  }
  return false;
}

const startsUnknown = (text: string): boolean => /^"?(?:\$|`)/.test(text);

/** `/`, a folder right below it, the home directory, all of the project, all above it, or a place that the text doesn't tell. */
function isWide(word: string | null, text: string): boolean {
  if (word === null && startsUnknown(text)) return true;
  const [first = '', ...rest] = (word ?? text.replaceAll(/["']/g, '')).split('/');
  if (first.startsWith('~')) return depthOf(rest) <= 0;
  return first === '' && rest.length > 0 ? depthOf(rest) <= 1 : depthOf([first, ...rest]) <= 0;
}

/** How far below its beginning a path ends; a pattern of anything ends where it stands. */
function depthOf(parts: readonly string[]): number {
  let depth = 0;
  for (const part of parts) {
    if (part === '' || part === '.' || /^[*?]+$/.test(part)) continue;
    depth += part === '..' ? -1 : 1;
  }
  return depth;
}
