/** A custom agent as a model answers it: what is taken of it, what is refused in which words, and what the sentence takes away. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  AGENT_TOOLS,
  agentIn,
  agentRequest,
  blankAgent,
  saidOfAccess,
  withinSentence,
} from '../../../src/domain/agents/form.ts';

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
      'tools: there is no "web", "Task", "*"; available: read_file',
    ],
    ['tools as text', answer({ tools: '*' }), 'tools: Invalid input'],
    ['no prompt', answer({ prompt: ' \n\u200b' }), 'prompt: it is empty'],
    ['no description', answer({ description: '\u202e' }), 'description: it is empty'],
    ['a prompt without end', answer({ prompt: 'x'.repeat(8001) }), 'prompt: it has more than 8000 bytes'],
    ['a name of no letters', answer({ name: '检查' }), 'name: use lower-case letters'],
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
      tools: ['read_file', 'search', 'git'],
      because: [
        'read_file, search: every agent needs them',
        'git: chosen by sonnet',
        'bash: left out because the sentence says "nur lesen"',
        'edit_file: left out because the sentence says "nur lesen"',
        'write_file: left out because the sentence says "nur lesen"',
        'it only reads: "nur lesen"',
      ],
    });
  });

  it('takes the shell away where the sentence wants none, and says who chose the rest', () => {
    expect(withinSentence(all, '把模块改成 ES 模块，不执行命令', 'sonnet').because).toEqual([
      'read_file, search: every agent needs them',
      'git, edit_file, write_file: chosen by sonnet',
      'bash: left out because the sentence says "不执行命令"',
    ]);
  });

  it('finds a free name, or has the one that the person wants', () => {
    const taken = (name: string): boolean => name === 'code-review';
    expect(withinSentence(GOOD, 'fixes failing tests', 'sonnet', { isTaken: taken })).toMatchObject({
      name: 'code-review-2',
      tools: GOOD.tools,
      because: ['read_file, search: every agent needs them', 'git: chosen by sonnet', 'it only reads'],
    });
    expect(withinSentence(GOOD, 'x', 'sonnet', { isTaken: taken, named: 'mine' }).name).toBe('mine');
  });

  it('can change and run nothing where the sentence is read-only, and never has a sign that nobody sees', () => {
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
          expect(draft.tools.filter((tool) => /bash|edit_file|write_file/.test(tool))).toEqual([]);
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
    expect(withinSentence({ ...GOOD, tools: ['bash', 'edit_file'] }, long, 'sonnet').tools).toEqual([]);
  });
});

describe('an agent that no model drafted', () => {
  it('begins with the sentence as its description and with the tools that look', () => {
    expect(blankAgent('finds  dead\u202e code\n')).toEqual({
      name: '',
      description: 'finds dead code',
      tools: ['read_file', 'search'],
      prompt: '',
      because: [],
    });
  });
});

// What a sentence says of access, in several languages: what it takes away, and what it leaves.

const READS = { readOnly: true, noCommands: false };
const NO_SHELL = { readOnly: false, noCommands: true };
const BOTH = { readOnly: true, noCommands: true };
const NOTHING = { readOnly: false, noCommands: false };

const READ_ONLY = [
  "an agent which isn't allowed to write",
  'an agent that shouldn’t edit files',
  'wont modify code',
  'only analyses; leaves files alone',
  'leave the code untouched',
  'hands off the files',
  'an auditor with view-only access',
  'it just reads',
  'must refrain from editing',
  'reports problems instead of fixing them',
  'suggests changes rather than applying them',
  'editing is forbidden',
  'writing files is not allowed',
  'changes to files aren’t permitted',
  'liest nur',
  'ne doit pas modifier les fichiers',
  'nunca modifica nada',
  'non deve modificare i file',
  'não pode alterar arquivos',
  'nie zmienia plików',
  'не должен изменять файлы',
];
const NO_COMMANDS = [
  "it isn't allowed to run anything",
  'bash is forbidden',
  'shell access is not allowed',
  'commands are off limits',
  'avoids running commands',
  'reads logs rather than running tests',
];
const NEITHER = [
  'fixes failing tests and runs them',
  'a refactoring agent that edits files and leaves notes in the changelog',
  'renames symbols across the code base',
];

describe('what a sentence says of access', () => {
  it.each([
    ['a code review agent with read-only access', READS],
    ['Reviews code; it must NOT modify any file', READS],
    ['finds bugs but doesn’t fix them', READS],
    ['ein Agent, der nur lesend auf das Projekt zugreift', READS],
    ['prüft Übersetzungen und ändert nichts', READS],
    ['prüft Übersetzungen, ohne Dateien zu verändern', READS],
    ['Codeprüfer mit Lesezugriff, keine Shell', BOTH],
    ['behebt fehlschlagende Tests, führt aber keine Befehle aus', NO_SHELL],
    ['relit le code en lecture seule', READS],
    ['relit le code sans rien modifier et sans shell', BOTH],
    ['revisa el código, solo lectura, sin ejecutar comandos', BOTH],
    ['revisa o código sem alterar nada', READS],
    ['controlla il codice in sola lettura', READS],
    ['tylko do odczytu', READS],
    ['проверяет код, только чтение, без команд', BOTH],
    ['一个只读的代码审查代理', READS],
    ['检查翻译，不要修改任何文件，不执行命令', BOTH],
    ['唯讀的安全審查員', READS],
    ['読み取り専用のレビュー担当', READS],
    ['コードを確認し、変更はしない。コマンドは実行しない', BOTH],
    ['읽기 전용 검토자, 셸 없이', BOTH],
    ['a migration assistant that renames modules, never runs commands', NO_SHELL],
  ])('"%s" takes away', (sentence, expected) => {
    const { readOnly, noCommands } = saidOfAccess(sentence);
    expect({ readOnly: readOnly !== null, noCommands: noCommands !== null }).toEqual(expected);
  });

  it.each([
    'fixes failing tests and runs them',
    'behebt fehlschlagende Tests und führt sie aus',
    'schreibt Tests, die nicht flackern',
    'ändert Übersetzungen und hält sie einheitlich',
    'corrige les tests qui échouent',
    'escribe la documentación que falta',
    '修复失败的测试并运行它们',
    '把 CommonJS 模块改成 ES 模块',
    '失敗したテストを修正して実行する',
    'Finds notable shells of dead code',
  ])('"%s" takes nothing away', (sentence) => {
    const { readOnly, noCommands } = saidOfAccess(sentence);
    expect({ readOnly: readOnly !== null, noCommands: noCommands !== null }).toEqual(NOTHING);
  });

  it.each(READ_ONLY)('T029: changes nothing: %s', (sentence) => {
    expect(saidOfAccess(sentence).readOnly).not.toBeNull();
  });

  it.each(NO_COMMANDS)('T029: runs nothing: %s', (sentence) => {
    expect(saidOfAccess(sentence).noCommands).not.toBeNull();
  });

  it.each(NEITHER)('says no such thing: %s', (sentence) => {
    expect(saidOfAccess(sentence)).toEqual({ readOnly: null, noCommands: null });
  });

  it('is read in bounded time, whatever it is', () => {
    for (const piece of ["isn't ", 'not ', 'leave the ', 'writing ', 'ne ', 'не ', 'shell '])
      saidOfAccess(piece.repeat(40_000));
  }, 5000);
});
