/** The changes of a run in lines: listed with numbers, then accepted, undone and commented by number, as on the review screen. */
import { messageAgent } from '../../../app/actions/index.ts';
import { wrongUse } from '../../../app/process/index.ts';
import { commentOn, GROUPINGS, labelOf, placeOf, reviewGroups, withAuthors } from '../../../app/views/index.ts';
import type { ReviewItem } from '../../../app/views/index.ts';
import { ROOT } from '../../../domain/ids.ts';
import { headOf } from '../command.ts';
import type { LineCommand, LineSession } from '../session.ts';
import { askText, at, own, perform } from './perform.ts';

/** What `changes` has listed last. */
const listed = new WeakMap<LineSession, readonly ReviewItem[]>();

export const REVIEW_COMMANDS: readonly LineCommand[] = at(
  ['run', 'result'],
  own('changes', list),
  own('mark', (typed, session) => {
    const item = itemAt(typed, session);
    const marks = marksOf(session);
    const isAccepted = marks?.all().has(item.key) !== true;
    marks?.mark(item.key, isAccepted);
    session.say(`${isAccepted ? 'Accepted' : 'No longer accepted'}: ${placeOf(item)}`);
  }),
  own('reject', (typed, session) => {
    const { agent, file, lines } = itemAt(typed, session);
    const place = lines === '' ? file.path : `${file.path}:${lines.split('-')[0]}`;
    return session.mimir(['undo', `${session.state.session}/${agent}`, '--at', place]);
  }),
  own('comment', comment),
);

const marksOf = ({ state, service }: LineSession) => (state.session === null ? null : service.accepted(state.session));

async function list(typed: string, session: LineSession): Promise<void> {
  const by = GROUPINGS.find((one) => one === (typed || 'agent'));
  if (by === undefined) throw wrongUse(`"${typed}" is not valid: expected ${GROUPINGS.join(', ')} or nothing`);
  const { state, service } = session;
  const files = state.session === null ? null : ((await service.authors?.(state.session)) ?? null);
  const groups = reviewGroups(withAuthors(state, files), by);
  const items = groups.flatMap((group) => group.items);
  listed.set(session, items);
  const accepted = marksOf(session)?.all();
  const lineOf = (item: ReviewItem): string => {
    const size = item.hunk === null ? 'whole' : `+${item.hunk.added.length} -${item.hunk.removed.length}`;
    const name = by === 'file' ? `${item.lines || 'file'} ${labelOf(state, item.agent)}` : placeOf(item);
    return `${items.indexOf(item) + 1}. ${name} ${size}${accepted?.has(item.key) === true ? ', accepted' : ''}`;
  };
  if (items.length === 0) return session.say('No change of an agent is left.');
  session.say(...groups.flatMap(({ title, items: own }) => [title, ...own.map((item) => `  ${lineOf(item)}`)]));
}

function itemAt(typed: string, session: LineSession): ReviewItem {
  const item = listed.get(session)?.[Number(typed) - 1];
  if (item === undefined) throw wrongUse(`there is no change ${typed}: changes lists them`);
  return item;
}

async function comment(typed: string, session: LineSession): Promise<void> {
  const [number, rest] = headOf(typed);
  const { state } = session;
  const { to, about } = commentOn(state, itemAt(number, session));
  const text = about + (rest || (await askText('Comment (Enter sends none): ', 'Nothing sent.', session)));
  if (state.finished === null || state.session === null)
    return perform(messageAgent, { to: to ?? ROOT, text, delivery: 'important' }, session);
  await session.resume(state.session, text, to ?? undefined);
}
