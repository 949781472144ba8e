/** `mimir agents` in the real program: lists, one by itself, custom ones made from a sentence or by questions, and deleted. */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Home } from '../../support/cli.ts';
import { CHECKOUT, jsonLines, openHome } from '../../support/cli.ts';
import { KEY, openDouble } from '../../support/double/double.ts';
import { among, holding, like, part } from '../../support/like.ts';
import type { TestTerminal } from '../../support/pty.ts';
import { startTerminal } from '../../support/pty.ts';

const SENTENCE = 'a code review agent with read-only access, focusing on code quality';
const FILE = '.mimir/agents/code-review.json';
const REVIEWER = {
  name: 'code-review',
  description: 'A code review agent with read-only access, focusing on code quality.',
  tools: ['read_file', 'search', 'git'],
  prompt: `You are ${SENTENCE}.`,
};
const PRUNER = { ...REVIEWER, name: 'pruner', description: 'Finds dead code.' };
const FIXER = { ...REVIEWER, name: 'test-fixer', tools: ['read_file', 'search', 'bash', 'edit_file', 'write_file'] };

/** A model that drafts what the sentence asks for; the environment in which it is asked. */
async function drafter(): Promise<Record<string, string>> {
  const double = await openDouble(({ first }) => ({
    text: JSON.stringify(first.includes('dead code') ? PRUNER : first.includes('fixes') ? FIXER : REVIEWER),
  }));
  onTestFinished(() => double.close());
  return { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: double.url };
}

/** `mimir agents create` where a model drafts. */
const create = async (...args: readonly string[]): ReturnType<Home['run']> =>
  home.run(['agents', 'create', ...args], { env: await drafter() });

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

function inLines(env: Readonly<Record<string, string>> = {}): TestTerminal {
  const terminal = startTerminal(process.execPath, [`${CHECKOUT}/src/main.ts`, '--plain'], {
    cols: 180,
    rows: 50,
    cwd: home.project,
    env: { ...home.env, ...env, NO_COLOR: '1' },
  });
  onTestFinished(() => {
    terminal.kill();
  });
  return terminal;
}

describe('mimir agents create', () => {
  it('T029, T031: makes an agent from a sentence, says what it chose and why, and the next run has it', async () => {
    const made = await create(SENTENCE);
    expect(made.code).toBe(0);
    expect(made.out.split('\n')).toEqual([
      `Created ${FILE}: code-review may read, git-read; available from the next run.`,
      '  tools: read_file, search, git',
      '  read_file, search: every agent needs them',
      '  git: chosen by sonnet-4.5',
      '  it only reads: "read-only"',
      like(/^Drafted by sonnet-4.5: /),
      '`mimir agents show code-review` shows its prompt; you can edit the file. Plans can use it, and agents call it with Task.',
      '',
    ]);
    expect(keysIn(FILE)).toEqual(['name', 'description', 'tools', 'prompt']);
    expect(statSync(file(FILE)).mode & 0o777).toBe(0o644);
    const { out } = await home.run(['agents']);
    expect(out).toMatch(
      /^Custom agents:\n {2}code-review {2}A code review agent .*; \.mimir\/agents\/code-review\.json\)\n/,
    );
  });

  it('never writes over another, nor through a link, nor under a name that looks like another’s (I08)', async () => {
    await create(SENTENCE);
    const before = readFileSync(file(FILE), 'utf8');
    const again = await create('--name', 'code-review', 'another one');
    expect(again).toMatchObject({ code: 3, out: '' });
    expect(again.err).toContain(`Not created: the agent "code-review" already exists (${FILE})`);
    expect(readFileSync(file(FILE), 'utf8')).toBe(before);
    expect((await create('--name', 'rev1ewer', 'x')).err).toContain('looks like "reviewer"');
    expect((await create(SENTENCE)).out).toContain('Created .mimir/agents/code-review-2.json');
    rmSync(file('.mimir'), { recursive: true });
    mkdirSync(join(home.root, 'elsewhere'));
    symlinkSync(join(home.root, 'elsewhere'), file('.mimir'));
    expect((await create(SENTENCE)).code).not.toBe(0);
    expect(existsSync(join(home.root, 'elsewhere/agents'))).toBe(false);
  });

  it('keeps a trusted project trusted, and trusts nothing else that changed', async () => {
    mkdirSync(file('.mimir'), { recursive: true });
    writeFileSync(file('AGENTS.md'), 'Use tabs.\n');
    expect((await home.run(['trust', '--yes'])).code).toBe(0);
    expect((await create(SENTENCE)).out).toContain('available from the next run');
    expect((await home.run(['trust'])).out).toContain('Already trusted');
    writeFileSync(file('AGENTS.md'), 'Use spaces.\n');
    expect((await create('finds dead code')).out).toContain('available once the project is trusted: mimir trust');
    expect((await home.run(['agents'])).out).toContain('not loaded because this project is not trusted');
  });

  it('makes one for all projects with --user, and tells scripts all of it', async () => {
    const { out } = await create('--user', '--json', 'fixes failing tests');
    expect(jsonLines(out)).toMatchObject([
      { name: 'test-fixer', tools: ['read_file', 'search', 'bash', 'edit_file', 'write_file'], for: 'user' },
    ]);
    expect(existsSync(join(home.config, 'agents/test-fixer.json'))).toBe(true);
    expect(jsonLines((await home.run(['agents', '--json'])).out)).toMatchObject([
      { agents: among(part({ name: 'test-fixer', whyKept: null })) },
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
    await answer('Description, one sentence', 'finds dead code');
    await answer('Name, such as code-review', 'finder');
    await answer('the agent "finder" already exists', 'pruner');
    await answer('Tools (Enter is read_file, search)', 'read_file, git');
    await answer('Prompt, the instructions of the agent', 'Look for exports that nobody imports.');
    await answer('\n. ', '.');
    await answer('Create this agent?', 'yes');
    expect((await terminal.exit).code).toBe(0);
    expect(JSON.parse(readFileSync(file('.mimir/agents/pruner.json'), 'utf8'))).toEqual({
      name: 'pruner',
      description: 'finds dead code',
      tools: ['read_file', 'git'],
      prompt: 'Look for exports that nobody imports.',
    });
  });

  it('says why no model drafts it where nobody can be asked for the rest, and makes nothing', async () => {
    expect(await home.run(['agents', 'create', SENTENCE])).toEqual({
      code: 6,
      signal: null,
      out: '',
      err: 'mimir: No model wrote a draft: no model provider is set up.\n  in a terminal `mimir agents create` asks for name, tools and prompt; `mimir agents help` describes the file\n',
    });
    expect(existsSync(file('.mimir'))).toBe(false);
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
      'No custom agents yet. Create one: mimir agents create "<what it should do>"',
      'Built in:',
    ]);
  });

  it('names a file that describes no agent with line and reason: in the list, by the doctor, at the start', async () => {
    mkdirSync(file('.claude/agents'), { recursive: true });
    writeFileSync(file('.claude/agents/deploy.md'), '---\ndescription: d\ntools: [Fly]\n---\nx\n');
    await home.run(['trust', '--yes']);
    const why = '.claude/agents/deploy.md:3:1: unknown tool "Fly" is ignored';
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
    await create(SENTENCE);
    const { out } = await home.run(['agents', 'show', 'code-review']);
    expect(out).toContain('  may       read, git-read; never Task\n');
    expect(out).toContain(`  from      ${FILE}\n`);
    expect(out).toContain(`You are ${SENTENCE}.`);
    expect((await home.run(['agents', 'show', 'finde'])).err).toContain('did you mean "finder"?');
  });

  it('T030: deletes the file of a custom agent, after a yes, and no other', async () => {
    await create(SENTENCE);
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
    const terminal = inLines(await drafter());
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
  it('T026, T029, T030: is typed into the field; a form is filled by a model, saved, and the agent deleted', async () => {
    const terminal = startTerminal(process.execPath, [`${CHECKOUT}/src/main.ts`], {
      cols: 100,
      rows: 30,
      cwd: home.project,
      env: { ...home.env, ...(await drafter()) },
    });
    onTestFinished(() => {
      terminal.kill();
    });
    await terminal.waitFor('What do you want to do?');
    terminal.type(`/agents create ${SENTENCE}`);
    terminal.press('enter');
    await terminal.waitFor('New agent');
    await terminal.waitFor('chosen by sonnet-4.5');
    terminal.press('ctrl-s');
    await terminal.waitFor('Created .mimir/agents/code-review.json');
    expect(JSON.parse(readFileSync(file(FILE), 'utf8'))).toMatchObject({ tools: ['read_file', 'search', 'git'] });
    await terminal.waitFor((screen) => !screen.some((line) => line.includes('New agent')));
    terminal.press('f4');
    await terminal.waitFor('code-review');
    terminal.press('enter');
    await terminal.waitFor('delete  ');
    terminal.press('down', 'enter');
    await terminal.waitFor('Delete code-review?');
    terminal.press('y');
    await terminal.waitFor('Deleted .mimir/agents/code-review.json');
    expect(existsSync(file(FILE))).toBe(false);
  });
});
