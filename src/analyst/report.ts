/** What the analyst's answers have in common: they say that no model was used; and the report that is made of all of them. */
import type { Finding } from '../domain/agents/agent.ts';
import type { Purpose } from '../ports/model.ts';
import { oneLine } from './words.ts';

const TOP =
  '_No language model was used: this is the built-in offline analyst. It reads, searches and counts; it does not understand._';
const BOTTOM = '_Made without a language model: check what matters before you rely on it._';

/** The first paragraph stays first, since lists show it alone. */
export function signed(answer: string): string {
  const end = answer.indexOf('\n');
  const [head, rest] = end === -1 ? [answer, ''] : [answer.slice(0, end), answer.slice(end)];
  return [head, '', `${TOP}${rest}`, '', BOTTOM].join('\n');
}

const unsigned = (answer: string): string =>
  answer
    .replaceAll(TOP, '')
    .replaceAll(BOTTOM, '')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();

type Merging = Extract<Purpose, { is: 'merge' }>;

/** Lines of all agents' reports together; each gets its share of them. */
const MOST_LINES = 240;

/** The report as Markdown: what each agent said first, then each report. Says nothing that no agent said. */
export function mergeText({ task, results }: Merging): string {
  const plain = results.map((result) => ({ ...result, summary: unsigned(result.summary) }));
  const done = plain.filter(({ summary }) => summary !== '');
  const share = Math.max(30, Math.floor(MOST_LINES / Math.max(1, done.length)));
  return [
    TOP,
    '',
    `# ${oneLine(task, 90)}`,
    '',
    '## In short',
    '',
    ...done.map(({ role, summary, outcome }) => `- ${firstLine(summary)} (${role}${state(outcome)})`),
    ...plain.flatMap((result) => (result.outcome === 'completed' ? [] : [notDone(result)])),
    ...done.flatMap((result) => agentPart(result, share)),
    '',
    BOTTOM,
  ].join('\n');
}

const state = (outcome: Finding['outcome']): string => (outcome === 'completed' ? '' : `, ${outcome}`);

const notDone = ({ role, outcome, description }: Finding): string =>
  `- ${role} (${outcome}): ${oneLine(description, 300)}`;

const firstLine = (summary: string): string => summary.split('\n')[0] ?? '';

function agentPart({ role, description, summary }: Finding, share: number): readonly string[] {
  const lines = summary.split('\n').slice(1).join('\n').trim().split('\n');
  const body = lines.map((line) => line.replace(/^## /, '### '));
  const rest = body.length - share;
  const shown = rest > 0 ? [...body.slice(0, share), `- ${rest} more lines are in the report of this agent`] : body;
  return ['', `## ${role}: ${oneLine(description, 300)}`, '', ...(body.join('') === '' ? [firstLine(summary)] : shown)];
}
