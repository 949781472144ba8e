/** `mimir what`: what a session does now, in a line; `--deep` with its tools, tokens and time. */
import { plainLine } from '../../events/plain-line.ts';
import type { SessionDetail, SessionRecord } from '../../events/sessions/record.ts';
import { formatDuration, formatTokens } from '../../app/views/text/format.ts';
import { CWD, JSON_FLAG } from '../../app/process/flags/plain.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { harmless } from '../../app/process/io.ts';
import { AS_CHILDREN, DETAIL, fieldLines, WHICH_LOOK } from '../sessions/fields.ts';
import { widthFor } from '../sessions/rows.ts';
import { isHidden, seated, seenOrExit } from '../../app/client/session-client.ts';
import { named, targetOf } from '../sessions/target.ts';
import { activityWords, ageOf, ago, cutTo } from '../sessions/words.ts';
import type { Verb } from '../verb.ts';
import { world } from '../../app/process/world.ts';

export const whatVerb: Verb = {
  usage: 'mimir what ID [--deep] [--json]',
  summary: 'Says what a session does now, and when it last did something.',
  example: 'mimir what engineer-task1 --deep',
  words: 1,
  flags: {
    deep: { value: '', help: 'with its last tools, tokens and time; for those above it and the person' },
    ...JSON_FLAG,
    ...CWD,
  },
  notes: [
    'ID is a short id, a place (ROOT::S1, RUN/ROOT::S1), a name, or the end of one where it is the only one: scout for finder-scout.',
    `What --json prints ${AS_CHILDREN}`,
    ...fieldLines('With --deep it has these as well:', DETAIL),
    ...WHICH_LOOK,
  ],
  run: what,
};

function what(args: Arguments, io: Io): Promise<number> {
  const [word] = args.words;
  if (word === undefined) {
    throw new Exit(EXIT.wrongUse, 'which session?\n  mimir what ID; `mimir children --recursive` lists them');
  }
  return seated(args, io, async (seat) => {
    const { record, seen } = await targetOf(seat, word);
    const deep = args.has('deep') ? seenOrExit(await seen.detail(record.agent)) : null;
    if (args.has('json')) io.json(deep === null ? record : { ...record, ...deep });
    else {
      for (const line of lines(record, deep, isHidden(seat, record))) io.say(cut(line, io));
      if (seat.as === null && record.is_waiting_input && seen.family.state === 'running')
        io.say(`\`mimir attach ${record.run}\` shows what it asks`);
    }
    return EXIT.done;
  });
}

const cut = (line: string, io: Io): string => {
  const width = widthFor(io);
  return width === null ? line : cutTo(line, width);
};

function lines(record: SessionRecord, deep: SessionDetail | null, hidden: boolean): readonly string[] {
  const now = hidden ? 'what it does is for those above it' : oneLine(activityWords(record));
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
    ...(said === '' ? [] : [`Last words: ${said}`]),
  ];
}

const oneLine = (text: string): string => harmless(text).replaceAll(/\s+/g, ' ').trim();
