/**
 * Words of a shell command as the shell would make them: quotes taken off, escapes read. What depends on anything but
 * the text (a variable, a substitution, a file name pattern, a translation) is not known.
 */
import type { Assignment, Word, WordPart } from 'unbash';

/** Doubts about a command, in words: what the text does not tell. */
export const DOUBTS = {
  words: 'it has words that only the shell knows',
  substitution: 'a substitution could not be read',
  variable: 'it sets a variable that the text does not name',
  program: 'what it runs is not in the text',
  notInText: (name: string): string => `what ${name} runs is not in the text`,
  unreadable: (name: string): string => `what ${name} runs can't be read here`,
} as const;

/** A word after quote removal; null when the text alone doesn't say what it becomes, nor into how many words it falls. */
export type Known = string | null;

/** One program with its arguments. */
export interface Simple {
  readonly words: readonly Known[];
  /** The same words as written. */
  readonly texts: readonly string[];
  /** More arguments follow that nobody can know, as of `xargs`. */
  readonly open: boolean;
}

/** What the shell makes of `word`. */
export function knownWord(word: Word): Known {
  if (word.parts === undefined) return word.value;
  let known = '';
  for (const part of word.parts) {
    const text = knownPart(part);
    if (text === null) return null;
    known += text;
  }
  return known;
}

function knownPart(part: WordPart): Known {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
      return part.value;
    case 'AnsiCQuoted':
      // A NUL ends the string in the shell, not here.
      return part.value.includes('\0') || part.text.includes('\\0') ? null : part.value;
    case 'DoubleQuoted': {
      let known = '';
      for (const child of part.parts) {
        if (child.type !== 'Literal') return null;
        known += child.value;
      }
      return known;
    }
    default:
      return null;
  }
}

/** `name=value` in the place of an argument, as of `export`. */
export function knownAssignment({ name, index, value, text }: Assignment): Known {
  if (index !== undefined || value.type !== 'Word') return null;
  const known = knownWord(value);
  return known === null ? null : `${name}${text.startsWith(`${name}+`) ? '+' : ''}=${known}`;
}

/** The last part of a path: `/usr/bin/curl` is `curl`. */
export const programOf = ({ words }: Simple): Known => baseName(words[0] ?? null);

export const baseName = (word: Known): Known => (word === null ? null : (word.split('/').at(-1) ?? ''));
