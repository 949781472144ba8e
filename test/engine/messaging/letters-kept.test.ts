import { describe, expect, it } from 'vitest';
import { type AgentId, SessionId } from '../../../src/domain/ids.ts';
import type { StoredMessage, MessageStore } from '../../../src/ports/log.ts';
import { cutLog, lengthsOf } from '../../support/log.ts';
import { AGENT, calling, planOf, type Setting, type TestRun, testRun } from '../../support/run.ts';
import { fakeWorld } from '../../support/world.ts';

const SESSION = SessionId.parse('test-session');
const [ROOT, S1, S2] = [AGENT('ROOT'), AGENT('ROOT::S1'), AGENT('ROOT::S2')];

/** A box in memory; `told` is what the log is said to have. */
function openBox(...letters: readonly StoredMessage[]): MessageStore & { readonly told: string[] } {
  const told: string[] = [];
  const kept = [...letters];
  return {
    told,
    put: (_, letter) => void kept.push(letter),
    waiting: () => kept.filter(({ id }) => !told.includes(id)),
    taken: (_, ids) => void told.push(...ids),
  };
}

const letter = (id: string, to: AgentId, text: string): StoredMessage => ({
  id,
  to,
  text,
  delivery: 'important',
  at: '2026-01-01T00:00:00.000Z',
});

/** Two agents, of which the second needs the first; who is written to answers that. */
const story = (acts: string[] = []): Setting => ({
  plan: planOf(['o1'], ['o2', 'o1']),
  mode: 'yolo',
  acts,
  script: ({ agent, purpose, turns }, n) => {
    if (purpose.is !== 'work') return undefined;
    const last = turns.at(-1);
    if (last?.by === 'user' && last.text.startsWith('Message')) return { text: `${agent} answers` };
    return n === 0 ? calling(`write ${agent}`) : undefined;
  },
});

const lettersOf = (run: TestRun): readonly unknown[] =>
  run.events().flatMap((event) => (event.type === 'message.sent' ? [[event.letter, event.to, event.content]] : []));

describe('letters that were kept', () => {
  it('are in the log at the start and read by whom they are to, once, and then leave the box (D27, S131, S134)', async () => {
    const messageStore = openBox(letter('l1', S2, 'mind the gap'));
    const first = testRun({ ...story(), messageStore });
    await first.until(({ agents }) => agents.get(S1)?.toolCalls === 1);
    first.stop('later');
    await first.result;
    messageStore.put(SESSION, letter('l2', S1, 'and the step'));
    const read: string[] = [];
    const run = testRun({
      ...story(),
      log: first.log,
      messageStore,
      record: ({ agent, turns }) => {
        const text = JSON.stringify(turns);
        for (const words of ['mind the gap', 'and the step']) if (text.includes(words)) read.push(`${agent}: ${words}`);
      },
    });
    expect((await run.result).status).toBe('completed');
    expect(lettersOf(run)).toEqual([
      ['l1', S2, 'mind the gap'],
      ['l2', S1, 'and the step'],
    ]);
    expect(messageStore.told).toEqual(['l1', 'l2']);
    expect(new Set(read)).toEqual(new Set([`${S2}: mind the gap`, `${S1}: and the step`]));
  });

  it('come into a run that goes on when it is told to look, and let an agent go on that had ended (S131)', async () => {
    const messageStore = openBox();
    let release = (): void => {};
    const reply = new Promise<void>((resolve) => (release = resolve));
    const run = testRun({
      ...story(),
      messageStore,
      script: async (request, n) => {
        if (request.agent === S2 && request.purpose.is === 'work') await reply;
        return story().script?.(request, n);
      },
    });
    await run.until(({ agents }) => agents.get(S2)?.open.length === 1);
    run.poke();
    expect(lettersOf(run)).toEqual([]);
    messageStore.put(SESSION, letter('l1', S1, 'one thing more'));
    run.poke();
    run.poke();
    await run.until(({ messages }) => messages[0]?.delivered === true);
    release();
    expect((await run.result).success).toBe(true);
    expect(run.state().agents.get(S1)?.summary).toContain('ROOT::S1 answers');
    expect([lettersOf(run).length, messageStore.told]).toEqual([1, ['l1']]);
    messageStore.put(SESSION, letter('l2', S1, 'too late'));
    run.poke();
    expect(messageStore.told).toEqual(['l1']);
  });

  it('wake ROOT of a run without a plan (S137)', async () => {
    const messageStore = openBox(letter('l1', ROOT, 'hello'));
    const run = testRun({ mode: 'yolo', idle: true, messageStore, script: () => ({ text: 'hello yourself' }) });
    await run.until(({ agents }) => agents.get(ROOT)?.blocks.some(({ is }) => is === 'said') ?? false);
    run.stop('done');
    await run.result;
    expect(messageStore.told).toEqual(['l1']);
  });
});

describe('a run that had completed', () => {
  it('goes on for letters: its agents answer, the report stays and has the answers, nothing is done again (S131)', async () => {
    const first = testRun(story());
    const { metadata } = await first.result;
    const report = first.state().finished?.summary;
    const acts: string[] = [];
    const messageStore = openBox(letter('l1', S1, 'why so?'));
    const asked: string[] = [];
    const run = testRun({
      ...story(acts),
      log: first.log,
      messageStore,
      record: ({ agent, purpose }) => void asked.push(`${agent} ${purpose.is}`),
    });
    expect(await run.result).toMatchObject({ status: 'completed', success: true });
    expect([acts, asked]).toEqual([[], [`${S1} work`]]);
    expect(run.state().finished?.summary).toBe(`${report}\n\n## oracle 1, later\n\nROOT::S1 answers`);
    expect(run.state().finished?.totals.cost).toBeGreaterThan(metadata.totalCost);

    messageStore.put(SESSION, letter('l2', ROOT, 'and you?'));
    const again = testRun({ ...story(), log: first.log, messageStore });
    await again.result;
    expect(again.state().finished?.summary).toBe(
      `${report}\n\n## oracle 1, later\n\nROOT::S1 answers\n\n## main, later\n\nROOT answers`,
    );
    const over = testRun({ ...story(), log: first.log, messageStore });
    const { length } = over.events();
    expect([(await over.result).status, over.events().length]).toEqual(['completed', length]);
  });

  it('that is cut off there at any event has each letter once, and each answer (D11)', async () => {
    const first = testRun(story());
    await first.result;
    const done = first.events();
    const report = first.state().finished?.summary;
    const box = (): ReturnType<typeof openBox> => openBox(letter('l1', S1, 'why so?'), letter('l2', S2, 'how?'));
    const lengths: number[] = [];
    const whole = testRun({ ...story(), log: lengthsOf(cutLog(SESSION, done), lengths), messageStore: box() });
    await whole.result;
    const events = whole.events();
    expect(lengths.length).toBeGreaterThan(10);
    for (const length of lengths.slice(0, -1)) {
      const acts: string[] = [];
      const before = events.slice(0, length);
      const at = `cut after ${length}: ${before.at(-1)?.type}`;
      let names = 0;
      const name = (): string => `again-${(names += 1)}`;
      // The box was told of nothing before the end came.
      const messageStore = box();
      const run = testRun({
        ...story(acts),
        log: cutLog(SESSION, before),
        messageStore,
        world: { ...fakeWorld(), name },
      });
      await run.result;
      expect([at, lettersOf(run), acts]).toEqual([
        at,
        [
          ['l1', S1, 'why so?'],
          ['l2', S2, 'how?'],
        ],
        [],
      ]);
      expect([at, run.state().finished?.summary]).toEqual([
        at,
        `${report}\n\n## oracle 1, later\n\nROOT::S1 answers\n\n## oracle 2, later\n\nROOT::S2 answers`,
      ]);
      expect(messageStore.told).toEqual(['l1', 'l2']);
    }
  });

  it('that was rejected keeps them in the box', async () => {
    const first = testRun({ approval: 'nobody' });
    await first.result;
    const messageStore = openBox(letter('l1', ROOT, 'why?'));
    const run = testRun({ log: cutLog(SESSION, first.events()), messageStore });
    expect((await run.result).status).toBe('rejected');
    expect(messageStore.told).toEqual([]);
  });
});
