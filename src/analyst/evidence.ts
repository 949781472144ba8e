/** The evidence of what is said: a quoted line, or the call behind a sentence; and the report that is made of such sentences. */
import { plural } from '../domain/lists.ts';
import type { Hit } from './languages.ts';
import { countOf, hitsOf, isCut, linesOf, LONG_LINE, type Seen } from './tools.ts';
import { code } from './words.ts';

const LONGEST_QUOTE = 100;

/** `` `path:line` `text of the line` ``. What backticks or control characters would break is left out. */
export function claim(hit: Hit): string {
  const words = quotable(hit.text);
  return words === '' ? place(hit) : `${place(hit)} \`${words}\``;
}

/** `` `path:line` `` alone. */
export const place = ({ path, line }: Pick<Hit, 'path' | 'line'>): string => `\`${path}:${line}\``;

/** The longest part of a line that can be between backticks, cut behind a word where it is too long. */
function quotable(line: string): string {
  const own = line.replace(LONG_LINE, '');
  const parts = own.split(/[`\p{Cc}\p{Cf}\u2028\u2029\uFFFD]/u).map((part) => part.trim());
  const longest = parts.reduce((best, part) => (part.length > best.length ? part : best), '');
  if (longest.length <= LONGEST_QUOTE) return longest;
  const cut = longest.slice(0, LONGEST_QUOTE).replace(/[\uD800-\uDBFF]$/, '');
  return `${(/^.{40,}(?=\s)/.exec(cut)?.[0] ?? cut).trimEnd()} …`;
}

const MOST_CALLS = 2;

/** The call behind a sentence, with what it gave: `(search for definitions of x: 3 lines)`. A search in parts counts as one. */
export function behind(...looks: readonly (Seen | undefined)[]): string {
  const asked = [...new Set(looks)].filter((one) => one !== undefined);
  const texts = [...Map.groupBy(asked, callText)].map(([call, all]) => `${call}: ${resultText(all)}`);
  const rest =
    texts.length > MOST_CALLS ? `; ${plural(texts.length - MOST_CALLS, 'more search', 'more searches')}` : '';
  return texts.length === 0 ? '(nothing was asked)' : `(${texts.slice(0, MOST_CALLS).join('; ')}${rest})`;
}

const VERBS: Readonly<Record<string, string>> = { list_files: 'list of', search: 'search for', read_file: 'read of' };

function callText({ ask: { tool, input } }: Seen): string {
  const word = (...keys: readonly string[]): string =>
    keys.map((key) => input[key]).find((value) => typeof value === 'string') ?? '';
  return `${VERBS[tool] ?? tool} ${word('about') || code(word('pattern', 'glob', 'path', 'subcommand'))}`;
}

function resultText(all: readonly Seen[]): string {
  const failed = all.find(({ ok }) => !ok);
  if (failed !== undefined) return `failed, ${failed.text.split('\n')[0]?.slice(0, 120) ?? ''}`;
  const linesIn = (seen: Seen): number => (seen.ask.tool === 'search' ? hitsOf(seen) : linesOf(seen)).length;
  const [unit, size] = all.some(({ ask }) => ask.tool === 'list_files') ? ['file', countOf] : ['line', linesIn];
  const count = all.reduce((sum, seen) => sum + size(seen), 0);
  const parts = all.length > 1 ? ` in ${all.length} searches` : '';
  const cut = all.some((seen) => seen.ask.tool === 'search' && isCut(seen)) ? ', stopped there' : '';
  return `${plural(count, unit)}${parts}${cut}`;
}

/** Sentences, one after the other; empty ones are left out. */
export const sentences = (...all: readonly string[]): string => all.filter((one) => one !== '').join(' ');

export type Section = readonly [heading: string, rows: readonly string[]];

/** A report: what is said first, then each section that has rows. */
export function report(head: string, ...sections: readonly Section[]): string {
  const shown = sections.filter(([, rows]) => rows.length > 0);
  return [head, ...shown.flatMap(([heading, rows]) => ['', `## ${heading}`, '', ...rows])].join('\n');
}

/** Looks that failed, for the end of a report: lines to be added to it. */
export function faults(seen: readonly Seen[]): readonly string[] {
  const failed = seen.filter(({ ok }) => !ok).map((one) => `- ${behind(one).slice(1, -1)}`);
  return failed.length === 0 ? [] : ['', '## Not checked', '', ...new Set(failed)];
}

/** Lines as they are, with their numbers; no rows for fewer than two. */
export function excerpt(lines: readonly Hit[]): Section {
  const shown = lines.slice(0, lines.findLastIndex(({ text }) => text.trim() !== '') + 1);
  const [first, end] = [shown[0], shown.at(-1)];
  if (first === undefined || end === undefined || shown.length < 2) return ['', []];
  const rows = shown.map(({ line, text }) => `${line}  ${text}`.trimEnd());
  return [`${first.path}, lines ${first.line} to ${end.line}`, ['~~~~', ...rows, '~~~~']];
}
