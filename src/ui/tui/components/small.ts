/** Where nothing fits: what matters most about the run, and how large the window has to be. */
import { someoneWorks } from '../../../app/views/agents/agent-lines.ts';
import { runTime } from '../../../app/views/run-time.ts';
import { runSpending } from '../../../app/views/spending/spending.ts';
import { formatCost, formatDuration } from '../../../app/views/text/format.ts';
import { SMALLEST } from './layout.ts';
import type { Context } from '../frame/screen.ts';
import type { Size } from '../terminal/terminal.ts';
import { centre, span } from '../../../app/views/text/clip.ts';
import { blank } from '../text/compose.ts';
import type { Line } from '../../../app/views/text/line.ts';

export const isTooSmall = ({ width, height }: Size): boolean => width < SMALLEST.width || height < SMALLEST.height;

/** Exactly the size of the screen. */
export function smallView(context: Context, { width, height }: Size): readonly Line[] {
  const { state, now } = context;
  const lines: readonly Line[] = [
    [span('MIMIR', { fg: 'focus', bold: true })],
    [span(`${someoneWorks(state) ? 'working' : state.phase} ${formatDuration(runTime(state, now))}`, { fg: 'fg' })],
    [span(formatCost(runSpending(state).cost), { fg: 'title', bold: true })],
    ...(state.approvals.length > 0
      ? [[span(`${state.approvals.length} ask you`, { fg: 'warn', bold: true } as const)]]
      : []),
    [span(`${width}x${height}: too small`, { fg: 'warn' })],
    [span(`needs ${SMALLEST.width}x${SMALLEST.height}`, { fg: 'muted' })],
  ];
  const from = Math.max(0, (height - lines.length) >> 1);
  return blank(width, height).map((line, row) => {
    const words = lines[row - from];
    return words ? centre(words, width) : line;
  });
}
