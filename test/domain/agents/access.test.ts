/** What a sentence says of access, in several languages: what it takes away, and what it leaves. */
import { describe, expect, it } from 'vitest';
import { saidOfAccess } from '../../../src/domain/agents/access.ts';

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
