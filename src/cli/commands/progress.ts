/** `mimir progress`: the progress of a session, for people and for scripts that poll it. */
import type { SessionRecord } from '../../events/index.ts';
import { formatTokens } from '../../app/views/index.ts';
import { sanitise } from '../../app/process/index.ts';
import { picked } from '../sessions/rows.ts';
import { isHidden } from '../../app/client/index.ts';
import { named, selfOf, sessionVerb, targetOf } from '../sessions/target.ts';
import { activityWords, ageOf } from '../sessions/rows.ts';
import { tell, LISTS } from '../verb.ts';

export const progressVerb = sessionVerb('progress', (args, io) => async (client) => {
  const [word] = args.words;
  const { record } = word === undefined ? await selfOf(client) : await targetOf(client, word);
  tell(args, io, picked(record, LISTS.progress), lines(record, isHidden(client, record)));
});

function lines(record: SessionRecord, hidden: boolean): readonly string[] {
  const { completion_percentage, tokens_used, tokens_remaining_estimate, tools_used, last_tool } = record;
  const left = tokens_remaining_estimate === null ? '' : `, about ${formatTokens(tokens_remaining_estimate)} left`;
  const far = completion_percentage === null ? '' : ` · ${completion_percentage}%`;
  const head = `${named(record)} ${record.status}${far}`;
  const spent = `  Tokens: ${formatTokens(tokens_used)}${left}`;
  const last = `  Last activity: ${ageOf(record.idle_seconds * 1000)} ago`;
  if (hidden) return [head, spent, last];
  const counts = Object.entries(tools_used).map(([tool, count]) => `${count} ${tool}`);
  const tools = `  Tools: ${record.total_tools}${counts.length === 0 ? '' : ` (${counts.join(', ')})`}`;
  return [
    head,
    `  ${record.is_complete ? 'Ended' : 'Now'}: ${activityWords(record)}`,
    spent,
    last_tool === null ? tools : `${tools}, last ${last_tool.name}`,
    last,
  ].map((line) => sanitise(line).replaceAll('\n', ' '));
}
