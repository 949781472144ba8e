/** Names of children: cut so that they can be told apart, in columns that are as wide as they need to be. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AgentId } from '../../../../src/domain/ids.ts';
import { clipName, fitName } from '../../../../src/ui/tui/components/names.ts';
import { pageOf } from '../../../../src/ui/tui/frame/keymap.ts';
import { runScreen } from '../../../../src/ui/tui/screens/run/run.ts';
import { widthOf } from '../../../../src/app/views/text/width.ts';
import { idleLog, spawnedLog } from '../../../support/family-log.ts';
import { made, spawned, status } from '../../../support/family-story.ts';
import { contextOf, look } from '../../../support/look.ts';
import type { Recording } from '../../../support/recorded-run.ts';
import { says } from '../../../support/recorded-run.ts';
import { anyText } from './texts.ts';

const LEAD = AgentId.parse('ROOT::S1');

/** Forty children of one parent, whose names differ at their ends. */
function forty(): Recording {
  const log = idleLog()
    .at(3, made(LEAD, 'oracle', 'Lead them', { ...spawned('lead'), name: 'oracle-lead' }))
    .at(4, status(LEAD, 'running'));
  for (let part = 1; part <= 40; part++) {
    const id = AgentId.parse(`ROOT::S1::S${part}`);
    const name = `finder-part-${part}`;
    log.at(5, made(id, 'finder', 'Look', { ...spawned(`part-${part}`, LEAD), name })).at(6, status(id, 'running'));
    says(log, 7, id, `Part ${part} is fine.`, 1000, 0.01);
  }
  return log;
}

const seen = (log: Recording, width: number, height: number, ...keys: readonly string[]): string =>
  look(pageOf(runScreen, {}), contextOf(log.events), { width, height }, keys).join('\n');

describe('the name of an agent', () => {
  it('is cut in its middle, since children of one parent differ at the end', () => {
    expect(clipName('finder-part-12', 14)).toBe('finder-part-12');
    expect(clipName('finder-part-12', 11)).toBe('finde…rt-12');
    expect(clipName('数据库迁移工程师', 9)).toBe('数据…程师');
    expect(clipName('finder', 4)).toBe('fin…');
  });

  it('takes the columns that it is given, whatever it is', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 0, max: 80 }), (name, width) => {
        expect(widthOf(clipName(name, width))).toBeLessThanOrEqual(width);
        expect(widthOf(fitName(name, width))).toBe(width);
      }),
    );
  });

  it('has the columns that it needs in lists, log and rankings where there is room', () => {
    const large = seen(forty(), 120, 40);
    expect(large).toMatch(/● ╰ finder-part-12 /);
    expect(large).toMatch(/ finder-part-40 +spawned by /);
    // Where there is none, each can be told from the others all the same.
    expect(seen(forty(), 40, 16)).toMatch(/ fin\S*…\S+ /);
  });

  it('gives way to what is written to it', () => {
    for (const [width, whom] of [
      [60, 'to reviewer-diff (ROOT::S1): reopens'],
      [80, 'to reviewer-diff (ROOT::S1): finished: reopens'],
      [100, 'to reviewer-diff (ROOT::S1): finished: it will be reopened'],
    ] as const) {
      const row = seen(spawnedLog(), width, 24, 'down', 'i').split('\n').at(-2) ?? '';
      expect(row.trimEnd()).toMatch(/^ ❯ Message {2}/);
      expect(row.trimEnd()).toMatch(new RegExp(`${whom.replaceAll(/[()]/g, '.')}$`));
    }
  });
});

describe('what all below an agent cost', () => {
  it('stands in rows as on cards', () => {
    expect(seen(forty(), 140, 40)).toMatch(/Σ \$0\.40/);
    expect(seen(spawnedLog(), 120, 60)).toMatch(/Σ \$0\.03/);
  });
});
