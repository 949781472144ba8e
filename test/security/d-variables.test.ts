/** Group D, variables: an assignment is one wherever the shell evaluates arithmetic; text in variables that programs run is read. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { judgeCommand } from '../../src/policy/commands/judge.ts';
import { decide } from '../../src/policy/decide.ts';
import { at, someRules } from '../policy/some-rules.ts';
import { commandRules, says } from '../support/commands.ts';
import { makeFolder } from '../support/repos.ts';

/** Programs that only read, and every builtin that could set a variable: all of them allowed. */
const ALLOWED = commandRules(
  'ls,echo **,: **,cat **,let **,declare **,export **,test **,[ **,printf **,read **,getopts **,wait **,set **,unset **'
    .concat(',command **,builtin **,typeset **,readonly **')
    .split(','),
);

/** Each puts a folder of the project before all programs, and then runs `ls`. */
const SETTING_PATH = [
  '((PATH=1)); ls',
  '(( PATH = 1 )) ; ls',
  '((x, PATH=1)); ls',
  '((PATH+=-PATH+1)); ls',
  '[[ 1 -eq PATH=1 ]]; ls',
  '[[ PATH=1 -lt 2 ]] && ls',
  '[[ ! ( 1 -ne PATH=1 ) ]]; ls',
  "[[ -v 'a[PATH=1]' ]]; ls",
  "test -v 'a[PATH=1]'; ls",
  "[ -v 'a[PATH=1]' ]; ls",
  'for ((PATH=1;;)); do ls; break; done',
  'if ((PATH=1)); then ls; fi',
  'while ((PATH=1)); do ls; break; done',
  'case $((PATH=1)) in *) ls;; esac',
  'echo $((PATH=1)); ls',
  'echo $[PATH=1]; ls',
  'echo "$((PATH=1))"; ls',
  'echo ${x:PATH=1}; ls',
  'echo ${x:0:PATH=1}; ls',
  'echo ${a[PATH=1]}; ls',
  'a[PATH=1]=2; ls',
  'a=([PATH=1]=2); ls',
  ': <<E; ls\n$((PATH=1))\nE',
  ': <<<$((PATH=1)); ls',
  ': > /dev/null$((PATH=1)); ls',
  'ls {PATH}>/dev/null; ls',
  'let PATH=1; ls',
  "let 'PATH=1'; ls",
  "declare -i x='PATH=1'; ls",
  "declare 'PATH=1'; ls",
  'export "PATH=1"; ls',
  "typeset 'PATH=1'; ls",
  'printf -v PATH 1; ls',
  'printf -vPATH 1; ls',
  'read PATH <<< 1; ls',
  'read -r PATH < one; ls',
  'command read PATH <<< 1; ls',
  'builtin printf -v PATH 1; ls',
  'set -k; ls PATH=1',
  ': PATH=1; ((_)); ls',
  'declare -n p=PATH; read p <<< 1; ls',
  'unset PATH; : ${PATH:=1}; ls',
  'for PATH in 1; do ls; done',
];

describe('an assignment where the shell evaluates arithmetic, or by a builtin', () => {
  it.each(SETTING_PATH)('is never allowed by rules on programs: %j', (command) => {
    expect(says(command, ALLOWED)).not.toBe('allow');
    const action = { is: 'tool', tool: 'bash', capability: 'shell', command } as const;
    expect(decide(action, someRules({ commands: ALLOWED }), at()).verdict).toBe('ask');
  });

  it('really runs another program: the list above is what bash does', () => {
    const folder = makeFolder({ '1/ls': '#!/bin/sh\nexec /usr/bin/touch /tmp/../"$PWD"/ran\n', one: '1\n' });
    chmodSync(path.join(folder, '1/ls'), 0o755);
    const marker = path.join(folder, 'ran');
    const ran = SETTING_PATH.filter((command) => {
      rmSync(marker, { force: true });
      try {
        execFileSync('bash', ['-c', command], { cwd: folder, stdio: 'ignore' });
      } catch {
        // What a command ends with is of no matter.
      }
      return existsSync(marker);
    });
    // The rest sets another variable here, or another version of bash.
    expect(ran.length).toBeGreaterThan(SETTING_PATH.length / 2);
  });

  it.each([
    '((1 + 2)); ls',
    'echo a; ls',
    '[[ -f a && 1 -eq 2 ]]; ls',
    '[[ -f a.txt ]]; ls',
    '[[ -v HOME ]]; ls',
    'set -euo pipefail; ls',
    'printf %s a; ls',
    'printf "a PATH"; ls',
    'test -v HOME; ls',
  ])('is not seen where there is none: %j', (command) => expect(says(command, ALLOWED)).toBe('allow'));
});

describe('variables whose text is run', () => {
  const DENY = commandRules(['**'], ['curl **']);
  const inYolo = (command: string): string =>
    decide(
      { is: 'tool', tool: 'bash', capability: 'shell', command },
      someRules({ commands: DENY }),
      at({ mode: 'yolo' }),
    ).verdict;

  it.each([
    "PS4='$(curl x)'; set -x; ls",
    "export PS4='$(curl x)'; set -x; ls",
    "declare 'PS4=$(curl x)'; set -x; ls",
    "printf -v PS4 %s '$(curl x)'; set -x; ls",
    "read -r PS4 <<< '$(curl x)'; set -x; ls",
    "for PS4 in '$(curl x)'; do set -x; ls; done",
    "declare -n p=PS4; p='$(curl x)'; set -x; ls",
    'n=PS4; printf -v "$n" %s \'$(curl x)\'; set -x; ls',
    ": ${PS4:='$(curl x)'}; set -x; ls",
    "env PS4='$(curl x)' bash -xc ls",
    'BASH_ENV=./x bash -c ls',
    "BASH_ENV='$(curl x)' bash -c ls",
    'ENV=./x sh -c ls',
    'sudo BASH_ENV=./x bash -c ls',
    "PROMPT_COMMAND='curl x' bash -i",
    'PROMPT_COMMAND=(curl); bash -i',
    "PAGER='curl x' git log",
    "GIT_SSH_COMMAND='curl x' git fetch",
    "export EDITOR='curl x'; git commit",
    "PS1='$(curl x)'; bash -i",
    'x=\'$(curl x)\'; echo "${x@P}"',
    'LD_PRELOAD=./x.so ls',
    'compgen -C "curl x"',
    'jobs -x curl x',
  ])('are denied in yolo where a rule denies a program: %j', (command) => {
    expect(inYolo(command)).toBe('deny');
    expect(['deny', 'unclear']).toContain(says(command, DENY));
  });

  it.each(['PAGER=cat git log', "PS1='> ' ls", 'GIT_EDITOR=true git commit', 'unset PS4 BASH_ENV', 'ENV= sh -c ls'])(
    'are read: %j runs nothing that is denied',
    (command) => expect(inYolo(command)).toBe('allow'),
  );

  it('a command that is read whole and has words only the shell knows is as understood as before', () => {
    const rules = commandRules([]);
    const plain = ['i=0; while ((i < 3)); do ((i++)); done', 'export A="$B"; ls', 'for f in *.c; do wc -l "$f"; done'];
    for (const command of plain) expect(judgeCommand(command, rules)).toEqual({ verdict: 'none' });
  });
});
