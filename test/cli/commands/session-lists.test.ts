/** Lists of child sessions, whole: for a person, a pipe, a narrow window, and an agent at its door. */
import { userInfo } from 'node:os';
import { beforeEach, describe, expect, it } from 'vitest';
import { ROOT } from '../../../src/domain/ids.ts';
import { allVerb } from '../../../src/cli/commands/lists.ts';
import { childrenVerb } from '../../../src/cli/commands/children.ts';
import { meVerb } from '../../../src/cli/commands/me.ts';
import { othersVerb } from '../../../src/cli/commands/lists.ts';
import { statusVerb } from '../../../src/cli/commands/lists.ts';
import { whatVerb } from '../../../src/cli/commands/what.ts';
import { whoVerb } from '../../../src/cli/commands/lists.ts';
import { agentAt, at, ended, ENGINEER, FAMILY, HELP, made, NOW, RUN, spawned } from '../../support/family-story.ts';
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

const HELP2 = agentAt('ROOT::S5');

describe('mimir children', () => {
  it('S044, S048, S076: lists name, id, status, age, and how it ended or that it goes on', async () => {
    await carried();
    expect(await stage.ask(childrenVerb, [])).toEqual(
      said(
        'engineer-cache (fgul86) | running   | 9min ago | In progress',
        'architect (3f0dq8)      | completed | 8min ago | An LRU with a bound.',
        'child-vyqj8b (vyqj8b)   | error     | 5min ago | no database',
        'security (pe89hg)       | completed | 5min ago | pass',
      ),
    );
  });

  it('S045: is a tree with --recursive, of any session', async () => {
    await carried();
    expect(await stage.ask(childrenVerb, ['--recursive'])).toEqual(
      said(
        'engineer-cache (fgul86) | running   | 9min ago | In progress',
        '├─ finder (5kylm1)      | completed | 6min ago | partial: Found 3 of them',
        '└─ explore (xhrf5m)     | running   | 2min ago | In progress',
        'architect (3f0dq8)      | completed | 8min ago | An LRU with a bound.',
        'child-vyqj8b (vyqj8b)   | error     | 5min ago | no database',
        'security (pe89hg)       | completed | 5min ago | pass',
      ),
    );
    expect(await stage.ask(childrenVerb, ['engineer-cache'])).toEqual(
      said(
        'finder (5kylm1)  | completed | 6min ago | partial: Found 3 of them',
        'explore (xhrf5m) | running   | 2min ago | In progress',
      ),
    );
  });

  it('S046: picks by --status, and says what it takes', async () => {
    await carried();
    const named = async (...argv: readonly string[]): Promise<unknown> =>
      (await stage.ask(childrenVerb, argv)).out.map((line) => line.split(' (')[0]);
    expect(await named('--status', 'running')).toEqual(['engineer-cache']);
    expect(await named('--status', 'completed')).toEqual(['architect', 'security']);
    expect(await named('--status', 'error')).toEqual(['child-vyqj8b']);
    expect(await named('--status', 'all')).toHaveLength(4);
    expect(await named('--recursive', '--status', 'running')).toEqual(['engineer-cache', 'explore']);
    expect(await stage.ask(childrenVerb, ['architect', '--status', 'error'])).toEqual(
      said('architect (3f0dq8) has no children yet: `mimir spawn "<prompt>"` starts one'),
    );
    expect(await stage.ask(childrenVerb, ['engineer-cache', '--status', 'error'])).toEqual(
      said('engineer-cache (fgul86) has no children with --status error'),
    );
    expect(await stage.ask(childrenVerb, ['--status', 'done'])).toEqual(
      wrong('--status: "done" is not valid\n  expected running, completed, error or all'),
    );
  });

  it('fits a narrow window, each on three lines, and cuts wide letters and long names whole', async () => {
    stage.write(RUN, [
      ...FAMILY,
      at(590, made(HELP2, 'finder', 'x', spawned(`漢字${'的'.repeat(30)}`))),
      at(591, ended(HELP2, 'completed', `完了${'の'.repeat(30)}`)),
    ]);
    const { out } = await stage.ask(childrenVerb, [], { width: 40 });
    expect(out).toEqual([
      'engineer-cache (fgul86)',
      '  abandoned | 9min ago',
      '  its process has ended',
      'architect (3f0dq8)',
      '  completed | 8min ago',
      '  An LRU with a bound.',
      'child-vyqj8b (vyqj8b)',
      '  error | 5min ago',
      '  no database',
      'security (pe89hg)',
      '  completed | 5min ago',
      '  pass',
      '漢字的的的的的的的的的的的的的… (1mxs3a)',
      '  completed | 10s ago',
      '  完了のののののののののののののののの…',
    ]);
  });

  it('lets nothing that others wrote move the cursor', async () => {
    stage.write(RUN, [
      ...FAMILY,
      at(590, made(HELP2, 'finder', 'x\u001b[2J', spawned('evil'))),
      at(591, ended(HELP2, 'completed', 'done\u001b[2J\u009b2J \u202eover\rthere')),
    ]);
    for (const verb of [childrenVerb, statusVerb, allVerb, othersVerb, whoVerb]) {
      const { out } = await stage.ask(verb, []);
      expect(out.join('')).not.toMatch(/[\p{Cc}\u202e]/u);
    }
    expect((await stage.ask(whatVerb, ['evil', '--deep'])).out.join('')).not.toMatch(/[\p{Cc}\u202e]/u);
  });

  it('says where there is nothing yet', async () => {
    const nothing =
      'this project has no sessions yet\n  `mimir` starts one; `mimir spawn "<prompt>"` starts one with an agent';
    expect(await stage.ask(childrenVerb, [])).toEqual(wrong(nothing));
    stage.write(RUN, FAMILY.slice(0, 3));
    expect(await stage.ask(childrenVerb, [])).toEqual(
      said('main (obgef6) has no children yet: `mimir spawn "<prompt>"` starts one'),
    );
  });
});

describe('mimir me, who and others', () => {
  it('S066: tells an agent its place', async () => {
    const run = await carried();
    const door = await run.door(HELP);
    expect(await stage.ask(meVerb, [], { door })).toEqual(
      said(
        'You are finder (5kylm1), ROOT::S1::S1 of run k7f3a2',
        '  Role:   finder · anthropic/claude-haiku-4-5',
        '  Parent: engineer-cache (fgul86)',
        '  Folder: /home/me/shop/packages/cache',
        '  Mode:   confirm',
        '  Used:   $0.0020 300 tok',
      ),
    );
    expect((await stage.ask(meVerb, ['--json'], { door })).json).toMatchObject([
      {
        you: { session_id: '5kylm1' },
        parent: { session_id: 'fgul86', spawn_prompt: '' },
        person: null,
        run: 'k7f3a2',
        mode: 'confirm',
      },
    ]);
  });

  it('S066: tells a person that they are one, with and without a run', async () => {
    const { username } = userInfo();
    const first = `You are ${username}, a person. You may use every session here.`;
    expect(await stage.ask(meVerb, [])).toEqual(said(first, '  No runs in this project yet: `mimir` starts one'));
    await carried();
    expect(await stage.ask(meVerb, [])).toEqual(said(first, '  Newest run: k7f3a2, running: `mimir status` shows it'));
    expect((await stage.ask(meVerb, ['--json'])).json).toEqual([
      { you: null, parent: null, person: username, run: 'k7f3a2', mode: 'confirm' },
    ]);
  });

  it('S067: tells an agent its siblings, a person the children of the run', async () => {
    const run = await carried();
    expect(await stage.ask(whoVerb, [], { door: await run.door(HELP) })).toEqual(
      said('explore (xhrf5m) | running | 2min ago | In progress'),
    );
    expect(await stage.ask(whoVerb, [], { door: await run.door(ROOT) })).toEqual(said('You have no siblings.'));
    expect((await stage.ask(whoVerb, [])).out).toHaveLength(4);
  });

  it('S068: tells an agent the others of its run, and a person those of all living runs', async () => {
    const run = await carried();
    expect(await stage.ask(othersVerb, [], { door: await run.door(ENGINEER) })).toEqual(
      said(
        'main (obgef6)         | idle      | 10min ago | In progress',
        'architect (3f0dq8)    | completed | 8min ago  | done',
        'finder (5kylm1)       | completed | 6min ago  | partial: Found 3 of them',
        'child-vyqj8b (vyqj8b) | error     | 5min ago  | failed',
        'security (pe89hg)     | completed | 5min ago  | done',
        'explore (xhrf5m)      | running   | 2min ago  | In progress',
      ),
    );
    expect((await stage.ask(othersVerb, [])).out).toHaveLength(7);
  });

  it('S068: tells a person where nothing lives', async () => {
    stage.write(RUN, FAMILY);
    expect(await stage.ask(othersVerb, [])).toEqual(
      said('No run is active in this project: `mimir all` lists earlier ones.'),
    );
  });
});
