/** Logs in which everything that somebody else said carries a hostile text. */
import type { MimirEvent } from '../../src/events/event.ts';
import type { Recording } from './recorded-run.ts';

/** Every string of an event but the words of the program itself. */
const OWN = new Set([
  'type',
  'agent',
  'parent',
  'status',
  'time',
  'session',
  'dependsOn',
  'id',
  'taskId',
  'mode',
  'phase',
]);
const KEPT = new Set([
  'approval',
  'call',
  'digest',
  'outcome',
  'level',
  'action',
  'purpose',
  'stopReason',
  'scope',
  'what',
]);

/** The same log with `text` behind every word that somebody else said: names, titles, paths, branches, output, answers. */
export function poisoned(log: Recording, text: string): readonly MimirEvent[] {
  const walk = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') return OWN.has(key) || KEPT.has(key) ? value : `${value} ${text}`;
    if (Array.isArray(value)) return value.map((one: unknown) => walk(one, key));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]: [string, unknown]) => [name, walk(one, name)]));
  };
  return log.events.map((event) => Object.assign({}, event, walk(event, '')));
}
