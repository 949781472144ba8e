/** `status` and `all`: runs with all their sessions, whole. */
import { beforeEach, describe, expect, it } from 'vitest';
import { ROOT, SessionId } from '../../src/domain/ids.ts';
import { allVerb } from '../../src/verbs/all.ts';
import { childrenVerb } from '../../src/verbs/children.ts';
import { othersVerb } from '../../src/verbs/others.ts';
import { statusVerb } from '../../src/verbs/status.ts';
import {
  asks,
  at,
  ended,
  ENGINEER,
  FAMILY,
  made,
  NOW,
  RUN,
  spawned,
  started,
  status,
} from '../support/family-story.ts';
import { holding } from '../support/like.ts';
import type { Carried, Stage } from '../support/session-stage.ts';
import { openStage, said } from '../support/session-stage.ts';
let stage: Stage;
beforeEach(() => {
  stage = openStage(NOW);
});

async function carried(): Promise<Carried> {
  stage.write(RUN, FAMILY);
  return await stage.carry(RUN);
}

describe('mimir status and mimir all', () => {
  const WIDE = [
    '  main (obgef6)              | idle      | 10min ago | $0.0050 500 tok (subtree $0.0370 4.5k tok)  | waits for its children',
    '  ├─ engineer-cache (fgul86) | running   | 9min ago  | $0.0200 2.5k tok (subtree $0.0220 2.8k tok) | read src/lru.ts',
    '  │  ├─ finder (5kylm1)      | completed | 6min ago  | $0.0020 300 tok                             | partial: Found 3 of them',
    '  │  └─ explore (xhrf5m)     | running   | 2min ago  | $0.0000 0 tok                               | at work',
    '  ├─ architect (3f0dq8)      | completed | 8min ago  | $0.0100 1.2k tok                            | An LRU with a bound.',
    '  ├─ child-vyqj8b (vyqj8b)   | error     | 5min ago  | $0.0000 0 tok                               | no database',
    '  └─ security (pe89hg)       | completed | 5min ago  | $0.0000 0 tok                               | pass',
  ];

  it('S070, S150, S156: shows the run with all its sessions, and what each used with those below it', async () => {
    await carried();
    expect(await stage.ask(statusVerb, [])).toEqual(
      said(
        'Run k7f3a2 · running · mode confirm · 7 agents · $0.0370 · 4.5k tok · 10min ago',
        '  Make the cache faster',
        ...WIDE,
      ),
    );
  });

  it.each([80, 40])('never goes beyond %d columns', async (width) => {
    await carried();
    for (const verb of [statusVerb, allVerb, childrenVerb, othersVerb]) {
      const { out } = await stage.ask(verb, [], { width });
      expect(out.filter((line) => line.length > width)).toEqual([]);
    }
    const { out } = await stage.ask(statusVerb, [], { width });
    expect(out.slice(0, 8)).toEqual(
      width === 80
        ? [
            'Run k7f3a2 · running · mode confirm · 7 agents · $0.0370 · 4.5k tok · 10min ago',
            '  Make the cache faster',
            '  main (obgef6)',
            '    idle | 10min ago | $0.0050 500 tok (subtree $0.0370 4.5k tok)',
            '    waits for its children',
            '  ├─ engineer-cache (fgul86)',
            '  │    running | 9min ago | $0.0200 2.5k tok (subtree $0.0220 2.8k tok)',
            '  │    read src/lru.ts',
          ]
        : [
            'Run k7f3a2 · running · mode confirm · 7…',
            '  Make the cache faster',
            '  main (obgef6)',
            '    idle | 10min ago',
            '    $0.0050 500 tok (subtree $0.0370 4.…',
            '    waits for its children',
            '  ├─ engineer-cache (fgul86)',
            '  │    running | 9min ago',
          ],
    );
  });

  it('S069, S156: every session there ever was, newest run first', async () => {
    const OLD = SessionId.parse('a1b2c3');
    stage.write(OLD, [
      at(-3600, started('Older')),
      at(-3600, made(ROOT, 'main', 'Older')),
      at(-3600, status(ROOT, 'running')),
      at(-3590, made(ENGINEER, 'tester', 'y', spawned('old-one'))),
      at(-3580, ended(ENGINEER, 'completed', 'yes')),
      at(-3570, ended(ROOT, 'completed', 'all well')),
      at(-3570, {
        type: 'session.finished',
        status: 'completed',
        summary: '',
        totals: { cost: 0, tokens: 0, agents: 2, duration: 0 },
      }),
    ]);
    await carried();
    expect(await stage.ask(allVerb, [])).toEqual(
      said(
        'Run k7f3a2 · running · mode confirm · 7 agents · $0.0370 · 4.5k tok · 10min ago',
        '  Make the cache faster',
        ...WIDE,
        '',
        'Run a1b2c3 · finished · mode confirm · 2 agents · $0.0000 · 0 tok · 1h ago',
        '  Older',
        '  main (acw0ao)       | completed | 1h ago | $0.0000 0 tok (subtree $0.0000 0 tok) | all well',
        '  └─ old-one (uxa5sv) | completed | 1h ago | $0.0000 0 tok                         | yes',
      ),
    );
    const { json } = await stage.ask(allVerb, ['--json']);
    expect(json).toMatchObject([
      [
        { run: 'k7f3a2', state: 'running', you: null, questions: 0, kept_messages: 0, cost: 0.037, tokens: 4500 },
        { run: 'a1b2c3', state: 'finished', sessions: [{ agent: 'ROOT' }, { name: 'old-one' }] },
      ],
    ]);
    // Only what runs, while something does.
    expect((await stage.ask(statusVerb, ['--json'])).json).toMatchObject([[{ run: 'k7f3a2' }]]);
    expect((await stage.ask(statusVerb, ['a1b2c3', '--json'])).json).toMatchObject([[{ run: 'a1b2c3' }]]);
  });

  it('says what waits for a person', async () => {
    const run = await carried();
    run.record(at(590, asks()), at(590, status(ENGINEER, 'waiting')));
    const { out } = await stage.ask(statusVerb, []);
    expect(out).toContain('  1 question for you: `mimir attach k7f3a2`');
    expect(out).toContainEqual(holding('waiting_input'));
    expect(out).toContainEqual(holding('| asks: npm test'));
  });

  it('are friendly where nothing was run', async () => {
    const none = said('No session of this project yet. `mimir` starts one.');
    expect([await stage.ask(statusVerb, []), await stage.ask(allVerb, [])]).toEqual([none, none]);
    expect((await stage.ask(allVerb, ['--json'])).json).toEqual([[]]);
  });
});
