/**
 * What a task is about: the words to look for, and the folders and files that it is limited to. A path is a place and never
 * a word. Whether a place exists is told by the facts when planning, and by a listing (ground.ts) at work.
 */
import type { RepositoryFacts } from '../../domain/repository.ts';
import { patternOf, termsIn, wishesIn } from './words.ts';
import type { Term } from './words.ts';

export interface Topic {
  /** Identifiers and words to look for, most telling first. */
  readonly words: readonly Term[];
  /** With a trailing slash; looks go no further when there are any. */
  readonly folders: readonly string[];
  readonly files: readonly string[];
}

const MOST_WORDS = 4;
const MOST_PLACES = 3;
const AS_FILE = /\.[A-Za-z]\w{0,5}$/;
/** `try/catch` and the like are two words; `in src/engine` and `src/` are a place. */
const BEFORE_PLACE = /\b(?:in|of|under|inside|within|through|from|folder|directory|below)\s+$/i;

/** As an agent hears it: from the words alone. */
export function topicIn(text: string): Topic {
  const terms = termsOf(text);
  const paths = terms.flatMap(({ is, text: path }) => (is === 'path' ? [path] : []));
  const folders = paths.filter((path) => path.endsWith('/') || (!AS_FILE.test(path) && isPlace(text, path)));
  return {
    words: terms.filter(({ is }) => is !== 'path').slice(0, MOST_WORDS),
    folders: folders.map(closed).slice(0, MOST_PLACES),
    files: paths.filter((path) => AS_FILE.test(path)).slice(0, MOST_PLACES),
  };
}

const isPlace = (text: string, path: string): boolean => BEFORE_PLACE.test(text.slice(0, text.indexOf(path)));

/** As the planner hears it, who knows what lies at the top: `src` is the folder src/, and the project's name is no word. */
export function topicOf(text: string, facts: RepositoryFacts): Topic {
  const terms = termsOf(text).filter(({ text: word }) => !sameName(word, facts.name));
  const folders = terms.flatMap((term) => folderOf(term, facts) ?? []);
  const files = terms.flatMap(({ is, text: path }) =>
    is === 'path' && AS_FILE.test(path) && !facts.manifests.some((manifest) => manifest.path === path) ? [path] : [],
  );
  return {
    words: terms.filter((term) => term.is !== 'path' && folderOf(term, facts) === null).slice(0, MOST_WORDS),
    folders: [...new Set(folders)].slice(0, MOST_PLACES),
    files: files.slice(0, MOST_PLACES),
  };
}

/** Words that say which kind of review, not what it is about. */
const KIND_WORDS = /^(?:errors?|exceptions?|failures?|leftovers?|speed)$/;

function termsOf(text: string): readonly Term[] {
  const wishes = wishesIn(text);
  const kinds = wishes.some((wish) => wish === 'review' || wish === 'security' || wish === 'debug');
  return termsIn(text, 16).filter(({ text: word }) => !(kinds && !text.includes('`') && KIND_WORDS.test(word)));
}

const closed = (path: string): string => (path.endsWith('/') ? path : `${path}/`);
const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** The folder a term names: a path whose beginning lies at the top, or the very name of a folder there. */
function folderOf({ is, text }: Term, { top }: RepositoryFacts): string | null {
  if (is !== 'path') return top.find((name) => name === `${text}/`) ?? null;
  if (AS_FILE.test(text)) return null;
  const begin = `${text.split('/')[0] ?? ''}/`;
  return top.includes(begin) ? closed(text) : null;
}

/** How well a path fits by name: a whole name of a file or folder counts twice as much as a part of one. */
export function nameFits(path: string, terms: readonly Term[]): number {
  const parts = path.split('/').map((part) => part.replace(/\.\w+$/, ''));
  return terms.reduce((sum, term) => {
    const pattern = patternOf(term);
    const whole = new RegExp(`^${pattern}\\w{0,3}$`, 'i');
    if (parts.some((part) => whole.test(part))) return sum + 2;
    return parts.some((part) => new RegExp(pattern, 'i').test(part)) ? sum + 1 : sum;
  }, 0);
}
