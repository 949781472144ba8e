/**
 * Puts the agents' answers together into one report: what was asked, the answers in short, the files that several agents
 * named, each agent's part cut to what matters, what was not done, and what to do next. At most about 150 lines.
 */
import type { Finding } from '../../domain/agent.ts';
import type { Purpose } from '../../ports/model.ts';
import { claim } from './claims.ts';
import type { Hit } from './claims.ts';
import { claimsIn, firstWords } from './findings.ts';
import { BOTTOM, TOP, unsigned } from './signature.ts';
import { captured, listed, wishesIn } from './words.ts';

type Merging = Extract<Purpose, { is: 'merge' }>;

const AGENT_LINES = 100;
const MOST_FILES = 6;
const MOST_ROWS = 6;
/** Sections of an answer that stand elsewhere in the report. */
const ELSEWHERE = /^## (?:What the others found|Could not be looked at|Said there|Searched for and not found)/;
/** Whose answer comes first when nothing else decides. */
const ORDER = ['oracle', 'finder', 'reviewer', 'security', 'tester', 'refactoring', 'librarian', 'rush'];

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
      byWorth(done).map(
        ({ role, summary, outcome }) =>
          `- **${role}**${outcome === 'completed' ? '' : ` (${outcome})`}: ${firstWords(summary)}`,
      ),
    ),
    ...part('Named by more than one agent', sharedFiles(done)),
    ...done.flatMap((result) => agentPart(result, Math.max(8, Math.floor(AGENT_LINES / done.length)))),
    ...part('What was not done', notDone(task, plain)),
    ...part('Next steps', nextSteps(done)),
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

const byWorth = (results: readonly Finding[]): readonly Finding[] => {
  const worth = (role: string): number => (ORDER.includes(role) ? ORDER.indexOf(role) : ORDER.length);
  return results.toSorted((a, b) => worth(a.role) - worth(b.role));
};

/** Files that two or more agents came upon by themselves, with the first line that was quoted. The oracle repeats others. */
function sharedFiles(results: readonly Finding[]): readonly string[] {
  const named = results.flatMap(({ role, summary }) => claimsIn(summary).map((hit) => ({ role, hit })));
  return [...Map.groupBy(named, ({ hit }) => hit.path)]
    .map(([path, all]) => ({
      path,
      roles: [...new Set(all.map(({ role }) => role))],
      hit: best(all.map(({ hit }) => hit)),
    }))
    .filter(({ roles }) => roles.filter((role) => role !== 'oracle').length > 1)
    .toSorted((a, b) => b.roles.length - a.roles.length || (a.path < b.path ? -1 : 1))
    .slice(0, MOST_FILES)
    .map(({ path, roles, hit }) => `- ${path} (${listed(roles)})${hit === undefined ? '' : `: ${claim(hit)}`}`);
}

const best = (hits: readonly Hit[]): Hit | undefined => hits.find(({ text }) => text !== '') ?? hits[0];

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
  const place = claimsIn(firstWords(of('oracle')))[0] ?? claimsIn(firstWords(of('finder')))[0];
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
  if (worst === undefined) return [];
  return [
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
