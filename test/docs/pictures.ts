/**
 * `npm run pictures`: takes the pictures of the documentation from the real program in a pseudo-terminal. A model of the provider double
 * answers; the first picture has no provider at all.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openDouble } from '../support/double/double.ts';
import type { TestTerminal } from '../support/pty.ts';
import { startTerminal } from '../support/pty.ts';
import { PROJECT, STORY, TASK } from './story.ts';
import { svgOf } from './svg.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PICTURES = path.join(ROOT, 'docs/pictures');
const SIZE = { cols: 120, rows: 36 };

/** Seen in a picture, so it has the same name each time. */
const home = path.join(realpathSync(tmpdir()), 'mimir-pictures');
const project = path.join(home, 'ledger');

/** The double is a server on this machine, which would cost nothing. */
const PRICES = `providers:
  anthropic:
    kind: anthropic
    prices: { haiku-4.5: { input: 1, output: 5 }, sonnet-4.5: { input: 3, output: 15 }, opus-5.5: { input: 5, output: 25 } }
`;

/** The project as a repository with one commit. */
function makeProject(): void {
  for (const [file, text] of Object.entries(PROJECT)) {
    mkdirSync(path.dirname(path.join(project, file)), { recursive: true });
    writeFileSync(path.join(project, file), text);
  }
  const git = (...args: readonly string[]): void =>
    void execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], { cwd: project });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '.');
  git('commit', '--quiet', '--message=Add the ledger');
}

function opened(keys: Readonly<Record<string, string>>): TestTerminal {
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    COLORTERM: 'truecolor',
    ...keys,
  };
  const program = [path.join(ROOT, 'src/main.ts'), '--theme', 'mimir-dark'];
  return startTerminal(process.execPath, program, { ...SIZE, cwd: project, env });
}

function take(terminal: TestTerminal, name: string): void {
  writeFileSync(
    path.join(PICTURES, `${name}.svg`),
    svgOf((x, y) => terminal.cell(x, y), SIZE),
  );
  process.stdout.write(`docs/pictures/${name}.svg\n`);
}

const MODELS_COMPARED = /cheap\S* {2,}/i;

/** Waits for one after the other. */
async function sees(terminal: TestTerminal, ...what: readonly (string | RegExp)[]): Promise<void> {
  for (const one of what) await terminal.waitFor(one);
}

/** A key answers only once its question was in sight for a moment: pressed again until it was taken. */
async function answer(terminal: TestTerminal): Promise<void> {
  const taken = (): Promise<boolean> =>
    terminal
      .waitFor((rows) => !rows.join('\n').includes('1 allow once'), { timeout: 1500 })
      .then(
        () => true,
        () => false,
      );
  do terminal.press('1');
  while (!(await taken()));
}

async function withoutKey(): Promise<void> {
  const terminal = opened({});
  await sees(terminal, /offline/i, /6 {2}/);
  take(terminal, 'start');
  terminal.kill();
}

async function withModel(): Promise<void> {
  const settings = path.join(home, '.config/mimir');
  mkdirSync(settings, { recursive: true });
  writeFileSync(path.join(settings, 'config.yml'), PRICES, { mode: 0o600 });
  const double = await openDouble(STORY);
  const terminal = opened({ ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: double.url });
  await sees(terminal, 'anthropic');
  terminal.type(TASK);
  await sees(terminal, TASK.slice(0, 20));
  terminal.press('enter');
  await sees(terminal, /⏎ (?:accept|start)/, 'reviewer');
  take(terminal, 'plan');
  terminal.press('$');
  await sees(terminal, MODELS_COMPARED);
  take(terminal, 'what-if');
  terminal.press('esc');
  await terminal.waitFor((rows) => !MODELS_COMPARED.test(rows.join('\n')));
  terminal.press('enter');
  await sees(terminal, '✓ finder', 'Findings so far', '● tester');
  take(terminal, 'run');
  await sees(terminal, 'A to answer');
  terminal.press('A');
  await sees(terminal, /1 allow/);
  take(terminal, 'question');
  await answer(terminal);
  await sees(terminal, '1 Answer', 'Why balances get stale', 'A fix');
  take(terminal, 'result');
  terminal.kill();
  await double.close();
}

mkdirSync(PICTURES, { recursive: true });
// Fails where another one takes pictures now.
mkdirSync(home);
try {
  makeProject();
  await withoutKey();
  await withModel();
} finally {
  rmSync(home, { recursive: true, force: true });
}
