/**
 * Lines that may be risky: which rows of the list are searched together, which hits are passed over (comments, strings, tests,
 * foreign code), and in which order they matter.
 */
import type { Hit } from './claims.ts';
import { globFor, isComment, isTest, languagesIn } from './languages.ts';
import type { LanguageName } from './languages.ts';
import { hitsOf, search } from './looking.ts';
import type { Risk, RiskKind, Severity } from './risk.ts';
import { RISKS } from './risks.ts';
import type { Ask, Seen } from './step.ts';

const PER_SEARCH = 25;
/** Points of a place, by how bad it can be. */
export const WEIGHT: Readonly<Record<Severity, number>> = { high: 9, medium: 3, low: 1 };

export interface Suspect {
  readonly risk: Risk;
  readonly hit: Hit;
  /** In a file that the task or the others' findings are about. */
  readonly near: boolean;
}

/** Files that a task is about. */
export type Near = Pick<ReadonlySet<string>, 'has'>;

/** The rows that make sense where `languages` are, of the kinds that were asked for. */
export const risksFor = (languages: readonly LanguageName[], kinds: readonly RiskKind[]): readonly Risk[] =>
  RISKS.filter((risk) => kinds.includes(risk.kind) && risk.languages.some((language) => languages.includes(language)));

/** JavaScript wants its flags outside of the pattern. */
const expressionOf = ({ pattern }: Pick<Risk, 'pattern'>): RegExp =>
  pattern.startsWith('(?i)') ? new RegExp(pattern.slice(4), 'i') : new RegExp(pattern);

const inThese = (languages: readonly LanguageName[], present: readonly LanguageName[]): string =>
  globFor(present.filter((name) => languages.includes(name)));

/** Patterns that fit into one search together: it takes a thousand characters. */
export function joined(risks: readonly Risk[]): readonly (readonly Risk[])[] {
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
export function searchAll(risks: readonly Risk[], present: readonly LanguageName[], path?: string): Ask {
  const patterns = risks.map(({ pattern }) =>
    pattern.startsWith('(?i)') ? `(?i:${pattern.slice(4)})` : `(?:${pattern})`,
  );
  const [only] = risks.length === 1 ? risks : [];
  const languages = risks.flatMap((risk) => [...risk.languages]);
  return search(only?.pattern ?? patterns.join('|'), {
    glob: inThese(languages, present),
    limit: Math.min(500, PER_SEARCH * risks.length),
    path,
    about: aboutOf(risks),
  });
}

/** In words, for the person who watches. */
function aboutOf(risks: readonly Risk[]): string {
  const names = risks.map(({ id }) => id.replaceAll('-', ' '));
  return names.length > 2 ? `${names.slice(0, 2).join(', ')} and ${names.length - 2} more` : names.join(', ');
}

/** They say what is elsewhere, and do nothing. */
const DECLARATIONS = /\.d\.[cm]?ts$/;

/** Hits of one row that count: `near` are files that the task is about. */
export function suspectsOf(
  risk: Risk,
  seen: Seen | undefined,
  near: Near,
  foreign: (path: string) => boolean,
): readonly Suspect[] {
  const expression = expressionOf(risk);
  return hitsOf(seen)
    .filter(
      ({ path, text }) => expression.test(text) && languagesIn([path]).some((name) => risk.languages.includes(name)),
    )
    .filter((hit) => !foreign(hit.path) && !DECLARATIONS.test(hit.path) && (risk.inTests === true || !isTest(hit.path)))
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
export function standsInComment(hit: Hit, lines: readonly Hit[]): boolean {
  const before = lines
    .filter(({ line }) => line < hit.line)
    .map(({ text }) => text)
    .join('\n');
  return (
    before.lastIndexOf('/*') > before.lastIndexOf('*/') ||
    (before.split('"""').length % 2 === 0 && hit.path.endsWith('.py'))
  );
}

/** Worst first; among equals those near to the task. */
export const byWeight = (a: Suspect, b: Suspect): number =>
  WEIGHT[b.risk.severity] - WEIGHT[a.risk.severity] ||
  Number(b.near) - Number(a.near) ||
  (a.hit.path < b.hit.path ? -1 : a.hit.path > b.hit.path ? 1 : a.hit.line - b.hit.line);
