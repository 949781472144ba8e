/** What is seen while a plan is being made: how long it takes, the shape of what will come, the planner's words as they come. */
import { ROOT } from '../../domain/ids.ts';
import { formatDuration } from '../format.ts';
import type { Context } from '../screen.ts';
import { span } from '../text/clip.ts';
import { box, inside } from '../text/box.ts';
import { sized } from '../text/compose.ts';
import type { Line } from '../text/line.ts';
import { wrapText } from '../text/wrap.ts';

/** Exactly `height` lines of exactly `width` columns. */
export function planWaiting(context: Context, width: number, height: number): readonly Line[] {
  const { state, glyphs, now } = context;
  const room = inside(width, height);
  const words = (context.live.get(ROOT) ?? '').trimEnd();
  const elapsed = formatDuration(state.startedAt === 0 ? 0 : now - state.startedAt);
  const trouble = state.log.filter(({ level }) => level !== 'info').slice(-3);
  const foot = (room.height > 6 ? trouble : []).map(
    ({ text, level }): Line => [
      span(`${glyphs.bullet} ${text.split('\n')[0] ?? ''}`, { fg: level === 'error' ? 'err' : 'warn' }),
    ],
  );
  const skeleton = skeletonLines(context, room.width, words === '' ? room.height : Math.min(8, room.height >> 1));
  const said = words === '' ? [] : wrapText(words, Math.max(1, room.width), { fg: 'muted' });
  const free = Math.max(1, room.height - foot.length - skeleton.length);
  return box({
    width,
    height,
    glyphs,
    border: 'heavy',
    style: { fg: 'focus' },
    kind: 'pane',
    title: [span('Planning ', { fg: 'title', bold: true }), span(elapsed, { fg: 'muted' })],
    titleEnd: [span('splitting the task into agents', { fg: 'muted' })],
    body: [...sized([...skeleton, ...said.slice(-free)], room.width, room.height - foot.length), ...foot],
  });
}

/** Rows that breathe with the clock, where the tasks will stand. */
function skeletonLines({ now, glyphs }: Context, width: number, height: number): readonly Line[] {
  const [full, empty] = glyphs.gauge;
  const rows = Math.min(4, Math.floor((height - 1) / 2));
  const beat = Math.floor(now / 500) % Math.max(1, rows);
  return Array.from({ length: Math.max(0, rows) }, (_, row): readonly Line[] => {
    const bright = row === beat;
    const ink = bright ? 'muted' : 'border';
    const length = Math.max(1, Math.min(width - 8, [26, 34, 22, 30][row] ?? 20));
    return [
      [
        span(` ${glyphs.node} `, { fg: bright ? 'focus' : 'border' }),
        span((bright ? full : empty).repeat(Math.min(10, length)), { fg: ink }),
      ],
      [span('   '), span(empty.repeat(length), { fg: 'border' })],
    ];
  })
    .flat()
    .concat(rows > 0 ? [[]] : []);
}
