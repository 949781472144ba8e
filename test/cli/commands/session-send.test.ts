/** `mimir send`: of an agent by its door, of a person by a letter; what becomes of it, in words. */
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { whereOf } from '../../../src/remote/socket-paths.ts';
import { shortId } from '../../../src/domain/digest.ts';
import type { AgentId } from '../../../src/domain/ids.ts';
import { ROOT, SessionId } from '../../../src/domain/ids.ts';
import { fail, ok } from '../../../src/domain/result.ts';
import { openMessageStore } from '../../../src/store/message-store.ts';
import { killVerb } from '../../../src/cli/commands/kill.ts';
import { sendVerb } from '../../../src/cli/commands/send.ts';
import {
  agentAt,
  ARCHITECT,
  asks,
  at,
  ended,
  ENGINEER,
  FAMILY,
  made,
  NOW,
  RUN,
  SECURITY,
  spawned,
  started,
  status,
  TASK,
} from '../../support/family-story.ts';
import { like } from '../../support/like.ts';
import type { Stage } from '../../support/session-stage.ts';
import { openStage, said, wrong } from '../../support/session-stage.ts';

let stage: Stage;
beforeEach(() => {
  stage = openStage(NOW);
  stage.write(RUN, FAMILY);
});

const child = agentAt('ROOT::S5');

describe('mimir send of an agent', () => {
  it.each([
    ['S057', [], 'queued', 'Queued for obgef6 (will inject when idle)'],
    ['S058', ['--important'], 'sent', 'Input sent to obgef6'],
    ['S059', ['--urgent'], 'interrupted', 'Input sent to obgef6 (interrupted)'],
    ['S061', ['--sequential'], 'resumed', 'Input sent to main (obgef6)'],
  ] as const)('%s, S062: says what became of it', async (_, flags, sent, words) => {
    const run = await stage.carry(RUN, () => ok({ text: 'done', sent }));
    const door = await run.door(ENGINEER);
    expect(await stage.ask(sendVerb, ['main', 'I am done', ...flags], { door })).toEqual(said(words));
    const delivery = flags[0]?.slice(2) ?? 'sequential';
    const command = { do: 'message', to: ROOT, text: 'I am done', delivery };
    expect(stage.asked).toEqual([{ command, by: ENGINEER }]);
  });

  it('D27: is exit 3 with the words of the run, when the rules forbid it', async () => {
    const run = await stage.carry(RUN, () => fail({ text: 'childAgents.messages: family' }));
    expect(await stage.ask(sendVerb, ['architect', 'x'], { door: await run.door(ENGINEER) })).toEqual(
      wrong('childAgents.messages: family', 3),
    );
  });
});

describe('mimir send of a person', () => {
  const letters = (session = RUN): readonly unknown[] =>
    openMessageStore({ stateDir: stage.home.state, project: stage.home.project }).waiting(session);
  const letter = (to: AgentId, text: string, delivery = 'sequential'): unknown => ({
    id: like(/^[a-z0-9]{16}$/),
    to,
    text,
    delivery,
    at: '2026-11-22T09:10:00.000Z',
  });

  it('S057 to S061, S131, S134: leaves a letter, wakes the run, and says how it reaches its reader', async () => {
    await stage.carry(RUN);
    const send = async (...argv: readonly string[]): Promise<unknown> => (await stage.ask(sendVerb, argv)).out;
    expect(await send('engineer-cache', 'Status update?')).toEqual(['Queued for fgul86 (will inject when idle)']);
    expect(await send('ROOT::S1', 'a', '--important')).toEqual(['Input sent to fgul86']);
    expect(await send('fgul86', 'b', '--urgent')).toEqual(['Input sent to fgul86 (interrupted)']);
    expect(await send('architect', 'c')).toEqual(['Input sent to architect (3f0dq8)']);
    expect(await send('child-vyqj8b', 'again')).toEqual(['Input sent to child-vyqj8b (vyqj8b)']);
    expect(await send('main', 'd', '--sequential')).toEqual(['Input sent to main (obgef6)']);
    expect(letters()).toEqual([
      letter(ENGINEER, 'Status update?'),
      letter(ENGINEER, 'a', 'important'),
      letter(ENGINEER, 'b', 'urgent'),
      letter(ARCHITECT, 'c'),
      letter(agentAt('ROOT::S3'), 'again'),
      letter(ROOT, 'd'),
    ]);
    expect([stage.pokes(), stage.asked]).toEqual([6, []]);
  });

  it('S136, D34: answers the question that the agent asks', async () => {
    const run = await stage.carry(RUN);
    run.record(at(590, asks({ action: 'question', title: 'Which one?' })), at(590, status(ENGINEER, 'waiting')));
    expect(await stage.ask(sendVerb, ['engineer-cache', 'The second'])).toEqual(
      said('Input sent to engineer-cache (fgul86)'),
    );
    const command = { do: 'answer', approval: 'q1', allow: true, scope: 'once', text: 'The second' };
    expect([stage.asked, letters()]).toEqual([[{ command, by: null }], []]);
  });

  it('gives no permission by a text', async () => {
    const run = await stage.carry(RUN);
    run.record(at(590, asks()), at(590, status(ENGINEER, 'waiting')));
    expect(await stage.ask(sendVerb, ['engineer-cache', 'yes'])).toEqual(
      said('Queued for fgul86 (will inject when idle)'),
    );
    expect([stage.asked, letters()]).toEqual([[], [letter(ENGINEER, 'yes')]]);
  });

  it('keeps it where nothing runs, and says how to go on', async () => {
    expect(await stage.ask(sendVerb, ['z/engineer-cache', 'x'])).toMatchObject({ code: 2 });
    expect(await stage.ask(sendVerb, ['engineer-cache', 'x'])).toEqual(
      said(
        'Stored for engineer-cache (fgul86): its run is not running\n  `mimir resume k7f3a2` continues it and delivers the message',
      ),
    );
    expect(letters()).toEqual([letter(ENGINEER, 'x')]);
  });

  it('keeps it where the run lives but does not answer, which is no failure', async () => {
    await (await stage.carry(RUN)).control.close();
    const run = join(stage.home.state, 'run');
    const where = whereOf({ stateDir: stage.home.state, runtimeDir: run, project: stage.home.project, session: RUN });
    const stranger = createServer((socket) => void socket.end('busy\n'));
    await new Promise<void>((resolve) => void stranger.listen(join(run, where.name), resolve));
    onTestFinished(() => void stranger.close());
    expect(await stage.ask(sendVerb, ['engineer-cache', 'x'])).toEqual(
      said('Stored for engineer-cache (fgul86): its run does not answer; it reads the message when it continues'),
    );
    expect(letters()).toEqual([letter(ENGINEER, 'x')]);
    expect((await stage.ask(killVerb, ['engineer-cache'])).err).toMatch(
      /^run k7f3a2 cannot be reached: .*\n {2}`mimir status k7f3a2` shows its state from the log$/,
    );
  });

  it('refuses it for those who would never read it', async () => {
    stage.write(RUN, [
      at(595, made(child, 'code', 'x', spawned('gone'))),
      at(596, ended(child, 'killed', '', 'by you')),
    ]);
    await stage.carry(RUN);
    expect(await stage.ask(sendVerb, ['gone', 'x'])).toEqual(
      wrong(
        'gone (1mxs3a) was killed and no longer reads messages\n  `mimir spawn "<prompt>"` starts another session',
        3,
      ),
    );
    expect(await stage.ask(sendVerb, [SECURITY, 'pass it'])).toEqual(
      wrong('security (pe89hg) is a mandatory review and takes no messages', 3),
    );
    const REJECTED = SessionId.parse('r3j3ct');
    const totals = { cost: 0, tokens: 0, agents: 1, duration: 0 };
    stage.write(REJECTED, [
      at(0, started()),
      at(0, made(ROOT, 'main', 'x')),
      at(1, { type: 'session.finished', status: 'rejected', summary: '', totals }),
    ]);
    expect(await stage.ask(sendVerb, ['r3j3ct', 'x'])).toEqual(
      wrong('the plan of run r3j3ct was discarded: it cannot continue', 3),
    );
    expect([letters(), letters(REJECTED)]).toEqual([[], []]);
  });

  it('says that nobody reads it: a child of a call that has ended, one that can not go on now', async () => {
    stage.write(RUN, [at(596, ended(TASK, 'completed', 'Found two.'))]);
    await stage.carry(
      RUN,
      () => ok({ text: '' }),
      (box) => box.taken(),
    );
    expect(await stage.ask(sendVerb, [TASK, 'x'])).toEqual(
      wrong(
        `explore (${shortId(RUN, TASK)}) has finished and no longer reads messages\n  \`mimir spawn "<prompt>"\` starts another session`,
        3,
      ),
    );
    expect(stage.pokes()).toBe(0);
    expect(await stage.ask(sendVerb, ['child-vyqj8b', 'x'])).toEqual(
      wrong(
        'child-vyqj8b (vyqj8b) has ended and cannot continue: the message is in the log of run k7f3a2, unread\n  `mimir spawn "<prompt>"` starts another session',
        3,
      ),
    );
  });

  it('keeps it where the run is being stopped', async () => {
    await stage.carry(
      RUN,
      () => ok({ text: '' }),
      () => undefined,
    );
    expect(await stage.ask(sendVerb, ['child-vyqj8b', 'x'])).toEqual(
      said(
        'Stored for child-vyqj8b (vyqj8b): its run does not answer\n  `mimir resume k7f3a2` continues it and delivers the message',
      ),
    );
  });

  it('says when main of a plan that waits for approval reads it', async () => {
    const PLANNED = SessionId.parse('p1anned');
    const choices = { roles: [], models: [], limits: { maxTasks: 50, maxParallel: 4, run: {}, agent: {} } };
    stage.write(PLANNED, [
      at(0, started()),
      at(0, made(ROOT, 'main', 'x')),
      at(1, { type: 'plan.proposed', plan: { reason: '', tasks: [] }, choices, by: 'opus-4.5', ms: 1, digest: 'd' }),
      at(1, status(ROOT, 'waiting')),
    ]);
    await stage.carry(PLANNED);
    const kept = 'the plan waits for your approval; main reads this';
    const name = `main (${shortId(PLANNED, ROOT)})`;
    expect(await stage.ask(sendVerb, ['p1anned', 'only src', '--important'])).toEqual(
      said(
        `Stored for ${name}: ${kept} for the next plan, or for the report on several agents\n  \`mimir attach p1anned\` shows the plan`,
      ),
    );
    expect(await stage.ask(sendVerb, ['p1anned', 'be short'])).toEqual(
      said(
        `Stored for ${name}: ${kept} for the report on several agents\n  \`mimir attach p1anned\` shows the plan; --important is read for the next plan too`,
      ),
    );
    expect(letters(PLANNED)).toEqual([letter(ROOT, 'only src', 'important'), letter(ROOT, 'be short')]);
  });

  it('is exit 2 without a reader, a text, or with two ways at once', async () => {
    const missing = wrong('send needs an ID and a text\n  mimir send ID "<text>"; `mimir all` lists the sessions');
    expect(await stage.ask(sendVerb, [])).toEqual(missing);
    expect(await stage.ask(sendVerb, ['architect'])).toEqual(missing);
    expect(await stage.ask(sendVerb, ['architect', ' '])).toEqual(missing);
    expect(await stage.ask(sendVerb, ['architect', 'x', '--urgent', '--important'])).toEqual(
      wrong('--important and --urgent cannot be combined\n  use one of them'),
    );
  });
});
