/** What line mode prints when it asks, and what may be typed beside an answer. */
import { Chalk } from 'chalk';
import { describe, expect, it } from 'vitest';
import type { EventOf } from '../../src/events/by-type.ts';
import type { ApprovalRequest } from '../../src/events/event.ts';
import { foldAll } from '../../src/events/fold.ts';
import { questionLines } from '../../src/verbs/line-questions.ts';
import { ruleCommand } from '../../src/verbs/line-rules.ts';
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
      String.raw`  | rm \u{202e}x\xa0y`,
      String.raw`  | \x1b[8mz`,
      '  2 lines, 13 characters',
    ]);
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
