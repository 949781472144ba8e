/** Imports: to which files they lead in each language, and to which they do not. */
import { describe, expect, it } from 'vitest';
import { below, CSHARP, linesOn, PHP, RUBY, SHELL } from './lines.ts';

describe('imports', () => {
  it.each([
    [
      'Ruby',
      RUBY,
      "- lib/tea/leaf.rb: imported by 1 file of the program, for example `lib/tea.rb:1` `require_relative 'tea/leaf'`",
    ],
    [
      'PHP',
      PHP,
      '- src/Leaf/GreenTest.php: imported by 1 file of the program, for example `src/Tea.php:4` `use Shop\\Leaf\\GreenTest;`',
    ],
    ['Shell', SHELL, '- lib/leaf.sh: imported by 1 file of the program, for example `brew.sh:2` `source lib/leaf.sh`'],
    // A namespace of C# names no file.
    ['C#', CSHARP, undefined],
  ])('of %s lead to files', async (_, files, row) => {
    expect(below(await linesOn(files, 'Give me an overview'), 'Files that most others import')[0]).toBe(row);
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
    expect(below(await linesOn(files, 'Give me an overview'), 'Files that most others import')).toEqual([
      "- lib/leaf.cjs: imported by 1 file of the program, for example `lib/cup.cjs:1` `require('./leaf.cjs');`",
      "- lib/leaf.js: imported by 1 file of the program, for example `lib/pot.js:1` `import './leaf.js';`",
      "- lib/water.ts: imported by 1 file of the program, for example `lib/tea.js:1` `import './water.js';`",
      '- imports in tests, examples, scripts, documents and vendored, generated or translated code are not counted (search for imports in TypeScript or JavaScript: 3 lines; search for names of modules: 0 lines)',
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
    expect(below(lines, 'Modules for which no test was found')).toEqual([
      '- src/path.ts: no code of a test holds `onlyHere`',
    ]);
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
      'A test imports each of 2 modules, is named after it, or holds a name that it exports (list of all files: 4 files) (search for imports in Python: 1 line).',
    );
  });

  it('of a Rust module and the file that declares it are no circle', async () => {
    const files = {
      'src/lib.rs': 'mod tea;\n',
      'src/tea/mod.rs': 'pub(crate) mod leaf;\n',
      'src/tea/leaf.rs': 'use crate::tea;\n',
    };
    expect(below(await linesOn(files, 'Give me an overview'), 'Import cycles')).toEqual([
      '- none among 3 imports that lead to a file here (search for imports in Rust: 3 lines)',
    ]);
  });
});

it('a folder of Go that imports the module itself imports the folder at the top', async () => {
  const files = {
    'go.mod': 'module example.org/tea\n',
    'tea.go': 'package tea\n',
    'leaf/leaf.go': 'package leaf\n\nimport (\n\t"example.org/tea"\n)\n',
  };
  expect(below(await linesOn(files, 'Give me an overview'), 'Files that most others import')[0]).toBe(
    '- ./: imported by 1 folder of the program, for example `leaf/leaf.go:4` `"example.org/tea"`',
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
      '- none among 2 imports that lead to a file here (search for imports in Rust: 4 lines)',
    ]);
  });
});
