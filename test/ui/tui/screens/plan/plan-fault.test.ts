import { describe, expect, it } from 'vitest';
import { pageOf } from '../../../../../src/ui/tui/frame/keymap.ts';
import { planScreen } from '../../../../../src/ui/tui/screens/plan/plan.ts';
import { FIRST } from '../../../../../src/ui/tui/screens/plan/ui.ts';
import { plain } from '../../../../../src/app/views/text/line.ts';
import { approving, contextOf } from './context.ts';
import { RACE } from '../../../../support/plans.ts';

const FAULT = 'no model could be reached: sonnet-4.5: anthropic rejected the API key. Check ANTHROPIC_API_KEY';
const failed = contextOf(approving(RACE, { planBy: 'Mimir', planFault: FAULT }));
const rows = (width: number, height: number): readonly string[] =>
  planScreen.body(FIRST, failed, { width, height }).lines.map((line) => plain(line).trimEnd());

describe('a plan that no planner made', () => {
  it('says why above it, with the keys that lead on, at any size', () => {
    expect(rows(120, 38).slice(0, 2)).toEqual([
      ` ✗ Couldn't plan: ${FAULT}`,
      '   ^R retry   m plan manually   a add task   Y run as is',
    ]);
    expect(rows(40, 8).slice(0, 2)).toEqual([
      ' ✗ no model could be reached: sonnet-4.…',
      '   ^R retry   m edit   Y run',
    ]);
    for (const [width, height] of [
      [80, 22],
      [200, 58],
      [40, 8],
    ] as const)
      expect(planScreen.body(FIRST, failed, { width, height }).lines).toHaveLength(height);
  });

  it('runs by Y alone: Enter may be meant for the message', () => {
    const page = pageOf(planScreen, {});
    const press = (key: string): unknown => page.press({ is: 'key', key }, failed, { width: 120, height: 38 });
    const told = {
      toast: {
        level: 'info',
        text: 'No planner made this plan. Press ^R to retry, or Y to run it as is.',
        about: 'screen',
      },
    };
    expect([press('enter'), press('y')]).toEqual([told, told]);
    expect(page.hints(failed).map(({ keys, hint }) => `${keys} ${hint}`)).toContain('Y run as is');
    expect(page.hints(failed).map(({ hint }) => hint)).not.toContain('accept');
    expect(press('Y')).toEqual({ commands: [{ do: 'approve plan', digest: failed.state.planDigest }] });
  });

  it('takes clicks where they are meant, and none on the reason', () => {
    const click = (y: number): unknown =>
      planScreen.input?.(FIRST, failed, { is: 'click', x: 4, y }, { width: 120, height: 38 })?.ui?.row;
    expect([click(0), click(3), click(5)]).toEqual([undefined, 0, 1]);
  });
});
