/** The report of a run from its state, as Markdown, JSON or HTML, and as a file. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Marked } from 'marked';
import { shownPath } from '../../config/index.ts';
import { type AgentId, ROOT, type SessionId } from '../../domain/ids.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import type { Redactor } from '../../domain/text/redact.ts';
import { type AgentState, type RunState, taskOf, tokensOfAgent, verificationOf } from '../../events/index.ts';
import type { Receipt, Refusal } from '../../ports/controls.ts';
import type { ReportFormat } from '../../ports/project-service.ts';
import { escapeJson, fileErrorText, sanitise } from '../process/index.ts';
import type { Measures } from '../views/index.ts';
import { agentTime, answerText, budgetText, callsOf, changesOf, comparedSums, comparedTasks } from '../views/index.ts';
import { diffLinesOf, formatCost, formatDuration, formatShare, formatTokens, runSpending } from '../views/index.ts';
import { statusWord, touchedFiles } from '../views/index.ts';
import { authorsText, runTime, shareOf, sharesByModel, unfinishedWork, uncoveredLines } from '../views/index.ts';
import type { ProjectPlace } from '../workspace/index.ts';
import { costText, runUsageText, spentBy, spentByAgent, problemsText } from './spend-text.ts';

export function reportMarkdown(state: RunState): string {
  const summary = answerText(state);
  const body = summary === '' ? '_The run ended before its report._' : summary;
  return `${body}\n\n---\n\n## The run\n\n${factLines(state).join('\n')}\n\n${agentTable(state)}${modelNotes(state)}${sectionsOf(state)}\n`;
}

/** Task, session, provider, and what was spent, as a list. */
export function factLines(state: RunState): readonly string[] {
  const spent = runSpending(state);
  const time = runTime(state);
  const words = runUsageText(state);
  return [
    `- Task: ${state.task}`,
    `- Session: ${state.session ?? ''}, ${state.finished?.status ?? 'not finished'}`,
    `- Provider: ${state.provider}; mode ${state.mode}`,
    `- Spent: ${formatTokens(spent.tokens)} tokens, ${costText(spentBy(state.agents.values()))}${time === 0 ? '' : `, ${formatDuration(time)}`}`,
    `- Budget: ${budgetText(state.budget) ?? 'none'}`,
    ...(words.tokens === '' ? [] : [`- Tokens: ${words.tokens}`]),
    ...(words.trouble === '' ? [] : [`- Problems: ${words.trouble}`]),
  ];
}

/** Parts of the report as Markdown; empty if there is nothing to show. */
export const REPORT_PARTS = {
  spending: (state: RunState): string => [factLines(state).join('\n'), agentTable(state), models(state)].join('\n\n'),
  agents: (state: RunState): string => agentTable(state),
  estimates,
  files,
} as const;

const COLUMNS = ['agent', 'outcome', 'model', 'time', 'tools', 'input', 'output', 'cache read', 'cache write', 'cost'];

const agentTable = (state: RunState): string =>
  tableOf(
    COLUMNS,
    [...state.agents.values()].map((agent) => cellsOf(agent, state)),
  );

function cellsOf(agent: AgentState, state: RunState): readonly string[] {
  const { usage, model } = agent;
  return [
    agent.name,
    statusWord(agent),
    model.because === null ? model.used : `${model.asked} -> ${model.used}`,
    formatDuration(agentTime(agent, state)),
    String(agent.toolCalls),
    ...[usage.input, usage.output, usage.cacheRead, usage.cacheWrite].map(formatTokens),
    costText(agent),
  ];
}

/** Why an agent used another model than requested, and which problems its calls had, one line each. */
export function callNotes(agent: AgentState): readonly string[] {
  const { asked, used, because } = agent.model;
  const trouble = problemsText({ ...spentByAgent(agent), fallbacks: 0 });
  const changes = agent.fallbacks.map(
    ({ from, to, cause, rule }) => `${from} -> ${to}: ${cause}${rule === '' ? '' : ` (${rule})`}`,
  );
  const why = because === null || changes.length > 0 ? [] : [`${asked} -> ${used}: ${because}`];
  return [...why, ...changes, ...(trouble === '' ? [] : [trouble])].map((note) => note.replaceAll('\n', ' '));
}

function modelNotes(state: RunState): string {
  const lines = [...state.agents.values()].flatMap((agent) =>
    callNotes(agent).map((note) => `- ${agent.name}: ${note}`),
  );
  return lines.length === 0 ? '' : `\n\n### Models\n\n${lines.join('\n')}`;
}

/** A stable format: fields are only added. Costs in US dollars, durations in milliseconds. */
export function reportJson(state: RunState): unknown {
  const main = state.agents.get(ROOT);
  return {
    session: state.session,
    task: state.task,
    status: state.finished?.status ?? 'unfinished',
    report: answerText(state),
    totals: state.finished?.totals ?? null,
    spent: spentBy(state.agents.values()),
    main: main === undefined ? null : agentJson(main, state),
    agents: [...state.agents.values()].filter(({ id }) => id !== ROOT).map((agent) => agentJson(agent, state)),
    ...sectionsJson(state),
  };
}

const agentJson = (agent: AgentState, state: RunState): unknown => ({
  id: agent.id,
  name: agent.name,
  role: agent.role,
  task: agent.task,
  status: agent.status,
  outcome: agent.outcome,
  summary: agent.summary,
  error: agent.error,
  model: agent.model,
  tokens: tokensOfAgent(agent),
  usage: agent.usage,
  byModel: agent.byModel,
  files: changesOf(agent).map(({ diff: _diff, gone, also, ...file }) => ({
    ...file,
    ...(gone ? { gone } : {}),
    ...(also.length === 0 ? {} : { also }),
  })),
  ...(verificationOf(state, agent) === null
    ? {}
    : { verification: verificationOf(state, agent), checks: checksJson(agent, state) }),
  cost: agent.priced ? agent.cost : null,
  duration: agentTime(agent, state),
  toolCalls: agent.toolCalls,
  calls: callsOf(agent),
  failedTries: agent.lost,
  waits: agent.retries,
  fallbacks: agent.fallbacks,
  compactions: agent.compactions,
});

/** `first`: how the same command ended before anything had begun. */
const checksJson = ({ checks = [] }: AgentState, { firstChecks }: RunState): unknown =>
  checks.map((one) => ({ ...one, first: firstChecks?.find(({ run }) => run === one.run)?.end }));

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => ESCAPES[char] ?? char);

/** Markdown of models: its HTML stays text, and nothing in it leads or loads from elsewhere. */
const PAGE = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    html: ({ text }) => escapeHtml(text),
    image: ({ text }) => escapeHtml(text),
    link({ tokens }) {
      return this.parser.parseInline(tokens);
    },
    checkbox: ({ checked }) => (checked ? '[x] ' : '[ ] '),
  },
});

/** A whole page from Markdown, which is foreign text; one that is nested too deep stays as it is. */
export function htmlOf(title: string, markdown: string): string {
  let body: string;
  try {
    body = PAGE.parse(markdown, { async: false });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    body = `<pre>${escapeHtml(markdown)}</pre>\n`;
  }
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body{font:16px/1.55 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color:#1b2330;background:#fff}
code,pre{font:14px/1.45 ui-monospace,monospace;background:#f1f4f8;border-radius:4px}code{padding:.1em .3em}pre{padding:.8rem;overflow:auto}
table{border-collapse:collapse;display:block;overflow:auto}td,th{border:1px solid #c9d1dc;padding:.25rem .6rem;text-align:left}hr{border:0;border-top:1px solid #c9d1dc}
@media(prefers-color-scheme:dark){body{color:#d6dce6;background:#0e1218}code,pre{background:#1b222c}td,th{border-color:#3a4452}}
</style></head><body>
${body}</body></html>
`;
}

/** The further sections as Markdown with headings: estimates, models, files, unfinished work. Empty ones are left out. */
export function sectionsOf(state: RunState): string {
  const unfinished = unfinishedWork(state).map((line) => `- ${inCell(line)}`);
  const parts: readonly (readonly [title: string, body: string])[] = [
    ['Estimated and actual', estimates(state)],
    ['By model', models(state)],
    ['Files changed', files(state)],
    ['Unfinished', unfinished.join('\n')],
  ];
  return parts
    .filter(([, body]) => body !== '')
    .map(([title, body]) => `\n\n### ${title}\n\n${body}`)
    .join('');
}

/** A table cell must be one line without a bar. */
const inCell = (text: string): string => text.replaceAll('|', '/').replaceAll('\n', ' ');

export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]): string => `| ${cells.map(inCell).join(' | ')} |`;
  return rows.length === 0 ? '' : [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');
}

function estimates(state: RunState): string {
  const all = comparedTasks(state);
  const cells = (name: string, estimate: Measures, actual: Measures): readonly string[] => {
    const share = shareOf(actual.tokens, estimate.tokens);
    return [
      name,
      `${formatTokens(actual.tokens)} of ${formatTokens(estimate.tokens)}`,
      share === null ? '' : formatShare(share),
      `${formatCost(actual.cost)} of ${formatCost(estimate.cost)}`,
      `${formatDuration(actual.ms)} of ${formatDuration(estimate.ms)}`,
    ];
  };
  if (all.length === 0) return '';
  const sums = comparedSums(all);
  const rows = all.map(({ agent, estimate, actual }) => cells(agent.name, estimate, actual));
  return tableOf(['agent', 'tokens', 'used', 'cost', 'time'], [...rows, cells('total', sums.estimate, sums.actual)]);
}

const models = (state: RunState): string =>
  tableOf(
    ['model', 'calls', 'input', 'output', 'cache read', 'cache write', 'cost'],
    sharesByModel(state).map(({ model, calls, usage, cost }) => [
      model,
      String(calls),
      ...[usage.input, usage.output, usage.cacheRead, usage.cacheWrite].map(formatTokens),
      formatCost(cost),
    ]),
  );

function files(state: RunState): string {
  const rows = touchedFiles(state).map((file) => [
    `${file.path}${file.made ? ' (new)' : file.gone ? ' (removed)' : ''}`,
    `+${file.added} -${file.removed}`,
    authorsText(file),
  ]);
  const parts = [tableOf(['file', 'lines', 'by'], rows), ...uncoveredLines(state)];
  return parts.filter((part) => part !== '').join('\n\n');
}

/** The further sections as JSON: US dollars, milliseconds. */
export function sectionsJson(state: RunState): Readonly<Record<string, unknown>> {
  const all = comparedTasks(state);
  return {
    estimates: {
      tasks: all.map(({ task, agent, estimate, actual }) => ({ task: task.id, agent: agent.id, estimate, actual })),
      ...comparedSums(all),
    },
    byModel: sharesByModel(state),
    files: filesJson(state),
    ...(state.uncovered === undefined ? {} : { uncovered: state.uncovered }),
    open: unfinishedWork(state),
  };
}

/** The files; with the hunks and their authors where those are known. A hunk without an agent is the person's. */
function filesJson(state: RunState): readonly unknown[] {
  const authored = new Map((state.authored ?? []).map((file) => [file.path, file]));
  return touchedFiles(state).map((file) => {
    const known = authored.get(file.path);
    if (known === undefined) return file;
    const who = ([agent, ...also]: readonly AgentId[]): object => ({
      agent: agent ?? null,
      ...(also.length === 0 ? {} : { also }),
      task: agent === undefined ? null : taskOf(state, agent),
    });
    const hunks = known.hunks.map(({ agents, from, to, around: _around, ...hunk }) => ({
      ...who(agents),
      from,
      to,
      lines: diffLinesOf({ agents, from, to, ...hunk }),
    }));
    const { whole, mode } = known;
    return {
      ...file,
      hunks,
      ...(whole === undefined ? {} : { whole: who(whole) }),
      ...(mode === undefined ? {} : { mode: who(mode) }),
    };
  });
}

/** Writes a report to a new file in the project, or in the state folder if that is impossible. Never overwrites; the receipt names the file. */
export function saveReport(
  { root, places }: ProjectPlace,
  session: SessionId,
  text: string,
  format: ReportFormat,
): Result<Receipt, Refusal> {
  const name = `mimir-report-${session.replaceAll(/[^\w-]/g, '').slice(0, 12)}`;
  const here = newReport(root, name, format, text);
  if (here.ok) return ok({ text: `wrote ${here.value} into the project` });
  const reports = join(places.state, 'reports');
  const there = withFolder(reports, () => newReport(reports, name, format, text));
  if (!there.ok) return fail({ text: `the report cannot be written: ${here.fault}` });
  return ok({ text: `wrote ${shownPath(join(reports, there.value), places.home)} (in the project: ${here.fault})` });
}

/** The output of `mimir report --format`. `clean` removes keys: unlike the log, hunks are read from the project and may hold some. */
export function reportText(state: RunState, format: ReportFormat, clean: Redactor['clean']): string {
  const markdown = clean(reportMarkdown(state));
  if (format === 'html') return sanitise(htmlOf(clean(`Mimir: ${state.task}`), markdown));
  if (format === 'md') return sanitise(markdown);
  return `${escapeJson(JSON.stringify(reportJson(state), (key, value: unknown) => cleaned(key, value, clean)))}\n`;
}

/** The lines of a hunk are cleaned together: a private key has many. */
function cleaned(key: string, value: unknown, clean: Redactor['clean']): unknown {
  if (typeof value === 'string') return clean(value);
  return key === 'lines' && Array.isArray(value) ? clean(value.join('\n')).split('\n') : value;
}

const MAX_REPORTS = 999;

function withFolder(folder: string, write: () => Result<string, string>): Result<string, string> {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return write();
  } catch (error) {
    return fail(fileErrorText(error));
  }
}

/** Writes to the first free name and returns it. */
function newReport(folder: string, name: string, ending: string, text: string): Result<string, string> {
  for (let number = 1; number <= MAX_REPORTS; number++) {
    const file = `${name}${number === 1 ? '' : `-${number}`}.${ending}`;
    try {
      // `wx` overwrites no file and follows no link.
      writeFileSync(join(folder, file), text, { flag: 'wx' });
      return ok(file);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) return fail(fileErrorText(error));
    }
  }
  return fail(`there are already ${MAX_REPORTS} reports of this session`);
}
