/** The Messages tab: what was written to an agent and by it, how it is delivered, and whether it was. */
import { isOfKill } from '../../../../events/log-line.ts';
import type { AgentState, RunState, SentMessage } from '../../../../events/state.ts';
import { labelOf } from '../../../../app/views/agents/agent-lines.ts';
import type { Context } from '../../shell/screen.ts';
import { span, spread } from '../../../../app/views/text/clip.ts';
import type { Ink, Line } from '../../../../app/views/text/line.ts';
import { toLabel } from '../../../../app/views/text/sanitise.ts';
import { wrap, wrapText } from '../../../../app/views/text/wrap.ts';

/** To and from this agent, in the order they were sent. */
export function messagesOf({ id }: AgentState, { messages }: RunState): readonly SentMessage[] {
  const known = KNOWN.get(messages)?.get(id);
  if (known) return known;
  const own = messages.filter(({ to, from }) => to === id || from === id);
  const all = KNOWN.get(messages) ?? new Map<string, readonly SentMessage[]>();
  all.set(id, own);
  KNOWN.set(messages, all);
  return own;
}

const KNOWN = new WeakMap<readonly SentMessage[], Map<string, readonly SentMessage[]>>();

/** As many lines as it takes, at most `width` columns each. */
export function messageLines(agent: AgentState, context: Context, width: number): readonly Line[] {
  const own = messagesOf(agent, context.state);
  if (own.length === 0)
    return wrap([span('No message to it or from it. i writes one to it, I to all agents.', { fg: 'faint' })], width);
  return own.flatMap((message, index) => [...(index === 0 ? [] : [[]]), ...oneMessage(message, agent, context, width)]);
}

const WHEN: Readonly<Record<SentMessage['delivery'], string>> = {
  sequential: 'once it is idle',
  important: 'at its next turn',
  urgent: 'at once',
};

/** What a notice of a child is about. */
const NEWS: Readonly<Record<NonNullable<SentMessage['notice']>['is'], string>> = {
  completed: 'news: done',
  error: 'news: failed',
  idle: 'news: idle',
};

/** What kind of news, and the text without the name that stands above it. */
function newsOf(content: string, { of, is }: NonNullable<SentMessage['notice']>, { agents }: RunState): News {
  const name = agents.get(of)?.name ?? of;
  const start = `Child ${name} `;
  const text = content.startsWith(start) ? content.slice(start.length) : content;
  return isOfKill(content, name)
    ? { kind: 'news: killed', text: text.replace(/^failed: /, '') }
    : { kind: NEWS[is], text };
}

interface News {
  readonly kind: string;
  readonly text: string;
}

function oneMessage(message: SentMessage, agent: AgentState, context: Context, width: number): readonly Line[] {
  const { glyphs, state } = context;
  const incoming = message.to === agent.id;
  const sign = incoming ? `${glyphs.needs} from ` : `${glyphs.unlocks} to `;
  const other = incoming ? nameOf(message.from, state) : nameOf(message.to, state);
  // ROOT of a run without a plan keeps news for the person until it is spoken to.
  const [text, ink]: readonly [string, Ink] = message.delivered ? ['read', 'ok'] : ['not read yet', 'warn'];
  const { kind, text: said } =
    message.notice === null
      ? { kind: `${message.delivery}: ${WHEN[message.delivery]}`, text: message.content }
      : newsOf(message.content, message.notice, state);
  const head = spread(
    [span(sign, { fg: 'focus' }), span(other, { fg: 'title', bold: true }), span(`  ${kind}`, { fg: 'faint' })],
    [span(`${message.delivered ? glyphs.status.completed : glyphs.status.pending} ${text}`, { fg: ink })],
    width,
    {},
    glyphs.ellipsis,
  );
  const body = wrapText(said.trim(), Math.max(1, width - 2), { fg: 'fg' });
  return [head, ...body.map((line): Line => [span('  '), ...line])];
}

/** An agent by its number and role; whoever else it is by the name it has. */
const nameOf = (who: string, state: RunState): string => {
  const agent = [...state.agents.keys()].find((id) => id === who);
  if (agent === undefined) return toLabel(who === 'person' ? 'you' : who);
  return toLabel(labelOf(state, agent));
};
