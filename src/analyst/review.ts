/** Risky patterns: lines of the program that match a row of the list, comments, strings and tests passed over. */
import { inventory, programOf } from './imports.ts';
import type { Inventory } from './imports.ts';
import {
  globFor,
  isAside,
  isComment,
  isForeign,
  isInComment,
  isInString,
  isSource,
  isTest,
  languageOf,
  languagesIn,
  TABLE,
} from './languages.ts';
import { RISKS } from './risks.ts';
import type { Risk, Severity } from './risks.ts';
import {
  behind,
  claim,
  faults,
  hitsOf,
  hitsWithNext,
  isCut,
  LONGEST_PATTERN,
  place,
  search,
  searchAll,
  section,
} from './tools.ts';
import type { Hit } from './tools.ts';
import type { Looking, Part, Seen, Work } from './turns.ts';
import { listed, plural } from './words.ts';

const MOST_PER_RISK = 5;
const MOST_FILES = 6;
/** Files whose comments over several lines are looked at. */
const MOST_CHECKED = 12;
const SEVERITIES: readonly Severity[] = ['high', 'medium', 'low'];

interface Suspect {
  readonly risk: Risk;
  readonly hit: Hit;
}

export const review: Part = {
  todos: ['List the sources', 'Search for risky patterns', 'Pass over comments'],
  work: reviewing,
};

function* reviewing({ task, role }: { readonly task: string; readonly role: string }): Work {
  const project = yield* inventory(task);
  const program = new Set(programOf(project));
  const present = languagesIn([...program]);
  const rows = RISKS.filter(
    ({ group, languages }) => groupsIn(task, role).includes(group) && languages.some((one) => present.includes(one)),
  );
  if (program.size === 0) return `There is no source file to review in ${project.called} ${project.behind}.`;
  const { suspects, looks, passed } = yield* matching(rows, project, program);
  const comments = yield* blockComments(suspects);
  const real = suspects.filter(({ hit }) => !comments(hit)).toSorted(byWeight);
  return [
    headText(real, { rows, program, project, looks }),
    ...SEVERITIES.flatMap((severity) =>
      section(
        `${severity.charAt(0).toUpperCase()}${severity.slice(1)}`,
        rowsOf(real.filter(({ risk }) => risk.severity === severity)),
      ),
    ),
    ...section('Files with most of these places', fileRows(real)),
    ...section('Passed over', passedRows(passed + suspects.length - real.length, looks)),
    ...faults([...project.seen, ...looks]),
  ].join('\n');
}

/** Which parts of the list a task asks for; all when it names none. */
function groupsIn(task: string, role: string): readonly Risk['group'][] {
  const security = /\bsecur|\binjection|\bsecrets?\b|\bvulnerab/i.test(task) || role === 'security';
  const errors = /\berrors?\b|\bexceptions?\b|\bswallow/i.test(task);
  if (!security && !errors) return ['security', 'errors', 'other'];
  return [...(security ? (['security'] as const) : []), ...(errors ? (['errors'] as const) : [])];
}

/** Rows that are searched together; those that look at the following line apart, with context. */
function batches(rows: readonly Risk[]): readonly (readonly Risk[])[] {
  const groups: Risk[][] = [];
  for (const risk of rows.toSorted((a, b) => Number(a.next !== null) - Number(b.next !== null))) {
    const last = groups.at(-1);
    const length = [...(last ?? []), risk].reduce((sum, { pattern }) => sum + pattern.length + 5, 0);
    if (last === undefined || length > LONGEST_PATTERN || (last[0]?.next === null) !== (risk.next === null))
      groups.push([risk]);
    else last.push(risk);
  }
  return groups;
}

interface Matching {
  readonly suspects: readonly Suspect[];
  readonly looks: readonly Seen[];
  /** Lines of the program that matched in a comment or string. */
  readonly passed: number;
}

function* matching(rows: readonly Risk[], project: Inventory, program: ReadonlySet<string>): Looking<Matching> {
  const groups = batches(rows);
  const asks = groups.map((group, at) =>
    search(group.map(({ pattern }) => `(?:${pattern})`).join('|'), {
      glob: globFor(
        languagesIn([...program]).filter((name) => group.some(({ languages }) => languages.includes(name))),
      ),
      path: project.path,
      limit: 500,
      ...(group[0]?.next === null ? {} : { context: 2 }),
      about: `risky patterns, part ${at + 1} of ${groups.length}`,
    }),
  );
  const looks = yield* searchAll(
    asks,
    project.names,
    `I search ${plural(program.size, 'source file')} for ${plural(rows.length, 'risky pattern')}.`,
    1,
  );
  const suspects: Suspect[] = [];
  let passed = 0;
  for (const [at, group] of groups.entries()) {
    const own = looks.filter(({ ask }) => ask.input['pattern'] === asks[at]?.input['pattern']);
    for (const [hit, next] of own.flatMap((look) => hitsWithNext(look))) {
      // A search reads further than a list that was cut.
      if (!program.has(hit.path) && (project.whole || !isProgram(hit.path))) continue;
      const matched = group.filter((risk) => fits(risk, hit, next));
      const real = matched.filter((risk) => isCode(risk, hit));
      passed += matched.length > 0 && real.length === 0 ? 1 : 0;
      suspects.push(...real.slice(0, 1).map((risk) => ({ risk, hit })));
    }
  }
  return { suspects, looks, passed };
}

const isProgram = (path: string): boolean => isSource(path) && !isForeign(path) && !isTest(path) && !isAside(path);

function fits(risk: Risk, hit: Hit, next: readonly string[]): boolean {
  const language = languageOf(hit.path);
  if (language === undefined || !risk.languages.includes(language) || !new RegExp(risk.pattern).test(hit.text))
    return false;
  if (risk.secret && /process\.env|getenv|environ|example|placeholder|your[-_]|changeme|xxxx|<\w+>/i.test(hit.text))
    return false;
  if (risk.next === null) return true;
  const first = next.find((text) => text.trim() !== '' && !TABLE[language].comment.test(text));
  return first !== undefined && new RegExp(risk.next).test(first);
}

function isCode(risk: Risk, hit: Hit): boolean {
  const at = new RegExp(risk.pattern).exec(hit.text)?.index ?? 0;
  if (risk.name === 'checker switched off') return isInComment(hit, at + 1) || /@ts-|eslint-/.test(hit.text);
  return !isComment(hit) && !isInComment(hit, at) && !isInString(hit.text, at);
}

/** Comments and documentation over several lines: their borders are searched in each file that has a hit. */
function* blockComments(suspects: readonly Suspect[]): Looking<(hit: Hit) => boolean> {
  const paths = [...new Set(suspects.map(({ hit }) => hit.path))].slice(0, MOST_CHECKED);
  const borders = yield {
    say: 'I look whether these lines are within comments over several lines.',
    todo: 2,
    asks: paths.map((path) =>
      search(path.endsWith('.py') ? `"""|'''` : String.raw`/\*|\*/`, {
        path,
        glob: '*',
        limit: 1000,
        about: 'borders of comments',
      }),
    ),
  };
  return (hit) => {
    const before = hitsOf(borders[paths.indexOf(hit.path)]).filter(({ line }) => line < hit.line);
    const text = before.map((one) => one.text).join('\n');
    if (!hit.path.endsWith('.py')) return text.lastIndexOf('/*') > text.lastIndexOf('*/');
    return text.split(/"""|'''/).length % 2 === 0;
  };
}

const byWeight = (a: Suspect, b: Suspect): number =>
  SEVERITIES.indexOf(a.risk.severity) - SEVERITIES.indexOf(b.risk.severity) ||
  (a.hit.path < b.hit.path ? -1 : a.hit.path > b.hit.path ? 1 : a.hit.line - b.hit.line);

const quoted = ({ risk, hit }: Suspect): string => (risk.secret ? `${place(hit)} (not quoted)` : claim(hit));

function headText(
  real: readonly Suspect[],
  {
    rows,
    program,
    project,
    looks,
  }: {
    readonly rows: readonly Risk[];
    readonly program: ReadonlySet<string>;
    readonly project: Inventory;
    readonly looks: readonly Seen[];
  },
): string {
  const cut = looks.some((look) => isCut(look)) || !project.whole;
  const scope = `${project.whole ? plural(program.size, 'source file') : 'the source files'} of ${project.called} ${project.behind}`;
  const [first] = real;
  if (first === undefined)
    return `No line of ${scope} matches one of ${plural(rows.length, 'risky pattern')} outside of comments, strings and tests ${behind(...looks)}.`;
  const counts = SEVERITIES.map(
    (severity) => `${real.filter(({ risk }) => risk.severity === severity).length} ${severity}`,
  );
  const files = new Set(real.map(({ hit }) => hit.path)).size;
  return `${cut ? 'At least ' : ''}${plural(real.length, 'line')} in ${plural(files, 'file')} ${real.length === 1 ? 'matches' : 'match'} one of ${plural(rows.length, 'risky pattern')} in ${scope}: ${listed(counts)}, first ${quoted(first)} (${first.risk.name}).`;
}

function rowsOf(suspects: readonly Suspect[]): readonly string[] {
  return [...Map.groupBy(suspects, ({ risk }) => risk.name)].flatMap(([name, all]) => [
    `- ${name} (${plural(all.length, 'line')}); look at ${all[0]?.risk.look ?? ''}:`,
    ...all.slice(0, MOST_PER_RISK).map((one) => `  - ${quoted(one)}`),
    ...(all.length > MOST_PER_RISK
      ? [
          `  - and ${all.length - MOST_PER_RISK} more: ${all
            .slice(MOST_PER_RISK, MOST_PER_RISK + 8)
            .map(({ hit }) => place(hit))
            .join(', ')}${all.length > MOST_PER_RISK + 8 ? ' …' : ''}`,
        ]
      : []),
  ]);
}

const fileRows = (suspects: readonly Suspect[]): readonly string[] =>
  [...Map.groupBy(suspects, ({ hit }) => hit.path)]
    .filter(([, all]) => all.length > 1)
    .toSorted(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1))
    .slice(0, MOST_FILES)
    .map(
      ([path, all]) =>
        `- ${path}: ${plural(all.length, 'line')}, first ${all[0] === undefined ? '' : place(all[0].hit)}`,
    );

function passedRows(comments: number, looks: readonly Seen[]): readonly string[] {
  const tests = looks.flatMap((look) => hitsOf(look)).filter(({ path }) => isTest(path)).length;
  if (comments + tests === 0) return [];
  return [
    `- ${plural(comments, 'match', 'matches')} in comments or strings, and ${plural(tests, 'line')} in tests ${behind(...looks)}`,
  ];
}
