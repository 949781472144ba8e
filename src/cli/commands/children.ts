/** `mimir children`: lists the children of a session with their states. */
import { below, childrenOf, type SessionRecord } from '../../events/index.ts';
import { readChoice } from '../../app/process/index.ts';
import { branches, flat, type Row, tellRows } from '../sessions/rows.ts';
import { named, selfOf, sessionVerb, type Target, targetOf } from '../sessions/target.ts';

const STATUSES = ['running', 'completed', 'error', 'all'] as const;
type StatusFilter = (typeof STATUSES)[number];

export const childrenVerb = sessionVerb('children', (args, io) => {
  const wanted = readChoice(args, 'status', STATUSES) ?? 'all';
  const [word] = args.words;
  return async (client) => {
    const target = word === undefined ? await selfOf(client) : await targetOf(client, word);
    tellRows(args, io, rowsOf(target, wanted, args.has('recursive')), noneWords(target, wanted));
  };
});

function rowsOf({ seen, record }: Target, wanted: StatusFilter, recursive: boolean): readonly Row[] {
  const direct = childrenOf(seen.family, record);
  if (!recursive) return flat(direct.filter(isWanted(wanted)));
  const all = below(seen.family, record);
  // A filtered tree would show children under the wrong parents, so a filter gives a flat list.
  return wanted === 'all' ? branches(all, direct) : flat(all.filter(isWanted(wanted)));
}

const isWanted =
  (wanted: StatusFilter) =>
  ({ is_complete, completion_status }: SessionRecord): boolean => {
    if (wanted === 'all') return true;
    if (wanted === 'running') return !is_complete;
    return wanted === 'completed'
      ? completion_status === 'completed'
      : is_complete && completion_status !== 'completed';
  };

const noneWords = ({ record }: Target, wanted: StatusFilter): string =>
  wanted === 'all' || record.children === 0
    ? `${named(record)} has no children yet: \`mimir spawn "<prompt>"\` starts one`
    : `${named(record)} has no children with --status ${wanted}`;
