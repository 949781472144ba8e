import { describe, expect, it } from 'vitest';
import { readCommand } from '../../../src/policy/commands/read.ts';

const doubtsOf = (command: string): readonly string[] => readCommand(command).doubts;

const EVALUATED = 'a value is evaluated as a prompt';
const CODE = 'it may evaluate text as code';

describe('what makes a command doubtful', () => {
  it.each([
    ['echo ${A@P}', [EVALUATED]],
    ['echo ${!A@P}', [EVALUATED]],
    ['echo ${A[0]@P}', [EVALUATED]],
    ['echo ${A@Q} ${A@L} ${A@u}', []],
    ['echo ${A/$(x)/y}', ['a pattern contains a substitution']],
    ['echo ${A%`x`}', ['a pattern contains a substitution']],
    ['echo ${A:-$(x)}', []],
    ['echo ${A/x/y}', []],
    ['declare -n a=b', ['a variable refers to another']],
    ['typeset -gn a=b', ['a variable refers to another']],
    ['declare -i a=b', []],
    ['export -n a', []],
    ['zsh -c ls', ['zsh reads words differently']],
    ['bash -c ls', []],
    ['env LD_PRELOAD=x ls', ['LD_PRELOAD runs code that is not in the text']],
    ['env A=x ls', []],
    ['env A=$x ls', ['what env runs is unclear']],
    ["cat <<'E'\nx[$(id)]\nE\nlet a", [CODE]],
    ["cat <<'E'\nx[id]\nE\nlet a", []],
    ["cat <<'E'\nx[$(id)]\nE", []],
    ['cat <<E\nx', ['a here-document has no end']],
  ])('%j: %j', (command, doubts) => {
    expect(doubtsOf(command)).toEqual(doubts);
  });
});

describe('the programs that a command runs', () => {
  it.each([
    ['eval ls -a', ['eval ls -a', 'ls -a']],
    ['eval -- ls', ['eval -- ls', 'ls']],
    ['eval ls -- x', ['eval ls -- x', 'ls -- x']],
    ['trap -- ls EXIT', ['trap -- ls EXIT', 'ls']],
    ['env A=1 ls', ['env A=1 ls', 'ls']],
    ['sudo A=1 ls', ['sudo A=1 ls', 'ls']],
    ['bash -c ls', ['bash -c ls', 'ls']],
    ['bash -xc ls', ['bash -xc ls', 'ls']],
    ['bash -x a.sh', ['bash -x a.sh']],
    ['nice A=1 ls', ['nice A=1 ls', 'A=1 ls']],
    ['export A+=1', ['export A+=1']],
    ['export A=1', ['export A=1']],
  ])('%s: %j', (command, programs) => {
    expect(readCommand(command).simples.map(({ words }) => words.join(' '))).toEqual(programs);
  });
});
