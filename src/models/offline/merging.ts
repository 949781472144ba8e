/**
 * Puts the agents' answers together into one report: what was asked, the answers in short (those to the question first), what
 * to do next, each agent's part cut to what matters, and what was not done. At most about 150 lines.
 */
import type { Finding } from '../../domain/agent.ts';
import type { Purpose } from '../../ports/model.ts';
import { claim } from './claims.ts';
import { claimsIn, firstWords } from './findings.ts';
import { BOTTOM, TOP, unsigned } from './signature.ts';
import { captured, wishesIn } from './words.ts';
import type { Wish } from './words.ts';

type Merging = Extract<Purpose, { is: 'merge' }>;

const AGENT_LINES = 100;
const MOST_ROWS = 6;
/** Sections of an answer that stand elsewhere in the report. */
const ELSEWHERE = /^## (?:What the others found|Could not be looked at|Said there|Searched for and not found)/;
/** The report as Markdown. Says nothing that no agent said. */
export function mergeText({ task, results }: Merging): string {
  const plain = results.map((result) => ({ ...result, summary: unsigned(result.summary) }));
  const done = plain.filter(({ summary }) => summary !== '');
  return [
    TOP,
    '',
    `# ${title(task)}`,
    ...(title(task) === task.trim() ? [] : ['', `Asked: ${oneLine(task)}`]),
    ...part(
      'In short',
      byWorth(done, task).map(
        ({ role, summary, outcome }) =>
          `- ${firstWords(summary)} (${role}${outcome === 'completed' ? '' : `, ${outcome}`})`,
      ),
    ),
    ...part('Next steps', nextSteps(done)),
    ...done.flatMap((result) => agentPart(result, Math.max(8, Math.floor(AGENT_LINES / done.length)))),
    ...part('What was not done', notDone(task, plain)),
    '',
    BOTTOM,
  ].join('\n');
}

const part = (heading: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ['', `## ${heading}`, '', ...lines];

function title(task: string): string {
  const line = task.trim().split('\n')[0] ?? '';
  return line.length <= 90 ? line : `${line.slice(0, 89).toWellFormed()}…`;
}

const oneLine = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= 600 ? line : `${line.slice(0, 599).toWellFormed()}…`;
};

/** Whose answer is asked for first by which wish; the rest keeps the order of the plan. */
const FIRST: Readonly<Partial<Record<Wish, readonly string[]>>> = {
  entries: ['finder'],
  find: ['finder'],
  explain: ['librarian', 'finder'],
  riskiest: ['reviewer'],
  review: ['reviewer', 'security'],
  security: ['security', 'reviewer'],
  test: ['tester'],
  refactor: ['refactoring'],
  dependency: ['librarian'],
  status: ['rush'],
  changes: ['rush'],
  debug: ['oracle', 'finder'],
};

const byWorth = (results: readonly Finding[], task: string): readonly Finding[] => {
  // Asked for words, the places come before what the project says it is.
  const words = results.some(({ description }) => description.startsWith('Find where'));
  const order = wishesIn(task).flatMap((wish) =>
    words && wish === 'explain' ? ['finder', 'oracle'] : (FIRST[wish] ?? []),
  );
  const worth = (role: string): number => (order.includes(role) ? order.indexOf(role) : order.length);
  return results.toSorted((a, b) => worth(a.role) - worth(b.role));
};

/** One agent's answer: its task, and its sections without their tails. Its first words stand in the list above. */
function agentPart({ role, description, summary, outcome }: Finding, room: number): readonly string[] {
  const [, ...sections] = summary.split(/^(?=## )/m);
  const lines: string[] = [];
  for (const text of sections) if (lines.length < room && !ELSEWHERE.test(text)) lines.push(...sectionPart(text));
  const state = outcome === 'completed' ? '' : ` (${outcome})`;
  const before = lines.length === 0 ? [firstWords(summary)] : [];
  return ['', `## ${role}${state}: ${oneLine(description)}`, ...(before.length === 0 ? [] : ['', ...before]), ...lines];
}

function sectionPart(text: string): readonly string[] {
  const [heading = '', ...rest] = text.split('\n').filter((line) => line.trim() !== '');
  const more = rest.length > MOST_ROWS ? [`- … ${rest.length - MOST_ROWS} more in this agent's own answer`] : [];
  return ['', `**${heading.slice(3)}**`, '', ...rest.slice(0, MOST_ROWS), ...more];
}

function notDone(task: string, results: readonly Finding[]): readonly string[] {
  const wishes = wishesIn(task);
  const failed = results.filter(({ outcome }) => outcome !== 'completed');
  const faults = results.flatMap(({ role, summary }) => {
    const text = captured(/## Could not be looked at\n\n([\s\S]*?)(?:\n\n|$)/, summary);
    return text === ''
      ? []
      : text
          .split('\n')
          .slice(0, 3)
          .map((line) => `- ${role} could not look: ${line.replace(/^- /, '')}`);
  });
  return [
    '- No code was changed and no program of this project was started; tests were not run.',
    ...(wishes.includes('change') || wishes.includes('refactor') || wishes.includes('document')
      ? ['- Nothing was written: the offline analyst finds places, it does not write.']
      : []),
    ...failed.map(
      ({ role, description, outcome, summary }) =>
        `- ${role} (${outcome}): ${oneLine(description)}${summary === '' ? '' : ` Its answer is not whole.`}`,
    ),
    ...faults,
  ];
}

/** What the answers call for. Each step comes from a sentence that an agent said. */
function nextSteps(results: readonly Finding[]): readonly string[] {
  const of = (...roles: readonly string[]): string => results.find(({ role }) => roles.includes(role))?.summary ?? '';
  const place = [of('oracle'), of('finder')].flatMap((summary) =>
    claimsIn(captured(/((?:best place|likeliest place|begins at)\b.*)/, firstWords(summary))).slice(0, 1),
  )[0];
  const steps = [
    ...(place === undefined ? [] : [`Begin reading at ${claim(place)}.`]),
    ...riskStep(firstWords(of('reviewer', 'security'))),
    ...testSteps(of('tester')),
    ...paperSteps(of('librarian')),
    ...circleStep(of('oracle')),
  ];
  return steps.map((step, index) => `${index + 1}. ${step}`);
}

function riskStep(words: string): readonly string[] {
  const worst = claimsIn(words)[0];
  const high = Number(captured(/: (\d+) high,/, words));
  const file = captured(/riskiest file (?:of .*? )?is (\S+?):? /, words);
  if (worst === undefined) return [];
  return [
    ...(file === '' ? [] : [`Go through ${file} with someone who knows it.`]),
    `${high > 0 ? `Judge the ${high === 1 ? 'place' : `${high} places`} marked high` : 'Judge the places found'}, first ${claim(worst)}.`,
  ];
}

function testSteps(summary: string): readonly string[] {
  const command = claimsIn(captured(/(The tests are run by .*)/, summary))[0];
  const untested = captured(/## Modules that no test imports\n\n- ([^\n:]+)/, summary);
  return [
    ...(command === undefined ? [] : [`Run the tests yourself, by ${claim(command)}.`]),
    ...(untested === '' ? [] : [`Think of a test for ${untested}, which no test imports.`]),
  ];
}

function paperSteps(summary: string): readonly string[] {
  const unused = captured(/No import was found of ([^\n]+)\.$/m, summary.split('\n')[0] ?? '');
  return unused === '' ? [] : [`See whether ${unused} is still needed.`];
}

function circleStep(summary: string): readonly string[] {
  const circles = Number(captured(/## Circles of imports \((\d+)\)/, summary));
  return circles > 0
    ? [`Look at the ${circles === 1 ? 'circle' : `${circles} circles`} of imports that the oracle names.`]
    : [];
}
