/**
 * The reviewer (and `security`): goes through the list of risky patterns, drops what stands in comments, strings or tests,
 * reads the worst places, and says which files carry most. It finds places to look at; it judges nothing.
 */
import { claim, place } from '../claims.ts';
import { pathsIn } from '../findings.ts';
import { groundOf, missingText } from '../ground.ts';
import type { Ground } from '../ground.ts';
import { foreignAmong, globFor, LANGUAGE_NAMES, languagesIn } from '../languages.ts';
import type { LanguageName } from '../languages.ts';
import { filesOf, isCut, linesOf, list, read } from '../looking.ts';
import type { Risk, RiskKind, Severity } from '../risk.ts';
import type { Brief, Part, Seen, Work } from '../step.ts';
import { byWeight, joined, risksFor, searchAll, standsInComment, suspectsOf, WEIGHT } from '../suspects.ts';
import type { Near, Suspect } from '../suspects.ts';
import { nameFits, topicIn } from '../topic.ts';
import { listed, plural } from '../words.ts';
import { faults, section, upper } from './parts.ts';
import { RISKIEST_TODOS, riskiest } from './riskiest.ts';

const PER_TURN = 9;
/** From here on several patterns share a search: each one takes seconds. */
const MANY_FILES = 5000;
const MOST_READ = 8;
const MOST_PER_RISK = 4;
const MOST_RISKS = 14;

export const reviewer: Part = {
  todos: (brief) =>
    wantsOne(brief.task)
      ? RISKIEST_TODOS
      : [
          'List the sources',
          `Search for ${listed(kindsFor(brief).map((kind) => KIND_NAMES[kind]))}`,
          'Read the worst places',
          'Rank the files',
        ],
  work: (brief) => (wantsOne(brief.task) ? riskiest(brief, kindsFor(brief)) : review(brief)),
};

/** One file is asked for, not a list. */
const wantsOne = (task: string): boolean =>
  /\b(?:find|review|name)\b[^.]*\briskiest (?:file|module|part)\b/i.test(task) &&
  !/\bgo through\b.*\bname the riskiest\b/i.test(task);

const KIND_NAMES: Readonly<Record<RiskKind, string>> = {
  security: 'security risks',
  errors: 'errors that get lost',
  speed: 'what costs time',
  leftovers: 'leftovers',
};
const KINDS: readonly (readonly [RiskKind, RegExp])[] = [
  ['security', /\bsecur|\binjection\b|\bsecrets?\b|\bvulnerab/i],
  ['errors', /\berrors?\b|\bexceptions?\b|\bfailures?\b/i],
  ['speed', /\bspeed\b|\bcosts? time\b|\bslow\b|\bperformance\b/i],
  ['leftovers', /\bleftovers?\b|\bopen notes?\b/i],
];

/** Which parts of the list the task asks for; all when it names none. */
function kindsFor({ role, task }: Brief): readonly RiskKind[] {
  const asked = KINDS.filter(([, words]) => words.test(task)).map(([kind]) => kind);
  if (asked.length > 0) return asked;
  return role === 'security' ? ['security'] : KINDS.map(([kind]) => kind);
}

function* review(brief: Brief): Work {
  const topic = topicIn(brief.task);
  const ground = yield* groundOf(topic, {
    say: 'I list the sources first: I search only for what can be there.',
    todo: 0,
    limit: 600,
    glob: globFor(LANGUAGE_NAMES),
  });
  const whole = ground.names.length === ground.count;
  const counts = yield {
    say: `${plural(ground.count, 'source')}, too many to list: I count them by language.`,
    todo: 0,
    asks: whole ? [] : LANGUAGE_NAMES.map((name) => list(1, { glob: globFor([name]), about: `${name} files` })),
  };
  const present = whole
    ? languagesIn(ground.names)
    : LANGUAGE_NAMES.filter((_, index) => filesOf(counts[index]).count > 0);
  const foreign = foreignAmong(ground.names);
  const known = new Set(pathsIn(brief.findings));
  const near: Near = { has: (path) => known.has(path) || nameFits(path, topic.words) > 0 };
  const risks = risksFor(present, kindsFor(brief));
  const many = ground.count > MANY_FILES;
  const seen: Seen[] = [];
  for (let at = 0; at < risks.length; at += PER_TURN) {
    const some = risks.slice(at, at + PER_TURN);
    const say = `${at === 0 ? 'I search for' : 'Then for'} ${listed(some.map(({ id }) => id.replaceAll('-', ' ')))}.`;
    const groups = many ? joined(some) : some.map((risk) => [risk]);
    const given = yield { say, todo: 1, asks: groups.map((group) => searchAll(group, present, ground.path)) };
    seen.push(...groups.flatMap((group, index) => group.flatMap(() => given[index] ?? [])));
  }
  const suspects = risks.flatMap((risk, index) =>
    suspectsOf(risk, seen[index], near, foreign).filter(({ hit }) => ground.has(hit.path)),
  );
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
  return answer({ kept, risks, seen, ground, around, present, readPlaces: worst.length, dropped: dropped.size });
}

interface Reviewed {
  readonly kept: readonly Suspect[];
  readonly risks: readonly Risk[];
  readonly seen: readonly Seen[];
  readonly ground: Ground;
  readonly around: readonly Seen[];
  readonly present: readonly LanguageName[];
  readonly readPlaces: number;
  readonly dropped: number;
}

function answer({ kept, risks, seen, ground, around, present, readPlaces, dropped }: Reviewed): string {
  if (present.length === 0) {
    return [
      'No source files of a language whose risks I have a list for, so there was nothing to go through.',
      ...missingText(ground),
      ...faults(ground.seen),
    ].join('\n');
  }
  const clean = risks.filter(
    (risk, index) => seen[index]?.ok === true && !isCut(seen[index]) && !kept.some((one) => one.risk === risk),
  );
  return [
    headLine(kept, risks.length, ground),
    '',
    `Comments, strings and tests are left out where a line shows them; ${plural(readPlaces, 'place')} ${readPlaces === 1 ? 'was' : 'were'} read in context${dropped > 0 ? ` and ${dropped} dropped` : ''}.`,
    ...riskTexts(kept, risks, seen),
    ...section('Files with most', worstFiles(kept)),
    ...section('Searched for and not found', clean.length === 0 ? [] : [clean.map(({ id }) => id).join(', ')]),
    ...missingText(ground),
    ...faults([...ground.seen, ...seen, ...around]),
  ].join('\n');
}

function headLine(kept: readonly Suspect[], risks: number, { count, called }: Ground): string {
  const of = (severity: Severity): number => kept.filter(({ risk }) => risk.severity === severity).length;
  const [worst] = kept;
  const [file] = filesByWeight(kept);
  const searched = `${plural(count, 'source file')} of ${called}`;
  if (worst === undefined || file === undefined)
    return `None of the ${plural(risks, 'risky pattern')} that I know is in the ${searched}; tests, comments and foreign code are left out. That means only that these patterns are not there.`;
  const told = worst.risk.secret === true ? place(worst.hit) : claim(worst.hit);
  const kinds = listed([...new Set(file.own.map(({ risk }) => risk.id.replaceAll('-', ' ')))].slice(0, 3));
  return `${plural(kept.length, 'place')} of the ${searched} ${kept.length === 1 ? 'deserves' : 'deserve'} a look: ${of('high')} high, ${of('medium')} medium, ${of('low')} low. The gravest is ${told}: ${worst.risk.why}. The riskiest file is ${file.path} (${plural(file.own.length, 'place')}: ${kinds}).`;
}

function riskTexts(kept: readonly Suspect[], risks: readonly Risk[], seen: readonly Seen[]): readonly string[] {
  const found = [...new Set(kept.map(({ risk }) => risk))];
  const shown = found.slice(0, MOST_RISKS).flatMap((risk) => {
    const hits = kept.filter((one) => one.risk === risk);
    const least = isCut(seen[risks.indexOf(risk)]) ? 'at least ' : '';
    const more = hits.length > MOST_PER_RISK ? [`- and ${hits.length - MOST_PER_RISK} more`] : [];
    return [
      '',
      `## ${upper(risk.id.replaceAll('-', ' '))} (${risk.severity}, ${least}${plural(hits.length, 'place')})`,
      '',
      `${upper(risk.why)}. Look at ${risk.look}.`,
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

interface Laden {
  readonly path: string;
  readonly own: readonly Suspect[];
}

function filesByWeight(kept: readonly Suspect[]): readonly Laden[] {
  return [...Map.groupBy(kept, ({ hit }) => hit.path)]
    .map(([path, own]) => ({ path, own, score: own.reduce((sum, { risk }) => sum + WEIGHT[risk.severity], 0) }))
    .toSorted((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
}

const worstFiles = (kept: readonly Suspect[]): readonly string[] =>
  filesByWeight(kept)
    .slice(0, 6)
    .map(
      ({ path, own }) =>
        `- ${path}: ${listed([...new Set(own.map(({ risk }) => risk.id.replaceAll('-', ' ')))])} (${plural(own.length, 'place')})`,
    );
