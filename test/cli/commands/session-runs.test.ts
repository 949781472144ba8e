/** `status` and `all`: runs with all their sessions, whole. */
import { beforeEach, describe, expect, it } from 'vitest';
import { ROOT, SessionId } from '../../../src/domain/ids.ts';
import { allVerb } from '../../../src/cli/commands/lists.ts';
import { childrenVerb } from '../../../src/cli/commands/children.ts';
import { othersVerb } from '../../../src/cli/commands/lists.ts';
import { statusVerb } from '../../../src/cli/commands/lists.ts';
import { whatVerb } from '../../../src/cli/commands/what.ts';
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
} from '../../support/family-story.ts';
import { holding, like } from '../../support/like.ts';
import type { Carried, Stage } from '../../support/session-stage.ts';
import { openStage, said } from '../../support/session-stage.ts';
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
    '  main (obgef6)              | idle      | $0.0050 500 tok (subtree $0.04 4.5k tok) | waits for its children',
    '  ├─ engineer-cache (fgul86) | running   | $0.02 2.5k tok (subtree $0.02 2.8k tok)  | read src/lru.ts',
    '  │  ├─ finder (5kylm1)      | completed | $0.0020 300 tok                          | partial: Found 3 of them',
    '  │  └─ explore (xhrf5m)     | running   | $0.00 0 tok                              | running',
    '  ├─ architect (3f0dq8)      | completed | $0.01 1.2k tok                           | An LRU with a bound.',
    '  ├─ child-vyqj8b (vyqj8b)   | error     | $0.00 0 tok                              | no database',
    '  └─ security (pe89hg)       | completed | $0.00 0 tok                              | pass',
  ];

  it('S070, S150, S156: shows the run with all its sessions, and what each used with those below it', async () => {
    await carried();
    expect(await stage.ask(statusVerb, [])).toEqual(
      said(
        'Run k7f3a2 · running · 7 agents · $0.04 · 4.5k tok · mode confirm · 10min ago',
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
    expect(out.slice(0, 6)).toEqual(
      width === 80
        ? [
            'Run k7f3a2 · running · 7 agents · $0.04 · 4.5k tok · mode confirm · 10min ago',
            '  Make the cache faster',
            '  main (obgef6)              | idle      | $0.0050 500 tok | waits for its chil…',
            '  ├─ engineer-cache (fgul86) | running   | $0.02 2.5k tok  | read src/lru.ts',
            '  │  ├─ finder (5kylm1)      | completed | $0.0020 300 tok | partial: Found 3 o…',
            '  │  └─ explore (xhrf5m)     | running   | $0.00 0 tok     | running',
          ]
        : [
            'Run k7f3a2 · running · 7 agents · $0.04…',
            '  Make the cache faster',
            '  main (obgef6)',
            '    idle | $0.0050 500 tok',
            '    waits for its children',
            '  ├─ engineer-cache (fgul86)',
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
        'Run k7f3a2 · running · 7 agents · $0.04 · 4.5k tok · mode confirm · 10min ago',
        '  Make the cache faster',
        ...WIDE,
        '',
        'Run a1b2c3 · finished · 2 agents · $0.00 · 0 tok · mode confirm · 1h ago',
        '  Older',
        '  main (acw0ao)       | completed | $0.00 0 tok (subtree $0.00 0 tok) | all well',
        '  └─ old-one (uxa5sv) | completed | $0.00 0 tok                       | yes',
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

  it('S069: reads the newest twenty runs and what lives; --all reads the rest', async () => {
    const old = Array.from({ length: 25 }, (_, at) => SessionId.parse(`old${String(at).padStart(3, '0')}`));
    for (const [n, session] of old.entries()) stage.write(session, [at(n, started(`Task ${n}`))]);
    const runs = async (...argv: readonly string[]): Promise<number> =>
      [(await stage.ask(allVerb, ['--json', ...argv])).json].flat(2).length;
    expect([await runs(), await runs('--all')]).toEqual([20, 25]);
    expect((await stage.ask(allVerb, [])).out.slice(-2)).toEqual(['', '5 older runs: `mimir all --all`']);
  });

  it('S144: names the socket of a run for programs, null where nobody listens', async () => {
    const sockets = async (): Promise<unknown> => [(await stage.ask(statusVerb, ['--json'])).json].flat(2);
    stage.write(RUN, FAMILY);
    expect(await sockets()).toMatchObject([{ run: RUN, socket: null }]);
    await stage.carry(RUN);
    expect(await sockets()).toMatchObject([{ run: RUN, socket: like(/\/run\/[0-9a-f]{16}$/) }]);
  });

  it('says what waits for a person', async () => {
    const run = await carried();
    run.record(at(590, asks()), at(590, status(ENGINEER, 'waiting')));
    const { out } = await stage.ask(statusVerb, []);
    expect(out).toContain('  1 question for you: `mimir attach k7f3a2`');
    expect(out).toContainEqual(holding('waiting_input'));
    expect(out).toContainEqual(holding('| asks: npm test'));
    expect((await stage.ask(whatVerb, ['engineer-cache'])).out).toEqual([
      holding('engineer-cache (fgul86) waiting_input: '),
      'Last activity 10s ago',
      '`mimir attach k7f3a2` shows its question',
    ]);
  });

  it('are friendly where nothing was run', async () => {
    const none = said('This project has no sessions yet. `mimir` starts one.');
    expect([await stage.ask(statusVerb, []), await stage.ask(allVerb, [])]).toEqual([none, none]);
    expect((await stage.ask(allVerb, ['--json'])).json).toEqual([[]]);
  });
});

describe('mimir sessions', () => {
  it('says when a run began on the clock of this machine', async () => {
    stage.write(RUN, FAMILY);
    const sessions = async (TZ: string): Promise<string> => (await stage.home.run(['sessions'], { env: { TZ } })).out;
    expect(await sessions('UTC')).toMatch(/^k7f3a2 {2}2026-11-22 09:00 {2}/m);
    expect(await sessions('Asia/Tokyo')).toMatch(/^k7f3a2 {2}2026-11-22 18:00 {2}/m);
  });

  it('says what a run cost, also where it has no end yet', async () => {
    stage.write(RUN, FAMILY);
    const { out } = await stage.home.run(['sessions'], { env: { TZ: 'UTC' } });
    expect(out).toMatch(/^k7f3a2 {2}2026-11-22 09:00 {3,}\$\d+\.\d{2} {2}\w+ {2,}\S/m);
  });
});
