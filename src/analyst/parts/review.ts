/** Risky patterns: lines of the program that match a row of the list, comments, strings and tests passed over. */
import { behind, claim, faults, place, section } from '../evidence.ts';
import { globFor, languageOf, languagesIn, LONGEST_PATTERN, TABLE } from '../languages.ts';
import { isComment, isInComment, isInString } from '../lines.ts';
import { isAside, isForeign, isSource, isTest } from '../paths.ts';
import { inventory, programOf } from '../project.ts';
import type { Inventory } from '../project.ts';
import { RISKS } from './risks.ts';
import type { Risk } from './risks.ts';
import { hitsOf, hitsWithNext, isCut, search, searchAll } from '../tools.ts';
import type { Hit, Looking, Seen } from '../tools.ts';
import type { Brief, Part, Work } from '../turns.ts';
import { byPlace, listed, plural } from '../words.ts';

const MOST_PER_RISK = 5;
/** Places of a risk that are named beside those that are quoted. */
const MOST_PLACES = 8;
const MOST_FILES = 6;
/** Files whose comments over several lines are looked at. */
const MOST_CHECKED = 12;
const SEVERITIES = ['high', 'medium', 'low'] as const;

/** Words of a task that ask for one part of the list; as a person reads it, and the words. */
export const FOCUS = {
  security: { called: 'security risks', words: /\bsecur|\binjection|\bsecrets?\b|\bvulnerab/i },
  errors: {
    called: 'swallowed and ignored errors',
    words: /\berrors?\b|\bexceptions?\b|\bswallow|\bignored\b/i,
  },
} as const;

interface Suspect {
  readonly risk: Risk;
  readonly hit: Hit;
}

export const review: Part = {
  todos: ['List the sources', 'Search for risky patterns', 'Pass over comments'],
  work: reviewing,
};

function* reviewing({ task, role }: Pick<Brief, 'task' | 'role'>): Work {
  const project = yield* inventory(task);
  const program = new Set(programOf(project));
  if (program.size === 0) return `There is no source file to review in ${project.called} ${project.behind}.`;
  const present = languagesIn([...program]);
  const groups = groupsIn(task, role);
  const rows = RISKS.filter(
    ({ group, languages }) => groups.includes(group) && languages.some((one) => present.includes(one)),
  );
  const { suspects, looks, passed } = yield* matching(rows, project, program);
  const isBlockComment = yield* blockComments(suspects);
  const real = suspects.filter(({ hit }) => !isBlockComment(hit)).toSorted(byWeight);
  return [
    headText(real, { rows, program, project, looks }),
    ...SEVERITIES.flatMap((severity) =>
      section(
        `${severity.charAt(0).toUpperCase()}${severity.slice(1)}`,
        riskRows(real.filter(({ risk }) => risk.severity === severity)),
      ),
    ),
    ...section('Files with most of these places', fileRows(real)),
    ...section('Passed over', passedRows(passed + suspects.length - real.length, looks)),
    ...faults([...project.seen, ...looks]),
  ].join('\n');
}

/** Which parts of the list a task asks for; all when it names none. */
function groupsIn(task: string, role: string): readonly string[] {
  const security = FOCUS.security.words.test(task) || role === 'security';
  const errors = FOCUS.errors.words.test(task);
  if (!security && !errors) return ['security', 'errors', 'other'];
  return [...(security ? ['security'] : []), ...(errors ? ['errors'] : [])];
}

/** Rows that are searched together; those that look at the following line apart, with context. */
function batchesOf(rows: readonly Risk[]): readonly (readonly Risk[])[] {
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
  const groups = batchesOf(rows);
  const present = languagesIn([...program]);
  const asks = groups.map((group, at) =>
    search(group.map(({ pattern }) => `(?:${pattern})`).join('|'), {
      glob: globFor(present.filter((name) => group.some(({ languages }) => languages.includes(name)))),
      path: project.path,
      limit: 500,
      ...(group[0]?.next === null ? {} : { context: 2 }),
      about: `risky patterns, part ${at + 1} of ${groups.length}`,
    }),
  );
  const say = `I search ${plural(program.size, 'source file')} for ${plural(rows.length, 'risky pattern')}.`;
  const looks = yield* searchAll(asks, project.names, say, 1);
  // A search reads further than a list that was cut.
  const isProgram = (path: string): boolean =>
    program.has(path) || (!project.whole && isSource(path) && !isForeign(path) && !isTest(path) && !isAside(path));
  const suspects: Suspect[] = [];
  let passed = 0;
  for (const [at, group] of groups.entries()) {
    const own = looks.filter(({ ask }) => ask.input['pattern'] === asks[at]?.input['pattern']);
    for (const [hit, next] of own.flatMap((look) => hitsWithNext(look)).filter(([{ path }]) => isProgram(path))) {
      const matched = group.filter((risk) => fits(risk, hit, next));
      const real = matched.filter((risk) => isCode(risk, hit));
      passed += matched.length > 0 && real.length === 0 ? 1 : 0;
      suspects.push(...real.slice(0, 1).map((risk) => ({ risk, hit })));
    }
  }
  return { suspects, looks, passed };
}

const NO_SECRET = /process\.env|getenv|environ|example|placeholder|your[-_]|changeme|xxxx|<\w+>/i;

function fits(risk: Risk, hit: Hit, next: readonly string[]): boolean {
  const language = languageOf(hit.path);
  if (language === undefined || !risk.languages.includes(language) || !new RegExp(risk.pattern).test(hit.text))
    return false;
  if (risk.secret && NO_SECRET.test(hit.text)) return false;
  if (risk.next === null) return true;
  const first = next.find((text) => text.trim() !== '' && !TABLE[language].comment.test(text));
  return first !== undefined && new RegExp(risk.next).test(first);
}

function isCode(risk: Risk, hit: Hit): boolean {
  const at = new RegExp(risk.pattern).exec(hit.text)?.index ?? 0;
  if (risk.name === 'checker switched off') return isInComment(hit, at + 1) || /@ts-|eslint-/.test(hit.text);
  // A definition of that name calls nothing. The match may begin with the character before it.
  const isDefined = /\b(?:function|def|func|fn)\s*$/.test(hit.text.slice(0, at));
  return !isDefined && !isComment(hit) && !isInComment(hit, at) && !isInString(hit.text, at);
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

const weightOf = ({ severity }: Risk): number => SEVERITIES.findIndex((one) => one === severity);
const byWeight = (a: Suspect, b: Suspect): number => weightOf(a.risk) - weightOf(b.risk) || byPlace(a.hit, b.hit);

const quoted = ({ risk, hit }: Suspect): string => (risk.secret ? `${place(hit)} (not quoted)` : claim(hit));

interface Reviewed {
  readonly rows: readonly Risk[];
  readonly program: ReadonlySet<string>;
  readonly project: Inventory;
  readonly looks: readonly Seen[];
}

function headText(real: readonly Suspect[], { rows, program, project, looks }: Reviewed): string {
  const cut = looks.some((look) => isCut(look)) || !project.whole;
  const scope = `${project.whole ? plural(program.size, 'source file') : 'the source files'} of ${project.called} ${project.behind}`;
  const patterns = plural(rows.length, 'risky pattern');
  const [first] = real;
  if (first === undefined)
    return `${cut ? 'As far as these searches came, no' : 'No'} line of ${scope} matches one of ${patterns} outside of comments, strings and tests ${behind(...looks)}.`;
  const counts = SEVERITIES.map((one) => `${real.filter(({ risk }) => risk.severity === one).length} ${one}`);
  const files = plural(new Set(real.map(({ hit }) => hit.path)).size, 'file');
  const lines = `${cut ? 'At least ' : ''}${plural(real.length, 'line')} in ${files} ${real.length === 1 ? 'matches' : 'match'}`;
  return `${lines} one of ${patterns} in ${scope}: ${listed(counts)}, first ${quoted(first)} (${first.risk.name}).`;
}

function riskRows(suspects: readonly Suspect[]): readonly string[] {
  return [...Map.groupBy(suspects, ({ risk }) => risk.name)].flatMap(([name, all]) => {
    const others = all.slice(MOST_PER_RISK).map(({ hit }) => place(hit));
    const more = `${others.slice(0, MOST_PLACES).join(', ')}${others.length > MOST_PLACES ? ' …' : ''}`;
    return [
      `- ${name} (${plural(all.length, 'line')}); look at ${all[0]?.risk.look ?? ''}:`,
      ...all.slice(0, MOST_PER_RISK).map((one) => `  - ${quoted(one)}`),
      ...(others.length === 0 ? [] : [`  - and ${others.length} more: ${more}`]),
    ];
  });
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
