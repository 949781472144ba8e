import { describe, expect, it } from 'vitest';
import { saidOfAccess } from '../../src/domain/agent-access.ts';

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
