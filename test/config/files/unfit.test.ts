/** What is refused of a file before it is parsed as YAML: hidden ends of lines, and what would take the parser long. */
import { describe, expect, it } from 'vitest';
import { parsePlanText, stringifyYaml } from '../../../src/config/templates/templates.ts';
import { parseRole } from '../../../src/config/roles/role-file.ts';
import { parseTheme } from '../../../src/config/themes.ts';
import { readTree } from '../../../src/config/files/tree.ts';

const ENDS = { '\r': '000D', '\u0085': '0085', '\u2028': '2028', '\u2029': '2029', '\v': '000B', '\f': '000C' };

const faultOf = (text: string): unknown => {
  const read = readTree(text, 'f.yml');
  return read.ok ? null : [read.fault.line, read.fault.column, read.fault.problem];
};

describe('an end of a line that only some programs see', () => {
  it.each(Object.entries(ENDS))(
    'is refused in a comment with its place, so that it swallows no key: %j',
    (end, code) => {
      const text = `# rules${end}enforcement:${end}  deniedModels: [opus-4.5]\nmode: {}\n`;
      const problem = `contains U+${code}, which some programs show as a line break but YAML does not treat as one`;
      expect(faultOf(text)).toEqual([1, 8, problem]);
      expect(faultOf(`a: 1\r\nb: 2 # x${end}`)).toEqual([2, 9, problem]);
      expect(faultOf(`a: "x${end}y"`)).toEqual([1, 6, problem]);
      expect(faultOf(`a: |\n  x${end}y`)).toEqual([2, 4, problem]);
    },
  );

  it('is told apart from any other control character', () => {
    expect(faultOf('a: 1\0')).toEqual([1, 5, 'contains the control character U+0000']);
  });

  it('is refused in each kind of file, and CR with LF is one end', () => {
    const hidden = '---\nname: x # y\u2028tools: []\n---\nDo.\n';
    const role = parseRole({ file: 'x.md', stem: 'x', text: hidden, source: 'user', kind: 'md' });
    expect(role.ok || role.fault[0]?.problem).toContain('U+2028');
    const theme = parseTheme('t.yml', 'extends: dark # x\u0085a: 1');
    expect(theme.ok ? '' : theme.fault).toContain('t.yml:1:18: contains U+0085');
    expect(parsePlanText('tasks: [] # \r task', 'p.yml')).toMatchObject({ ok: false });
    expect(faultOf('a: 1\r\n# note\r\nb: 2\r\n')).toBe(null);
  });

  it('is written as an escape where a text of a plan has one', () => {
    const plan = { text: 'a\u2028b\u0085c\rd\u007fe', plain: 'ä — \u00a0x', lines: 'one\ntwo\n' };
    expect(parsePlanText(stringifyYaml(plan), 'p.yml')).toEqual({ ok: true, value: plan });
  });
});

describe('what takes a parser long', () => {
  const deep = 'is nested deeper than 12 levels';
  const signs = 'has more than 8000 syntax characters';
  it.each([
    ['[', 50_000, deep],
    ['{a: ', 1500, deep],
    ['- ', 30_000, signs],
    ['? ', 30_000, signs],
    ['&a ', 20_000, signs],
    ['*a ', 20_000, signs],
    ['- &a\n', 12_000, signs],
    ['!a ', 20_000, signs],
    [']', 50_000, signs],
    ['---\n', 16_000, signs],
    ['- a\n', 16_000, signs],
    ['[,', 1, null],
    ['"a" ', 16_000, null],
  ] as const)('is refused before it is parsed: %j, %i times', (part, times, problem) => {
    const found = faultOf(part.repeat(times));
    if (problem !== null) expect(found).toEqual([expect.any(Number), expect.any(Number), problem]);
    else expect(found).not.toBe(null);
  });

  it('is none of what people write: brackets and signs in texts, comments and a few levels', () => {
    const prose = `# ${'[&*'.repeat(200)}\ntext: |\n  ${'[ { & * ! - '.repeat(200)}\n  ---\nquoted: "${'[{&'.repeat(200)}"\n`;
    expect(faultOf(`${prose}plain: a [b] & c\nlist: [[1, 2], {a: [3]}]\n`)).toBe(null);
  });
});
