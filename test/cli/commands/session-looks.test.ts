/** One session looked at, by all the ways to name it: `what`, `progress`, `events`. */
import { beforeEach, describe, expect, it } from 'vitest';
import { ROOT, SessionId } from '../../../src/domain/ids.ts';
import { eventsVerb } from '../../../src/cli/commands/events.ts';
import { progressVerb } from '../../../src/cli/commands/progress.ts';
import { whatVerb } from '../../../src/cli/commands/what.ts';
import { agentAt, at, ended, ENGINEER, FAMILY, made, NOW, RUN, spawned, started } from '../../support/family-story.ts';
import type { Carried, Stage } from '../../support/session-stage.ts';
import { openStage, said, wrong } from '../../support/session-stage.ts';
let stage: Stage;
beforeEach(() => {
  stage = openStage(NOW);
});

async function carried(): Promise<Carried> {
  stage.write(RUN, FAMILY);
  return await stage.carry(RUN);
}

describe('an address', () => {
  it('D15, S060: is a place, a session and a place, a session, a short id, a name; the newest living run comes first', async () => {
    const OTHER = SessionId.parse('z9y8x7');
    await carried();
    stage.write(OTHER, [
      at(500, started('Another')),
      at(500, made(ROOT, 'main', 'Another')),
      at(501, made(ENGINEER, 'tester', 'y', spawned('newer'))),
    ]);
    const named = async (word: string): Promise<unknown> => {
      const { out, err } = await stage.ask(whatVerb, [word]);
      return err === '' ? out[0]?.split(' ').slice(0, 3).join(' ') : err;
    };
    expect(await named('ROOT::S1')).toBe('engineer-cache (fgul86) running:');
    expect(await named('z9y8x7/ROOT::S1')).toBe('newer (w9tx6v) abandoned:');
    expect(await named('z9y/newer')).toBe('newer (w9tx6v) abandoned:');
    expect(await named('k7f3a2')).toBe('main (obgef6) idle:');
    expect(await named('k7f')).toBe('main (obgef6) idle:');
    expect(await named('newer')).toBe('newer (w9tx6v) abandoned:');
    expect(await named('w9tx6v')).toBe('newer (w9tx6v) abandoned:');
  });

  it('that names nobody is exit 2, with the nearest or with all there are', async () => {
    await carried();
    expect(await stage.ask(whatVerb, ['enginer-cache'])).toEqual(
      wrong('there is no session "enginer-cache"\n  did you mean engineer-cache (fgul86)?'),
    );
    expect(await stage.ask(whatVerb, ['engineer'])).toEqual(
      wrong('there is no session "engineer"\n  did you mean engineer-cache (fgul86)?'),
    );
    expect(await stage.ask(whatVerb, ['xylophone'])).toEqual(
      wrong(
        'there is no session "xylophone"\n  there are main (obgef6), engineer-cache (fgul86), architect (3f0dq8), finder (5kylm1), child-vyqj8b (vyqj8b), security (pe89hg), explore (xhrf5m)',
      ),
    );
    expect(await stage.ask(whatVerb, ['nope/ROOT'])).toEqual(
      wrong('there is no session "nope" of this project\n  `mimir sessions` lists them'),
    );
    expect(await stage.ask(whatVerb, [])).toEqual(
      wrong('missing argument: ID\n  mimir what ID; `mimir children --recursive` lists them'),
    );
  });

  it('that begins several names is exit 2 with those', async () => {
    stage.write(RUN, [
      ...FAMILY,
      at(592, made(agentAt('ROOT::S5'), 'finder', 'x', spawned('engineer-a'))),
      at(593, made(agentAt('ROOT::S6'), 'finder', 'x', spawned('engineer-b'))),
    ]);
    expect((await stage.ask(whatVerb, ['engineer'])).err).toBe(
      'there is no session "engineer"\n  did you mean engineer-cache (fgul86) or engineer-a (1mxs3a) or engineer-b (9v1tsf)?',
    );
  });

  it('of several is exit 2 with all of them', async () => {
    stage.write(RUN, [
      ...FAMILY,
      at(590, made(agentAt('ROOT::S5'), 'finder', 'x', spawned('twin'))),
      at(591, made(agentAt('ROOT::S6'), 'finder', 'x', spawned('twin'))),
    ]);
    expect(await stage.ask(whatVerb, ['twin'])).toEqual(
      wrong(
        '2 sessions are named "twin"\n  ROOT::S5 (1mxs3a)  abandoned\n  ROOT::S6 (9v1tsf)  abandoned\n  use the id of one of them',
      ),
    );
  });
});

describe('mimir what and mimir progress', () => {
  it('S054, S078: says what it does, and when it last did something', async () => {
    await carried();
    expect(await stage.ask(whatVerb, ['engineer-cache'])).toEqual(
      said('engineer-cache (fgul86) running: read src/lru.ts', 'Last activity 30s ago'),
    );
  });

  it('S055, D33: says more with --deep: tools with their targets, tokens, time', async () => {
    await carried();
    expect(await stage.ask(whatVerb, ['engineer-cache', '--deep'])).toEqual(
      said(
        'engineer-cache (fgul86) running: read src/lru.ts',
        'Last activity 30s ago',
        'Recent tools:',
        '  ✓ read src/cache.ts (3min ago)',
        '  ✗ search "evict" (2min ago)',
        '  ● read src/lru.ts (30s ago)',
        'Tokens used: about 2.5k',
        'Elapsed: 8m 58s',
        'Last message: I read the sources.',
      ),
    );
  });

  it('S082: says of one that has ended how it did, not that it does that now', async () => {
    await carried();
    expect((await stage.ask(progressVerb, ['finder'])).out.slice(0, 2)).toEqual([
      expect.stringMatching(/^finder \(5kylm1\) completed/),
      '  Ended: partial: Found 3 of them',
    ]);
  });

  it('S149: says to an agent where others stand, and what they do only where it is above them', async () => {
    const run = await carried();
    const door = await run.door(ENGINEER);
    expect(await stage.ask(whatVerb, ['architect'], { door })).toEqual(
      said('architect (3f0dq8) completed: only its ancestors can see what it does', 'Last activity 7min ago'),
    );
    expect(await stage.ask(whatVerb, ['architect', '--deep'], { door })).toEqual(
      wrong(
        'only its ancestors can see what ROOT::S2 does\n  `mimir others` shows its state, `mimir send ROOT::S2 "…"` asks it',
        3,
      ),
    );
    expect(await stage.ask(whatVerb, ['finder'], { door })).toEqual(
      said('finder (5kylm1) completed: partial: Found 3 of them', 'Last activity 6min ago'),
    );
    expect(await stage.ask(whatVerb, ['other/ROOT'], { door })).toEqual(
      wrong(
        'there is no session "other" here: agents can reach only sessions of their own run\n  `mimir others` lists them',
      ),
    );
  });

  it('S064, S081, S082, S083: gives a script all that it looks for', async () => {
    await carried();
    expect(await stage.ask(progressVerb, ['ROOT::S1', '--json'])).toEqual({
      code: 0,
      out: [],
      err: '',
      json: [
        {
          session_id: 'fgul86',
          name: 'engineer-cache',
          status: 'running',
          is_complete: false,
          completion_status: null,
          completion_message: null,
          partial: false,
          tokens_used: 2500,
          tokens_remaining_estimate: 7500,
          completion_percentage: 33,
          tools_used: { read: 2, search: 1 },
          total_tools: 3,
          last_tool: { name: 'read', timestamp: '2026-11-22T09:09:30.000Z' },
          current_activity: 'read src/lru.ts',
          is_idle: false,
          idle_seconds: 30,
          is_waiting_input: false,
          cost: 0.02,
          subtree_cost: 0.022,
          subtree_tokens: 2800,
        },
      ],
    });
    expect(await stage.ask(progressVerb, ['engineer-cache'])).toEqual(
      said(
        'engineer-cache (fgul86) running · 33%',
        '  Now: read src/lru.ts',
        '  Tokens: 2.5k, about 7.5k left',
        '  Tools: 3 (2 read, 1 search), last read',
        '  Last activity: 30s ago',
      ),
    );
  });
});

describe('mimir events of a child', () => {
  it('S065, S090: prints its lifecycle, one event a line', async () => {
    await carried();
    expect(await stage.ask(eventsVerb, ['finder'])).toEqual(
      said(
        '2026-11-22T09:03:20.000Z  spawned     Find all callers',
        '2026-11-22T09:03:21.000Z  checkpoint  running',
        '2026-11-22T09:04:00.000Z  completed   Found 3 of them',
      ),
    );
    expect((await stage.ask(eventsVerb, ['finder', '--json'])).json).toMatchObject([
      { session_id: '5kylm1', event_type: 'spawned', metadata: { agent: 'ROOT::S1::S1' } },
      { event_type: 'checkpoint' },
      { event_type: 'completed', metadata: { partial: true } },
    ]);
  });

  it('S065: follows it until it has ended, for a person and for the agent above it', async () => {
    const run = await carried();
    const door = await run.door(ENGINEER);
    const seen = [
      stage.ask(eventsVerb, ['explore', '--follow']),
      stage.ask(eventsVerb, ['explore', '--follow'], { door }),
    ];
    run.record(at(601, ended(agentAt('ROOT::S1::S2'), 'completed', 'Two tests')));
    const expected = said(
      '2026-11-22T09:07:20.000Z  spawned     Look at the tests',
      '2026-11-22T09:07:21.000Z  checkpoint  running',
      '2026-11-22T09:10:01.000Z  completed   Two tests',
    );
    expect(await Promise.all(seen)).toEqual([expected, expected]);
  });

  it('S149: an agent gets those of itself and below it, and no others', async () => {
    const run = await carried();
    const door = await run.door(ENGINEER);
    expect(await stage.ask(eventsVerb, ['architect'], { door })).toMatchObject({ code: 3 });
    const { json } = await stage.ask(eventsVerb, ['--json'], { door });
    expect(json.every((event) => /"agent":"ROOT::S1(::|")/.test(JSON.stringify(event)))).toBe(true);
    expect(json).toHaveLength(19);
  });

  it('of a whole session stays as it was', async () => {
    await carried();
    expect((await stage.ask(eventsVerb, ['--json'])).json).toHaveLength(FAMILY.length);
    expect((await stage.ask(eventsVerb, ['k7f'])).out[0]).toBe(
      '    1  2026-11-22T09:00:00.000Z  session.started                 session started in /home/me/shop',
    );
  });

  it('of a whole session leaves no line without words, and no active run in the next', async () => {
    await carried();
    const { out } = await stage.ask(eventsVerb, ['k7f']);
    expect(out).toHaveLength(FAMILY.length);
    expect(
      out.filter((line) => !/^ *\d+ {2}\S+ {2}\S+ {2,}(?:ROOT\S* +)?\S/.test(line) || line.includes('\n')),
    ).toEqual([]);
    const words = out.map((line) =>
      line
        .slice(line.indexOf('Z') + 1)
        .trim()
        .replaceAll(/ +/g, ' '),
    );
    expect(words).toEqual(
      expect.arrayContaining([
        'agent.status ROOT::S1 initializing',
        'model.started ROOT asks anthropic/claude-haiku-4-5 (work)',
        'model.finished ROOT anthropic/claude-haiku-4-5 answered: 500 in, 0 out, $0.0050, 1.0 s',
      ]),
    );
  });
});
