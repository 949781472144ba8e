/** The one line a person reads about an event in the run's log, or null for those that only change a card. */
import { grantedWords } from '../domain/agents/grant.ts';
import type { AgentId, Millis } from '../domain/ids.ts';
import type { ByType, EventOf } from './by-type.ts';
import { forType } from './by-type.ts';
import type { MimirEvent } from './event.ts';
import { askedFor } from './queries.ts';
import type { LogLine } from './state.ts';

type Words = readonly [level: LogLine['level'], text: string] | null;
/** What an agent is called. */
type Names = (id: AgentId) => string;

const LINES: ByType<[], [names: Names], Words> = {
  'session.started': (event) => ['info', `session started in ${event.cwd}`],
  'session.resumed': () => ['info', 'session resumed'],
  'session.mode': (event) => ['warn', `mode is now ${event.mode} for all agents`],
  'agent.pinned': ({ mode }) => [
    'warn',
    mode === null ? 'follows the mode of the run again' : `is held to mode ${mode}`,
  ],
  'clock.moved': ({ by }) => [
    'info',
    `the clock jumped ${by < 0 ? 'back' : 'ahead'} by ${Math.round(Math.abs(by) / 1000)} s: limits on time do not count that`,
  ],
  'budget.changed': ({ by }) => ['warn', `budget changed by ${by}`],
  'forced.verdict': ({ pass, summary }) => [pass ? 'info' : 'warn', `verdict: ${pass ? 'pass' : 'fail'}: ${summary}`],
  'forced.gate': ({ role, trigger, open, onFailure, why, due }) => {
    if (due !== undefined) return ['info', `${role} (${trigger}): ${why}`];
    const goes = onFailure === 'block' ? 'gate closed' : 'goes on all the same';
    const level = open ? 'info' : onFailure === 'block' ? 'error' : 'warn';
    return [level, `${role} (${trigger}): ${open ? 'gate open' : goes}: ${why}`];
  },
  'plan.proposed': ({ plan, by, fault }) =>
    fault === undefined
      ? ['info', `plan of ${plan.tasks.length} by ${by}`]
      : ['warn', `planning failed: ${fault.split('\n')[0] ?? ''}`],
  'plan.edited': (event) => ['info', `plan edited: ${event.edit}`],
  'plan.approved': (event) => ['info', `plan approved by ${event.by}`],
  'plan.amended': ({ changes, by }) => ['warn', `plan changed by ${by}: ${changes.join('; ')}`],
  'plan.rejected': (event) => ['warn', `plan rejected: ${event.reason}`],
  'agent.created': (event, names) =>
    event.parent === null ? null : ['info', `${originOf(event, names)}: ${event.task}`],
  'agent.signalled': ({ status, message }) => [
    status === 'error' ? 'warn' : 'info',
    `says that ${status === 'error' ? 'it can not go on' : 'it is done'}${message === '' ? '' : `: ${message}`}`,
  ],
  'act.unanswered': ({ label, why }) => [
    'warn',
    `not done, since ${why === undefined ? 'nobody could be asked' : 'its sandbox could not be started'}: ${label.split('\n')[0] ?? ''}`,
  ],
  'agent.adopted': ({ owner }, names) => [
    'info',
    owner === null ? 'goes on without a parent' : `adopted by ${names(owner)}: its parent ended`,
  ],
  'agent.changed': ({ role, task }) => ['info', `now ${role}, for: ${task}`],
  'agent.model': ({ model }) => ['warn', `model is now ${model.used}, by you`],
  'agent.status': ({ status, reason, waitsFor, waitingFor }) => {
    const what = waitingFor?.is;
    // Whose retry it is has said it; the others wait with it, which their cards show. That ROOT waits for a word is no news.
    if (reason === '' || waitsFor !== undefined || what === 'message') return null;
    if (what === 'children' || what === 'limit') return ['info', reason];
    // "interrupted by you" says it already.
    return [status === 'failed' ? 'error' : 'warn', reason.startsWith(status) ? reason : `${status}: ${reason}`];
  },
  'model.finished': ({ bounded, model }) =>
    bounded === true ? ['warn', `the usage that ${model} reports can't be true: charged at its bound`] : null,
  'model.failed': (event) => [event.cause === 'aborted' ? 'info' : 'error', `model call ended: ${event.message}`],
  'model.retry': (event) => ['warn', retryText(event)],
  'model.fallback': (event) => ['warn', `${event.from} -> ${event.to}: ${event.cause}`],
  'context.compacted': ({ tokens }) => ['info', compactedText(tokens)],
  'tool.started': (event) => ['info', event.label],
  'tool.finished': (event) => (event.ok ? null : ['warn', `${event.tool}: ${event.output.split('\n')[0] ?? ''}`]),
  'approval.requested': (event) => ['warn', `asks: ${askedFor(event.request)}`],
  'approval.answered': (event) => ['info', answeredWords(event)],
  'grant.withdrawn': () => ['warn', 'what an answer had allowed for this session asks again, by you'],
  'policy.decided': (event) =>
    event.decision === 'allow' ? null : ['warn', `${event.decision}: ${event.subject}: ${event.rule}`],
  'budget.warned': (event) => ['warn', warnedWords(event)],
  'budget.exhausted': (event) => ['error', `the ${event.scope}'s ${event.what} are used up`],
  'message.sent': (event, names) => ['info', messageWords(event, names)],
  'agent.finished': ({ outcome, error }) => [
    outcome === 'completed' ? 'info' : outcome === 'killed' ? 'warn' : 'error',
    // "killed by you" says it already.
    error === null ? outcome : error.startsWith(outcome) ? error : `${outcome}: ${error}`,
  ],
  'session.finished': (event) => [event.status === 'completed' ? 'info' : 'warn', `session ${event.status}`],
};

/** Who said what, and whether it was once or always. */
function answeredWords({ answer, by, grant, scope, text }: EventOf<'approval.answered'>): string {
  if (by !== 'person') return `${answer} by ${by}`;
  if (grant !== undefined) return `you ${grantedWords(grant, grant.scope)}`;
  const line = text.split('\n')[0] ?? '';
  if (answer !== 'allowed') return `you denied it${line === '' ? '' : `: ${line}`}`;
  if (line !== '') return `you answered: ${line}`;
  return scope === 'once' ? 'you allowed it once' : 'allowed by what you always allowed for this session';
}

/** `spawned by you`, `called by oracle`, `created for` */
function originOf({ parent, call, spawned }: EventOf<'agent.created'>, names: Names): string {
  if (spawned !== undefined) return `spawned by ${spawned.by === 'person' ? 'you' : names(spawned.by)}`;
  return call === undefined || parent === null ? 'created for' : `called by ${names(parent)}`;
}

/** `you tell finder: …`; of a notice what the line of its end has not said. */
function messageWords({ from, to, content, notice }: EventOf<'message.sent'>, names: Names): string {
  const line = content.split('\n')[0] ?? '';
  const whom = names(to);
  if (notice === undefined) return `${from === 'person' ? 'you tell' : 'tells'} ${whom}: ${line}`;
  if (notice.is === 'error')
    return `tells ${whom} that it ${isOfKill(line, names(notice.of)) ? 'was killed' : 'failed'}`;
  const start = `Child ${names(notice.of)} ${notice.is === 'completed' ? 'completed: ' : ''}`;
  return `tells ${whom}: ${line.startsWith(start) ? line.slice(start.length) : line}`;
}

/** Does a notice of the child `name` tell that a person killed it, rather than that it failed? (engine/messaging/child-end.ts) */
export const isOfKill = (content: string, name: string): boolean =>
  content.startsWith(`Child ${name} was killed by `) ||
  // As older logs have it.
  content.startsWith(`Child ${name} failed: it was killed by `);

/** `context summarised: 90000 -> about 4000 tokens`. */
export const compactedText = ({ before, after }: EventOf<'context.compacted'>['tokens']): string =>
  `context summarised: ${before} -> about ${after} tokens`;

/** `rate limited: next try in 12 s (try 2)`; `(2 of 5)` where tries are counted. */
export const retryText = ({ cause, wait, attempt, attempts }: EventOf<'model.retry'>): string =>
  `${cause}: next try in ${Math.ceil(wait / 1000)} s${triesText(attempt, attempts)}`;

/** ` (try 2)`, ` (2 of 5)`; empty in logs that don't say. */
export function triesText(attempt: number | undefined, attempts: number | undefined): string {
  if (attempt === undefined) return '';
  return attempts === undefined ? ` (try ${attempt})` : ` (${attempt} of ${attempts})`;
}

/** `run's`, `daily scripted/fast`: whose limit is warned of. */
/** At what people are warned: a part of a limit, or twice an estimate, which is none. */
export const warnedWords = (event: EventOf<'budget.warned'>): string =>
  event.estimate === true
    ? 'twice the tokens of its estimate are used; it goes on'
    : `80 % of the ${ownerOf(event)} ${event.what} is used`;

const ownerOf = ({ scope, of }: EventOf<'budget.warned'>): string => (of === undefined ? `${scope}'s` : `daily ${of}`);

/** `names`: what agents are called; by their ids where nobody says. */
export function logLine(event: MimirEvent, at: Millis, names: Names = (id) => id): LogLine | null {
  const words = forType(LINES, event.type)?.(event, names) ?? null;
  if (words === null) return null;
  return { at, agent: 'agent' in event ? event.agent : null, level: words[0], text: words[1] };
}
