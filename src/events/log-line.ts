/** The line of the run's log about an event; null for events that change only a card. */
import { grantedWords } from '../domain/agents/grant.ts';
import type { AgentId, Millis } from '../domain/ids.ts';
import type { MergeEnd } from '../domain/changes/changes.ts';
import { plural } from '../domain/lists.ts';
import type { PrStep } from '../domain/pull-request.ts';
import { type ByType, type EventOf, forType, type MimirEvent } from './event.ts';
import { askedFor } from './queries.ts';
import type { LogLine } from './state.ts';

type Words = readonly [level: LogLine['level'], text: string] | null;
type Names = (id: AgentId) => string;

export const LINES = {
  'session.started': (event) => ['info', `session started in ${event.cwd}`],
  'session.resumed': () => ['info', 'session resumed'],
  'session.mode': (event) => ['warn', `mode is now ${event.mode} for all agents`],
  'agent.pinned': ({ mode }) => ['warn', mode === null ? 'has the mode of the run again' : `is pinned to mode ${mode}`],
  'clock.moved': ({ by }) => [
    'info',
    `the clock jumped ${by < 0 ? 'back' : 'ahead'} by ${Math.round(Math.abs(by) / 1000)} s: limits on time do not count that`,
  ],
  'budget.changed': ({ by }) => ['warn', `budget changed by ${by}`],
  'forced.verdict': ({ pass, summary }) => [pass ? 'info' : 'warn', `verdict: ${pass ? 'pass' : 'fail'}: ${summary}`],
  'forced.gate': ({ role, trigger, open, onFailure, why, due }) => {
    if (due !== undefined) return ['info', `${role} (${trigger}): ${why}`];
    const goes = onFailure === 'block' ? 'gate closed' : 'run continues';
    const level = open ? 'info' : onFailure === 'block' ? 'error' : 'warn';
    return [level, `${role} (${trigger}): ${open ? 'gate open' : goes}: ${why}`];
  },
  'plan.proposed': ({ plan, by, fault }) =>
    fault === undefined
      ? ['info', `plan of ${plan.tasks.length === 1 ? '1 task' : `${plan.tasks.length} tasks`} by ${by}`]
      : ['warn', `planning failed: ${fault.split('\n')[0] ?? ''}`],
  'plan.edited': (event) => ['info', `plan edited: ${event.edit}`],
  'plan.approved': (event) => ['info', `plan approved by ${event.by}`],
  'plan.amended': ({ changes, by }) => ['warn', `plan changed by ${by}: ${changes.join('; ')}`],
  'plan.rejected': (event) => ['warn', `plan rejected: ${event.reason}`],
  'agent.created': (event, names) =>
    event.parent === null ? null : ['info', `${originOf(event, names)}: ${event.task}`],
  'agent.signalled': ({ status, message }) => [
    status === 'error' ? 'warn' : 'info',
    `reports that ${status === 'error' ? 'it cannot continue' : 'it is done'}${message === '' ? '' : `: ${message}`}`,
  ],
  'act.unanswered': ({ label, why }) => [
    'warn',
    `not done: ${why === undefined ? 'nobody could answer' : 'its sandbox could not be started'}: ${label.split('\n')[0] ?? ''}`,
  ],
  'agent.adopted': ({ owner }, names) => [
    'info',
    owner === null ? 'continues without a parent' : `adopted by ${names(owner)}: its parent ended`,
  ],
  'agent.changed': ({ role, task }) => ['info', `now ${role}, for: ${task}`],
  'agent.worker': ({ worker }) => ['info', `works on ${worker}`],
  'agent.model': ({ model }) => ['warn', `model is now ${model.used}, by you`],
  'agent.status': ({ status, reason, waitsFor, waitingFor }) => {
    const what = waitingFor?.is;
    // The retrying agent has a line already and the others are shown on their cards; that ROOT waits for a message is not shown.
    if (reason === '' || waitsFor !== undefined || what === 'message') return null;
    if (what === 'children' || what === 'limit') return ['info', reason];
    // "interrupted by you" contains the status already.
    return [status === 'failed' ? 'error' : 'warn', reason.startsWith(status) ? reason : `${status}: ${reason}`];
  },
  'model.finished': ({ bounded, model }) =>
    bounded === true ? ['warn', `${model} reported impossible usage: charged at the reserved amount`] : null,
  // What aborted the call, a pause or an end of its agent, has a line of its own.
  'model.failed': (event) => (event.cause === 'aborted' ? null : ['error', `model call failed: ${event.message}`]),
  'model.retry': (event) => ['warn', `waiting for ${event.model.split('/')[0] ?? ''}: ${retryText(event)}`],
  'model.fallback': ({ from, to, cause, rule }) => [
    'warn',
    `${from} -> ${to}: ${cause}${rule === '' ? '' : ` (${rule})`}`,
  ],
  'context.compacted': ({ tokens }) => ['info', compactedText(tokens)],
  'tool.started': ({ tool, label }) => (UNTOLD.has(tool) ? null : ['info', label]),
  'tool.finished': ({ ok, tool, output, unseen }) => {
    if (!ok) return ['warn', `${tool}: ${output.split('\n')[0] ?? ''}`];
    return unseen === undefined ? null : ['warn', unseen];
  },
  'tree.made': () => ['info', 'works in a tree of its own'],
  'merge.started': () => null,
  'merge.finished': (event) => [event.is === 'merged' ? 'info' : 'warn', mergedText(event)],
  'changes.undone': ({ files, restored }) => [
    'warn',
    `you ${restored === true ? 'restored' : 'undid'} its changes of ${files.length === 1 ? (files[0] ?? '') : plural(files.length, 'file')}`,
  ],
  'check.started': ({ check, attempt, last, first }) => [
    'info',
    `${first === true ? 'tries' : attempt === 0 ? 'prepares its tree' : last === true ? 'checks again' : 'checks'}: ${check.run}`,
  ],
  'check.finished': ({ run, passed, exit, failure, first }) => [
    passed ? 'info' : first === true ? 'warn' : 'error',
    `${first === true ? 'tried, ' : 'check '}${passed ? 'passed' : 'failed'}: ${run}${passed ? '' : `: ${failure?.text ?? `exit code ${exit ?? '?'}`}`}`,
  ],
  'approval.requested': (event) => ['warn', `asks: ${askedFor(event.request)}`],
  'approval.answered': (event) => ['info', answeredWords(event)],
  'grant.withdrawn': () => ['warn', 'you withdrew a session grant'],
  'policy.decided': (event) =>
    event.decision === 'allow' ? null : ['warn', `${event.decision}: ${event.subject}: ${event.rule}`],
  'budget.warned': (event) => ['warn', warnedWords(event)],
  'budget.exhausted': (event) => ['error', `the ${event.scope}'s ${event.what} budget is used up`],
  'message.sent': (event, names) => ['info', messageWords(event, names)],
  'agent.finished': ({ outcome, error }) => [
    outcome === 'completed' ? 'info' : outcome === 'killed' ? 'warn' : 'error',
    // "killed by you" contains the outcome already.
    error === null ? outcome : error.startsWith(outcome) ? error : `${outcome}: ${error}`,
  ],
  'session.finished': (event) => [event.status === 'completed' ? 'info' : 'warn', `session ${event.status}`],
  'pr.started': ({ branch, remote }) => ['info', `pull request: branch ${branch} for ${remote}`],
  'pr.step': ({ step, is, url }) =>
    is === 'began' ? null : ['info', `pull request: ${PR_DONE[step]}${url === undefined ? '' : `: ${url}`}`],
  'pr.finished': ({ ok, why }) => (ok ? null : ['error', `pull request: ${why.split('\n')[0] ?? ''}`]),
} satisfies ByType<[], [names: Names], Words>;

const PR_DONE: Readonly<Record<PrStep, string>> = {
  commit: 'commit made',
  branch: 'branch made',
  push: 'pushed',
  request: 'opened',
};

/** Tools without a line: a question has its own, and todos are on the card. */
const UNTOLD: ReadonlySet<string> = new Set(['ask_user', 'update_todos']);

/** Who answered what, once or permanently. */
function answeredWords({ answer, by, grant, scope, text }: EventOf<'approval.answered'>): string {
  if (by !== 'person') return `${answer} by ${by}`;
  if (grant !== undefined) return `you ${grantedWords(grant, grant.scope)}`;
  const line = text.split('\n')[0] ?? '';
  if (answer !== 'allowed') return `you denied${line === '' ? '' : `: ${line}`}`;
  if (line !== '') return `you answered: ${line}`;
  return scope === 'once' ? 'you allowed once' : 'allowed by a session grant';
}

/** `spawned by you`, `called by oracle`, `queued` */
function originOf({ parent, call, spawned }: EventOf<'agent.created'>, names: Names): string {
  if (spawned !== undefined) return `spawned by ${spawned.by === 'person' ? 'you' : names(spawned.by)}`;
  return call === undefined || parent === null ? 'queued' : `called by ${names(parent)}`;
}

/** `you to finder: …`; of a notice only what the line of the child's end lacks. */
function messageWords({ from, to, content, notice }: EventOf<'message.sent'>, names: Names): string {
  const line = content.split('\n')[0] ?? '';
  const whom = names(to);
  if (notice === undefined) return `${from === 'person' ? 'you to' : 'to'} ${whom}: ${line}`;
  if (notice.is === 'error') return `to ${whom}: it ${notice.killed === true ? 'was killed' : 'failed'}`;
  const start = `Child ${names(notice.of)} ${notice.is === 'completed' ? 'completed: ' : ''}`;
  return `to ${whom}: ${line.startsWith(start) ? line.slice(start.length) : line}`;
}

/** `merged into the project: 3 files`; `not merged: why`. */
export function mergedText({ is, changed, because, patch }: Unset<MergeEnd, 'changed' | 'because' | 'patch'>): string {
  if (is === 'unmerged')
    return `not merged: ${because ?? 'it stays in its tree'}${patch === undefined ? '' : `; kept as ${patch}`}`;
  const count = (changed?.files.length ?? 0) + (changed?.more ?? 0);
  return `merged into the project: ${count === 0 ? 'no changes' : plural(count, 'file')}`;
}

type Unset<T, K extends keyof T> = Omit<T, K> & { readonly [Key in K]?: T[Key] | undefined };

/** `context summarised: 90000 -> about 4000 tokens`. */
export const compactedText = ({ before, after }: Readonly<Record<'before' | 'after', number>>): string =>
  `context summarised: ${before} -> about ${after} tokens`;

/** `rate limited: retrying in 12s (try 2)`; `(2 of 5)` where tries are limited. */
export const retryText = ({ cause, message = cause, wait, attempt, attempts }: EventOf<'model.retry'>): string =>
  `${message}: retrying in ${Math.ceil(wait / 1000)}s${triesText(attempt, attempts)}`;

/** ` (try 2)`, ` (2 of 5)`; empty in logs without the number. */
export function triesText(attempt: number | undefined, attempts: number | undefined): string {
  if (attempt === undefined) return '';
  return attempts === undefined ? ` (try ${attempt})` : ` (${attempt} of ${attempts})`;
}

/** The threshold of the warning: a part of a limit, or twice an estimate, which is not a limit. */
const warnedWords = (event: EventOf<'budget.warned'>): string =>
  event.estimate === true
    ? 'it used twice its estimated tokens; it continues'
    : `80 % of the ${ownerOf(event)} ${event.what} is used`;

const ownerOf = ({ scope, of }: EventOf<'budget.warned'>): string => (of === undefined ? `${scope}'s` : `daily ${of}`);

/** `names` maps agents to their names; by default their ids. */
export function logLine(event: MimirEvent, at: Millis, names: Names = (id) => id): LogLine | null {
  const words = forType<[], [Names], Words>(LINES, event.type)?.(event, names) ?? null;
  if (words === null) return null;
  const line = { at, agent: 'agent' in event ? event.agent : null, level: words[0], text: words[1] };
  if (event.type === 'approval.answered' && event.answer === 'denied') return { ...line, denial: true };
  if (event.type === 'model.failed') return { ...line, call: event.call };
  return event.type === 'model.retry' ? { ...line, call: event.call, retry: true } : line;
}

/** Empty for an empty text. Headings and lines in italics are skipped where more follows. */
export function plainLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  const some = lines.filter((line) => line !== '' && !/^(?:```|~~~|[-*_]{3,}$|\|[\s|:-]+\|$)/.test(line));
  const said = some.find((line) => !/^#{1,6}\s/.test(line) && !/^(?:_[^_]+_|\*[^*]+\*)$/.test(line));
  return withoutMarks(said ?? some.find((line) => !/^#{1,6}\s/.test(line)) ?? some[0] ?? '');
}

const withoutMarks = (line: string): string =>
  line
    .replace(/^(?:#{1,6}\s+|>\s*|[-*+]\s+|\d{1,3}[.)]\s+)+/, '')
    .replaceAll(/!?\[([^\]]+)\]\([^)\s]+\)/g, '$1')
    .replaceAll(/(`+)(.+?)\1/g, '$2')
    .replaceAll(/(?<![\w*])(\*\*|__)(?=\S)(.+?)(?<=\S)\1(?![\w*]|\.\w)/g, '$2')
    .replaceAll(/(?<![\w*/])([*_])(?=[^\s*_])(.+?)(?<=\S)\1(?![\w*/]|\.\w)/g, '$2')
    .trim();
