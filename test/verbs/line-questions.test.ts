/** What line mode prints when it asks, and what may be typed beside an answer. */
import { Chalk } from 'chalk';
import { describe, expect, it } from 'vitest';
import type { EventOf } from '../../src/events/by-type.ts';
import type { ApprovalRequest } from '../../src/events/event.ts';
import { foldAll } from '../../src/events/fold.ts';
import { widthOf } from '../../src/tui/text/width.ts';
import { exactText, sayAll } from '../../src/verbs/line-exact.ts';
import { openIo } from '../../src/verbs/io.ts';
import { answerQuestions, questionLines } from '../../src/verbs/line-questions.ts';
import { ruleCommand } from '../../src/verbs/line-rules.ts';
import { fakeRun, settled } from '../support/fake-run.ts';
import { approval, asks, midRun } from '../support/recorded-run.ts';

const paint = new Chalk({ level: 0 });
const state = foldAll(midRun().events);

function asked(
  request: Partial<ApprovalRequest>,
  agents: readonly string[] = ['ROOT::S4'],
): readonly EventOf<'approval.requested'>[] {
  const log = midRun();
  for (const [index, agent] of agents.entries()) asks(log, 185, agent, `a${index}`, approval(request));
  return log.events.filter((event) => event.type === 'approval.requested');
}

/** Without how long it waits: the log of the test is old. */
const lines = (request: Partial<ApprovalRequest>, agents?: readonly string[]): readonly string[] =>
  questionLines(asked(request, agents), state, { paint }).map((line) => line.replace(/waits [\dms ]+/, 'waits'));

describe('a question in lines', () => {
  it('says who asks by path, role and task, exactly what, and what hides in it (F04, F05)', () => {
    expect(lines({ title: 'rm', exact: 'rm \u202ex\u00a0y\n\u001b[8mz' })).toEqual([
      '\nrm',
      '  ROOT::S4, #4 refactoring, role refactoring, waits: Move rotation into TokenStore',
      '  because shell asks in confirm mode',
      '  UNSANDBOXED: it runs with all your rights',
      String.raw`  | rm <\u{202e}>x<\xa0>y`,
      String.raw`  | <\x1b>[8mz`,
      '  2 lines, 13 characters',
      '  hidden characters are in it: shown as <escapes>',
    ]);
  });

  it('gives a long action a digest, and breaks it where the terminal ends', () => {
    const exact = `echo ${'a'.repeat(300)}`;
    const shown = exactText(exact, paint, { columns: 80, rows: 24 });
    expect(shown.slice(0, -1).map((line) => line.slice(0, 4))).toEqual(['  | ', '  : ', '  : ', '  : ', '  : ']);
    expect(
      shown
        .slice(0, -1)
        .map((line) => line.slice(4))
        .join(''),
    ).toBe(exact);
    expect(Math.max(...shown.map((line) => line.length))).toBeLessThan(80);
    expect(shown.at(-1)).toMatch(/^ {2}1 line, 305 characters, digest [0-9a-f]{8}$/);
    const wide = exactText(`${'\u6f22'.repeat(60)}\u202e!`, paint, { columns: 40, rows: 24 });
    const rows = wide.filter((line) => /^ {2}[|:] /.test(line));
    expect(rows.every((line) => widthOf(line) < 40)).toBe(true);
    expect(wide.join('')).toContain(String.raw`<\u{202e}>!`);
  });

  it('never looks the same with a hidden character as with the letters of its escape, colours or not', () => {
    for (const level of [0, 1] as const) {
      const [hidden, letters] = ['rm \u202ex', String.raw`rm \u{202e}x`].map(
        (exact) => exactText(exact, new Chalk({ level }), null)[0],
      );
      expect(hidden).not.toBe(letters);
    }
  });

  it('is said a screen at a time, and a no in between ends it', async () => {
    const told: string[] = [];
    const asker = (...answers: readonly string[]) => {
      const left = [...answers];
      return { ask: (prompt: string) => (told.push(prompt), Promise.resolve(left.shift() ?? null)), close: () => {} };
    };
    const say = (line: string): void => void told.push(line);
    const room = { columns: 80, rows: 6 };
    const ten = Array.from({ length: 10 }, (_, index) => `line ${index}`);
    expect(await sayAll(ten, { asker: asker('', ''), io: { say }, room })).toBe(true);
    expect(told.filter((line) => line.startsWith('--'))).toEqual([
      '-- 6 lines more: Enter goes on, n is a no -- ',
      '-- 2 lines more: Enter goes on, n is a no -- ',
    ]);
    expect(told.filter((line) => line.startsWith('line'))).toEqual(ten);
    expect(await sayAll(ten, { asker: asker('n'), io: { say }, room })).toBe(false);
    expect(await sayAll(ten, { asker: asker(), io: { say }, room: null })).toBe(true);
  });

  it('is put once for all who ask the same', () => {
    expect(
      lines({ title: 'npm test', exact: 'npm test', unsandboxed: false, same: 's' }, ['ROOT::S3', 'ROOT::S4']),
    ).toEqual([
      '\n2 agents ask the same: npm test',
      '  ROOT::S3, #3 oracle, role oracle, waits: Explain the race: why do two refreshes both win?',
      '  ROOT::S4, #4 refactoring, role refactoring, waits: Move rotation into TokenStore',
      '  because shell asks in confirm mode',
      '  | npm test',
      '  1 line, 8 characters',
    ]);
  });
});

describe('questions one after the other', () => {
  it('asks nobody again what was allowed for the session while it was shown', async () => {
    const [first, second] = asked({ title: 'npm test', exact: 'npm test', unsandboxed: false, same: 's' }, [
      'ROOT::S3',
      'ROOT::S4',
    ]);
    if (first === undefined || second === undefined) throw new Error('no questions');
    const prompts: string[] = [];
    const typed = Promise.withResolvers<string>();
    const submitted = Promise.withResolvers<string>();
    const run = fakeRun();
    const started = await run.lobby.start('task');
    if (!started.ok) throw new Error('not started');
    const questions = answerQuestions({
      controls: {
        ...started.value,
        submit: (command) => {
          submitted.resolve(command.do);
          return started.value.submit(command);
        },
      },
      asker: { ask: (prompt) => (prompts.push(prompt), typed.promise), close: () => {} },
      io: { ...openIo({}), terminal: false, say: () => {}, complain: () => {} },
      state: () => state,
    });
    questions.hear(first);
    questions.hear(second);
    typed.resolve('A');
    await submitted.promise;
    await settled();
    expect(prompts).toHaveLength(1);
    expect(run.commands).toMatchObject([{ do: 'answer', approval: 'a0', allow: true, scope: 'session' }]);
  });
});

describe('what may be typed beside an answer', () => {
  it.each([
    ['mode yolo', { do: 'set mode', mode: 'yolo' }],
    ['mode yol', '"yol" is no mode: expected human, confirm or yolo'],
    ['pin ROOT::S4 human', { do: 'pin mode', agent: 'ROOT::S4', mode: 'human' }],
    ['pin oracle human', { do: 'pin mode', agent: 'ROOT::S3', mode: 'human' }],
    ['unpin ROOT::S4', { do: 'pin mode', agent: 'ROOT::S4', mode: null }],
    ['pin nobody human', 'there is no agent nobody'],
    ['review security', 'the rules here know no review security'],
    ['mode of failure is unclear', null],
    ['constructor x', null],
    ['y', null],
    ['', null],
  ])('takes "%s" for %o', (typed, command) => {
    expect(ruleCommand(typed, state)).toEqual(command);
  });
});
