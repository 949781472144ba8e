/**
 * The reviewer (and `security`): goes through the list of risky patterns, drops what stands in comments, strings or tests,
 * reads the worst places, and says which files carry most. It finds places to look at; it judges nothing.
 */
import { claim, place } from '../claims.ts';
import type { Hit } from '../claims.ts';
import { pathsIn } from '../findings.ts';
import { globFor, isComment, isForeign, isTest, LANGUAGE_NAMES, languagesIn } from '../languages.ts';
import type { LanguageName } from '../languages.ts';
import { filesOf, hitsOf, isCut, linesOf, list, read, search, searchFor } from '../looking.ts';
import { RISKS } from '../risks.ts';
import type { Risk, RiskKind, Severity } from '../risks.ts';
import type { Ask, Brief, Part, Seen, Work } from '../step.ts';
import { listed, plural, termsIn, wishesIn } from '../words.ts';
import { faults, section } from './parts.ts';

const PER_SEARCH = 25;
const PER_TURN = 9;
/** From here on several patterns share a search: each one takes seconds. */
const MANY_FILES = 5000;
const MOST_READ = 8;
const MOST_PER_RISK = 4;
const MOST_RISKS = 14;
const WEIGHT: Readonly<Record<Severity, number>> = { high: 9, medium: 3, low: 1 };

interface Suspect {
  readonly risk: Risk;
  readonly hit: Hit;
  /** In a file that the task or the others' findings are about. */
  readonly near: boolean;
}

export const reviewer: Part = {
  todos: (brief) => [
    'Count the files of each language',
    `Search for ${listed(kindsFor(brief))}`,
    'Read the worst places',
    'Rank the files',
  ],
  work: review,
};

/** Which parts of the list the task asks for. */
function kindsFor({ role, task }: Brief): readonly RiskKind[] {
  const wishes = wishesIn(task);
  if (/patterns that cost time/.test(task) || (wishes.includes('performance') && !wishes.includes('review')))
    return ['speed', 'errors'];
  if (role === 'security' || (wishes.includes('security') && !/risky patterns|review/i.test(task))) return ['security'];
  return ['security', 'errors', 'speed', 'leftovers'];
}

function* review(brief: Brief): Work {
  const known = pathsIn(brief.findings);
  const terms = known.length > 0 ? [] : termsIn(brief.task, 3).filter(({ is }) => is !== 'path');
  const counts = yield {
    say: 'I count the files of each language first, so that I search only for what can be there.',
    todo: 0,
    asks: [...LANGUAGE_NAMES.map((name) => list(1, globFor([name]))), ...terms.map((term) => searchFor(term))],
  };
  const present = LANGUAGE_NAMES.filter((_, index) => filesOf(counts[index]).count > 0);
  const near = new Set([
    ...known,
    ...counts.slice(LANGUAGE_NAMES.length).flatMap((seen) => hitsOf(seen).map(({ path }) => path)),
  ]);
  const risks = risksFor(present, kindsFor(brief));
  const many = filesTold(counts) > MANY_FILES;
  const seen: Seen[] = [];
  for (let at = 0; at < risks.length; at += PER_TURN) {
    const some = risks.slice(at, at + PER_TURN);
    const say = `I search for ${listed(some.map(({ id }) => id.replaceAll('-', ' ')))}.`;
    const groups = many ? joined(some) : some.map((risk) => [risk]);
    const given = yield { say, todo: 1, asks: groups.map((group) => searchAll(group, present)) };
    seen.push(...groups.flatMap((group, index) => group.flatMap(() => given[index] ?? [])));
  }
  const suspects = risks.flatMap((risk, index) => suspectsOf(risk, seen[index], near));
  const worst = suspects.toSorted(byWeight).slice(0, MOST_READ);
  const around = yield {
    say:
      worst.length === 0
        ? 'Nothing to read.'
        : `A line can mislead: I read around the ${plural(worst.length, 'worst place')} before I name ${worst.length === 1 ? 'it' : 'them'}.`,
    todo: 2,
    asks: worst.map(({ hit }) => read(hit.path, Math.max(1, hit.line - 6), 10)),
  };
  const dropped = new Set(worst.filter(({ hit }, index) => standsInComment(hit, linesOf(around[index]))));
  const kept = suspects.filter((suspect) => !dropped.has(suspect)).toSorted(byWeight);
  return answer({ kept, risks, seen, counts, around, present, readPlaces: worst.length, dropped: dropped.size });
}

/** The rows that make sense where `languages` are, of the kinds that were asked for. */
const risksFor = (languages: readonly LanguageName[], kinds: readonly RiskKind[]): readonly Risk[] =>
  RISKS.filter((risk) => kinds.includes(risk.kind) && risk.languages.some((language) => languages.includes(language)));

/** JavaScript wants its flags outside of the pattern. */
const expressionOf = ({ pattern }: Pick<Risk, 'pattern'>): RegExp =>
  pattern.startsWith('(?i)') ? new RegExp(pattern.slice(4), 'i') : new RegExp(pattern);

/** Source files of all languages together. */
const filesTold = (counts: readonly Seen[]): number =>
  LANGUAGE_NAMES.reduce((sum, _, index) => sum + filesOf(counts[index]).count, 0);

const inThese = (languages: readonly LanguageName[], present: readonly LanguageName[]): string =>
  globFor(present.filter((name) => languages.includes(name)));

/** Patterns that fit into one search together: it takes a thousand characters. */
function joined(risks: readonly Risk[]): readonly (readonly Risk[])[] {
  const groups: Risk[][] = [];
  let length = 0;
  for (const risk of risks) {
    const last = groups.at(-1);
    if (last === undefined || length + risk.pattern.length > 900) groups.push([risk]);
    else last.push(risk);
    length = (groups.at(-1)?.length === 1 ? 0 : length) + risk.pattern.length + 6;
  }
  return groups;
}

/** One walk through the files for one pattern or several; which line belongs to which is told afterwards. */
function searchAll(risks: readonly Risk[], present: readonly LanguageName[]): Ask {
  const patterns = risks.map(({ pattern }) =>
    pattern.startsWith('(?i)') ? `(?i:${pattern.slice(4)})` : `(?:${pattern})`,
  );
  const [only] = risks.length === 1 ? risks : [];
  const languages = risks.flatMap((risk) => [...risk.languages]);
  return search(only?.pattern ?? patterns.join('|'), {
    glob: inThese(languages, present),
    limit: PER_SEARCH * risks.length,
  });
}

function suspectsOf(risk: Risk, seen: Seen | undefined, near: ReadonlySet<string>): readonly Suspect[] {
  const expression = expressionOf(risk);
  return hitsOf(seen)
    .filter(
      ({ path, text }) => expression.test(text) && languagesIn([path]).some((name) => risk.languages.includes(name)),
    )
    .filter((hit) => !isForeign(hit.path) && (risk.inTests === true || !isTest(hit.path)))
    .filter(
      ({ text }) =>
        risk.unless?.test(text) !== true &&
        (risk.inComments === true ? isRemark(text, expression) : isCode(text, expression)),
    )
    .map((hit) => ({ risk, hit, near: near.has(hit.path) }));
}

/** Not a comment, and what matched doesn't stand inside a string. */
function isCode(text: string, expression: RegExp): boolean {
  const at = expression.exec(text)?.index ?? 0;
  const before = text.slice(0, at);
  return (
    !isComment(text) &&
    !/(?:^|\s)(?:\/\/|#\s)/.test(before) &&
    ['"', "'", '`'].every((quote) => before.split(quote).length % 2 === 1)
  );
}

/** What matched stands in a comment, at the start of a line or behind the code. */
const isRemark = (text: string, expression: RegExp): boolean =>
  isComment(text) || /(?:^|\s)(?:\/\/|\/\*|#|--\s)/.test(text.slice(0, expression.exec(text)?.index ?? 0));

/** The lines before tell: a comment that was opened and not closed. */
function standsInComment(hit: Hit, lines: readonly Hit[]): boolean {
  const before = lines
    .filter(({ line }) => line < hit.line)
    .map(({ text }) => text)
    .join('\n');
  return (
    before.lastIndexOf('/*') > before.lastIndexOf('*/') ||
    (before.split('"""').length % 2 === 0 && hit.path.endsWith('.py'))
  );
}

const byWeight = (a: Suspect, b: Suspect): number =>
  WEIGHT[b.risk.severity] - WEIGHT[a.risk.severity] ||
  Number(b.near) - Number(a.near) ||
  (a.hit.path < b.hit.path ? -1 : a.hit.path > b.hit.path ? 1 : a.hit.line - b.hit.line);

interface Reviewed {
  readonly kept: readonly Suspect[];
  readonly risks: readonly Risk[];
  readonly seen: readonly Seen[];
  readonly counts: readonly Seen[];
  readonly around: readonly Seen[];
  readonly present: readonly LanguageName[];
  readonly readPlaces: number;
  readonly dropped: number;
}

function answer({ kept, risks, seen, counts, around, present, readPlaces, dropped }: Reviewed): string {
  const files = filesTold(counts);
  if (present.length === 0) {
    return [
      'No source files of a language whose risks I have a list for, so there was nothing to go through.',
      ...faults(counts),
    ].join('\n');
  }
  const clean = risks.filter(
    (risk, index) => seen[index]?.ok === true && !isCut(seen[index]) && !kept.some((one) => one.risk === risk),
  );
  return [
    headLine(kept, risks.length, files),
    '',
    `Comments, strings and tests are left out where a line shows them; ${plural(readPlaces, 'place')} ${readPlaces === 1 ? 'was' : 'were'} read in context${dropped > 0 ? ` and ${dropped} dropped` : ''}.`,
    ...riskTexts(kept, risks, seen),
    ...section('Files with most', worstFiles(kept)),
    ...section('Searched for and not found', clean.length === 0 ? [] : [clean.map(({ id }) => id).join(', ')]),
    ...faults([...counts, ...seen, ...around]),
  ].join('\n');
}

function headLine(kept: readonly Suspect[], risks: number, files: number): string {
  const count = (severity: Severity): number => kept.filter(({ risk }) => risk.severity === severity).length;
  const [worst] = kept;
  const searched = `${plural(risks, 'pattern')} in ${plural(files, 'source file')}`;
  if (worst === undefined) return `None of ${searched} was found. That means only that these patterns are not there.`;
  const told = worst.risk.secret === true ? place(worst.hit) : claim(worst.hit);
  return `${plural(kept.length, 'place')} to look at, from ${searched}: ${count('high')} high, ${count('medium')} medium, ${count('low')} low. First: ${told} (${worst.risk.why}).`;
}

function riskTexts(kept: readonly Suspect[], risks: readonly Risk[], seen: readonly Seen[]): readonly string[] {
  const found = [...new Set(kept.map(({ risk }) => risk))];
  const shown = found.slice(0, MOST_RISKS).flatMap((risk) => {
    const hits = kept.filter((one) => one.risk === risk);
    const least = isCut(seen[risks.indexOf(risk)]) ? 'at least ' : '';
    const more = hits.length > MOST_PER_RISK ? [`- and ${hits.length - MOST_PER_RISK} more`] : [];
    return [
      '',
      `## ${risk.id} (${risk.severity}, ${least}${plural(hits.length, 'place')})`,
      '',
      `Why: ${risk.why}. Look at: ${risk.look}.`,
      '',
      ...hits
        .slice(0, MOST_PER_RISK)
        .map(
          ({ hit, near }) =>
            `- ${risk.secret === true ? `${place(hit)} (not quoted)` : claim(hit)}${near ? ' (in a file this task is about)' : ''}`,
        ),
      ...more,
    ];
  });
  const left = found.slice(MOST_RISKS).map(({ id }) => id);
  return [...shown, ...(left.length === 0 ? [] : ['', `Also found, not shown: ${left.join(', ')}.`])];
}

function worstFiles(kept: readonly Suspect[]): readonly string[] {
  const paths = [...new Set(kept.map(({ hit }) => hit.path))];
  const scored = paths.map((path) => {
    const own = kept.filter(({ hit }) => hit.path === path);
    return { path, own, score: own.reduce((sum, { risk }) => sum + WEIGHT[risk.severity], 0) };
  });
  return scored
    .toSorted((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1))
    .slice(0, 6)
    .map(
      ({ path, own }) =>
        `- ${path}: ${listed([...new Set(own.map(({ risk }) => risk.id))])} (${plural(own.length, 'place')})`,
    );
}
