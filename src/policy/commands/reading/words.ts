/**
 * The words of a command as the judgement of reading commands sees them: the text where it is known, else what can be said of
 * it. Also where a path leads, by its text alone.
 */
import type { Word, WordPart } from 'unbash';
import { knownWord } from '../words.ts';

/**
 * `inside`: paths in the project that begin with no "-" (a file name pattern with a beginning, `$f` of a loop). `leading`: paths
 * in the project that may begin with "-" (`*.ts`). `one`: a single word that may be anything (`"$(ls)"`); `any`: so many of them.
 */
export type Argument =
  | { readonly is: 'known'; readonly text: string }
  | { readonly is: 'inside' | 'leading' | 'one' | 'any' };

/** The project and the folder in which the command starts: absolute, without links, `.` and `..`. */
export interface ReadingPlace {
  readonly root: string;
  readonly folder: string;
}

export interface Scope {
  readonly place: ReadingPlace;
  /** The command changes its folder: a path with leading `..` may lead anywhere. */
  readonly moves: boolean;
  /** What loops and `read` set. `whole`: the text of a variable stays one word also without quotes. */
  readonly variables: ReadonlyMap<string, { readonly is: 'inside' | 'any'; readonly whole: boolean }>;
  /** Why the script of a substitution does more than read; null: it only reads. */
  readonly script: (part: Extract<WordPart, { readonly script: unknown }>) => string | null;
}

export const OUTSIDE = 'a path may lie outside the project';
const UNKNOWN_WORD = 'it has words that the text does not tell';

/** The word, or why the command can't be judged by its text. */
export function argumentOf(word: Word, scope: Scope): Argument | string {
  const text = knownWord(word);
  if (text !== null) return { is: 'known', text };
  const shape: Shape = { text: '', unknown: null, leading: false, patterns: false };
  for (const part of word.parts ?? []) {
    const why = addPart(part, shape, scope, false);
    if (why !== null) return why;
  }
  if (shape.unknown !== null) return { is: shape.unknown };
  // File names that fit `--include=*.ts` are the same option with another value.
  if (/^--[a-z][a-z-]*=/.test(shape.text)) return { is: 'known', text: shape.text };
  if (leadsOut(shape, scope)) return OUTSIDE;
  return { is: shape.leading ? 'leading' : 'inside' };
}

/** A pattern that begins with a dot may stand for `..`. */
const leadsOut = ({ text, patterns }: Shape, scope: Scope): boolean =>
  text.startsWith('-') ||
  !isInProject(text, scope) ||
  (patterns && text.split('/').some((name) => /^\.(?![A-Za-z0-9]).*[*?{[]/.test(name)));

interface Shape {
  /** With the patterns as written, and a letter for what is unknown. */
  text: string;
  unknown: 'one' | 'any' | null;
  leading: boolean;
  patterns: boolean;
}

function addPart(part: WordPart, shape: Shape, scope: Scope, quoted: boolean): string | null {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
      shape.text += part.value;
      return null;
    case 'AnsiCQuoted':
      shape.text += part.value;
      return part.value.includes('\0') || part.text.includes(String.raw`\0`) ? UNKNOWN_WORD : null;
    case 'DoubleQuoted': {
      for (const child of part.parts) {
        const why = addPart(child, shape, scope, true);
        if (why !== null) return why;
      }
      return null;
    }
    case 'Glob':
      return addPattern(part.text, shape, /[$`\\'"/]/);
    case 'BraceExpansion':
      return addPattern(part.text, shape, /[$`\\'"~]|\.\.|[{,]\//);
    case 'SimpleExpansion':
      return addVariable(part.text.slice(1), shape, scope, quoted);
    case 'ParameterExpansion':
      return addExpansion(part, shape, scope, quoted);
    case 'ProcessSubstitution':
      shape.text += 'x';
      return part.operator === '<' ? scope.script(part) : 'it writes to a program';
    case 'CommandExpansion':
      hide(shape, quoted);
      return scope.script(part);
    default:
      return UNKNOWN_WORD;
  }
}

function addPattern(text: string, shape: Shape, odd: RegExp): string | null {
  if (odd.test(text)) return UNKNOWN_WORD;
  if (shape.text === '') shape.leading = true;
  shape.patterns = true;
  shape.text += text;
  return null;
}

function addExpansion(
  { index, prefix, operation, parameter }: Extract<WordPart, { readonly type: 'ParameterExpansion' }>,
  shape: Shape,
  scope: Scope,
  quoted: boolean,
): string | null {
  if (index !== undefined || prefix !== undefined) return UNKNOWN_WORD;
  if (operation === undefined) return addVariable(parameter, shape, scope, quoted);
  // `${f##*/}`: a part of it, which may begin with anything.
  if (operation.type !== 'Remove' || !/^[\w.*?/-]*$/.test(operation.operand.text) || !scope.variables.has(parameter))
    return UNKNOWN_WORD;
  hide(shape, quoted);
  return null;
}

const hide = (shape: Shape, quoted: boolean): void =>
  void (shape.unknown = quoted && shape.unknown !== 'any' ? 'one' : 'any');

function addVariable(name: string, shape: Shape, { variables }: Scope, quoted: boolean): string | null {
  shape.text += 'x';
  // The last exit code, the number of arguments, the process: digits.
  if (/^[?#$]$/.test(name)) return null;
  const known = variables.get(name);
  if (known === undefined) return UNKNOWN_WORD;
  if (known.is === 'any' || !(quoted || known.whole)) hide(shape, quoted);
  return null;
}

/** By its text: links are left to the sandbox. */
export function isInProject(path: string, { place, moves }: Pick<Scope, 'place' | 'moves'>): boolean {
  if (path === '/dev/null' || path === '-') return true;
  if (path.startsWith('~')) return false;
  if (path.startsWith('/')) return isBelow(place.root, normal(path));
  let depth = moves ? 0 : namesOf(place.folder.slice(place.root.length)).length;
  for (const name of namesOf(path)) {
    depth += name === '..' ? -1 : 1;
    if (depth < 0) return false;
  }
  return true;
}

const namesOf = (path: string): readonly string[] => path.split('/').filter((name) => name !== '' && name !== '.');

const isBelow = (root: string, path: string): boolean => path === root || path.startsWith(`${root}/`);

function normal(path: string): string {
  const names: string[] = [];
  for (const name of namesOf(path)) {
    if (name === '..') names.pop();
    else names.push(name);
  }
  return `/${names.join('/')}`;
}
