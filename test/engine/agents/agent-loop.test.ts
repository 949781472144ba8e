/** The loop of one agent: what each turn adds to the conversation, and how it ends. */
import { describe, expect, it } from 'vitest';
import type { WorkOutcome } from '../../../src/domain/agents/agent.ts';
import type { Turn } from '../../../src/domain/turn.ts';
import { VERDICT_TOOL } from '../../../src/engine/gate/index.ts';
import { call, completed, did, model, ran, type Said, tools, user } from '../../support/gate-by-list.ts';

const GO_ON = '(Mimir: you can work and call tools again. Continue with what is left to do.)';

describe('an agent', () => {
  it('is asked, uses its tools and is asked again, until it answers without a call', async () => {
    expect(await ran([['I look', call('a'), call('b')], 'it is in b.ts\n[COMPLETE]'])).toEqual({
      outcome: completed('it is in b.ts'),
      acts: ['ask', 'use a b', 'ask'],
      told: ['find it'],
      conversation: [
        user('find it'),
        model('I look', call('a'), call('b')),
        tools(did('a'), did('b')),
        model('it is in b.ts\n[COMPLETE]'),
      ],
    });
  });

  it('reads the messages that wait between its turns, and goes on where one has come at its end', async () => {
    const mail = [null, 'also c', null];
    expect(await ran([['', call('a')], 'the first', 'the second'], { mail, mailAtEnd: ['and d?'] })).toEqual({
      outcome: completed('the first\n\nthe second'),
      acts: ['ask', 'use a', 'ask', 'ask'],
      told: ['find it'],
      conversation: [
        user('find it'),
        model('', call('a')),
        tools(did('a')),
        user('also c'),
        model('the first'),
        user('and d?'),
        model('the second'),
      ],
    });
  });

  it('is told where its reply was cut off: what that said is no answer, and none of its calls is used', async () => {
    const { outcome, acts, conversation } = await ran(['output limit', 'the whole']);
    expect([outcome, acts, conversation.slice(1)]).toEqual([
      completed('the whole'),
      ['ask', 'ask'],
      [
        model('output limit'),
        user('Your last reply was cut off at the output limit. Nothing of it was executed. Continue in smaller steps.'),
        model('the whole'),
      ],
    ]);
  });

  it.each<[Said, WorkOutcome]>([
    ['', { is: 'failed', reason: 'The model ended without an answer' }],
    ['refused', { is: 'failed', reason: 'The model refused to continue' }],
    [
      { is: 'model', text: 'no model' },
      { is: 'failed', reason: 'no model' },
    ],
    [
      { is: 'denied', text: 'a rule' },
      { is: 'failed', reason: 'a rule' },
    ],
    [
      { is: 'stopped', text: 'killed' },
      { is: 'stopped', reason: 'killed' },
    ],
    [
      { is: 'budget', text: 'no money' },
      { is: 'partial', reason: 'no money', summary: '', atLimit: true },
    ],
  ])('that is answered %j at once ends as %j', async (said, outcome) => {
    expect(await ran([said])).toMatchObject({ outcome, acts: ['ask'] });
  });

  it('that is told while it waits for its model is asked again, and told of its last turn once', async () => {
    expect(await ran([{ is: 'told' }, 'here'], { mail: [null, 'also c'] })).toMatchObject({
      outcome: completed('here'),
      acts: ['ask', 'ask'],
      conversation: [user('find it'), user('also c'), model('here')],
    });
    const { acts, told } = await ran([{ is: 'told' }, 'half'], { order: { iterations: 1 } });
    expect([acts, told.length]).toEqual([['ask to close', 'ask to close'], 2]);
  });

  it('that is stopped while its tools run ends as stopped, whatever it has reported', async () => {
    const signalled = [null, completed('reported')];
    expect(await ran([['', call('a')]], { signalled, stops: true })).toMatchObject({
      outcome: { is: 'stopped', reason: 'killed' },
      acts: ['ask', 'use a'],
    });
  });

  it('ends as it has itself reported, before it is asked again', async () => {
    const signalled = [null, completed('reported')];
    expect(await ran([['', call('a')]], { signalled })).toMatchObject({
      outcome: completed('reported'),
      acts: ['ask', 'use a'],
    });
  });
});

describe('a resumed agent', () => {
  const begun = [user('find it'), model('', call('a'), call('b'), call('c'))];

  it.each<[string, readonly Turn[], string]>([
    ['none', [], 'use a b c'],
    ['one', [tools(did('b'))], 'use a c'],
    ['two', [tools(did('a'), did('c'))], 'use b'],
  ])('with %s of its calls done does the others alone, and reads all results in their order', async (_, done, use) => {
    const { acts, conversation } = await ran(['here'], { order: { turns: [...begun, ...done] } });
    expect([acts, conversation]).toEqual([
      [use, 'ask'],
      [...begun, tools(did('a'), did('b'), did('c')), model('here')],
    ]);
  });

  it('with all of them done does none again, and keeps the messages behind them', async () => {
    const turns = [...begun, tools(did('a'), did('b'), did('c')), user('also d')];
    expect(await ran(['here'], { order: { turns } })).toMatchObject({
      acts: ['ask'],
      conversation: [...turns, model('here')],
    });
  });

  it('with a message behind calls that were not done does them before it', async () => {
    const { acts, conversation } = await ran(['here'], { order: { turns: [...begun, user('also d')] } });
    expect([acts, conversation]).toEqual([
      ['use a b c', 'ask'],
      [...begun, tools(did('a'), did('b'), did('c')), user('also d'), model('here')],
    ]);
  });

  it('that has answered is not asked again, unless a message has come since', async () => {
    const order = { turns: [user('find it'), model('here')] };
    expect(await ran([], { order })).toMatchObject({ outcome: completed('here'), acts: [] });
    expect(await ran(['there'], { order, mailAtEnd: ['sure?'] })).toMatchObject({
      outcome: completed('here\n\nthere'),
      acts: ['ask'],
    });
  });

  it('that has reported its end is not asked again', async () => {
    const outcome = { is: 'failed', reason: 'lost' } as const;
    expect(await ran([], { order: { turns: begun.slice(0, 1) }, signalled: [outcome] })).toMatchObject({
      outcome,
      acts: [],
    });
  });
});

describe('the last turn', () => {
  const LAST =
    '(Mimir: Max iterations reached. This is your last turn; it cannot call tools. Answer now: what you did and found, with `path:line`, and what is left to do.)';
  const partial = (summary: string): WorkOutcome => ({ is: 'partial', reason: 'Max iterations reached', summary });

  it('is the only one of an agent with one turn: it answers at once', async () => {
    expect(await ran(['half of it'], { order: { iterations: 1 } })).toEqual({
      outcome: partial('half of it'),
      acts: ['ask to close'],
      told: ['find it', LAST],
      conversation: [user('find it'), user(LAST), model('half of it')],
    });
  });

  it('is counted with the replies before the resume, and three turns before it the agent is told once', async () => {
    const order = { iterations: 6, replies: 2, turns: [user('find it'), model('', call('a')), tools(did('a'))] };
    const { acts, conversation, outcome } = await ran([['', call('b')], ['', call('c')], ['', call('d')], 'half'], {
      order,
    });
    const told = conversation.flatMap((turn) =>
      turn.by === 'tools' ? turn.results.map(({ text }) => text.split('\n\n')[1] ?? '') : [],
    );
    expect([acts, told, outcome]).toEqual([
      ['ask', 'use b', 'ask', 'use c', 'ask', 'use d', 'ask to close'],
      [
        '',
        '(Mimir: you have 3 turns left. The last one is for your answer and cannot call tools. Do the most important work now.)',
        '',
        LAST,
      ],
      partial('half'),
    ]);
  });

  it('uses no tool, and is asked for once more; then the last words count as what there is', async () => {
    const order = { iterations: 2 };
    expect(
      await ran(
        [
          ['I look', call('a')],
          ['', call('b')],
          ['', call('c')],
        ],
        { order },
      ),
    ).toMatchObject({
      outcome: partial('(Partial: no turn was left for a final answer. The last message follows.)\n\nI look'),
      acts: ['ask', 'use a', 'ask to close', 'refuse b', 'ask to close', 'refuse c'],
    });
  });

  it('of a reviewer is for its verdict, whose calls alone are used', async () => {
    const order = { iterations: 1, tools: ['read', VERDICT_TOOL] };
    const verdict = call('v', VERDICT_TOOL);
    expect(await ran([['', call('a'), verdict]], { order })).toMatchObject({
      outcome: completed('Verdict given.'),
      acts: ['ask to close', 'use v', 'refuse a'],
      conversation: [
        user('find it'),
        user(
          '(Mimir: Max iterations reached. This is your last turn; it can call only `give_verdict`. Give your verdict now: without it the change does not pass.)',
        ),
        model('', call('a'), verdict),
        tools(
          { call: call('a').id, ok: false, text: 'Not run: only `give_verdict` can be called in the last turn.' },
          did('v'),
        ),
      ],
    });
    expect(await ran(['all is well', 'really'], { order })).toMatchObject({
      outcome: partial('all is well\n\nreally'),
      acts: ['ask to close', 'ask to close'],
    });
  });

  it('comes when the budget ends, after the agent has said something', async () => {
    const full = { is: 'budget', text: 'no money' } as const;
    expect(await ran([['I look', call('a')], full, 'half of it'])).toMatchObject({
      outcome: { is: 'partial', reason: 'no money', summary: 'half of it' },
      acts: ['ask', 'use a', 'ask', 'ask to close'],
    });
    expect(await ran([['I look', call('a')], full, full])).toMatchObject({
      outcome: {
        is: 'partial',
        reason: 'no money',
        summary: '(Partial: no turn was left for a final answer. The last message follows.)\n\nI look',
        atLimit: true,
      },
      acts: ['ask', 'use a', 'ask', 'ask to close'],
    });
    expect(await ran(['refused'], { order: { iterations: 1 } })).toMatchObject({
      outcome: { is: 'failed', reason: 'The model refused to continue' },
    });
  });

  it('that was answered is not asked for again after a resume, unless the agent may now go on', async () => {
    const turns = [user('find it'), model('', call('a')), tools(did('a', `did a\n\n${LAST}`)), model('half of it')];
    expect(await ran([], { order: { turns, replies: 2, iterations: 2 } })).toMatchObject({
      outcome: partial('half of it'),
      acts: [],
      told: [],
    });
    expect(await ran([['', call('b')], 'the rest'], { order: { turns, replies: 2, iterations: 4 } })).toMatchObject({
      outcome: partial('half of it\n\nthe rest'),
      acts: ['ask', 'use b', 'ask to close'],
    });
    const { outcome, acts, conversation } = await ran(['the rest'], { order: { turns, replies: 2, iterations: 9 } });
    expect([outcome, acts, conversation.slice(4)]).toEqual([
      completed('half of it\n\nthe rest'),
      ['ask'],
      [user(GO_ON), model('the rest')],
    ]);
  });

  it('that was answered is taken back once, and only where a turn is left', async () => {
    const turns = [user('find it'), model('', call('a')), tools(did('a', `did a\n\n${LAST}`)), model('half of it')];
    const mail = [null, 'also c'];
    const told = { is: 'told', text: 'a message' } as const;
    expect(await ran([told, 'the rest'], { order: { turns, replies: 2, iterations: 9 }, mail })).toMatchObject({
      outcome: completed('half of it\n\nthe rest'),
      acts: ['ask', 'ask'],
      told: [GO_ON],
    });
    const { outcome, acts, told: said } = await ran([], { order: { turns, replies: 2, iterations: 3 } });
    expect([outcome, acts, said]).toEqual([partial('half of it'), [], []]);
  });
});

describe('an agent that goes in circles', () => {
  const same = (times: number): readonly Said[] => Array.from({ length: times }, () => ['', call('a')] as const);

  it('is told at the third equal result, and comes to its last turn at the sixth', async () => {
    const results = { a: 'exit code 1 after 3.5 s\nno' };
    const { outcome, acts, conversation } = await ran([...same(6), 'I give up'], { results });
    const told = conversation.flatMap((turn) =>
      turn.by === 'tools' ? [/\(Mimir: [^.]*/.exec(turn.results[0]?.text ?? '')?.[0] ?? ''] : [],
    );
    expect(told).toEqual([
      '',
      '',
      '(Mimir: the same call has given the same result 3 times in a row',
      '(Mimir: the same call has given the same result 4 times in a row',
      '(Mimir: the same call has given the same result 5 times in a row',
      '(Mimir: Loop detected: the same calls with the same results 6 times in a row',
    ]);
    expect([outcome, acts.filter((act) => act.startsWith('ask'))]).toEqual([
      {
        is: 'partial',
        reason: 'Loop detected: the same calls with the same results 6 times in a row',
        summary: 'I give up',
      },
      ['ask', 'ask', 'ask', 'ask', 'ask', 'ask', 'ask to close'],
    ]);
  });

  it('does not where another call is in between, and does where a message is', async () => {
    const { outcome } = await ran([...same(5), ['', call('b')], ...same(5), 'found']);
    expect(outcome).toEqual(completed('found'));
    const mail = [null, null, null, 'go on'];
    expect(await ran([...same(6), 'I give up'], { mail })).toMatchObject({ outcome: { summary: 'I give up' } });
  });
});

describe('a conversation that is too long', () => {
  const full = { is: 'too long', text: 'too many tokens' } as const;
  const long = 'word '.repeat(2000);
  const turns = [user('find it'), model('', call('a')), tools(did('a', long)), model('', call('b')), tools(did('b'))];

  it('is compacted once before the next reply where it nears the window', async () => {
    const { outcome, acts, conversation } = await ran([['', call('c')], 'here'], {
      order: { turns },
      tokens: [1001, 1001],
    });
    expect([outcome, acts, conversation.length, conversation[0], conversation.slice(2)]).toEqual([
      completed('here'),
      ['compacted to the last 2', 'ask', 'use c', 'ask'],
      7,
      user('find it'),
      [...turns.slice(3), model('', call('c')), tools(did('c')), model('here')],
    ]);
    expect(await ran(['here'], { order: { turns }, tokens: [1000] })).toMatchObject({ acts: ['ask'] });
  });

  it('is compacted when the model refuses it, and given up where nothing is left to drop', async () => {
    expect(await ran([full, ['', call('c')], 'here'], { order: { turns }, tokens: [0, 900] })).toMatchObject({
      outcome: completed('here'),
      acts: ['ask', 'compacted to the last 2', 'ask', 'use c', 'ask'],
    });
    const outcome = { is: 'partial', reason: 'The conversation does not fit the model: too many tokens', summary: '' };
    expect(await ran([full])).toMatchObject({ outcome, acts: ['ask'] });
  });

  it('is compacted again after a reply', async () => {
    const results = { c: long };
    const tokens = [1001, 1001, 0, 1001, 1001];
    const { acts } = await ran([['', call('c')], ['', call('d')], 'here'], { order: { turns }, results, tokens });
    expect(acts).toEqual(['compacted to the last 2', 'ask', 'use c', 'ask', 'use d', 'compacted to the last 2', 'ask']);
  });

  it('is compacted later where a message comes while its summary is written, and not at all after a stop', async () => {
    const order = { turns, compact: 'sum it up' };
    const tokens = [1001, 1001, 1001, 1001];
    expect(await ran([{ is: 'told' }, 'a summary', 'here'], { order, tokens })).toMatchObject({
      outcome: completed('here'),
      acts: ['ask', 'ask', 'compacted to the last 2', 'ask'],
    });
    expect(await ran([{ is: 'stopped', text: 'killed' }], { order, tokens })).toMatchObject({
      outcome: { is: 'stopped', reason: 'killed' },
      acts: ['ask'],
    });
  });

  it('is compacted twice at most without a reply in between', async () => {
    const order = { turns: [...turns, model('', call('c')), tools(did('c'))] };
    const { outcome, acts } = await ran([full, full, full], { order, tokens: [0, 9000, 400] });
    expect([outcome.is, acts]).toEqual([
      'partial',
      ['ask', 'compacted to the last 4', 'ask', 'compacted to the last 2', 'ask'],
    ]);
  });
});
