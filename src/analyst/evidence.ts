/** The words for the evidence of a sentence: a quoted line, or the call behind it. */
import { countOf, hitsOf, isCut, linesOf } from './tools.ts';
import type { Hit, Seen } from './tools.ts';
import { code, plural } from './words.ts';

const LONGEST_QUOTE = 100;

/** `` `path:line` `text of the line` ``. What backticks or control characters would break is left out. */
export function claim(hit: Hit): string {
  const words = quotable(hit.text);
  return words === '' ? place(hit) : `${place(hit)} \`${words}\``;
}

/** `` `path:line` `` alone. */
export const place = ({ path, line }: Pick<Hit, 'path' | 'line'>): string => `\`${path}:${line}\``;

/** The longest part of a line that can be between backticks. */
function quotable(line: string): string {
  // A long line arrives cut, with the number of characters that are missing: those words are not the file's.
  const own = line.replace(/… \(\+\d+ characters\)$/, '');
  const parts = own.split(/[`\p{Cc}\p{Cf}\u2028\u2029\uFFFD]/u).map((part) => part.trim());
  const longest = parts.reduce((best, part) => (part.length > best.length ? part : best), '');
  return longest
    .slice(0, LONGEST_QUOTE)
    .replace(/[\uD800-\uDBFF]$/, '')
    .trim();
}

const MOST_CALLS = 4;

/** The call behind a sentence, with what it gave: `(search for definitions of x: 3 lines)`. A search in parts counts as one. */
export function behind(...looks: readonly (Seen | undefined)[]): string {
  const groups = [
    ...Map.groupBy(
      [...new Set(looks)].filter((one) => one !== undefined),
      callText,
    ),
  ];
  const texts = groups.map(([call, all]) => `${call}: ${resultText(all)}`);
  const rest = texts.length > MOST_CALLS ? `; ${texts.length - MOST_CALLS} more` : '';
  return texts.length === 0 ? '(nothing was asked)' : `(${texts.slice(0, MOST_CALLS).join('; ')}${rest})`;
}

const VERBS: Readonly<Record<string, string>> = {
  list_files: 'list of',
  search: 'search for',
  read_file: 'read of',
  git: 'git',
};

function callText({ ask: { tool, input } }: Seen): string {
  const word = (...keys: readonly string[]): string =>
    keys.map((key) => input[key]).find((value) => typeof value === 'string') ?? '';
  const what = word('about') || code(word('pattern', 'glob', 'path', 'subcommand'));
  return `${VERBS[tool] ?? tool} ${what}`;
}

function resultText(all: readonly Seen[]): string {
  const failed = all.find(({ ok }) => !ok);
  if (failed !== undefined) return `failed, ${failed.text.split('\n')[0]?.slice(0, 120) ?? ''}`;
  const count = all.reduce((sum, seen) => sum + sizeOf(seen), 0);
  const parts = all.length > 1 ? ` in ${all.length} searches` : '';
  return `${plural(count, all[0]?.ask.tool === 'list_files' ? 'file' : 'line')}${parts}${all.some(isCut) && all[0]?.ask.tool === 'search' ? ', stopped there' : ''}`;
}

function sizeOf(seen: Seen): number {
  switch (seen.ask.tool) {
    case 'list_files':
      return countOf(seen);
    case 'search':
      return hitsOf(seen).length;
    case 'read_file':
      return linesOf(seen).length;
    default:
      return seen.text.split('\n').length;
  }
}

/** Looks that failed, for the end of a report. */
export function faults(seen: readonly (Seen | undefined)[]): readonly string[] {
  const failed = seen.filter((one) => one?.ok === false).map((one) => `- ${behind(one).slice(1, -1)}`);
  return failed.length === 0 ? [] : ['', '## Could not be looked at', '', ...new Set(failed)];
}

/** A heading with its rows; nothing without rows. */
export const section = (heading: string, rows: readonly string[]): readonly string[] =>
  rows.length === 0 ? [] : ['', `## ${heading}`, '', ...rows];

/** Lines as they are, with their numbers; nothing for fewer than two. */
export function excerpt(lines: readonly Hit[]): readonly string[] {
  const last = lines.findLastIndex(({ text }) => text.trim() !== '');
  const shown = lines.slice(0, last + 1);
  const [first, end] = [shown[0], shown.at(-1)];
  if (first === undefined || end === undefined || shown.length < 2) return [];
  const rows = shown.map(({ line, text }) => `${line}  ${text}`.trimEnd());
  return ['', `## ${first.path}, lines ${first.line} to ${end.line}`, '', '~~~~', ...rows, '~~~~'];
}
