/** Writing a message: files behind an `@`, what was sent before, when it is delivered. */
import { describe, expect, it } from 'vitest';
import type { RunState } from '../../../../../src/events/state.ts';
import { pageOf } from '../../../../../src/ui/tui/frame/keymap.ts';
import type { Context } from '../../../../../src/ui/tui/frame/screen.ts';
import { runScreen } from '../../../../../src/ui/tui/screens/run/run.ts';
import { contextOf, look } from '../../../../support/look.ts';
import { midRun } from '../../../../support/recorded-run.ts';

const base = contextOf(midRun().events, { files: () => ['src/auth/store.ts', 'src/auth/'] });
const sent = (content: string, seq: number): RunState['messages'][number] => {
  const [agent] = base.state.agents.keys();
  if (agent === undefined) throw new Error('no agent');
  return { seq, from: 'person', to: agent, delivery: 'important', content, delivered: true, notice: null };
};
const context: Context = { ...base, state: { ...base.state, messages: [sent('first', 1), sent('second', 2)] } };
const rows = (...keys: readonly string[]): readonly string[] =>
  look(pageOf(runScreen, {}), context, { width: 120, height: 40 }, keys);
const field = (...keys: readonly string[]): string => rows(...keys).at(-2) ?? '';

describe('the message row', () => {
  it('offers files behind an @ above itself, and takes one with Tab', () => {
    expect(rows('i', '@', 's').join('\n')).toContain('▌ src/auth/store.ts');
    expect(field('i', '@', 's', 'tab')).toContain('❯ @src/auth/store.ts');
  });

  it('brings back what was sent before', () => {
    expect(field('i', 'up')).toContain('❯ second');
    expect(field('i', 'up', 'up')).toContain('❯ first');
    expect(field('i', 'up', 'up', 'down', 'down')).toContain('❯ Message');
  });

  it('says when it is delivered, and which key changes that', () => {
    expect(field('i')).toContain('when idle (Tab)');
    expect(field('i', 'tab')).toContain('next turn (Tab)');
    expect(field('I', 'tab', 'tab')).toContain('to all agents, now, interrupting it (Tab)');
  });
});
