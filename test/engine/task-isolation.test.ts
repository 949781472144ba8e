import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SessionId } from '../../src/domain/ids.ts';
import type { ModelRequest } from '../../src/ports/model.ts';
import { cutLog } from '../support/log.ts';
import { of, ownModel, type OwnWire, runOn } from '../support/on-the-wire.ts';
import type { ScriptedReply } from '../support/scripted.ts';
import { AGENT, calling, type Setting, testRun } from '../support/run.ts';
import { fakeWorld } from '../support/world.ts';

const SESSION = SessionId.parse('test-session');
const S1 = AGENT('ROOT::S1');
/** Characters in a row that are no accident. */
const WINDOW = 24;

/** Does any stretch of `secret` stand in `text`? */
function leaks(text: string, secret: string): boolean {
  for (let at = 0; at + WINDOW <= secret.length; at += 1) if (text.includes(secret.slice(at, at + WINDOW))) return true;
  return false;
}

/** Text without a pattern, the same for the same name. */
const noise = (name: string, length = 200): string => {
  let text = '';
  for (let n = 0; text.length < length; n += 1) text += createHash('sha256').update(`${name} ${n}`).digest('hex');
  return text.slice(0, length);
};

/** What each child of the one agent reads, says in passing and answers. */
interface Told {
  readonly reads: readonly string[];
  readonly answer: string;
}

const tasks = (count: number): ScriptedReply => ({
  text: noise('what the parent thinks'),
  calls: Array.from({ length: count }, (_, n) => ({
    tool: 'Task',
    input: { description: `part ${n}`, prompt: `do part ${n}`, subagent_type: 'explore' },
  })),
});

/** The parent reads, calls for all children in one reply, and ends; each child reads all it has to and answers. */
const story = (children: readonly Told[], seen: ModelRequest[]): Setting => ({
  plan: { reason: '', tasks: [{ id: 't', description: 'do t', role: 'oracle', maySpawn: true }] },
  mode: 'yolo',
  record: (request) => void seen.push(request),
  script: ({ agent, purpose, turns }) => {
    if (purpose.is !== 'work') return undefined;
    const replies = turns.filter(({ by }) => by === 'model').length;
    if (agent === S1) return [calling(`read ${noise('what the parent reads')}`), tasks(children.length)][replies];
    const task = turns[0]?.by === 'user' ? turns[0].text : '';
    return childSays(children[Number(/\d+$/.exec(task)?.[0])] ?? { reads: [], answer: '' }, replies);
  },
});

function childSays({ reads, answer }: Told, replies: number): ScriptedReply {
  const next = reads[replies];
  return next === undefined ? { text: answer } : { ...calling(`read ${next}`), text: `in passing: ${noise(next)}` };
}

describe('what a child of Task has read and thought', () => {
  it('is in no request of its parent, and nothing of the parent in one of its own, cut off at any event or not (T001, T002, T018 to T021, I001)', async () => {
    const word = fc.string({
      minLength: WINDOW,
      maxLength: 120,
      unit: fc.constantFrom(...Array.from('abcdefghijklmnopqrstuvwxyz0123456789')),
    });
    const child = fc.record({
      reads: fc.array(word, { maxLength: 3 }),
      answer: fc.string({ minLength: 1, maxLength: 15, unit: 'grapheme-ascii' }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(child, { minLength: 1, maxLength: 3 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (children, cutAt) => {
          const seen: ModelRequest[] = [];
          const whole = testRun(story(children, seen));
          await whole.result;
          const events = whole.events();
          const log = cutLog(SESSION, events.slice(0, Math.max(1, Math.floor(cutAt * events.length))));
          let names = 0;
          const name = (): string => `again-${(names += 1)}`;
          await testRun({ ...story(children, seen), log, world: { ...fakeWorld(), name } }).result;

          const parents = seen
            .filter(({ agent }) => agent === S1 || agent === 'ROOT')
            .map((one) => JSON.stringify(one));
          const secrets = children.flatMap(({ reads }) => reads.flatMap((read) => [`read did ${read}`, noise(read)]));
          expect(parents.filter((text) => secrets.some((secret) => leaks(text, secret)))).toEqual([]);
          const own = [noise('what the parent thinks'), noise('what the parent reads')];
          const below = seen.filter(({ agent }) => agent.startsWith(`${S1}::`));
          expect(below.filter((one) => own.some((secret) => leaks(JSON.stringify(one), secret)))).toEqual([]);
          // An array of its own each, which begins with one user message: the prompt.
          for (const { turns } of below) {
            expect(turns[0]?.by === 'user' && turns[0].text).toMatch(/^do part \d+$/);
            expect(turns.filter(({ by }) => by === 'user').length).toBe(1);
          }
          // The parent grew by one reply with its calls, and one turn with their results.
          const last = seen.findLast(({ agent, purpose }) => agent === S1 && purpose.is === 'work');
          expect(last?.turns.map(({ by }) => by)).toEqual(['user', 'model', 'tools', 'model', 'tools']);
          // The marks are really there: each child has its own.
          const mine = below.map((one) => JSON.stringify(one)).join('\n');
          expect(children.flatMap(({ reads }) => reads).every((read) => leaks(mine, read))).toBe(true);
        },
      ),
      { numRuns: 25 },
    );
  });
});

const FILES = { 'deep/one.txt': `${noise('one')}\n`, 'deep/two.txt': `${noise('two')}\n` };
const PLAN = JSON.stringify({
  reason: 'It is little.',
  tasks: [
    {
      id: 'task-1',
      description: 'Say what the files have in common',
      recommendedRole: 'oracle',
      recommendedModel: null,
      estimatedTokens: 8000,
      dependencies: [],
      maySpawn: true,
    },
  ],
});
const ask = (path: string): { readonly tool: string; readonly input: unknown } => ({
  tool: 'Task',
  input: { description: `look into ${path}`, prompt: `Read ${path} and say how it begins`, subagent_type: 'Explore' },
});

describe.concurrent('on the wire', () => {
  it.each<OwnWire>(['anthropic', 'openai-compatible'])(
    'no byte of what two children read at once reaches their parent, over the wire of %s (T001, T002, T012, T019, T020)',
    async (wire) => {
      const { machine, double } = await ownModel(wire, {
        files: FILES,
        script: {
          rules: [
            { when: { first: '# Roles' }, answer: { text: PLAN } },
            {
              when: { first: '^Read deep/one', turn: 1 },
              answer: { text: 'now one', calls: [{ tool: 'read_file', input: { path: 'deep/one.txt' } }] },
            },
            {
              when: { first: '^Read deep/two', turn: 1 },
              answer: { text: 'now two', calls: [{ tool: 'read_file', input: { path: 'deep/two.txt' } }] },
            },
            { when: { first: '^Read deep/one' }, answer: { text: 'one is noise' } },
            { when: { first: '^Read deep/two' }, answer: { text: 'two is noise' } },
            { when: { first: '^Say what', turn: 1 }, answer: { calls: [ask('deep/one.txt'), ask('deep/two.txt')] } },
            { when: { first: '^Say what' }, answer: { text: 'Both are noise.' } },
          ],
        },
      });
      const { code, events } = await runOn(machine, 'What do the files say?', '--mode', 'yolo');
      expect(code).toBe(0);
      expect(of(events, 'agent.created').map(({ agent }) => agent)).toEqual([
        'ROOT',
        'ROOT::S1',
        'ROOT::S1::S1',
        'ROOT::S1::S2',
      ]);
      const secrets = Object.values(FILES);
      const children = double.asked.filter(({ first }) => first.startsWith('Read deep/'));
      const others = double.asked.filter((one) => !children.includes(one));
      expect(others.filter(({ raw }) => secrets.some((secret) => leaks(raw, secret)))).toEqual([]);
      // They were read, each by its own child, which saw nothing of the other.
      expect(children.filter(({ raw }) => secrets.some((secret) => leaks(raw, secret))).length).toBe(2);
      expect(children.filter(({ raw }) => secrets.every((secret) => leaks(raw, secret)))).toEqual([]);
      expect(others.at(-1)?.raw).toMatch(/one is noise[\s\S]*two is noise/);
      expect(children.filter(({ raw }) => raw.includes('Say what the files have'))).toEqual([]);
    },
  );
});
