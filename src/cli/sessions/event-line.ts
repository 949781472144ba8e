/** One event of a log on a line, for a person or as JSON. What only changes a card has its words here: in a list nothing is blank. */
import type { ByType } from '../../events/by-type.ts';
import { forType } from '../../events/by-type.ts';
import type { MimirEvent } from '../../events/event.ts';
import { logLine } from '../../events/log-line.ts';
import { formatCost, formatTokens } from '../../app/views/text/format.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { harmless } from '../../app/process/io.ts';

/** As wide as the longest usual type, `approval.requested`, and the place of a child's child. */
const [TYPE, WHO] = [18, 10];

export function sayEvent(event: MimirEvent, args: Arguments, io: Io): void {
  if (args.has('json')) {
    io.json(event);
    return;
  }
  const who = 'agent' in event && event.agent !== null ? event.agent : '';
  const words = logLine(event, 0)?.text ?? forType(CARDS, event.type)?.(event) ?? '';
  const line = `${String(event.seq).padStart(5)}  ${event.time}  ${event.type.padEnd(TYPE)}  ${who.padEnd(WHO)}  `;
  io.say(`${line}${harmless(words).replaceAll('\n', ' ')}`.trimEnd());
}

const CARDS: ByType<[], [], string> = {
  'agent.created': ({ task }) => task,
  'agent.status': ({ status, reason }) => (reason === '' ? status : `${status}: ${reason}`),
  'agent.told': ({ text }) => `told: ${firstOf(text)}`,
  'agent.environment': () => 'its environment block was gathered',
  'agent.message': ({ text }) => firstOf(text),
  'agent.todos': ({ todos }) => {
    const done = todos.filter(({ status }) => status === 'completed').length;
    return `${done} of ${todos.length} done`;
  },
  'model.started': ({ model, purpose }) => `asks ${model} (${purpose})`,
  'model.finished': ({ model, usage, cost, ms }) => {
    const read = usage.input + usage.cacheRead + usage.cacheWrite;
    return `${model} answered: ${formatTokens(read)} in, ${formatTokens(usage.output)} out, ${formatCost(cost)}, ${took(ms)}`;
  },
  'tool.finished': ({ tool, ms }) => `${tool}: done, ${took(ms)}`,
  'policy.decided': ({ decision, subject, rule }) => `${decision}: ${subject}: ${rule}`,
};

/** The first line that says something. */
const firstOf = (text: string): string => text.split('\n').find((line) => line.trim() !== '') ?? '';

const took = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);
