/** Root, agents and sub-agents on one screen: how they are numbered, which one talks, and which one a person talks to. */
import { describe, expect, it } from 'vitest';
import { inOrder, labelOf } from '../../../../../src/app/views/agents/agent-lines.ts';
import { pageOf } from '../../../../../src/ui/tui/frame/keymap.ts';
import { runScreen } from '../../../../../src/ui/tui/screens/run/run.ts';
import { shaped } from '../../../../support/live-graph.ts';
import { contextOf, look } from '../../../../support/look.ts';
import { START } from '../../../../support/recorded-run.ts';

const SIZE = { width: 120, height: 40 };
const log = shaped([
  ['finder', [], 'runs', 2],
  ['oracle', [], 'runs', 1],
]);
const context = contextOf(log.events, { now: START + 110_000 });

describe('a tree of agents', () => {
  it('is numbered per parent, and each id is the whole path (H010, H011)', () => {
    expect(inOrder(context.state).map(({ id }) => [id, labelOf(context.state, id)])).toEqual([
      ['ROOT', 'main'],
      ['ROOT::S1', '#1 finder'],
      ['ROOT::S1::S1', '#1.1 finder 1'],
      ['ROOT::S1::S2', '#1.2 finder 2'],
      ['ROOT::S2', '#2 oracle'],
      ['ROOT::S2::S1', '#2.1 finder 1'],
    ]);
  });

  it('stands in one list, children below their parents and indented, and writes to one log (H012)', () => {
    const rows = look(pageOf(runScreen, {}), context, SIZE);
    const titles = rows.flatMap((row) => /^[┌┏] [●○] (╰ )?(\w+(?: \d)?)/.exec(row)?.slice(1, 3).join('') ?? []);
    expect(titles).toEqual(['main', 'finder', '╰ finder 1', '╰ finder 2', 'oracle', '╰ finder 1']);
    const text = look(pageOf(runScreen, {}), context, SIZE, ['4', '+', '+']).join('\n');
    expect(text).toMatch(/· run +plan approved by person/);
    expect(text).toMatch(/· oracle +Bash npm test/);
    expect(text).toMatch(/· finder 2 +Search legacyRefresh/);
  });

  it('says with name and path whose work is shown and who is written to, all the time (H013, H014)', () => {
    const page = pageOf(runScreen, {});
    const seen = (...keys: readonly string[]): string => look(page, context, SIZE, keys).join('\n');
    const child = seen('j', 'j');
    expect(child).toContain('┌─ ● finder 1 ─');
    expect(child).toContain('Message finder 1 (ROOT::S1::S1)…');
    expect(seen('i')).toContain('to finder 1 (ROOT::S1::S1), when idle');
    expect(seen('esc', 'k', 'i')).toContain('to finder (ROOT::S1), when idle');
    expect(seen('esc', 'I')).toContain('to all agents, when idle');
  });
});
