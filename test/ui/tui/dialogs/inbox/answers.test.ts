/** What a question that waits for the person says, and the answers it takes. */
import { describe, expect, it } from 'vitest';
import { openSession as open } from '../../../../support/app-session.ts';
import { settled } from '../../../../support/fake-run.ts';
import type { Recording } from '../../../../support/recorded-run.ts';
import { approval, asks, midRun } from '../../../../support/recorded-run.ts';

describe('a question that has the keys', () => {
  const asked = (): Recording => asks(midRun(), 185, 'ROOT::S4', 'a1', approval({}));

  it('counts what was seen by the text: a wider screen skips nothing that was not on it', async () => {
    const exact = Array.from({ length: 60 }, (_, at) => `echo line ${at + 1}; sleep 1; echo and some more of it`).join(
      '\n',
    );
    const log = asks(midRun(), 185, 'ROOT::S4', 'a1', approval({ exact, unsandboxed: false }));
    const { terminal, run, world } = await open(log, { width: 40, height: 24 });
    await world.advance(1000);
    terminal.press('A', ...Array.from({ length: 5 }, () => 'pagedown'));
    expect(terminal.text()).not.toContain('line 57');
    terminal.resize({ width: 120, height: 24 });
    expect(terminal.text()).not.toContain('line 60');
    terminal.press('1');
    expect(run.commands).toEqual([]);
    expect(terminal.text()).toContain('Scroll to the end (G)');
  });

  it('breaks an action behind blanks, with a sign, and never inside a word that has room', async () => {
    const exact = 'for (c in k) print c[k], k >> /tmp/out.txt';
    const { terminal, world } = await open(
      asks(midRun(), 185, 'ROOT::S4', 'a1', approval({ exact, unsandboxed: false })),
      {
        width: 40,
        height: 24,
      },
    );
    await world.advance(1000);
    terminal.press('A');
    expect(terminal.text()).toContain('  for (c in k) print c[k], k >>');
    expect(terminal.text()).toContain('↪ /tmp/out.txt');
  });

  it('marks where a word goes on that is wider than the box', async () => {
    const exact = `curl https://example.org/${'a'.repeat(60)}`;
    const { terminal, world } = await open(
      asks(midRun(), 185, 'ROOT::S4', 'a1', approval({ exact, unsandboxed: false })),
      {
        width: 40,
        height: 24,
      },
    );
    await world.advance(1000);
    terminal.press('A');
    expect(terminal.text()).toMatch(/curl\s[^]*↪ https:[^]*\+ a+/);
  });

  it('offers what can be done at a limit, nothing dear on Enter, and takes an amount for more', async () => {
    const options = [
      'finish: finish with partial result',
      'add: $0.50 more, $0.65 in total (or type an amount)',
      'stop: end',
    ];
    const exact = ['$0.15 of $0.15 are used.', ...options].join('\n');
    const limit = (same: string) =>
      approval({ action: 'budget', title: 'oracle: its limit is met', exact, options, same, unsandboxed: false });
    const log = asks(midRun(), 185, 'ROOT::S4', 'a1', limit('budget:1'));
    const { terminal, run, world } = await open(asks(log, 186, 'ROOT::S3', 'a2', limit('budget:2')));
    await world.advance(1000);
    expect(terminal.text().match(/finish with partial result/g)).toHaveLength(1);
    terminal.press('A', 'enter');
    await world.advance(1000);
    terminal.press('4');
    terminal.type('1.25');
    terminal.press('enter');
    await world.advance(1000);
    expect(run.commands).toEqual([
      { do: 'answer', approval: 'a1', allow: true, scope: 'once', text: options[0] },
      { do: 'answer', approval: 'a2', allow: true, scope: 'once', text: 'add 1.25' },
    ]);
  });

  it.each(['60x20', '80x24', '120x40'])('cuts nothing of a limit question at %s', async (size) => {
    const [width = 0, height = 0] = size.split('x').map(Number);
    const options = [
      'finish: finish with partial result',
      'cheaper: continue with sonnet-5 ($3.00 in, $15.00 out per million tokens), at most $0.03 for the next call instead of $0.14',
      'add: $0.50 more, $0.65 in total (or type an amount)',
      'stop: stop the run (resumable)',
    ];
    const text = '$0.15 of $0.15 are used or promised, and the next step does not fit: it may cost up to $0.14.';
    const request = approval({
      action: 'budget',
      title: 'oracle: its limit of $0.15 is met',
      exact: [text, ...options].join('\n'),
      options,
      because: 'budgets.agent.maxCost (.mimir/config.yml:2)',
      unsandboxed: false,
    });
    const { terminal, world } = await open(asks(midRun(), 185, 'ROOT::S4', 'a1', request), { width, height });
    await world.advance(1000);
    terminal.press('A');
    const words = (one: string): string => one.replaceAll(/[\s│┃▐]+/g, '');
    const first = words(terminal.text());
    for (const option of options) expect(first).toContain(words(option));
    expect(first).toContain(words(text));
    terminal.press('G');
    expect(words(terminal.text())).toContain(words('because budgets.agent.maxCost (.mimir/config.yml:2)'));
  });

  it('offers answers of a question and sends the chosen one', async () => {
    const request = approval({
      action: 'question',
      title: 'Which store?',
      exact: 'Which store?',
      options: ['redis', 'sqlite'],
      unsandboxed: false,
    });
    const { terminal, run, world } = await open(asks(midRun(), 185, 'ROOT::S4', 'a1', request));
    await world.advance(1000);
    terminal.press('A');
    for (const words of ['1 redis', '2 sqlite', '3 type an answer', '1-3 answer'])
      expect(terminal.text()).toContain(words);
    terminal.press('down', 'enter');
    expect(run.commands).toEqual([{ do: 'answer', approval: 'a1', allow: true, scope: 'once', text: 'sqlite' }]);
  });

  it('takes own words where answers are offered', async () => {
    const request = approval({ action: 'question', exact: 'Which?', options: ['redis', 'sqlite'], unsandboxed: false });
    const { terminal, run, world } = await open(asks(midRun(), 185, 'ROOT::S4', 'a1', request));
    await world.advance(1000);
    terminal.press('A', '3');
    terminal.type('1 of each');
    terminal.press('enter');
    expect(run.commands).toEqual([{ do: 'answer', approval: 'a1', allow: true, scope: 'once', text: '1 of each' }]);
  });

  it('goes on by Enter in human mode, and takes words', async () => {
    const request = approval({ action: 'turn', exact: 'reads src/a.ts next', unsandboxed: false });
    const log = asks(asks(midRun(), 185, 'ROOT::S4', 'a1', request), 186, 'ROOT::S3', 'a2', request);
    const { terminal, run, world } = await open(log);
    await world.advance(1000);
    terminal.press('A', 'enter');
    await world.advance(1000);
    terminal.press('2');
    terminal.type('!ls');
    terminal.press('enter');
    expect(run.commands).toEqual([
      { do: 'answer', approval: 'a1', allow: true, scope: 'once' },
      { do: 'answer', approval: 'a2', allow: true, scope: 'once', text: '!ls' },
    ]);
  });

  it('shows a question again when its answer was refused', async () => {
    const { terminal, run, world } = await open(asked());
    await world.advance(1000);
    run.refuse('too late');
    terminal.press('A', '1');
    await settled();
    expect(terminal.text()).toContain('too late');
    expect(terminal.text()).toContain('wants to run a command');
  });
});
