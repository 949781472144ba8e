/** The verbs that change something: what they ask of the run, as whom, and what they say of it. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { AgentId } from '../../src/domain/ids.ts';
import { ROOT, SessionId } from '../../src/domain/ids.ts';
import { fail, ok } from '../../src/domain/result.ts';
import type { Command } from '../../src/ports/controls.ts';
import { completeVerb } from '../../src/verbs/complete.ts';
import { killVerb } from '../../src/verbs/kill.ts';
import { spawnVerb } from '../../src/verbs/spawn.ts';
import {
  agentAt,
  ARCHITECT,
  at,
  ENGINEER,
  FAMILY,
  HELP,
  made,
  NOW,
  RUN,
  spawned,
  started,
} from '../support/family-story.ts';
import { like } from '../support/like.ts';
import type { Carried, Stage } from '../support/session-stage.ts';
import { openStage, said, wrong } from '../support/session-stage.ts';

let stage: Stage;
beforeEach(() => {
  stage = openStage(NOW);
  stage.write(RUN, FAMILY);
});

const child = agentAt('ROOT::S5');

/** A run that spawns what it is asked for. */
async function spawning(name: string | null): Promise<Carried> {
  const run = await stage.carry(RUN, (command) => {
    if (command.do !== 'spawn') return fail({ text: 'not that' });
    const id = command.parent === ROOT ? child : agentAt(`${command.parent}::S3`);
    const more = { workingDir: command.wish.workingDir ?? '' };
    run.record(at(600, made(id, 'code', command.wish.prompt, spawned(name, ENGINEER, more))));
    return ok({ text: 'spawned', agent: id });
  });
  return run;
}

const wish = (more: object): object => ({
  prompt: 'As engineer, implement it',
  role: null,
  model: null,
  name: null,
  wait: null,
  workingDir: null,
  ...more,
});

describe('mimir spawn', () => {
  it('S022, S023, S024, D13: asks for a child of ROOT as the person, with the prompt as it is', async () => {
    await spawning(null);
    expect(await stage.ask(spawnVerb, ['As engineer, implement it'])).toEqual(said('Spawned child-1mxs3a (1mxs3a)'));
    expect(stage.asked).toEqual([{ command: { do: 'spawn', parent: ROOT, wish: wish({}) }, by: null }]);
  });

  it('S025 to S028, S030: takes role, model, wait, name and folder; the name goes behind the role', async () => {
    await spawning('engineer-cache2');
    const argv =
      'Engineer|As engineer, implement it|--name|cache2|--model|opus|--wait|600|--working-dir|/home/me/shop/src/../packages/x'.split(
        '|',
      );
    expect(await stage.ask(spawnVerb, argv)).toEqual(said('Spawned engineer-cache2 (1mxs3a)'));
    const more = { role: 'Engineer', name: 'engineer-cache2', model: 'opus', wait: 600, workingDir: 'packages/x' };
    expect(stage.asked).toEqual([{ command: { do: 'spawn', parent: ROOT, wish: wish(more) }, by: null }]);
  });

  it('S026, S043: returns at once, whatever it waits for', async () => {
    await spawning('x');
    const before = performance.now();
    expect(await stage.ask(spawnVerb, ['As engineer, implement it', '--wait', '86400'])).toMatchObject({ code: 0 });
    expect(performance.now() - before).toBeLessThan(30_000);
  });

  it('goes to the run that --run begins; without it to the newest, and says so where several go on', async () => {
    const OTHER = SessionId.parse('zz11aa');
    stage.write(OTHER, [at(601, started('Other')), at(601, made(ROOT, 'main', 'Other'))]);
    await stage.carry(OTHER, (command) => fail({ text: `asked to ${command.do} in zz11aa` }));
    await spawning('x');
    expect((await stage.ask(spawnVerb, ['x'])).err).toBe('asked to spawn in zz11aa');
    expect(await stage.ask(spawnVerb, ['x', '--run', 'k7f'], { width: 80 })).toEqual(said('Spawned x (1mxs3a)'));
    expect(await stage.ask(spawnVerb, ['x', '--run', 'nope'])).toEqual(
      wrong('there is no session "nope" of this project\n  `mimir sessions` lists them'),
    );
  });

  it('S029, S032 to S038: prints JSON with every field', async () => {
    await spawning('cache2');
    const argv = ['As engineer, implement it', '--json', '--working-dir', '/home/me/shop/packages'];
    expect(await stage.ask(spawnVerb, argv)).toEqual({
      code: 0,
      out: [],
      err: '',
      json: [
        {
          session_id: '1mxs3a',
          name: 'cache2',
          friendly_name: 'cache2',
          working_dir: '/home/me/shop/packages',
          parent_session_id: 'obgef6',
          tmux_session: null,
          created_at: '2026-11-22T09:10:00.000Z',
          agent: 'ROOT::S5',
          run: 'k7f3a2',
        },
      ],
    });
  });

  it('S022: asks as the agent at its door, for a child of its own', async () => {
    const run = await spawning('helper');
    const door = await run.door(ENGINEER);
    expect(await stage.ask(spawnVerb, ['As engineer, implement it'], { door })).toEqual(
      said(like(/^Spawned helper \([a-z0-9]{6}\)$/)),
    );
    expect(stage.asked).toEqual([{ command: { do: 'spawn', parent: ENGINEER, wish: wish({}) }, by: ENGINEER }]);
  });

  it('S148, S152: is exit 3 with the words of the run, when that refuses', async () => {
    await stage.carry(RUN, () =>
      fail({ text: 'ROOT has 16 children at work (childAgents.maxPerParent)\n  wait for one' }),
    );
    expect(await stage.ask(spawnVerb, ['x'])).toEqual(
      wrong('ROOT has 16 children at work (childAgents.maxPerParent)\n  wait for one', 3),
    );
  });

  it.each<readonly [what: string, argv: readonly string[], err: string]>([
    ['nothing', [], 'a prompt is missing\n  mimir spawn [ROLE] "As engineer, implement …"'],
    ['an empty prompt', [' '], 'a prompt is missing\n  mimir spawn [ROLE] "As engineer, implement …"'],
    ['a wait in words', ['x', '--wait', 'long'], '--wait long\n  expected seconds, 0 to 86400'],
    ['a wait of days', ['x', '--wait', '86401'], '--wait 86401\n  expected seconds, 0 to 86400'],
    [
      'a name of signs',
      ['x', '--name', '\u001b[2J'],
      '--name takes up to 60 letters, digits, blanks, ".", "_" or "-", a letter or digit first (the role before it counts)',
    ],
    [
      'a prompt without end',
      ['x'.repeat(50_001)],
      'the prompt is longer than 50000 characters\n  put the details into a file of the project and name it',
    ],
    [
      'an empty role',
      ['', 'x'],
      'ROLE is empty or too long\n  expected the name of a role, such as finder or general-purpose; or leave it out',
    ],
    [
      'an empty model',
      ['x', '--model='],
      '--model is empty or too long\n  expected opus, sonnet, haiku or the name of a model',
    ],
    [
      'an empty folder',
      ['x', '--working-dir='],
      '--working-dir is empty or too long\n  expected a folder of the project',
    ],
    [
      'a folder elsewhere',
      ['x', '--working-dir', '/home/me/other'],
      '--working-dir /home/me/other is outside of the project /home/me/shop\n  expected a folder in it',
    ],
  ])('S031: %s is exit 2', async (_, argv, err) => {
    await spawning('x');
    expect(await stage.ask(spawnVerb, argv)).toEqual(wrong(err));
    expect(stage.asked).toEqual([]);
  });

  it('S028: a folder that is not there is exit 2 as well, also where a run lives', async () => {
    await stage.carry(RUN, () => fail({ text: 'no' }));
    expect(await stage.ask(spawnVerb, ['x'])).toEqual(wrong('no', 3));
    expect(await stage.ask(spawnVerb, ['x', '--working-dir', '/home/me/shop/nosuch'])).toEqual(
      wrong(
        '--working-dir /home/me/shop/nosuch: there is no such folder in the project /home/me/shop\n  expected a folder in it',
      ),
    );
  });
});

describe('mimir kill', () => {
  const killing = (agent: AgentId): Command => ({ do: 'kill', agent });

  it('S049, S051, S053: ends a session by any of its names', async () => {
    await stage.carry(RUN);
    for (const word of ['engineer-cache', 'fgul86', 'ROOT::S1', 'k7f3a2/ROOT::S1']) {
      expect(await stage.ask(killVerb, [word])).toEqual(said('Session fgul86 terminated'));
    }
    expect(stage.asked).toEqual(Array.from({ length: 4 }, () => ({ command: killing(ENGINEER), by: null })));
  });

  it('S050, S052, D28: refuses an agent what is not its child, in exactly these words', async () => {
    const refusal = 'Cannot kill session 3f0dq8 - not your child session';
    const run = await stage.carry(RUN, () => fail({ text: refusal }));
    expect(await stage.ask(killVerb, ['architect'], { door: await run.door(ENGINEER) })).toEqual(wrong(refusal, 3));
    expect(stage.asked).toEqual([{ command: killing(ARCHITECT), by: ENGINEER }]);
  });

  it('S126: ends a whole run for the person who names it, or its root', async () => {
    await stage.carry(RUN);
    const words = said('Session k7f3a2 terminated', '  `mimir resume k7f3a2` goes on with it');
    expect(await stage.ask(killVerb, ['k7f3a2'])).toEqual(words);
    expect(await stage.ask(killVerb, ['ROOT'])).toEqual(words);
    expect(stage.asked).toEqual(
      Array.from({ length: 2 }, () => ({ command: { do: 'stop run', reason: 'by you' }, by: null })),
    );
  });

  it('says where there is nothing to end', async () => {
    expect(await stage.ask(killVerb, ['engineer-cache'])).toEqual(
      wrong('session fgul86 is not running (abandoned): run k7f3a2 is stopped\n  `mimir all` shows what runs'),
    );
    expect(await stage.ask(killVerb, [])).toEqual(
      wrong('which session?\n  mimir kill ID; `mimir children --recursive` lists them'),
    );
  });
});

describe('mimir complete', () => {
  it.each([
    ['S063', [], 'completed', ''],
    ['S063', ['all is well'], 'completed', 'all is well'],
    ['S063, S125', ['--status', 'error', 'no database'], 'error', 'no database'],
  ] as const)('%s: says it of the agent itself', async (_, argv, is, message) => {
    const run = await stage.carry(RUN);
    expect(await stage.ask(completeVerb, argv, { door: await run.door(HELP) })).toEqual(
      said(`Session 5kylm1 marked as ${is}`),
    );
    expect(stage.asked).toEqual([{ command: { do: 'complete', agent: HELP, status: is, message }, by: HELP }]);
  });

  it('is not for a person', async () => {
    await stage.carry(RUN);
    expect(await stage.ask(completeVerb, [])).toEqual(
      wrong('only an agent says of itself that it is done\n  `mimir kill ID` ends a session, `mimir kill RUN` a run'),
    );
    expect(await stage.ask(completeVerb, ['--status', 'well'])).toEqual(
      wrong('--status well\n  expected completed or error'),
    );
  });
});
