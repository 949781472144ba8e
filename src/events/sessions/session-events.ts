/** The log of one agent as the events of a child session: five types that scripts rely on. Pure. */
import { firstLine } from '../../domain/text/text.ts';
import { shortId } from '../../domain/digest.ts';
import type { AgentId } from '../../domain/ids.ts';
import type { Json } from '../../domain/turn.ts';
import { type ByType, type EventOf, forType, type MimirEvent } from '../event.ts';
import { askedFor } from '../queries.ts';

export interface SessionEvent {
  readonly session_id: string;
  readonly event_type: 'spawned' | 'completed' | 'error' | 'checkpoint' | 'idle';
  /** ISO, UTC. */
  readonly timestamp: string;
  /** One line. */
  readonly message: string;
  readonly metadata: { readonly [key: string]: Json };
}

/** What `event` means for the session of `agent`; null: it is not reported. */
export function sessionEvent(event: MimirEvent, agent: AgentId): SessionEvent | null {
  const words = concerns(event, agent) ? (forType(WORDS, event.type)?.(event) ?? null) : null;
  if (words === null) return null;
  const [event_type, message, more] = words;
  return {
    session_id: shortId(event.session, agent),
    event_type,
    timestamp: event.time,
    message: firstLine(message).trim(),
    metadata: { agent, run: event.session, seq: event.seq, ...more },
  };
}

function concerns(event: MimirEvent, agent: AgentId): boolean {
  // A notice about it goes to its owner; a message to it comes from another agent.
  if (event.type === 'message.sent') return event.notice === undefined ? event.to === agent : event.notice.of === agent;
  return 'agent' in event && event.agent === agent;
}

type Words =
  | readonly [type: SessionEvent['event_type'], message: string, more: { readonly [key: string]: Json }]
  | null;

const WORDS: ByType<[], [], Words> = {
  'agent.created': (event) => [
    'spawned',
    event.task,
    {
      name: event.spawned?.friendly ?? event.name,
      role: event.role,
      model: event.model.used,
      parent: event.parent,
      by: event.spawned?.by ?? null,
      wait: event.spawned?.wait ?? null,
    },
  ],
  'agent.finished': finished,
  'agent.status': ({ status, reason }) => {
    if (status === 'waiting') return ['idle', reason === '' ? 'waits' : reason, { status }];
    // Waiting for a slot or being created is not reported; continuing and being interrupted are.
    return status === 'running' || status === 'interrupted'
      ? ['checkpoint', reason === '' ? status : reason, { status }]
      : null;
  },
  'agent.todos': ({ todos }) => {
    const done = todos.filter(({ status }) => status === 'completed').length;
    const now = todos.find(({ status }) => status !== 'completed');
    return [
      'checkpoint',
      `${done} of ${todos.length} done${now === undefined ? '' : `: ${now.description}`}`,
      { done, total: todos.length },
    ];
  },
  'agent.message': ({ text }) => ['checkpoint', text, { words: text }],
  'agent.adopted': ({ owner }) => [
    'checkpoint',
    owner === null ? 'continues without a parent' : `adopted by ${owner}`,
    { owner },
  ],
  'agent.signalled': ({ status, message }) => [
    'checkpoint',
    message === '' ? `reports that it ${status === 'error' ? 'cannot continue' : 'is done'}` : message,
    { signal: status },
  ],
  'approval.requested': ({ request }) => [
    'idle',
    `asks: ${askedFor(request)}`,
    { question: request.exact, options: [...request.options] },
  ],
  'message.sent': ({ from, content, notice }) => {
    if (notice === undefined) return ['checkpoint', `message from ${from}: ${content}`, { from, content }];
    return notice.is === 'idle' ? ['idle', content, { notice: true }] : null;
  },
};

function finished({ outcome, summary, error, metrics }: EventOf<'agent.finished'>): Words {
  const well = outcome === 'completed' || outcome === 'partial';
  const message = well ? summary : (error ?? summary);
  return [
    well ? 'completed' : 'error',
    message.trim() === '' ? outcome : message,
    {
      outcome,
      partial: outcome === 'partial',
      summary,
      error,
      tokens_used: metrics.tokensUsed,
      cost: metrics.cost,
      duration: metrics.duration,
      tool_calls: metrics.toolCalls,
    },
  ];
}
