/** What line mode prints when it asks, and what may be typed beside an answer. */
import { cleanState } from '../../../src/app/views/text/sanitise-state.ts';
import { markHidden } from '../../../src/app/views/text/sanitise.ts';
import { openQuestions, WITHOUT_SANDBOX } from '../../../src/app/views/questions/question.ts';
import { Chalk } from 'chalk';
import { describe, expect, it } from 'vitest';
import type { ApprovalRequest } from '../../../src/events/event.ts';
import { foldAll } from '../../../src/events/fold.ts';
import { widthOf } from '../../../src/app/views/text/width.ts';
import {
  answerLines,
  answerOf,
  exactText,
  LineQuestions,
  promptFor,
  questionLines,
  printPages,
} from '../../../src/ui/lines/questions.ts';
import type { RunState } from '../../../src/events/state.ts';
import { approval, asks, midRun, START } from '../../support/recorded-run.ts';

const paint = new Chalk({ level: 0 });
/** A run in which these agents ask this, and nobody else does. */
function asking(request: Partial<ApprovalRequest>, agents: readonly string[] = ['ROOT::S4']): RunState {
  const log = midRun();
  for (const [index, agent] of agents.entries()) asks(log, 185, agent, `a${index}`, approval(request));
  const state = cleanState(foldAll(log.events));
  return { ...state, approvals: state.approvals.filter(({ id }) => /^a\d$/.test(id)) };
}

function lines(request: Partial<ApprovalRequest>, agents?: readonly string[]): readonly string[] {
  const state = asking(request, agents);
  const [question] = openQuestions(state, new Set());
  return question === undefined ? [] : questionLines(question, state, { paint }, { now: START + 190_000 });
}

describe('a question in lines', () => {
  it('says who asks by path, role and task, exactly what, and what hides in it (F04, F05)', () => {
    expect(lines({ title: 'rm', exact: 'rm \u202ex\u00a0y\n\u001b[8mz' })).toEqual([
      '\nrm',
      '  ROOT::S4, #4 refactoring, role refactoring, waiting 5s: Move rotation into TokenStore',
      '  because shell asks in confirm mode',
      `  UNSANDBOXED: ${WITHOUT_SANDBOX}`,
      '  DANGER: it deletes files',
      String.raw`  | rm <\u{202e}>x<\xa0>y`,
      String.raw`  | <\x1b>[8mz`,
      '  2 lines, 26 characters',
      '  hidden characters are shown as <escapes>',
    ]);
  });

  it('says why allowing it may destroy something, by the text of a command or by a rule', () => {
    const dangers = [{ exact: 'npm test && rm -r dist' }, { exact: 'npm test' }, { destroys: 'it deletes a tree' }].map(
      (request) => lines(request).filter((line) => line.includes('DANGER')),
    );
    expect(dangers).toEqual([['  DANGER: it deletes files'], [], ['  DANGER: it deletes a tree']]);
  });

  it('gives a long action a digest, and breaks it where the terminal ends', () => {
    const exact = `echo ${'a'.repeat(300)}`;
    const shown = exactText(approval({ exact: markHidden(exact) }), paint, { columns: 80, rows: 24 });
    expect(shown.slice(0, -1).map((line) => line.slice(0, 4))).toEqual([
      '  | ',
      '  : ',
      '  + ',
      '  + ',
      '  + ',
      '  + ',
    ]);
    expect(
      shown
        .slice(0, -1)
        .map((line) => line.slice(4))
        .join(''),
    ).toBe(exact);
    expect(Math.max(...shown.map((line) => line.length))).toBeLessThan(80);
    expect(shown.at(-1)).toMatch(/^ {2}1 line, 305 characters, digest [0-9a-f]{8}$/);
    const wide = exactText(approval({ exact: markHidden(`${'\u6f22'.repeat(60)}\u202e!`) }), paint, {
      columns: 40,
      rows: 24,
    });
    const rows = wide.filter((line) => /^ {2}[|:+] /.test(line));
    expect(rows.every((line) => widthOf(line) < 40)).toBe(true);
    expect(wide.join('')).toContain(String.raw`<\u{202e}>!`);
  });

  it('never looks the same with a hidden character as with the letters of its escape, colours or not', () => {
    for (const level of [0, 1] as const) {
      const [hidden, letters] = ['rm \u202ex', String.raw`rm \u{202e}x`].map(
        (exact) => exactText(approval({ exact: markHidden(exact) }), new Chalk({ level }), null)[0],
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
    expect(await printPages(ten, { say, ...asker('', '') }, room)).toBe(true);
    expect(told.filter((line) => line.startsWith('--'))).toEqual([
      '-- 6 lines more: Enter continues, n denies -- ',
      '-- 2 lines more: Enter continues, n denies -- ',
    ]);
    expect(told.filter((line) => line.startsWith('line'))).toEqual(ten);
    expect(await printPages(ten, { say, ...asker('n') }, room)).toBe(false);
    expect(await printPages(ten, { say, ...asker() }, null)).toBe(true);
  });

  it('is put once for all who ask the same', () => {
    expect(
      lines({ title: 'npm test', exact: 'npm test', unsandboxed: false, same: 's' }, ['ROOT::S3', 'ROOT::S4']),
    ).toEqual([
      '\n2 agents ask the same question: npm test',
      '  ROOT::S3, #3 oracle, role oracle, waiting 5s: Explain the race: why do two refreshes both win?',
      '  ROOT::S4, #4 refactoring, role refactoring, waiting 5s: Move rotation into TokenStore',
      '  because shell asks in confirm mode',
      '  | npm test',
      '  1 line, 8 characters',
    ]);
  });
});

describe('questions one after the other', () => {
  const many = ['ROOT::S3', 'ROOT::S4'] as const;

  it('are put whole before a line can answer them, and equal ones once', () => {
    const state = asking({ exact: 'npm test', same: 's' }, many);
    const questions = new LineQuestions();
    expect(questions.current(state)).toBeNull();
    const put = questions.unprinted(state);
    if (put === null) throw new Error('no question');
    questions.setPrinted(put, 7);
    expect(questions.printedAt).toBe(7);
    expect(questions.unprinted(state)).toBeNull();
    expect(questions.current(state)?.all.map(({ id }) => id)).toEqual(['a0', 'a1']);
    expect(promptFor(put, state)).toBe('Question 1, 2 agents: allow it? 1, 2, 4, 5, y or n? ');
  });

  it('ask nobody again what was allowed for the session while it was said', () => {
    const { questions, current, both } = halfSaid();
    // The second came later: it was not said to the person, and yet it is covered.
    expect(questions.answer(current, { allow: true, scope: 'session' })).toEqual([
      { do: 'answer', approval: 'a0', allow: true, scope: 'session' },
    ]);
    expect(questions.unprinted(both)).toBeNull();
  });

  it('answer only for those in whose name they were said', () => {
    const { questions, current, both } = halfSaid();
    expect(questions.answer(current, { allow: true, scope: 'once' })).toEqual([
      { do: 'answer', approval: 'a0', allow: true, scope: 'once' },
    ]);
    expect(questions.unprinted(both)?.all.map(({ id }) => id)).toEqual(['a1']);
  });

  it('keep their numbers, and another one can be turned to', () => {
    const log = midRun();
    asks(log, 185, 'ROOT::S3', 'a0', approval({ exact: 'ls' }));
    asks(log, 186, 'ROOT::S4', 'a1', approval({ exact: 'pwd' }));
    const state = {
      ...foldAll(log.events),
      approvals: foldAll(log.events).approvals.filter(({ id }) => /^a\d$/.test(id)),
    };
    const questions = new LineQuestions();
    const put = questions.unprinted(state);
    if (put === null) throw new Error('no question');
    questions.setPrinted(put, 1);
    const other = questions.open(state).find(({ number }) => number === 2);
    if (other === undefined) throw new Error('no question');
    questions.select(other);
    expect(questions.unprinted(state)?.number).toBe(2);
    questions.setPrinted(other, 2);
    questions.answer(other, { allow: false, scope: 'once' });
    expect(questions.open(state).map(({ number }) => number)).toEqual([1]);
    expect(questions.unprinted(state)?.number).toBe(1);
  });
});

describe('what is typed as an answer', () => {
  const once = (allow: boolean, text = '') => ({ allow, scope: 'once', text });

  it.each([
    ['y', once(true)],
    ['1', once(true)],
    ['n', once(false)],
    ['2', { allow: true, scope: 'session', text: '' }],
    ['3', null],
    ['4', once(false)],
    ['5', null],
    ['5 use the other file', once(false, 'use the other file')],
    ['n use the other file', once(false, 'use the other file')],
    ['1 use the other file', null],
    ['A', { allow: true, scope: 'session', text: '' }],
    ['', null],
    ['Y', null],
    ['yes', null],
    ['ok', null],
    ['a', null],
  ])('permission: "%s" (F04)', (typed, answer) => {
    expect(answerOf(approval({ same: 's' }), typed, true)).toEqual(answer);
  });

  it('permission of a program, a file or an agent is offered by its number', () => {
    const wide = approval({ same: 's', programs: [['npm', 'test'], ['>']] });
    expect(answerOf(wide, '3', true)).toEqual({ allow: true, scope: 'program', text: '' });
    expect(answerLines({ request: wide })[2]).toBe(
      '  3  npm test … and writing files with >: commands that run only npm test … and write files with >, in the sandbox, this session',
    );
    const write = approval({ action: 'write', same: 'write', file: 'src/a.ts' });
    expect(['2', '3', 'A'].map((typed) => answerOf(write, typed, true)?.scope)).toEqual(['file', 'session', 'session']);
    expect(answerLines({ request: write })).toEqual([
      '  1  y  allow once',
      '  2  this file: changes of src/a.ts by this agent, this session',
      "  3  this agent's edits: all file changes of this agent, within its writes, this session",
      '  4  n  deny',
      '  5  deny, say why: 5 or n, and words',
    ]);
  });

  it('permission that is asked anew each time has no A', () => {
    expect(answerOf(approval({}), 'A', true)).toBeNull();
    expect(answerLines({ request: approval({}) })).toEqual([
      '  1  y  allow once',
      '  4  n  deny',
      '  5  deny, say why: 5 or n, and words',
    ]);
  });

  it.each([
    ['1', 'finish: with what it has'],
    ['finish', 'finish: with what it has'],
    ['2', 'add $1.00'],
    ['add 2.50', 'add 2.50'],
    ['', null],
    ['more', null],
  ])('a choice of an amount: "%s"', (typed, text) => {
    const request = approval({ action: 'budget', options: ['finish: with what it has', 'add $1.00'], adds: 1 });
    expect(answerOf(request, typed, true)?.text ?? null).toBe(text);
  });

  it('a question of an agent takes its options by number, and other words; nothing typed is no answer', () => {
    const request = approval({ action: 'question', options: ['the first', 'the second'] });
    expect(answerOf(request, '2', true)).toEqual(once(true, 'the second'));
    expect(answerOf(request, 'neither', true)).toEqual(once(true, 'neither'));
    expect(answerOf(request, 'neither', false)).toBeNull();
    expect(answerOf(request, '', true)).toBeNull();
  });

  it('a turn goes on with Enter, and takes a command or a message', () => {
    const request = approval({ action: 'turn' });
    expect(answerOf(request, '', false)).toEqual(once(true));
    expect(answerOf(request, '!ls', true)).toEqual(once(true, '!ls'));
  });
});

/** Two ask the same, of which the second came when the first had been said. */
function halfSaid() {
  const first = asking({ exact: 'npm test', same: 's' }, ['ROOT::S3']);
  const both = asking({ exact: 'npm test', same: 's' }, ['ROOT::S3', 'ROOT::S4']);
  const questions = new LineQuestions();
  const put = questions.unprinted(first);
  if (put === null) throw new Error('no question');
  questions.setPrinted(put, 1);
  const current = questions.current(both);
  if (current === null) throw new Error('not said');
  return { questions, current, both };
}
