/** Risky patterns: lines of the program that match a row of the list, comments, strings and tests passed over. */
import { batched, distinct, grouped, listed, plural } from '../../domain/lists.ts';
import RISKS from '../data/risks.json' with { type: 'json' };
import { behind, claim, place, report, type Section } from '../evidence.ts';
import * as syntax from '../languages.ts';
import { FOREIGN, inventory, type Inventory, isAside, programOf, rankOf } from '../project.ts';
import { type Ask, hitsOf, hitsWithNext, isCut, type Looking, search, searchAll, type Seen } from '../tools.ts';
import type { Brief, Work } from '../turns.ts';
import { byPlace, shortened } from '../words.ts';

/** Lines of a risk that are quoted, files of the others, and files whose comments over several lines are looked at. */
const [MOST_PER_RISK, MOST_FILES, MOST_CHECKED] = [5, 8, 45] as const;
const SEVERITIES = ['High', 'Medium', 'Low'] as const;

/** Parts of the list that a task may ask for, each as a person reads it and by which words. */
export const FOCUS = RISKS.focus.map((row) => ({ ...row, words: new RegExp(row.words, 'i') }));

/** A row of the documented list of risky patterns, `data/risks.json`, for ripgrep and JavaScript alike. A hit is a place to look, never a
 * proof. `next`: what the following line (comments and blanks passed over) has to be. `look`: what a person should look at. `secret`: the
 * place is named, the line is not quoted. */
type Risk = (typeof RISKS.risks)[number];

const isOf = ({ languages }: Risk, language: syntax.Language | undefined): boolean =>
  languages === 'all' || languages.split(' ').includes(language?.name ?? '');

type Suspect = { readonly risk: Risk; readonly hit: syntax.Hit };

export function* review({ task, role }: Brief): Work {
  const project = yield* inventory(task);
  const program = programOf(project);
  if (program.length === 0) return `There is no source file to review in ${project.called} ${project.behind}.`;
  const named = FOCUS.filter(({ group, words }) => words.test(task) || role === group);
  const groups = (named.length === 0 ? RISKS.risks : named).map(({ group }) => group);
  const rows = RISKS.risks.filter(
    (risk) => groups.includes(risk.group) && syntax.languagesIn(program).some((language) => isOf(risk, language)),
  );
  const looks = yield* searchesFor(rows, project);
  const suspects = suspectsIn(looks, rows, project);
  const isPassedOver = yield* passedOver(suspects);
  const real = suspects.filter(({ hit }) => !isPassedOver(hit)).toSorted((a, b) => byPlace(a.hit, b.hit));
  const scope = `${project.whole ? plural(program.length, 'source file') : 'the source files'} of ${project.called}`;
  const isCutShort = looks.some((look) => isCut(look)) || !project.whole;
  // What is looked for in a few files alone would say too much of the others.
  const all = rows.filter((risk) => isOf(risk, syntax.languagesIn(program)[0])).map(({ name }) => name);
  const missed = [...new Set(all)].filter((name) => !real.some(({ risk }) => risk.name === name));
  return report(
    `${headText(real, scope, isCutShort)} ${behind(...looks)}. Lines are compared with ${plural(rows.length, 'pattern')}: errors of logic are not found. Left out: comments, strings, tests${program.some(isAside) ? '' : ', examples, scripts, documents'} and ${FOREIGN} code.`,
    ...bySeverity(real).map(([one, own]): Section => [`${one} risk`, riskRows(own)]),
    ['Looked for and not found', missed.length === 0 ? [] : [`- ${missed.join(', ')} ${behind(...looks)}`]],
  );
}

/** Searches for lines that match; rows that look at the following line are searched apart, with context. */
function* searchesFor(rows: readonly Risk[], project: Inventory): Looking<readonly Seen[]> {
  const program = programOf(project);
  const asPattern = ({ pattern }: Risk): string => `(?:${pattern})`;
  const asksFor = (some: readonly Risk[], context: number): readonly Ask[] =>
    batched(some, asPattern, syntax.LONGEST_PATTERN).map((group) => {
      const languages = syntax.languagesIn(program).filter((language) => group.some((risk) => isOf(risk, language)));
      const where = { glob: syntax.globFor(languages), path: project.path, limit: 500, context };
      return search(group.map(asPattern).join('|'), { ...where, about: 'risky patterns' });
    });
  const { alone = [], withNext = [] } = Object.groupBy(rows, ({ next }) => (next === null ? 'alone' : 'withNext'));
  const say = `I search ${plural(program.length, 'source file')} for ${plural(rows.length, 'risky pattern')}.`;
  return yield* searchAll([...asksFor(alone, 0), ...asksFor(withNext, 2)], project.names, say, 1);
}

/** The lines of the program that match in code, each with the most severe risk that fits it, most severe first. */
function suspectsIn(looks: readonly Seen[], rows: readonly Risk[], project: Inventory): readonly Suspect[] {
  const program = new Set(programOf(project));
  // A search reads further than a list that was cut.
  const isProgram = ({ path }: syntax.Hit): boolean => program.has(path) || (!project.whole && rankOf(path) < 2);
  const all = looks
    .flatMap((look) => hitsWithNext(look))
    .filter(([hit]) => isProgram(hit))
    .flatMap(([hit, next]) => rows.filter((risk) => fits(risk, hit, next)).map((risk) => ({ risk, hit })));
  const sorted = bySeverity(all).flatMap(([, own]) => own);
  return distinct(sorted, ({ hit }) => place(hit));
}

const NO_SECRET = /process\.env|getenv|environ|example|placeholder|your[-_]|changeme|xxxx|<\w+>/i;

/** Of Rust: a literal pattern, and a lock whose holder has already failed. */
const HARMLESS = /\bRegex(?:Builder)?::new\(r?#*"|\.(?:lock|read|write)\(\)\.unwrap\(\)/;

function fits(risk: Risk, hit: syntax.Hit, next: readonly string[]): boolean {
  const language = syntax.languageOf(hit.path);
  if (language === undefined || !isOf(risk, language) || !new RegExp(risk.pattern).test(hit.text)) return false;
  if (HARMLESS.test(hit.text) || (risk.secret && NO_SECRET.test(hit.text)) || !isCode(risk, hit)) return false;
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

/** Whether a line is passed over, since it is in a comment over several lines or in a test module of Rust: their borders are searched in
 * each file that has a hit. */
function* passedOver(suspects: readonly Suspect[]): Looking<(hit: syntax.Hit) => boolean> {
  const paths = [...new Set(suspects.map(({ hit }) => hit.path))].slice(0, MOST_CHECKED);
  const asks = paths.map((path) => {
    const where = { path, glob: '*', limit: 1000, about: 'borders of comments' };
    return search(
      path.endsWith('.py')
        ? `"""|'''`
        : String.raw`/\*|\*/|^\s*#\[(?:cfg\(test\)|(?:\w+::)*test)\]|^\s*mod\b|^(?:pub\S*\s+)?(?:async\s+)?(?:fn|impl|struct|enum|trait)\b`,
      where,
    );
  });
  const borders = yield { todo: 2, say: 'I look whether these lines are within comments over several lines.', asks };
  return (hit) => {
    const before = hitsOf(borders[paths.indexOf(hit.path)]).filter(({ line }) => line < hit.line);
    const text = before.map((one) => one.text).join('\n');
    if (hit.path.endsWith('.py')) return text.split(/"""|'''/).length % 2 === 0;
    return text.lastIndexOf('/*') > text.lastIndexOf('*/') || isInTests(before);
  };
}

/** Whether a line of Rust is in a module or function that is only there for tests, by the items before it. */
function isInTests(before: readonly syntax.Hit[]): boolean {
  const isTestAt = ({ line }: syntax.Hit): boolean =>
    before.some(
      (one) => one.text.includes('test') && one.text.includes('#[') && line - one.line > 0 && line - one.line < 4,
    );
  const item = before.findLast(({ text }) => /^\w/.test(text));
  return (
    before.some((one) => /^\s*mod \w+\s*\{/.test(one.text) && isTestAt(one)) || (item !== undefined && isTestAt(item))
  );
}

const bySeverity = (all: readonly Suspect[]): readonly (readonly [severity: string, suspects: readonly Suspect[]])[] =>
  SEVERITIES.map((one) => [one, all.filter(({ risk }) => risk.severity === one.toLowerCase())]);

const quoted = ({ risk, hit }: Suspect): string => (risk.secret ? `${place(hit)} (not quoted)` : claim(hit));

function headText(real: readonly Suspect[], scope: string, isCutShort: boolean): string {
  const [first] = bySeverity(real).flatMap(([, own]) => own);
  if (first === undefined)
    return `${isCutShort ? 'As far as these searches went, no' : 'No'} line of ${scope} looks risky`;
  const counts = bySeverity(real).flatMap(([one, own]) =>
    own.length === 0 ? [] : [`${own.length} of ${one.toLowerCase()} risk`],
  );
  const files = new Set(real.map(({ hit }) => hit.path)).size;
  const lines = `${isCutShort ? 'At least ' : ''}${plural(real.length, 'line')} in ${files} of ${scope} ${real.length === 1 ? 'looks' : 'look'} risky`;
  return `${lines}: ${listed(counts)}. The first to look at is ${quoted(first)} (${first.risk.name})`;
}

const riskRows = (suspects: readonly Suspect[]): readonly string[] =>
  grouped(suspects, ({ risk }) => risk.name).flatMap(([name, all]) => [
    `- ${name} (${plural(all.length, 'line')}): check ${all[0]?.risk.look ?? ''}`,
    ...shortened(all, MOST_PER_RISK, (one) => `- ${quoted(one)}`, placesText).map((row) => `  ${row}`),
  ]);

function placesText(suspects: readonly Suspect[]): string {
  const files = grouped(suspects, ({ hit }) => hit.path).slice(0, MOST_FILES);
  return `: ${files.map(([path, all]) => `${path} (${all.map(({ hit }) => hit.line).join(', ')})`).join('; ')}`;
}
