/** The words of a request: what can be looked for in it (identifiers, paths, plain words), and small helpers for texts. */

/** Something to look for. A `word` is looked for by its stem, in any case; the others as written. */
export interface Term {
  readonly is: 'identifier' | 'path' | 'word';
  readonly text: string;
}

/** Words that say what is asked, not what it is about. */
const STOP_WORDS = new Set(
  `a about above across after again also an and any anything are around as ask at be because been before behind being best better between both
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
involved responsible deal deals dealt scripts script command pieces piece change changed changes recent recently uses widely mostly
which find list modules lack lacks lacking tests test tested untested all comments comment dead code particular todo todos fixme fixmes hack hacks xxx note notes left
identify locate tell give me overview architecture structure entry entries show every each please review audit check risky riskiest security secure vulnerability
vulnerabilities swallowed ignored handling bugs bug smells problems issues problem issue unsafe dangerous dependencies dependency package
packages library libraries third party outdated manifest declared recent recently lately commit commits changes changed change history changelog happened uncommitted
week month day last latest export exports exported never unreferenced nobody called calls call callers caller used uses use unused function functions method methods
class classes variable repository repo project codebase program source sources file files folder folders directory module described purpose summary summarise summarize
coverage covered cover without missing duplicate duplicates occurrences occurrence occur hello hi hey thanks thank good morning help look looks looking search searching
grep through patterns pattern seen say says said explain describe understand works work working how where what who when why defined definition definitions declared
implemented implementation handled handle handles happens happen place places line lines number count counts first best main most important central cycles cycle
import imports imported importing circular tour walk start starts started starting begin begins read reading get getting quality performance slow audit inspect
`.split(/\s+/),
);

const IDENTIFIER =
  /^(?:\$?[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Z]{2,}[a-z]\w*|_+\w+|\w+_\w+|[A-Za-z_$]\w*(?:(?:\.|::|->|#)[A-Za-z_]\w*[!?]?)+|[A-Za-z_$]\w*\(\))$/;
const PATH =
  /^(?:\.{0,2}\/)?[\w@.-]+(?:\/[\w@.-]+)+\/?$|^[\w@.-]*[\w@-]\/$|^[\w-]+\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|rb|php|c|h|cc|cpp|hpp|cs|swift|sh|sql|json|ya?ml|toml|md|html|css)$/;

/** Longer tokens are no names. */
const LONGEST_TERM = 60;

/** What a text names, what is in quotes first, then paths and identifiers, then words that aren't common. */
export function termsIn(text: string, most = 6): readonly Term[] {
  const quotes = [...text.matchAll(/`([^`\n]{2,60})`|"([^"\n]{2,60})"|(?<!\w)'([^'\n]{2,60})'(?!\w)/g)];
  const quoted = quotes.map(([, a, b, c]) => termOf((a ?? b ?? c ?? '').trim(), true));
  const plain = text.replaceAll(/`[^`\n]*`|"[^"\n]*"/g, ' ').replaceAll(/[“”‘’«»]/g, ' ');
  const tokens = plain
    .split(/[\s,;!?<>[\]{}|"]+/)
    .map((token) => token.replaceAll(/^[('.:*]+|'s$|(?<!\()[).:*']+$/g, ''));
  const named = tokens.flatMap((token) =>
    PATH.test(token) || (IDENTIFIER.test(token) && !STOP_WORDS.has(token.toLowerCase())) ? [termOf(token, false)] : [],
  );
  const words = quoted.length + named.filter(({ is }) => is === 'identifier').length > 0 ? [] : tokens.flatMap(wordsOf);
  return [...quoted, ...named, ...words]
    .filter(({ text: own }) => own.length <= LONGEST_TERM && own !== '')
    .filter((term, index, all) => all.findIndex((other) => stem(other.text) === stem(term.text)) === index)
    .slice(0, most);
}

function termOf(token: string, quoted: boolean): Term {
  if (PATH.test(token) && !/^\w+\.\w+\(/.test(token)) return { is: 'path', text: token.replace(/^\.\//, '') };
  if (!quoted && /^\p{L}[\p{Ll}]*$/u.test(token)) return { is: 'word', text: token.toLowerCase() };
  return {
    is: 'identifier',
    text: token.replace(/\(\)$/, '').replace(/^(?:class|function|struct|def|interface|method|type)\s+/, ''),
  };
}

function wordsOf(token: string): readonly Term[] {
  if (PATH.test(token) || IDENTIFIER.test(token)) return [];
  return token
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length >= 3 && /\p{L}/u.test(word) && !STOP_WORDS.has(word))
    .map((text) => ({ is: 'word', text }));
}

const ENDINGS = ['ations', 'ation', 'ings', 'ing', 'ers', 'ies', 'ed', 'er', 'es', 's', 'e', 'y'];

/** The part of a word that its forms share: `parsing`, `parses`, `parsed` -> `pars`. Never shorter than four letters. */
export function stem(word: string): string {
  const ending = ENDINGS.find((each) => word.endsWith(each) && word.length - each.length >= (each === 'ies' ? 3 : 4));
  return ending === undefined ? word : word.slice(0, -ending.length);
}

export const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** `one`, `one and two`, `one, two and three`. */
export function listed(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1) ?? ''}`;
}

export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** What the first group of `expression` holds in `text`; empty when it doesn't match. */
export const captured = (expression: RegExp, text: string): string => expression.exec(text)?.[1] ?? '';

export const code = (text: string): string => `\`${text}\``;

/** Keys with their values, those with most values first, then by name. */
export function grouped<T>(all: readonly T[], key: (one: T) => string): readonly (readonly [string, readonly T[]])[] {
  return [...Map.groupBy(all, key)].toSorted(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1));
}

/** Text on one line, at most `most` characters. */
export function oneLine(text: string, most: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= most ? line : `${line.slice(0, most - 1).toWellFormed()}…`;
}
