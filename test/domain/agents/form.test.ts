/** A custom agent as a model answers it: what is taken of it, what is refused in which words, and what the sentence takes away. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AGENT_TOOLS, draftAgent } from '../../../src/domain/agents/draft.ts';
import { agentIn, agentRequest, withinSentence } from '../../../src/domain/agents/form.ts';

const GOOD = {
  name: 'code-review',
  description: 'Reviews code.',
  tools: ['read_file', 'search', 'git'],
  prompt: 'You review code.\n\nFirst look at the diff.',
};
const answer = (more: object = {}): string => JSON.stringify({ ...GOOD, ...more });
const agentOf = (text: string) => {
  const read = agentIn(text);
  if (!read.ok) throw new Error(read.fault);
  return read.value;
};

describe('an agent in the answer of a model', () => {
  it.each([
    ['bare', answer()],
    ['in a fence', `\`\`\`json\n${answer()}\n\`\`\``],
    ['in prose', `Here it is:\n${answer()}\nIs it what you want?`],
    ['behind thoughts', `<think>{"prompt": 1}</think>${answer()}`],
  ])('is read %s', (_, text) => {
    expect(agentIn(text)).toEqual({ ok: true, value: GOOD });
  });

  it.each([
    [
      'no JSON',
      'Sure! Here is an agent.',
      'the answer is not one JSON object with name, description, tools and prompt',
    ],
    ['two of them', `${answer()}\n${answer()}`, 'the answer is not one JSON object'],
    ['another field', answer({ model: 'opus' }), 'Unrecognized key: "model"'],
    ['a field too few', '{"prompt": "x"}', 'name: Invalid input'],
    [
      'a tool that there is not',
      answer({ tools: ['web', 'Task', '*'] }),
      'tools: there is no "web", "Task", "*"; there are read_file',
    ],
    ['tools as text', answer({ tools: '*' }), 'tools: Invalid input'],
    ['no prompt', answer({ prompt: ' \n\u200b' }), 'prompt: it is empty'],
    ['no description', answer({ description: '\u202e' }), 'description: it is empty'],
    ['a prompt without end', answer({ prompt: 'x'.repeat(8001) }), 'prompt: it has more than 8000 bytes'],
    ['a name of no letters', answer({ name: '检查' }), 'name: use lower case letters'],
  ])('is refused for %s, in words that a model can mend it by', (_, text, words) => {
    const read = agentIn(text);
    expect(read.ok ? '' : read.fault).toContain(words);
  });

  it('holds nothing that a person does not see, and no name that leads elsewhere', () => {
    const read = agentOf(
      answer({
        name: '../../Etc/Passwd',
        description: 'a\u001b[2J\n---\ntools: "*"',
        prompt: 'Be\u202e nice \u{e0041}.\u0007\r\n\n\n\n\n---',
      }),
    );
    expect(read).toEqual({
      name: 'etc-passwd',
      description: 'a[2J --- tools: "*"',
      tools: GOOD.tools,
      prompt: 'Be nice .\n\n---',
    });
  });

  it('has what every agent needs, each tool once, in one order', () => {
    expect(agentOf(answer({ tools: ['edit_file', 'bash', 'bash'] })).tools).toEqual([
      'read_file',
      'search',
      'bash',
      'edit_file',
    ]);
  });
});

describe('what a model drafted and the sentence', () => {
  const all = { ...GOOD, tools: AGENT_TOOLS.map(({ name }) => name) };

  it('keeps to read-only access, whatever the model gives (T029)', () => {
    expect(withinSentence(all, 'ein Prüfer, nur lesend', 'sonnet')).toMatchObject({
      tools: ['read_file', 'search'],
      because: [
        'read_file, search: every agent needs them',
        'git: left out, since the sentence says "nur lesen"',
        'bash: left out, since the sentence says "nur lesen"',
        'edit_file: left out, since the sentence says "nur lesen"',
        'write_file: left out, since the sentence says "nur lesen"',
        'it only reads: "nur lesen"',
      ],
    });
  });

  it('takes the shell away where the sentence wants none, and says who chose the rest', () => {
    expect(withinSentence(all, '把模块改成 ES 模块，不执行命令', 'sonnet').because).toEqual([
      'read_file, search: every agent needs them',
      'git, edit_file, write_file: chosen by sonnet; no word of the sentence asks for it',
      'bash: left out, since the sentence says "不执行命令"',
    ]);
  });

  it('may be narrower than the rules, and finds a free name', () => {
    const taken = (name: string): boolean => name === 'code-review';
    expect(withinSentence(GOOD, 'fixes failing tests', 'sonnet', { isTaken: taken })).toMatchObject({
      name: 'code-review-2',
      tools: GOOD.tools,
      because: [
        'read_file, search: every agent needs them',
        'git: chosen by sonnet; no word of the sentence asks for it',
        'it only reads',
      ],
    });
    expect(withinSentence(GOOD, 'x', 'sonnet', { isTaken: taken, named: 'mine' }).name).toBe('mine');
  });

  it('never has more than the rules give where the sentence is read-only, and never a sign that nobody sees', () => {
    const pieces = [
      'a',
      'fix',
      ' no ',
      'read',
      '\n---\n',
      '\u001b[2J',
      '\u202e',
      '\u{e0041}',
      '\ue000',
      '检',
      'ö',
      '"',
      '\ud800',
      '../',
      '9',
    ];
    const texts = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 10 }).map((some) => some.join(''));
    const tools = fc.array(fc.constantFrom(...all.tools, 'Task', '*', 'web'), { maxLength: 8 });
    const said = fc.constantFrom(
      'read-only',
      'nur lesend',
      '只读',
      'lecture seule',
      'fixes tests',
      'runs tests, no shell',
      '',
    );
    fc.assert(
      fc.property(texts, texts, texts, tools, said, texts, (name, description, prompt, chosen, access, sentence) => {
        const read = agentIn(JSON.stringify({ name, description, tools: chosen, prompt }));
        if (!read.ok) return;
        const asked = `${sentence} ${access}`;
        const draft = withinSentence(read.value, asked, 'sonnet');
        expect(draft.name).toMatch(/^[a-z][a-z0-9-]{0,39}$/);
        expect(`${draft.description}${draft.prompt.replaceAll(/[\n\t]/g, '')}`).not.toMatch(
          /\p{Cc}|\p{Co}|[\u202a-\u202e\u2066-\u2069]/u,
        );
        if (/read-only|nur lesend|只读|lecture seule/.test(access))
          expect(draft.tools.filter((tool) => !draftAgent(asked).tools.includes(tool))).toEqual([]);
        if (access.endsWith('no shell')) expect(draft.tools).not.toContain('bash');
      }),
    );
  });
});

describe('what a model is given of the sentence', () => {
  it('is bounded, and shows what a person sees', () => {
    const asked = agentRequest(`\u202eread-only \u001b[2J${'很'.repeat(10_000)}`);
    expect(Buffer.byteLength(asked)).toBeLessThan(13_000);
    expect(asked.replaceAll('\n', '')).not.toMatch(/\p{Cc}|\p{Cf}/u);
  });

  it('is looked at whole for what it says of access', () => {
    const long = `fixes tests${' and then some'.repeat(800)}, read-only`;
    expect(draftAgent(long)).toMatchObject({ tools: ['read_file', 'search'] });
    expect(draftAgent(long).description.length).toBeLessThanOrEqual(1000);
  });
});
