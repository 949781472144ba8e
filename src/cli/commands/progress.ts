/** `mimir progress`: the progress of a session, for people and for scripts that poll it. */
import type { SessionRecord } from '../../events/index.ts';
import { formatTokens } from '../../app/views/index.ts';
import { CWD, sanitise, JSON_FLAG } from '../../app/process/index.ts';
import { fieldLines, only, picked, PROGRESS, RECORD } from '../sessions/fields.ts';
import { isHidden } from '../../app/client/index.ts';
import { named, selfOf, sessionVerb, targetOf } from '../sessions/target.ts';
import { activityWords, ageOf } from '../sessions/rows.ts';
import { tell } from '../verb.ts';

export const progressVerb = sessionVerb({
  usage: 'mimir progress [ID] [--json]',
  summary: 'Shows the progress of a session: todos, tools, tokens (default: the caller).',
  example: 'until mimir progress engineer-task1 --json | grep -q \'"is_complete":true\'; do sleep 5; done',
  words: 1,
  flags: { ...JSON_FLAG, ...CWD },
  notes: fieldLines('--json prints an object:', only(RECORD, PROGRESS)),
  run: (args, io) => async (client) => {
    const [word] = args.words;
    const { record } = word === undefined ? await selfOf(client) : await targetOf(client, word);
    tell(args, io, picked(record, PROGRESS), lines(record, isHidden(client, record)));
  },
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
