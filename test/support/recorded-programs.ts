/**
 * The programs of 400 recorded runs of one model (Gemini 3 Pro, 2025-11-18) on SWE-bench Verified with an agent that has a shell
 * as its only tool (mini-swe-agent 1.15), by step, as commands with made-up arguments. Of the recordings only names of programs
 * with their sub-command are kept (`git diff`, `sed -i`); `cat >` is a `cat` in a command of more than 120 characters, which is
 * one that writes a file from a here-document.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';

const Recorded = z.strictObject({
  /** Sets of programs, each once. */
  steps: z.array(z.array(z.string())),
  /** For each run its steps, by number. */
  runs: z.array(z.array(z.number())),
});

/** What stands behind the name of a program. Others get a word that is no option. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  cat: 'src/a.py',
  'cat >': "src/b.py <<'EOF'\nprint(1)\nEOF",
  grep: '-rn "def one" src/',
  'sed -n': "'10,80p' src/a.py",
  'sed -i': "'s/one/two/' src/a.py",
  sed: "'s/one/two/' src/a.py",
  nl: '-ba src/a.py',
  ls: '-la src',
  python: 'reproduce.py',
  python3: 'reproduce.py',
  find: '. -name "*.py"',
  head: '-n 20 src/a.py',
  tail: '-n 20 src/a.py',
  wc: '-l src/a.py',
  sort: '',
  uniq: '-c',
  cut: '-d: -f1',
  tr: 'a-z A-Z',
  pwd: '',
  true: '',
  whoami: '',
  uname: '-a',
  env: '',
  which: 'python',
  echo: '"done"',
  printf: "'%s\\n' done",
  test: '-f src/a.py',
  cd: 'src',
  rm: 'reproduce.py',
  'git diff': 'src/a.py',
  'git status': '--short',
  'git log': '--oneline -5',
  'git show': 'HEAD',
  'git add': '-A',
  export: 'NAME=value',
  timeout: '60',
  xargs: '',
  bash: 'run.sh',
};

/** Programs that run the one behind them. */
const RUNNERS: ReadonlySet<string> = new Set(['timeout', 'xargs']);
/** What is usually behind a pipe when it is not the first. */
const FILTERS: ReadonlySet<string> = new Set('grep head tail sort uniq cut tr wc xargs'.split(' ').concat('sed -n'));

function commandOf(programs: readonly string[]): string {
  let command = '';
  for (const [at, program] of programs.entries()) {
    command += `${betweenOf(command, programs[at - 1], program)}${`${program} ${ARGUMENTS[program] ?? 'x'}`.trim()}`;
  }
  return command;
}

function betweenOf(command: string, before: string | undefined, program: string): string {
  if (before === undefined) return '';
  if (RUNNERS.has(before)) return ' ';
  // A here-document ends with its line.
  if (command.endsWith('EOF')) return '\n';
  return FILTERS.has(program) && !command.includes('<<') ? ' | ' : ' && ';
}

/** For each run the commands of its steps that ran a program, in their order. */
export function recordedCommands(): readonly (readonly string[])[] {
  const file = path.join(import.meta.dirname, 'recorded-programs.json.gz');
  const { steps, runs } = Recorded.parse(JSON.parse(gunzipSync(readFileSync(file)).toString()));
  const commands = steps.map(commandOf);
  return runs.map((run) => run.flatMap((step) => commands[step] ?? []).filter((command) => command !== ''));
}

/**
 * How often a person is asked in a run. `judge` gives null for a command that runs without a question, else what the widest
 * offer of the question would cover: a later command whose own is covered by what was given asks no more.
 */
export function questionsIn(commands: readonly string[], judge: (command: string) => readonly string[] | null): number {
  const given = new Set<string>();
  let questions = 0;
  for (const command of commands) {
    const wants = judge(command);
    if (wants === null || (wants.length > 0 && wants.every((one) => given.has(one)))) continue;
    questions += 1;
    for (const one of wants) given.add(one);
  }
  return questions;
}

export const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0;
