/** `mimir what`: what a session is doing now, in one line; with `--deep` also its tools, tokens and time. */
import { plainLine, type SessionDetail, type SessionRecord } from '../../events/index.ts';
import { formatDuration, formatTokens } from '../../app/views/index.ts';
import { sanitise, world } from '../../app/process/index.ts';
import { activityWords, ageOf, ago, cutTo, widthFor } from '../sessions/rows.ts';
import { isHidden, seenOrExit } from '../../app/client/index.ts';
import { idIn, named, sessionVerb, targetOf } from '../sessions/target.ts';
import { tell } from '../verb.ts';

export const whatVerb = sessionVerb('what', (args, io) => {
  const word = idIn(args, 'what');
  return async (client) => {
    const { record, seen } = await targetOf(client, word);
    const deep = args.has('deep') ? seenOrExit(await seen.detail(record.agent)) : null;
    const asks = client.as === null && record.is_waiting_input && seen.family.state === 'running';
    tell(args, io, { ...record, ...deep }, [
      ...lines(record, deep, isHidden(client, record)).map((line) => cutTo(line, widthFor(io))),
      ...(asks ? [`\`mimir attach ${record.run}\` shows its question`] : []),
    ]);
  };
});

function lines(record: SessionRecord, deep: SessionDetail | null, hidden: boolean): readonly string[] {
  const now = hidden ? 'only its ancestors can see what it does' : oneLine(activityWords(record));
  return [
    `${named(record)} ${record.status}: ${now}`,
    `Last activity ${ageOf(record.idle_seconds * 1000)} ago`,
    ...(deep === null ? [] : deepLines(record, deep)),
  ];
}

function deepLines(
  { tokens_used }: SessionRecord,
  { recent_tools, elapsed, last_words }: SessionDetail,
): readonly string[] {
  const said = oneLine(plainLine(last_words));
  return [
    `Recent tools:${recent_tools.length === 0 ? ' none' : ''}`,
    ...recent_tools.map(({ label, ok, timestamp }) => {
      const glyph = ok === null ? '●' : ok ? '✓' : '✗';
      return `  ${glyph} ${oneLine(label)} (${ago(timestamp, world.now())})`;
    }),
    `Tokens used: about ${formatTokens(tokens_used)}`,
    `Elapsed: ${formatDuration(elapsed)}`,
    ...(said === '' ? [] : [`Last message: ${said}`]),
  ];
}

const oneLine = (text: string): string => sanitise(text).replaceAll(/\s+/g, ' ').trim();
