/** `mimir progress`: how far a session is, for scripts that look again and again. */
import type { SessionRecord } from '../../events/sessions/record.ts';
import { formatTokens } from '../../app/views/text/format.ts';
import { CWD, JSON_FLAG } from '../../app/process/flags/plain.ts';
import { EXIT } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { harmless } from '../../app/process/io.ts';
import { fieldLines, only, picked, PROGRESS, RECORD } from '../sessions/fields.ts';
import { isHidden, seated } from '../../app/client/session-client.ts';
import { named, selfOf, targetOf } from '../sessions/target.ts';
import { activityWords, ageOf } from '../sessions/words.ts';
import type { Verb } from '../verb.ts';

export const progressVerb: Verb = {
  usage: 'mimir progress [ID] [--json]',
  summary: 'Says how far a session is: todos, tools, tokens, whether it is complete; without an id, the caller.',
  example: 'until mimir progress engineer-task1 --json | grep -q \'"is_complete":true\'; do sleep 5; done',
  words: 1,
  flags: { ...JSON_FLAG, ...CWD },
  notes: fieldLines('--json prints an object:', only(RECORD, PROGRESS)),
  run: progress,
};

function progress(args: Arguments, io: Io): Promise<number> {
  const [word] = args.words;
  return seated(args, io, async (seat) => {
    const { record } = word === undefined ? await selfOf(seat) : await targetOf(seat, word);
    if (args.has('json')) io.json(picked(record, PROGRESS));
    else for (const line of lines(record, isHidden(seat, record))) io.say(line);
    return EXIT.done;
  });
}

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
  ].map((line) => harmless(line).replaceAll('\n', ' '));
}
