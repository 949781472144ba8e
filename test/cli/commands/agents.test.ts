/** `mimir agents` in the real program: lists, one by itself, custom ones made from a sentence or by questions, and deleted. */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Home } from '../../support/cli.ts';
import { CHECKOUT, jsonLines, openHome } from '../../support/cli.ts';
import { among, holding, like, part } from '../../support/like.ts';
import type { TestTerminal } from '../../support/pty.ts';
import { startTerminal } from '../../support/pty.ts';

const SENTENCE = 'a code review agent with read-only access, focusing on code quality';
const FILE = '.mimir/agents/code-review.json';

let home: Home;
beforeEach(() => {
  home = openHome({});
});
afterEach(() => {
  home.remove();
});
/** Keys of a JSON file of the project, in its order. */
const keysIn = (name: string): readonly string[] =>
  [...readFileSync(file(name), 'utf8').matchAll(/^ {2}"(\w+)":/gm)].map(([, key = '']) => key);
const file = (name: string): string => join(home.project, name);

function inLines(...args: readonly string[]): TestTerminal {
  const terminal = startTerminal(process.execPath, [`${CHECKOUT}/src/main.ts`, '--plain', ...args], {
    cols: 180,
    rows: 50,
    cwd: home.project,
    env: { ...home.env, NO_COLOR: '1' },
  });
  onTestFinished(() => {
    terminal.kill();
  });
  return terminal;
}

describe('mimir agents create', () => {
  it('T029, T031: makes an agent from a sentence, says what it chose and why, and the next run has it', async () => {
    expect(await home.run(['agents', 'create', SENTENCE])).toEqual({
      code: 0,
      signal: null,
      out: [
        `Created ${FILE}: code-review may read, git-read; the next run has it.`,
        '  tools: read_file, search, git',
        '  name code-review: from the words',
        '  read_file, search: every agent needs them',
        '  git: "review"',
        '  it only reads: "read-only"',
        'Drafted by fixed rules: no model provider is set up.',
        '`mimir agents show code-review` shows what it is told; the file can be changed in any editor. A plan can use it, and an agent calls it by Task.',
        '',
      ].join('\n'),
      err: '',
    });
    expect(keysIn(FILE)).toEqual(['name', 'description', 'tools', 'prompt']);
    expect(statSync(file(FILE)).mode & 0o777).toBe(0o644);
    const { out } = await home.run(['agents']);
    expect(out).toMatch(
      /^Custom agents:\n {2}code-review {2}A code review agent .*; \.mimir\/agents\/code-review\.json\)\n/,
    );
  });

  it('never writes over another, nor through a link, nor under a name that looks like another’s (I08)', async () => {
    await home.run(['agents', 'create', SENTENCE]);
    const before = readFileSync(file(FILE), 'utf8');
    const again = await home.run(['agents', 'create', '--name', 'code-review', 'another one']);
    expect(again).toMatchObject({ code: 3, out: '' });
    expect(again.err).toContain(`Not created: there is an agent "code-review" already (${FILE})`);
    expect(readFileSync(file(FILE), 'utf8')).toBe(before);
    expect((await home.run(['agents', 'create', '--name', 'rev1ewer', 'x'])).err).toContain('looks like "reviewer"');
    expect((await home.run(['agents', 'create', SENTENCE])).out).toContain('Created .mimir/agents/code-review-2.json');
    rmSync(file('.mimir'), { recursive: true });
    mkdirSync(join(home.root, 'elsewhere'));
    symlinkSync(join(home.root, 'elsewhere'), file('.mimir'));
    expect((await home.run(['agents', 'create', SENTENCE])).code).not.toBe(0);
    expect(existsSync(join(home.root, 'elsewhere/agents'))).toBe(false);
  });

  it('keeps a trusted project trusted, and trusts nothing else that changed', async () => {
    mkdirSync(file('.mimir'), { recursive: true });
    writeFileSync(file('AGENTS.md'), 'Use tabs.\n');
    expect((await home.run(['trust', '--yes'])).code).toBe(0);
    expect((await home.run(['agents', 'create', SENTENCE])).out).toContain('the next run has it');
    expect((await home.run(['trust'])).out).toContain('Trusted already');
    writeFileSync(file('AGENTS.md'), 'Use spaces.\n');
    expect((await home.run(['agents', 'create', 'finds dead code'])).out).toContain(
      'it counts when the project is trusted as it is now: mimir trust',
    );
    expect((await home.run(['agents'])).out).toContain('not loaded, since this project is not trusted');
  });

  it('makes one for all projects with --user, and tells scripts all of it', async () => {
    const { out } = await home.run(['agents', 'create', '--user', '--json', 'fixes failing tests']);
    expect(jsonLines(out)).toMatchObject([
      { name: 'fixes-failing-tests', tools: ['read_file', 'search', 'bash', 'edit_file', 'write_file'], for: 'user' },
    ]);
    expect(existsSync(join(home.config, 'agents/fixes-failing-tests.json'))).toBe(true);
    expect(jsonLines((await home.run(['agents', '--json'])).out)).toMatchObject([
      { agents: among(part({ name: 'fixes-failing-tests', whyKept: null })) },
    ]);
  });

  it('T028: asks for description, name, tools and prompt on a terminal', async () => {
    const terminal = startTerminal(process.execPath, [`${CHECKOUT}/src/main.ts`, 'agents', 'create'], {
      cols: 120,
      rows: 40,
      cwd: home.project,
      env: { ...home.env, NO_COLOR: '1' },
    });
    onTestFinished(() => terminal.kill());
    const answer = async (question: string, text: string): Promise<void> => {
      await terminal.waitFor(question);
      terminal.type(`${text}\r`);
    };
    await answer('Description, a sentence', 'finds dead code');
    await answer('Name (Enter is finds-dead-code)', 'finder');
    await answer('there is an agent "finder" already', 'pruner');
    await answer('Tools (Enter is read_file, search)', 'read_file, git');
    await answer('Prompt, line by line', 'Look for exports that nobody imports.');
    await answer('\n. ', '.');
    await answer('Create it?', 'yes');
    expect((await terminal.exit).code).toBe(0);
    expect(JSON.parse(readFileSync(file('.mimir/agents/pruner.json'), 'utf8'))).toEqual({
      name: 'pruner',
      description: 'Finds dead code',
      tools: ['read_file', 'git'],
      prompt: 'Look for exports that nobody imports.',
    });
  });

  it('needs the sentence where nobody can be asked', async () => {
    expect(await home.run(['agents', 'create'])).toMatchObject({
      code: 2,
      err: 'mimir: describe it in a sentence: mimir agents create "<description>"\n',
    });
  });
});

describe('mimir agents list, show, delete and help', () => {
  it('T026: lists custom agents first, and says where there are none', async () => {
    const { out } = await home.run(['agents', 'list']);
    expect(out.split('\n').slice(0, 2)).toEqual([
      'No custom agents yet: mimir agents create "<what it should do>" makes one.',
      'Built in:',
    ]);
  });

  it('names a file that describes no agent with line and reason: in the list, by the doctor, at the start', async () => {
    mkdirSync(file('.claude/agents'), { recursive: true });
    writeFileSync(file('.claude/agents/deploy.md'), '---\ndescription: d\ntools: [Fly]\n---\nx\n');
    await home.run(['trust', '--yes']);
    const why = '.claude/agents/deploy.md:3:1: unknown tool "Fly" is left out';
    expect((await home.run(['agents'])).out).toContain(`left out: ${why}`);
    expect((await home.run(['agents', 'show', 'deploy'])).err).toContain(why);
    expect((await home.run(['doctor'])).out).toContain(why);
    const terminal = inLines();
    await terminal.waitFor(`note: left out: ${why}`);
    terminal.type('/agents\r');
    await terminal.waitFor(`· left out: ${why}`);
    terminal.kill();
    mkdirSync(file('.mimir/agents'), { recursive: true });
    writeFileSync(file('.mimir/agents/own.json'), '{\n  "name": "own",\n  "tools": ["Read"],\n  "prompt": "p"\n}\n');
    await home.run(['trust', '--yes']);
    for (const command of [['agents'], ['run', 'x', '--yes']]) {
      expect(await home.run(command)).toMatchObject({
        code: 3,
        err: like(/\.mimir\/agents\/own\.json:\S* description is empty/),
      });
    }
    expect((await home.run(['doctor'])).out).toContain('.mimir/agents/own.json:');
    // It can be deleted although nothing else runs with it.
    expect(await home.run(['agents', 'delete', 'own', '--yes'])).toMatchObject({
      code: 0,
      out: 'Deleted .mimir/agents/own.json.\n',
    });
    expect((await home.run(['agents'])).code).toBe(0);
  });

  it('shows what an agent is told, and what it may', async () => {
    await home.run(['agents', 'create', SENTENCE]);
    const { out } = await home.run(['agents', 'show', 'code-review']);
    expect(out).toContain('  may       read, git-read; never Task\n');
    expect(out).toContain(`  from      ${FILE}\n`);
    expect(out).toContain(`You are ${SENTENCE}.`);
    expect((await home.run(['agents', 'show', 'finde'])).err).toContain('did you mean "finder"?');
  });

  it('T030: deletes the file of a custom agent, after a yes, and no other', async () => {
    await home.run(['agents', 'create', SENTENCE]);
    expect(await home.run(['agents', 'delete', 'code-review'])).toMatchObject({ code: 4 });
    expect(existsSync(file(FILE))).toBe(true);
    expect((await home.run(['agents', 'delete', 'code-review', '--yes'])).out).toBe(`Deleted ${FILE}.\n`);
    expect(existsSync(file(FILE))).toBe(false);
    expect(await home.run(['agents', 'delete', 'finder', '--yes'])).toMatchObject({
      code: 2,
      err: holding('finder: it is built in'),
    });
    mkdirSync(file('.mini-cc/agents'), { recursive: true });
    writeFileSync(file('.mini-cc/agents/old.json'), '{"name":"old","description":"d","tools":["Read"],"prompt":"p"}');
    await home.run(['trust', '--yes']);
    expect((await home.run(['agents', 'delete', 'old', '--yes'])).err).toContain(
      'old: it is a file of another program (.mini-cc/agents/old.json): delete it by hand',
    );
    expect((await home.run(['agents', 'delete', 'nobody', '--yes'])).err).toContain(
      'there is no custom agent "nobody"',
    );
  });

  it('T027: says what can be done', async () => {
    const { code, out } = await home.run(['agents', 'help']);
    expect(code).toBe(0);
    for (const word of ['show NAME', 'create DESCRIPTION', 'delete NAME', '.mimir/agents']) expect(out).toContain(word);
    expect((await home.run(['agents', 'burn'])).code).toBe(2);
  });

  it('T026, T027: takes no name where it would be passed over', async () => {
    for (const what of ['list', 'help']) {
      expect(await home.run(['agents', what, 'finder'])).toMatchObject({
        code: 2,
        out: '',
        err: `mimir: mimir agents ${what} takes no name: "finder"\n  mimir agents show finder\n`,
      });
    }
  });
});

describe('/agents in line mode', () => {
  it('T026, T029, T030: makes an agent, which the session has at once, and deletes it after a question', async () => {
    const terminal = inLines();
    await terminal.waitFor('help lists the commands');
    terminal.type(`/agents create ${SENTENCE}\r`);
    await terminal.waitFor('Created .mimir/agents/code-review.json');
    terminal.type('agents show code-review\r');
    await terminal.waitFor('never Task');
    terminal.type('agents delete code-review\r');
    await terminal.waitFor('yes deletes it');
    terminal.type('yes\r');
    await terminal.waitFor('Deleted .mimir/agents/code-review.json');
    expect(existsSync(file(FILE))).toBe(false);
  });
});

describe('/agents on the screen', () => {
  it('T026, T029, T030: is typed into the field; a form is filled from the sentence, saved, and the agent deleted', async () => {
    const terminal = startTerminal(process.execPath, [`${CHECKOUT}/src/main.ts`], {
      cols: 100,
      rows: 30,
      cwd: home.project,
      env: home.env,
    });
    onTestFinished(() => {
      terminal.kill();
    });
    await terminal.waitFor('What should be done?');
    terminal.type(`/agents create ${SENTENCE}`);
    terminal.press('enter');
    await terminal.waitFor('New agent');
    await terminal.waitFor('asked for by "review"');
    terminal.press('ctrl-s');
    await terminal.waitFor('Created .mimir/agents/code-review.json');
    expect(JSON.parse(readFileSync(file(FILE), 'utf8'))).toMatchObject({ tools: ['read_file', 'search', 'git'] });
    await terminal.waitFor((screen) => !screen.some((line) => line.includes('New agent')));
    terminal.press('f4');
    await terminal.waitFor('code-review');
    terminal.press('enter');
    await terminal.waitFor('delete it');
    terminal.press('down', 'enter');
    await terminal.waitFor('Delete code-review?');
    terminal.press('y');
    await terminal.waitFor('Deleted .mimir/agents/code-review.json');
    expect(existsSync(file(FILE))).toBe(false);
  });
});
