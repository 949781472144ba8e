/** The verbs that change something: what they ask of the run, as whom, and what they say of it. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { AgentId } from '../../../src/domain/ids.ts';
import { ROOT, SessionId } from '../../../src/domain/ids.ts';
import { shortId } from '../../../src/domain/digest.ts';
import { fail } from '../../../src/domain/result.ts';
import type { Command } from '../../../src/ports/controls.ts';
import { completeVerb } from '../../../src/cli/commands/complete.ts';
import { killVerb } from '../../../src/cli/commands/kill.ts';
import { spawnVerb } from '../../../src/cli/commands/spawn.ts';
import { ARCHITECT, at, ENGINEER, FAMILY, HELP, made, NOW, RUN, started, TASK } from '../../support/family-story.ts';
import type { Stage } from '../../support/session-stage.ts';
import { openStage, said, wrong } from '../../support/session-stage.ts';

let stage: Stage;
beforeEach(() => {
  stage = openStage(NOW);
  stage.write(RUN, FAMILY);
});

describe('mimir spawn', () => {
  it('goes to the run that --run begins; without it to the newest that goes on', async () => {
    const OTHER = SessionId.parse('zz11aa');
    stage.write(OTHER, [at(601, started('Other')), at(601, made(ROOT, 'main', 'Other'))]);
    await stage.carry(OTHER, () => fail({ text: 'asked in zz11aa' }));
    await stage.carry(RUN, () => fail({ text: 'asked in k7f3a2' }));
    expect((await stage.ask(spawnVerb, ['x'])).err).toBe('asked in zz11aa');
    expect((await stage.ask(spawnVerb, ['x', '--run', 'k7f'])).err).toBe('asked in k7f3a2');
    expect(await stage.ask(spawnVerb, ['x', '--run', 'nope'])).toEqual(
      wrong('there is no session "nope" of this project\n  `mimir sessions` lists them'),
    );
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
    ['nothing', [], 'missing argument: prompt\n  mimir spawn [ROLE] "As engineer, implement …"'],
    ['an empty prompt', [' '], 'missing argument: prompt\n  mimir spawn [ROLE] "As engineer, implement …"'],
    ['a wait in words', ['x', '--wait', 'long'], '--wait: "long" is not valid\n  expected seconds, 0 to 86400'],
    ['a wait of days', ['x', '--wait', '86401'], '--wait: "86401" is not valid\n  expected seconds, 0 to 86400'],
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
      '--working-dir /home/me/other is outside the project /home/me/shop\n  use a folder in the project',
    ],
  ])('S031: %s is exit 2', async (_, argv, err) => {
    await stage.carry(RUN, () => fail({ text: 'it came to the run' }));
    expect(await stage.ask(spawnVerb, argv)).toEqual(wrong(err));
    expect(stage.asked).toEqual([]);
  });

  it('S028: a folder that is not there is exit 2 as well, also where a run lives', async () => {
    await stage.carry(RUN, () => fail({ text: 'no' }));
    expect(await stage.ask(spawnVerb, ['x'])).toEqual(wrong('no', 3));
    expect(await stage.ask(spawnVerb, ['x', '--working-dir', '/home/me/shop/nosuch'])).toEqual(
      wrong(
        '--working-dir /home/me/shop/nosuch: there is no such folder in the project /home/me/shop\n  use a folder in the project',
      ),
    );
  });
});

describe('mimir kill', () => {
  const killing = (agent: AgentId): Command => ({ do: 'kill', agent });

  it('S049, S051, S053: ends a session by any of its names', async () => {
    await stage.carry(RUN);
    for (const word of ['engineer-cache', 'fgul86', 'ROOT::S1', 'k7f3a2/ROOT::S1']) {
      expect(await stage.ask(killVerb, [word])).toEqual(
        said('Session fgul86 terminated', `  with it: explore (${shortId(RUN, TASK)})`),
      );
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
    const words = said('Session k7f3a2 terminated', '  `mimir resume k7f3a2` continues it');
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
      wrong('missing argument: ID\n  mimir kill ID; `mimir children --recursive` lists them'),
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
      wrong('only agents use this command\n  `mimir kill ID` ends a session, `mimir kill RUN` a run'),
    );
    expect(await stage.ask(completeVerb, ['--status', 'well'])).toEqual(
      wrong('--status: "well" is not valid\n  expected completed or error'),
    );
  });
});
