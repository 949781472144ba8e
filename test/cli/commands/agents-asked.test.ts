/** `mimir agents create` where a model may be asked, as a person does it: in the real program, in lines and on the screen. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { CHECKOUT, type Home, jsonLines, openHome } from '../../support/cli.ts';
import { KEY, openDouble } from '../../support/double/double.ts';
import type { Answer } from '../../support/double/script.ts';
import { holding, like, part } from '../../support/like.ts';
import { startTerminal, type TestTerminal } from '../../support/pty.ts';

let home: Home;
beforeEach(() => {
  home = openHome({});
});
afterEach(() => {
  home.remove();
});
const file = (name: string): string => join(home.project, name);

function inTerminal(env: Readonly<Record<string, string>>, ...args: readonly string[]): TestTerminal {
  const terminal = startTerminal(process.execPath, [`${CHECKOUT}/src/main.ts`, ...args], {
    cols: 140,
    rows: 50,
    cwd: home.project,
    env: { ...home.env, ...env },
  });
  onTestFinished(() => {
    terminal.kill();
  });
  return terminal;
}

describe('mimir agents create, where a model may be asked', () => {
  const DRAFT = {
    name: 'test-fixer',
    description: 'Behebt fehlschlagende Tests.',
    tools: ['read_file', 'search', 'bash', 'edit_file'],
    prompt: 'Du behebst fehlschlagende Tests.\n\nZuerst führst du sie aus.',
  };
  const GERMAN = 'behebt fehlschlagende Tests';
  const SILENT: Answer = { fault: { is: 'silent', at: 'head' } };

  /** Opens a provider that answers so; the environment in which it is asked. */
  async function provider(answer: Answer): Promise<Record<string, string>> {
    const double = await openDouble({ rules: [{ answer }] });
    onTestFinished(() => double.close());
    return { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: double.url };
  }
  const drafts = (): Promise<Record<string, string>> => provider({ text: JSON.stringify(DRAFT) });

  it('T029: says whom it asks, makes the agent, lists its tools, and says what it cost', async () => {
    const env = await drafts();
    const { code, out, err } = await home.run(['agents', 'create', GERMAN], { env });
    expect({ code, err }).toEqual({
      code: 0,
      err: 'Asking sonnet-4.5 (anthropic) for a draft; Ctrl-C stops it, --no-model asks you instead.\n',
    });
    const lines = out.split('\n');
    expect(lines.slice(0, 4)).toEqual([
      'Created .mimir/agents/test-fixer.json: test-fixer may read, write, shell; available from the next run.',
      '  tools: read_file, search, bash, edit_file',
      '  read_file, search: every agent needs them',
      '  bash, edit_file: chosen by sonnet-4.5',
    ]);
    expect(lines[4]).toMatch(/^Drafted by sonnet-4.5: \d+ tokens, \$[\d.]+, session \S+\.$/);
    expect(JSON.parse(readFileSync(file('.mimir/agents/test-fixer.json'), 'utf8'))).toEqual(DRAFT);
    const [json] = jsonLines((await home.run(['agents', 'create', GERMAN, '--user', '--json'], { env })).out);
    expect(json).toMatchObject({
      name: 'test-fixer-2',
      drafted: part({
        by: 'model',
        model: 'anthropic/claude-sonnet-4-5-20250929',
        calls: 1,
        cost: 0,
        session: like(/./),
      }),
    });
    const sessions = (await home.run(['sessions'])).out;
    expect(sessions.match(/Draft a custom agent: behebt/g)?.length).toBe(2);
    expect((await home.run(['resume'])).err).toContain(
      'nothing to resume: this project has no stopped or failed session',
    );
  });

  it('asks nobody for what could not be made, nor with --no-model', async () => {
    const env = await drafts();
    const taken = await home.run(['agents', 'create', '--name', 'finder', GERMAN], { env });
    expect(taken).toMatchObject({ code: 3, err: like(/^mimir: Not created: the agent "finder" already exists/) });
    expect(await home.run(['agents', 'create', '--no-model', GERMAN], { env })).toMatchObject({
      code: 6,
      out: '',
      err: holding('mimir: No model wrote a draft: --no-model.'),
    });
    expect((await home.run(['sessions'])).out).toContain('This project has no sessions yet');
  });

  it('is stopped by Ctrl-C: nothing is made, and its session is over', async () => {
    const terminal = inTerminal({ ...(await provider(SILENT)), NO_COLOR: '1' }, 'agents', 'create', GERMAN);
    await terminal.waitFor('Asking sonnet-4.5');
    terminal.press('ctrl-c');
    await terminal.waitFor('stopped; nothing was created');
    expect((await terminal.exit).code).toBe(130);
    expect(existsSync(file('.mimir'))).toBe(false);
    expect((await home.run(['sessions'])).out).toContain('finished  Draft a custom agent');
  });

  it('T028: suggests by it what a person is asked for on a terminal', async () => {
    const terminal = inTerminal({ ...(await drafts()), NO_COLOR: '1' }, 'agents', 'create');
    const answer = async (question: string, text: string): Promise<void> => {
      await terminal.waitFor(question);
      terminal.type(`${text}\r`);
    };
    await answer('Description, one sentence', `${GERMAN}, egal wo`);
    await terminal.waitFor('Drafted by sonnet-4.5: ');
    await answer('Name (Enter is test-fixer)', '');
    await answer('Description (Enter is "Behebt fehlschlagende Tests.")', '');
    await answer('Tools (Enter is read_file, search, bash, edit_file)', 'read_file, search');
    await answer('Prompt, line by line', '');
    await answer('Create this agent?', 'yes');
    expect((await terminal.exit).code).toBe(0);
    expect(JSON.parse(readFileSync(file('.mimir/agents/test-fixer.json'), 'utf8'))).toEqual({
      ...DRAFT,
      tools: ['read_file', 'search'],
    });
  });

  it('in lines: Ctrl-C stops the model and not the session', async () => {
    const terminal = inTerminal({ ...(await provider(SILENT)), NO_COLOR: '1' }, '--plain');
    await terminal.waitFor('help lists the commands');
    terminal.type(`/agents create ${GERMAN}\r`);
    await terminal.waitFor('for a draft; Ctrl-C stops it');
    terminal.press('ctrl-c');
    await terminal.waitFor('stopped; nothing was created');
    terminal.type(`/agents create --no-model ${GERMAN}\r`);
    await terminal.waitFor('No model wrote a draft: --no-model.');
    const answer = async (question: string, text: string): Promise<void> => {
      await terminal.waitFor(question);
      terminal.type(`${text}\r`);
    };
    await answer('Name, such as code-review', 'fixer');
    await answer('Tools (Enter is read_file, search)', '');
    await answer('Prompt, the instructions of the agent', 'Fix them.');
    await answer('\n. ', '.');
    await answer('Create this agent?', 'yes');
    await terminal.waitFor('Created .mimir/agents/fixer.json');
  });

  it('on the screen: a box waits while the screen goes on, Esc opens the form without a draft', async () => {
    const terminal = inTerminal(await provider(SILENT));
    await terminal.waitFor('What do you want to do?');
    terminal.type(`/agents create ${GERMAN}`);
    terminal.press('enter');
    await terminal.waitFor('Asking sonnet-4.5 (anthropic) for a draft');
    await terminal.waitFor(/for a draft … [1-9]s/);
    terminal.press('esc');
    await terminal.waitFor('No model wrote a draft: the model was stopped');
    await terminal.waitFor(GERMAN);
    terminal.press('esc');
    await terminal.waitFor((screen) => !screen.some((line) => line.includes('New agent')));
    expect(existsSync(file('.mimir'))).toBe(false);
    // Who leaves meanwhile leaves no session behind that could be gone on with.
    terminal.type(`/agents create ${GERMAN}`);
    terminal.press('enter');
    await terminal.waitFor('Asking sonnet-4.5 (anthropic) for a draft');
    terminal.press('ctrl-c', 'ctrl-c');
    expect((await terminal.exit).code).toBe(0);
    expect((await home.run(['sessions'])).out.match(/ finished {2}Draft/g)?.length).toBe(2);
  });
});
