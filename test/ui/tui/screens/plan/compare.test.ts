import { describe, expect, it } from 'vitest';
import { compareOverlay } from '../../../../../src/ui/tui/dialogs/compare.ts';
import type { Overlay } from '../../../../../src/ui/tui/frame/overlay.ts';
import { proposedSubject } from '../../../../../src/ui/tui/components/plan-form.ts';
import { whatIf } from '../../../../../src/ui/tui/screens/plan/what-if.ts';
import { plain } from '../../../../../src/app/views/text/line.ts';
import { widthOf } from '../../../../../src/app/views/text/width.ts';
import { RACE } from '../../../../support/plans.ts';
import { approving, contextOf } from './context.ts';

const context = contextOf(approving());
const [first] = RACE.tasks;
const of = first === undefined ? null : proposedSubject(context.state, first);
if (of === null) throw new Error('no plan');
const { dialog } = whatIf(of, context);
const opened = (): Overlay => {
  if (dialog?.is !== 'compare') throw new Error('no comparison');
  return compareOverlay(dialog);
};
const size = { width: 120, height: 40 };
const text = (box: Overlay, room = size): string =>
  `${box
    .view(context, room)
    .lines.map((line) => plain(line))
    .join('\n')}\n`;
const press = (box: Overlay, key: string): Overlay => box.press({ is: 'key', key }, context, size).overlay ?? box;

describe('ways side by side', () => {
  it.each([
    [40, 10],
    [80, 24],
    [120, 40],
  ])('shows cost, time, tokens and what changes at %i x %i', async (width, height) => {
    const drawn = text(opened(), { width, height });
    await expect(drawn).toMatchFileSnapshot(`goldens/what-if-${width}x${height}.txt`);
    const widths = new Set(
      drawn
        .trimEnd()
        .split('\n')
        .map((line) => widthOf(line)),
    );
    expect([widths.size, Math.max(...widths) <= width]).toEqual([1, true]);
  });

  it('goes on to the next with the key that opened it, past how it is now', () => {
    const names = ['Cheapest allowed', 'Default model', 'Strongest allowed', 'Cheapest allowed'].map((name, turns) => {
      let box = opened();
      for (let turn = 0; turn < turns; turn++) box = press(box, '$');
      return text(box).includes(name);
    });
    expect(names).toEqual([true, true, true, true]);
  });

  it('makes the selected one the plan with Enter, and leaves with Esc', () => {
    const made = opened().press({ is: 'key', key: 'enter' }, context, size);
    expect(made.overlay).toBe(null);
    expect(made.effect?.commands?.map((command) => command.do)).toEqual(['edit plan']);
    expect(opened().press({ is: 'key', key: 'esc' }, context, size)).toEqual({ overlay: null });
    const now = press(opened(), 'left').press({ is: 'key', key: 'enter' }, context, size);
    expect(now.effect?.toast?.text).toBe('This is the current plan.');
  });

  it('compares nothing where no other model can be used', () => {
    const { choices } = context.state;
    const unusable = { yes: false, because: 'no provider' } as const;
    const models = choices?.models.map((model) => ({ ...model, usable: unusable })) ?? [];
    const alone = { ...of, choices: { ...of.choices, models } };
    const tasks = of.plan.tasks.map((task) => ({ ...task, estimatedCost: 0 }));
    expect(whatIf({ ...alone, plan: { ...of.plan, tasks } }, context)).toEqual({
      toast: { level: 'info', text: 'No other models to compare: every tier keeps the current ones.' },
    });
  });
});
