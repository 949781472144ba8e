/** The report of a run from its state: the merged text, then every agent with what it did and what it cost. */
import { ROOT } from '../../domain/ids.ts';
import { tokensOfAgent } from '../../events/queries.ts';
import type { AgentState, RunState } from '../../events/state.ts';
import { callsOf } from '../views/agents/agent-lines.ts';
import { changesOf } from '../views/file-changes.ts';
import { agentTime, runTime } from '../views/run-time.ts';
import { runSpending } from '../views/spending/spending.ts';
import { formatDuration, formatTokens } from '../views/text/format.ts';
import { sectionsJson, sectionsOf } from './report-sections.ts';
import { costWords, runWords, spentBy, spentOne, troubleWords } from './spend-text.ts';

export function reportMarkdown(state: RunState): string {
  const summary = state.finished?.summary ?? '';
  const body = summary === '' ? '_The run has no report: it did not get that far._' : summary;
  return `${body}\n\n---\n\n## The run\n\n${factLines(state).join('\n')}\n\n${tableOf(state)}${modelNotes(state)}${sectionsOf(state)}\n`;
}

function factLines(state: RunState): readonly string[] {
  const spent = runSpending(state);
  const time = runTime(state);
  const words = runWords(state);
  return [
    `- Task: ${state.task}`,
    `- Session: ${state.session ?? ''}, ${state.finished?.status ?? 'not finished'}`,
    `- Provider: ${state.provider}; mode ${state.mode}`,
    `- Spent: ${formatTokens(spent.tokens)} tokens, ${costWords(spentBy(state.agents.values()))}${time === 0 ? '' : `, ${formatDuration(time)}`}`,
    ...(words.tokens === '' ? [] : [`- Tokens: ${words.tokens}`]),
    ...(words.trouble === '' ? [] : [`- On the way: ${words.trouble}`]),
  ];
}

const COLUMNS = ['agent', 'outcome', 'model', 'time', 'tools', 'input', 'output', 'cache read', 'cache write', 'cost'];

function tableOf(state: RunState): string {
  const row = (cells: readonly string[]): string => `| ${cells.map(inCell).join(' | ')} |`;
  return [
    row(COLUMNS),
    row(COLUMNS.map(() => '---')),
    ...[...state.agents.values()].map((agent) => cellsOf(agent, state)).map(row),
  ].join('\n');
}

/** A cell is one line, and a bar in it would begin the next. */
const inCell = (text: string): string => text.replaceAll('|', '/').replaceAll('\n', ' ');

function cellsOf(agent: AgentState, state: RunState): readonly string[] {
  const { usage, model } = agent;
  return [
    agent.name,
    agent.outcome ?? agent.status,
    model.because === null ? model.used : `${model.asked} -> ${model.used}`,
    formatDuration(agentTime(agent, state)),
    String(agent.toolCalls),
    ...[usage.input, usage.output, usage.cacheRead, usage.cacheWrite].map(formatTokens),
    costWords(agent),
  ];
}

/** Why agents worked on another model than was asked for, and what their calls ran into; empty where nothing is to be said. */
function modelNotes(state: RunState): string {
  const lines = [...state.agents.values()].flatMap((agent) => {
    const { asked, used, because } = agent.model;
    const trouble = troubleWords({ ...spentOne(agent), fallbacks: 0 });
    const changes = agent.fallbacks.map(
      ({ from, to, cause, rule }) => `${from} -> ${to}: ${cause}${rule === '' ? '' : ` (${rule})`}`,
    );
    const why = because === null || changes.length > 0 ? [] : [`${asked} -> ${used}: ${because}`];
    const notes = [...why, ...changes, ...(trouble === '' ? [] : [trouble])];
    return notes.map((note) => `- ${agent.name}: ${note.replaceAll('\n', ' ')}`);
  });
  return lines.length === 0 ? '' : `\n\n### Models\n\n${lines.join('\n')}`;
}

/** Stable: fields are only added. Costs in USD, durations in milliseconds. */
export function reportJson(state: RunState): unknown {
  const main = state.agents.get(ROOT);
  return {
    session: state.session,
    task: state.task,
    status: state.finished?.status ?? 'unfinished',
    report: state.finished?.summary ?? '',
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
  files: changesOf(agent).map(({ path, added, removed, made }) => ({ path, added, removed, made })),
  cost: agent.priced ? agent.cost : null,
  duration: agentTime(agent, state),
  toolCalls: agent.toolCalls,
  calls: callsOf(agent),
  failedTries: agent.lost,
  waits: agent.retries,
  fallbacks: agent.fallbacks,
  compactions: agent.compactions,
});

export const reportHtml = (state: RunState): string => htmlOf(`Mimir: ${state.task}`, reportMarkdown(state));

// A report as a page of its own: the little Markdown that reports use, everything escaped, no script, nothing loaded.

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => ESCAPES[char] ?? char);

/** A whole page; `markdown` is foreign text. */
export function htmlOf(title: string, markdown: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body{font:16px/1.55 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color:#1b2330;background:#fff}
code,pre{font:14px/1.45 ui-monospace,monospace;background:#f1f4f8;border-radius:4px}code{padding:.1em .3em}pre{padding:.8rem;overflow:auto}
table{border-collapse:collapse;display:block;overflow:auto}td,th{border:1px solid #c9d1dc;padding:.25rem .6rem;text-align:left}hr{border:0;border-top:1px solid #c9d1dc}
@media(prefers-color-scheme:dark){body{color:#d6dce6;background:#0e1218}code,pre{background:#1b222c}td,th{border-color:#3a4452}}
</style></head><body>
${blocksOf(markdown.split('\n')).join('\n')}
</body></html>
`;
}

function blocksOf(lines: readonly string[]): readonly string[] {
  const out: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const kind = KINDS.find(({ first }) => first.test(lines[at] ?? '')) ?? PARAGRAPH;
    let end = at + 1;
    while (end < lines.length && kind.more(lines[end] ?? '', lines[end - 1] ?? '', end - at)) end += 1;
    const html = kind.html(lines.slice(at, end));
    if (html !== '') out.push(html);
    at = end;
  }
  return out;
}

interface Kind {
  readonly first: RegExp;
  /** Does the next line belong to it? `n` lines are in it. */
  more(line: string, before: string, n: number): boolean;
  html(lines: readonly string[]): string;
}

const KINDS: readonly Kind[] = [
  { first: /^\s*$/, more: () => false, html: () => '' },
  { first: /^---+$/, more: () => false, html: () => '<hr>' },
  {
    first: /^```/,
    more: (_, before, n) => n === 1 || !before.startsWith('```'),
    html: (lines) => `<pre>${escaped(lines.filter((line) => !line.startsWith('```')).join('\n'))}</pre>`,
  },
  { first: /^#{1,6} /, more: () => false, html: ([line = '']) => heading(line) },
  { first: /^\|/, more: (line) => line.startsWith('|'), html: (lines) => table(lines) },
  {
    first: /^\s*(?:[-*]|\d+\.) /,
    more: (line) => /^\s*(?:[-*]|\d+\.) |^\s{2,}\S/.test(line),
    html: (lines) => list(lines),
  },
];

const PARAGRAPH: Kind = {
  first: /./,
  more: (line) => !KINDS.some(({ first }) => first.test(line)),
  html: (lines) => `<p>${lines.map(inline).join('<br>')}</p>`,
};

function heading(line: string): string {
  const level = /^#+/.exec(line)?.[0].length ?? 1;
  return `<h${level}>${inline(line.slice(level + 1))}</h${level}>`;
}

const list = (lines: readonly string[]): string =>
  `<ul>${lines.map((line) => `<li>${inline(line.replace(/^\s*(?:[-*]|\d+\.) /, ''))}</li>`).join('')}</ul>`;

function table(lines: readonly string[]): string {
  const rows = lines.filter((line) => !/^[|\s:-]+$/.test(line)).map((line) => line.split('|').slice(1, -1));
  const [head = [], ...body] = rows;
  const row = (cells: readonly string[], tag: 'th' | 'td'): string =>
    `<tr>${cells.map((cell) => `<${tag}>${inline(cell.trim())}</${tag}>`).join('')}</tr>`;
  return `<table>${row(head, 'th')}${body.map((cells) => row(cells, 'td')).join('')}</table>`;
}

const inline = (text: string): string =>
  text
    .split(/(`[^`]+`)/)
    .map((part) =>
      part.length > 2 && part.startsWith('`') && part.endsWith('`')
        ? `<code>${escaped(part.slice(1, -1))}</code>`
        : escaped(part).replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>'),
    )
    .join('');
