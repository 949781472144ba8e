/** Imports: to which files they lead in each language, and to which they do not. */
import { describe, expect, it } from 'vitest';
import { hitsOf } from '../../src/analyst/tools.ts';
import { below, CSHARP, linesOn, PHP, RUBY, SHELL } from './lines.ts';

describe('imports', () => {
  it.each([
    ['Ruby', RUBY, '- lib/tea/leaf.rb: imported by 1 file, for example at `lib/tea.rb:1`'],
    ['PHP', PHP, '- src/Leaf/GreenTest.php: imported by 1 file, for example at `src/Tea.php:4`'],
    ['Shell', SHELL, '- lib/leaf.sh: imported by 1 file, for example at `brew.sh:2`'],
    // A namespace of C# names no file.
    ['C#', CSHARP, undefined],
  ])('of %s lead to files', async (_, files, row) => {
    expect(below(await linesOn(files, 'Give me an overview'), 'Central files')[0]).toBe(row);
  });

  it('of JavaScript lead to the file that they name, before others of that name', async () => {
    const files = {
      'lib/cup.cjs': "require('./leaf.cjs');\n",
      'lib/pot.js': "import './leaf.js';\n",
      'lib/tea.js': "import './water.js';\n",
      'lib/leaf.cjs': '',
      'lib/leaf.js': '',
      'lib/water.ts': '',
    };
    expect(below(await linesOn(files, 'Give me an overview'), 'Central files')).toEqual([
      '- lib/leaf.cjs: imported by 1 file, for example at `lib/cup.cjs:1`',
      '- lib/leaf.js: imported by 1 file, for example at `lib/pot.js:1`',
      '- lib/water.ts: imported by 1 file, for example at `lib/tea.js:1`',
      '- imports in tests and examples are not counted (search for imports in TypeScript or JavaScript: 3 lines; search for names of modules: 0 lines)',
    ]);
  });

  it('of JavaScript by the name of the package lead into it, and by another name to no file here', async () => {
    const files = {
      'package.json': '{\n  "name": "@shop/tea"\n}\n',
      'src/index.ts': 'export const brew = 2;\n',
      'src/leaf/index.ts': 'export const leaf = 2;\n',
      'src/path.ts': 'export const onlyHere = 2;\n',
      'test/all.test.ts':
        "import { b } from '@shop/tea';\nimport { l } from '@shop/tea/leaf';\nimport path from 'path';\n",
    };
    const lines = await linesOn(files, 'Which modules lack tests?');
    expect(lines[0]).toMatch(/^No test was found for 1 of 3 modules: /);
    expect(below(lines, 'Modules without a test')).toEqual(['- src/path.ts: no test holds `onlyHere`']);
  });

  it('of Python lead to modules that are named on the lines behind them, and to declarations', async () => {
    const files = {
      'tea/__init__.py': '',
      'tea/leaf.py': 'class Leaf:\n    pass\n',
      'tea/water.pyi': 'class Water: ...\n',
      'tests/test_all.py': 'from tea import (  # all of it\n    leaf,\n    water,\n)\n',
    };
    const [first] = await linesOn(files, 'Which modules lack tests?');
    const long = {
      ...files,
      'tests/test_all.py': `from tea import (\n${'    other,\n'.repeat(12)}    leaf,\n    water,\n)\n`,
    };
    expect(await linesOn(long, 'Which modules lack tests?')).toContain(first);
    expect(first).toBe(
      'Each of 2 modules has a test or is reached by one. A module counts as tested if a test imports it, is named after it or holds one of the first 8 names that it exports (search for imports in Python: 1 line; search for exported names in Python: 2 lines).',
    );
  });

  it('of a Rust module and the file that declares it are no circle', async () => {
    const files = {
      'src/lib.rs': 'mod tea;\n',
      'src/tea/mod.rs': 'pub(crate) mod leaf;\n',
      'src/tea/leaf.rs': 'use crate::tea;\n',
    };
    expect(below(await linesOn(files, 'Give me an overview'), 'Import cycles')).toEqual([
      '- none among 3 imports that lead to a file here (search for imports in Rust: 3 lines; search for names of modules: 0 lines)',
    ]);
  });
});

it('a folder of Go that imports the module itself imports the folder at the top', async () => {
  const files = {
    'go.mod': 'module example.org/tea\n',
    'tea.go': 'package tea\n',
    'leaf/leaf.go': 'package leaf\n\nimport (\n\t"example.org/tea"\n)\n',
  };
  expect(below(await linesOn(files, 'Give me an overview'), 'Central files')[0]).toBe(
    '- ./: imported by 1 folder, for example at `leaf/leaf.go:4`',
  );
});

describe('imports of Rust', () => {
  it('of an inner test module from the module around it lead to no other file', async () => {
    const files = {
      'src/lib.rs': 'mod tea;\n',
      'src/tea/mod.rs': 'mod leaf;\npub use self::leaf::Leaf;\n',
      'src/tea/leaf.rs': 'pub struct Leaf;\n\n#[cfg(test)]\nmod tests {\n    use super::Leaf;\n}\n',
    };
    expect(below(await linesOn(files, 'Give me an overview'), 'Import cycles')).toEqual([
      '- none among 2 imports that lead to a file here (search for imports in Rust: 5 lines; search for names of modules: 0 lines)',
    ]);
  });
});

it('rows of a search that a cut in the middle may have touched are left out', () => {
  const text = 'a.ts:1: import 1\nb.ts:2: imp\n[… 9 bytes left out …]\n/c.ts:3: import 3\nd.ts:4: import 4';
  const ask = { tool: 'search', input: { pattern: 'import' } };
  expect(hitsOf({ ask, ok: true, text }).map(({ path }) => path)).toEqual(['a.ts', 'd.ts']);
});
