/**
 * What a text is about and what it wants, as far as that can be told from words alone: terms to look for (identifiers,
 * paths, quoted and plain words) and wishes (find, review, test …). It understands nothing.
 */

/** Something to look for. A `word` is looked for by its stem, in any case; the others as written. */
export interface Term {
  readonly is: 'identifier' | 'path' | 'word';
  readonly text: string;
}

export const WISHES = [
  'find',
  'entries',
  'explain',
  'review',
  'riskiest',
  'security',
  'performance',
  'test',
  'refactor',
  'document',
  'dependency',
  'status',
  'changes',
  'debug',
  'change',
] as const;
export type Wish = (typeof WISHES)[number];

/** The words that stand for a wish, as stems. Data: a new wish is a new row here and a row in planning. */
const WISH_WORDS: Readonly<Record<Wish, RegExp>> = {
  find: /\b(?:find|finds|where|locate|search|look for|which files?|grep)\b/i,
  entries:
    /\bentry[- ]?points?\b|\bwhere (?:to|do i|does (?:it|the code|the program)|should i) (?:start|begin)|\b(?:start|begin) reading\b|\bmain functions?\b/i,
  explain:
    /\b(?:explain|how do(?:es)?|how is|how are|how (?:[\w-]+ ){1,4}(?:is|are|does|do|works?|gets?)|understand|describe|overview|architecture|what does|walk me|tour|structure|tell me about|analy[sz]e\w*|explore)\b/i,
  review:
    /\b(?:review\w*|audit\w*|bugs|quality|problems?|issues|smells?|risks?|risky|riskiest|code check|check the code|inspect\w*)\b/i,
  riskiest: /\b(?:riskiest|most (?:risky|dangerous|fragile)|worst) (?:file|module|part|place|code)s?\b/i,
  security:
    /\b(?:secur\w+|vulnerab\w+|secrets?|injection\w*|xss|csrf|exploit\w*|owasp|unsafe|hardening|credentials?)\b/i,
  performance:
    /\b(?:performance|slow\w*|fast\w*|speed\w*|optimi[sz]\w+|memory|latency|profil\w+|leaks?|bottlenecks?)\b/i,
  test: /\b(?:tests?|tested|testing|untested|coverage|specs?|unit[- ]tests?|e2e)\b/i,
  refactor:
    /\b(?:refactor\w*|clean(?:ing)? ?up|simplif\w+|restructur\w+|dead code|duplicat\w+|unused|rename|split up|long functions?|technical debt|complexity|tidy)\b/i,
  document: /\b(?:document(?:s|ed|ation|ing)?|docs?|readme|docstrings?|changelog|comments)\b/i,
  dependency: /\b(?:dependenc\w+|packages?|librar(?:y|ies)|versions?|upgrad\w+|outdated|licen[cs]es?)\b/i,
  status:
    /\b(?:status|git state|state of (?:the|this) (?:repo|repository|project|tree)|history|uncommitted|branch(?:es)?|how (?:big|large)|sizes?)\b/i,
  changes:
    /\b(?:recent|recently|lately|what (?:has |was )?changed|changed most|latest (?:changes|commits)|last (?:changes|commits)|commits?|what happened)\b/i,
  debug:
    /\b(?:fix\w*|bug|(?:an?|the|this|these|my|following|type|runtime) errors?(?! (?:handling|messages?|types?|codes?|class))|crash\w*|fail\w*|broken|debug\w*|exceptions?|hangs?|why (?:does|is|do|are)|wrong|regression\w*)\b/i,
  change:
    /\b(?:add|implement\w*|build|create|make|migrat\w+|port|support for|introduce|replace|convert|remove|delete|change|extend|rewrite)\b/i,
};

const SUMMARY = /\bsummar\w+/i;

/** Wishes that the words of `text` name, in the order of the list above. A summary alone is one of the whole. */
export function wishesIn(text: string): readonly Wish[] {
  const wishes = WISHES.filter((wish) => WISH_WORDS[wish].test(text));
  return wishes.length === 0 && SUMMARY.test(text) ? ['explain'] : wishes;
}

/** Too common to look for: articles and the like, words of wishes, and what every repository is full of. */
const COMMON = new Set(
  `a about above across after again all also an and any anything are around as ask at be because been before behind being best better between both
but by call called calls can cannot check code codebase come could current default did different do does doing done down each either else
everything every exactly example far few file files first folder folders for from function functions further general get gets give given go
goes going good great had handle handled handles handling happen happens has have having help her here him his how however i if in inside into is it its itself just
keep kind know last later least less let like line lines list lists little long look looks made main make makes many may me mean means method
methods might mimir module modules more most much must my need needed needs never new next no not nothing now of off often old on once one
only onto open or other others our out over own part parts people place places please possible problem program project projects put quick
quickly read reads really repo repository right run running runs same say says section see seem set several shall she should show shown
shows side similar since single so some something source start starting starts stay still such sure system take task tell than that the
their them then there these they thing things think this those through thus to together too top toward try two under until up us use
used user uses using very via want wants was way ways we well were what whatever when where whether which while who whole whose why will
with within without work working works would write writes writing written yes yet you your
class classes constant interface interfaces type types variable variables value values implementation implemented implement logic define defined definition defines
name names named needing depend depends entry point points likely risky pattern patterns worth note notes answer question questions report reports suggest suggestion
suggestions improve improvement improvements state detail details summary overview result results review reviewer finder librarian oracle tester rush refactoring
missing exist exists whole hit hits leftovers leftover calls risks unused exports blocks begin begins edits edit latest state tells command commands seen sees biggest folders folder uncommitted central cycles graph draw others found finding findings agent agents compare compared comparing measure count counts common important language languages lately touches touch touched kept keeping import imports imported begin began hangs hang riskiest reason reasons
reading reader readers paper papers declare declares declared nobody anybody somebody cost costs time times trace traces traced lead leads way ways importers importer length lengths layers layer circles circle risky central name named checked check verbatim injection hole holes unsafe offer offers folders uses
involved responsible deal deals dealt scripts script command pieces piece change changed changes recent recently uses widely mostly`.split(
    /\s+/,
  ),
);

const IDENTIFIER =
  /^(?:[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Z]{2,}[a-z]\w*|_+\w+|\w+_\w+|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[A-Za-z_]\w*::\w[\w:]*|[A-Za-z_]\w*\(\))$/;
const PATH =
  /^(?:\.{0,2}\/)?[\w@.-]+(?:\/[\w@.-]+)+\/?$|^[\w@.-]*[\w@-]\/$|^[\w-]+\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|rb|php|c|h|cc|cpp|hpp|cs|swift|sh|sql|json|ya?ml|toml|md|html|css)$/;

/** Longer tokens are no names. */
const LONGEST_TERM = 60;

/** At most `most` terms of `text`: what stands in backticks first, then paths, identifiers, and words that aren't common. */
export function termsIn(text: string, most = 6): readonly Term[] {
  const quoted = [...text.matchAll(/`([^`\n]{2,60})`/g)].map(([, inner = '']) => termOf(inner.trim()));
  const plain = text.replaceAll(/`[^`\n]*`/g, ' ').replaceAll(/["'“”‘’«»]/g, ' ');
  const tokens = plain.split(/[\s,;!?<>[\]{}|]+/).map((token) => token.replaceAll(/^[(.:*]+|(?<!\()[).:*]+$/g, ''));
  const named = tokens.flatMap((token) => (PATH.test(token) || IDENTIFIER.test(token) ? [termOf(token)] : []));
  const words = quoted.length > 0 ? [] : tokens.flatMap(wordsOf);
  const found = [...quoted, ...named.filter((term) => term.is !== 'word'), ...words];
  return found
    .filter(({ text }) => text.length <= LONGEST_TERM)
    .filter((term, index, all) => all.findIndex((other) => sameTerm(other, term)) === index)
    .slice(0, most);
}

function termOf(token: string): Term {
  if (PATH.test(token) && !/^\w+\.\w+\(/.test(token)) return { is: 'path', text: token.replace(/^\.\//, '') };
  if (/^\p{L}[\p{Ll}]*$/u.test(token)) return { is: 'word', text: token.toLowerCase() };
  return { is: 'identifier', text: token.replace(/\(\)$/, '') };
}

function wordsOf(token: string): readonly Term[] {
  if (PATH.test(token) || IDENTIFIER.test(token)) return [];
  return token
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length >= 3 && /\p{L}/u.test(word) && !COMMON.has(word) && wishesIn(word).length === 0)
    .map((text) => ({ is: 'word', text }));
}

const sameTerm = (a: Term, b: Term): boolean => stem(a.text.toLowerCase()) === stem(b.text.toLowerCase());

/** The part of a word that its forms share: `parsing`, `parses`, `parsed` -> `pars`. Never shorter than four letters. */
export function stem(word: string): string {
  for (const ending of ['ations', 'ation', 'ings', 'ing', 'ers', 'ies', 'ed', 'er', 'es', 's', 'e', 'y']) {
    if (word.endsWith(ending) && word.length - ending.length >= 4) return word.slice(0, -ending.length);
  }
  return word;
}

/** A regular expression (ripgrep's and JavaScript's) that finds the term, for a search in any case. */
export function patternOf(term: Term): string {
  if (term.is !== 'word') return escaped(term.text);
  const part = escaped(stem(term.text));
  return part.length <= 3 ? `\\b${part}\\b` : part;
}

export const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** `one`, `one and two`, `one, two and three`. */
export function listed(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1) ?? ''}`;
}

export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** What the first group of `expression` holds in `text`; empty when it doesn't match. */
export const captured = (expression: RegExp, text: string): string => expression.exec(text)?.[1] ?? '';
