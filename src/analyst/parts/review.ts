/** Risky patterns: lines of the program that match a row of the list, comments, strings and tests passed over. */
import { batched, distinct, listed, plural } from '../../domain/lists.ts';
import RISKS from '../data/risks.json' with { type: 'json' };
import { behind, claim, place, report, type Section } from '../evidence.ts';
import * as syntax from '../languages.ts';
import { FOREIGN, inventory, type Inventory, isAside, isForeign, isSource, isTest, programOf } from '../project.ts';
import { type Ask, hitsOf, hitsWithNext, isCut, type Looking, search, searchAll, type Seen } from '../tools.ts';
import type { Brief, Work } from '../turns.ts';
import { byPlace } from '../words.ts';

const MOST_PER_RISK = 5;
/** Places of a risk that are named beside those that are quoted. */
const MOST_PLACES = 8;
/** Files whose comments over several lines are looked at. */
const MOST_CHECKED = 45;
const SEVERITIES = ['high', 'medium', 'low'] as const;

/** Parts of the list that a task may ask for, each as a person reads it and by which words. */
export const FOCUS = RISKS.focus.map((row) => ({ ...row, words: new RegExp(row.words, 'i') }));

/**
 * A row of the documented list of risky patterns, `data/risks.json`, for ripgrep and JavaScript alike. A hit is a place to look, never a
 * proof. `next`: what the following line (comments and blanks passed over) has to be. `look`: what a person should look at. `secret`: the
 * place is named, the line is not quoted.
 */
type Risk = (typeof RISKS.risks)[number];

const isOf = ({ languages }: Risk, { name }: syntax.Language): boolean =>
  languages === 'all' || languages.split(' ').includes(name);

interface Suspect {
  readonly risk: Risk;
  readonly hit: syntax.Hit;
}

export function* review({ task, role }: Brief): Work {
  const project = yield* inventory(task);
  const program = programOf(project);
  if (program.length === 0) return `There is no source file to review in ${project.called} ${project.behind}.`;
  const groups = groupsIn(task, role);
  const rows = RISKS.risks.filter(
    (risk) => groups.includes(risk.group) && syntax.languagesIn(program).some((language) => isOf(risk, language)),
  );
  const looks = yield* searchesFor(rows, project);
  const suspects = suspectsIn(looks, rows, project);
  const isPassedOver = yield* passedOver(suspects);
  const real = suspects.filter(({ hit }) => !isPassedOver(hit)).toSorted((a, b) => byPlace(a.hit, b.hit));
  const files = project.whole ? plural(program.length, 'source file') : 'the source files';
  const omitted = program.some(isAside) ? 'tests' : 'tests, examples, scripts, documents';
  const scope = `${files} of ${project.called} (${omitted} and ${FOREIGN} code left out) ${project.behind}`;
  const isCutShort = looks.some((look) => isCut(look)) || !project.whole;
  return report(
    `${headText(real, rows.length === 1 ? 'the only risky pattern of this kind' : `one of ${rows.length} risky patterns`, scope, isCutShort)} ${behind(...looks)}.`,
    ...bySeverity(real).map(([one, own]): Section => [`${one.charAt(0).toUpperCase()}${one.slice(1)}`, riskRows(own)]),
  );
}

/** Which parts of the list a task asks for; all when it names none. */
function groupsIn(task: string, role: string): readonly string[] {
  const named = FOCUS.filter(({ group, words }) => words.test(task) || role === group);
  return (named.length === 0 ? RISKS.risks : named).map(({ group }) => group);
}

/** Searches for lines that match; rows that look at the following line are searched apart, with context. */
function* searchesFor(rows: readonly Risk[], project: Inventory): Looking<readonly Seen[]> {
  const program = programOf(project);
  const asPattern = ({ pattern }: Risk): string => `(?:${pattern})`;
  const asksFor = (some: readonly Risk[], context: number): readonly Ask[] =>
    batched(some, asPattern, syntax.LONGEST_PATTERN).map((group) => {
      const languages = syntax.languagesIn(program).filter((language) => group.some((risk) => isOf(risk, language)));
      const where = {
        glob: syntax.globFor(languages),
        path: project.path,
        limit: 500,
        context,
        about: 'risky patterns',
      };
      return search(group.map(asPattern).join('|'), where);
    });
  const { alone = [], withNext = [] } = Object.groupBy(rows, ({ next }) => (next === null ? 'alone' : 'withNext'));
  const say = `I search ${plural(program.length, 'source file')} for ${plural(rows.length, 'risky pattern')}.`;
  return yield* searchAll([...asksFor(alone, 0), ...asksFor(withNext, 2)], project.names, say, 1);
}

/** The lines of the program that match in code, each with the most severe risk that fits it, most severe first. */
function suspectsIn(looks: readonly Seen[], rows: readonly Risk[], project: Inventory): readonly Suspect[] {
  const program = new Set(programOf(project));
  // A search reads further than a list that was cut.
  const isProgram = ({ path }: syntax.Hit): boolean =>
    program.has(path) || (!project.whole && isSource(path) && !isForeign(path) && !isTest(path) && !isAside(path));
  const all = looks
    .flatMap((look) => hitsWithNext(look))
    .filter(([hit]) => isProgram(hit))
    .flatMap(([hit, next]) => rows.filter((risk) => fits(risk, hit, next)).map((risk) => ({ risk, hit })));
  const sorted = bySeverity(all).flatMap(([, own]) => own);
  return distinct(sorted, ({ hit }) => place(hit));
}

const NO_SECRET = /process\.env|getenv|environ|example|placeholder|your[-_]|changeme|xxxx|<\w+>/i;

function fits(risk: Risk, hit: syntax.Hit, next: readonly string[]): boolean {
  const language = syntax.languageOf(hit.path);
  if (language === undefined || !isOf(risk, language) || !new RegExp(risk.pattern).test(hit.text)) return false;
  if ((risk.secret && NO_SECRET.test(hit.text)) || !isCode(risk, hit)) return false;
  if (risk.next === null) return true;
  const first = next.find((text) => text.trim() !== '' && !language.comment.test(text));
  return first !== undefined && new RegExp(risk.next).test(first);
}

function isCode(risk: Risk, hit: syntax.Hit): boolean {
  const at = new RegExp(risk.pattern).exec(hit.text)?.index ?? 0;
  if (risk.name === 'checker switched off') return syntax.isInComment(hit, at + 1) || /@ts-|eslint-/.test(hit.text);
  // A definition of that name calls nothing. The match may begin with the character before it.
  const isDefined = /\b(?:function|def|func|fn)\s*$/.test(hit.text.slice(0, at));
  return !isDefined && syntax.isInCode(hit, at);
}

/**
 * Whether a line is passed over, since it is in a comment over several lines or in a test module of Rust: their borders are searched in
 * each file that has a hit.
 */
function* passedOver(suspects: readonly Suspect[]): Looking<(hit: syntax.Hit) => boolean> {
  const paths = [...new Set(suspects.map(({ hit }) => hit.path))].slice(0, MOST_CHECKED);
  const asks = paths.map((path) => {
    const where = { path, glob: '*', limit: 1000, about: 'borders of comments' };
    return search(path.endsWith('.py') ? `"""|'''` : String.raw`/\*|\*/|#\[cfg\(test\)\]|^\s*mod\b`, where);
  });
  const borders = yield { todo: 2, say: 'I look whether these lines are within comments over several lines.', asks };
  return (hit) => {
    const before = hitsOf(borders[paths.indexOf(hit.path)]).filter(({ line }) => line < hit.line);
    const text = before.map((one) => one.text).join('\n');
    if (hit.path.endsWith('.py')) return text.split(/"""|'''/).length % 2 === 0;
    return text.lastIndexOf('/*') > text.lastIndexOf('*/') || before.some((one) => opensTests(one, before));
  };
}

/** A module of Rust that is only there for tests. */
const opensTests = ({ line, text }: syntax.Hit, lines: readonly syntax.Hit[]): boolean =>
  /^\s*mod \w+\s*\{/.test(text) && lines.some((one) => one.line === line - 1 && one.text.includes('#[cfg(test)]'));

/** Suspects by their severity, the highest first. */
const bySeverity = (all: readonly Suspect[]): readonly (readonly [severity: string, suspects: readonly Suspect[]])[] =>
  SEVERITIES.map((one) => [one, all.filter(({ risk }) => risk.severity === one)]);

const quoted = ({ risk, hit }: Suspect): string => (risk.secret ? `${place(hit)} (not quoted)` : claim(hit));

function headText(real: readonly Suspect[], patterns: string, scope: string, isCutShort: boolean): string {
  const [first] = bySeverity(real).flatMap(([, own]) => own);
  if (first === undefined)
    return `${isCutShort ? 'As far as these searches went, no' : 'No'} line of ${scope} matches ${patterns} outside comments and strings`;
  const counts = bySeverity(real).map(([one, own]) => `${own.length} ${one}`);
  const files = plural(new Set(real.map(({ hit }) => hit.path)).size, 'file');
  const lines = `${isCutShort ? 'At least ' : ''}${plural(real.length, 'line')} in ${files} ${real.length === 1 ? 'matches' : 'match'}`;
  return `${lines} ${patterns} in ${scope}: ${listed(counts)}, first ${quoted(first)} (${first.risk.name})`;
}

function riskRows(suspects: readonly Suspect[]): readonly string[] {
  return [...Map.groupBy(suspects, ({ risk }) => risk.name)].flatMap(([name, all]) => {
    const others = all.slice(MOST_PER_RISK).map(({ hit }) => place(hit));
    const more = `${others.slice(0, MOST_PLACES).join(', ')}${others.length > MOST_PLACES ? ' …' : ''}`;
    return [
      `- ${name} (${plural(all.length, 'line')}); check ${all[0]?.risk.look ?? ''}:`,
      ...all.slice(0, MOST_PER_RISK).map((one) => `  - ${quoted(one)}`),
      ...(others.length === 0 ? [] : [`  - and ${others.length} more: ${more}`]),
    ];
  });
}
