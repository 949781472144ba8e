/** Line mode with a person at it: questions of agents, and the end of a run. */
import { WITHOUT_SANDBOX } from '../../../src/app/views/questions/question.ts';
import { describe, expect, it } from 'vitest';
import { approval, asks, finished, midRun, type Recording } from '../../support/recorded-run.ts';
import { typist } from '../../support/typist.ts';

describe('a question in lines', () => {
  const asked = (request = {}): Recording => asks(midRun(), 185, 'ROOT::S4', 'a0', approval(request));

  it('interrupts with who, role, task, the action and numbered answers, and the prompt says what is answered', async () => {
    const person = await typist(asked({ same: 's' }).events);
    const said = person.said.slice(person.said.indexOf('\nnpm test'));
    expect(said.map((line) => line.replace(/waiting [\dm ]+s:/, 'waiting:'))).toEqual([
      '\nnpm test',
      '  ROOT::S4, #4 refactoring, role refactoring, waiting: Move rotation into TokenStore',
      '  because shell asks in confirm mode',
      `  UNSANDBOXED: ${WITHOUT_SANDBOX}`,
      '  | npm test -- refresh --repeat 50',
      '  1 line, 31 characters',
      '  1  y  allow once',
      '  2  this command: exactly this command, any agent, this session',
      '  4  n  deny',
      '  5  deny, say why: 5 or n, and words',
    ]);
    expect(person.prompt()).toBe('Question 1, #4 refactoring: allow it? 1, 2, 4, 5, y or n? ');
  });

  it.each([
    ['y', { allow: true, scope: 'once', text: '' }],
    ['4', { allow: false, scope: 'once', text: '' }],
    ['n use vitest', { allow: false, scope: 'once', text: 'use vitest' }],
    ['2', { allow: true, scope: 'session', text: '' }],
  ])('"%s" answers it', async (line, answer) => {
    const person = await typist(asked({ same: 's' }).events);
    await person.types(line);
    expect(person.commands).toEqual([{ do: 'answer', approval: 'a0', ...answer }]);
    expect(person.prompt()).toBe('> ');
  });

  it('leaves all commands there, and takes neither Enter nor other words for an answer (F04)', async () => {
    const person = await typist(asked().events);
    expect((await person.hears(''))[0]).toMatch(/1 open question\.$/);
    expect((await person.hears('show 4'))[0]).toMatch(/^#4 refactoring: waiting, asks you/);
    expect(await person.hears('sure')).toEqual([
      'That is not an answer or a command; the question is still open. Question 1, #4 refactoring: allow it? 1, 4, 5, y or n?',
    ]);
    await person.types('interrupt 3');
    expect(person.commands).toEqual([{ do: 'interrupt', agent: 'ROOT::S3' }]);
  });

  it('takes no line for an answer that was begun before it was said', async () => {
    const person = await typist(asked().events);
    await person.typesSince(0, 'y');
    expect(person.commands).toEqual([]);
    expect(person.said.at(-1)).toMatch(/^That was begun before the question was/);
  });

  it('takes no line for an answer that comes as fast as a held key repeats (S1)', async () => {
    const person = await typist(asked().events, { terminal: true });
    const { printedAt: since } = person.session.answers.questions;
    await person.typesSince(since + 132, '1');
    expect(person.commands).toEqual([]);
    expect(person.said.at(-1)).toMatch(/^That came as fast as a held key repeats/);
    for (let at = since + 165; at < since + 3000; at += 33) await person.typesSince(at, '1');
    expect(person.commands).toEqual([]);
    await person.typesSince(since + 5000, '1');
    expect(person.commands).toHaveLength(1);
  });

  it('of an agent takes any words, and answer takes words that are a command', async () => {
    const open = { action: 'question', title: 'Which store?', options: [] } as const;
    const person = await typist(asked(open).events);
    await person.types('the one in src');
    expect(person.commands.at(-1)).toMatchObject({ do: 'answer', allow: true, text: 'the one in src' });
    const other = await typist(asked(open).events);
    await other.types('answer agents');
    expect(other.commands).toEqual([{ do: 'answer', approval: 'a0', allow: true, scope: 'once', text: 'agents' }]);
  });

  it('is listed, and printed again by its number', async () => {
    const person = await typist(asked().events);
    expect((await person.hears('questions'))[0]).toBe('1. #4 refactoring, shell: npm test');
    await person.types('questions 1', 'y');
    expect(person.commands).toMatchObject([{ do: 'answer', approval: 'a0', allow: true }]);
  });
});

describe('the end of a run in lines', () => {
  it('says the report again, agents against their estimates, and begins another', async () => {
    const person = await typist(finished().events);
    expect((await person.hears('report'))[0]).toBe('# Token refresh');
    expect((await person.hears('compare'))[2]).toMatch(/^\| finder \| \S+ of 10k \| .* of 30s \|$/);
    expect(await person.hears('export pdf')).toEqual(['"pdf" is not a format: expected md, json or html.']);
    expect(await person.hears('interrupt 3')).toEqual(['Interrupt is for an active run. Nothing was done.']);
    await person.types('new', 'Another task');
    expect(person.run.begun).toEqual(['task', 'Another task']);
  });

  it('is left when nobody types any more', async () => {
    const person = await typist(finished().events);
    await person.ends();
    expect(person.commands).toEqual([]);
  });
});
