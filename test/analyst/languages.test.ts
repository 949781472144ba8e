/** Languages and manifests beside those of the other fixtures: what defines, imports, starts, tests and uses in them. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { carry } from './carry.ts';
import { folderOf, untrue } from './folders.ts';
import type { Files } from './folders.ts';

/** The rows and sentences that the analyst says of `files`; each quote in them is looked up. */
async function linesOn(files: Files, task: string): Promise<readonly string[]> {
  const folder = folderOf(files);
  onTestFinished(() => folder.remove());
  const { answer } = await carry({ root: folder.root, role: 'main', task });
  expect(untrue(folder.root, answer)).toEqual([]);
  return answer.split('\n');
}

/** What is below a heading. */
const below = (lines: readonly string[], heading: string): readonly string[] => {
  const rest = lines.slice(lines.indexOf(`## ${heading}`) + 2);
  return lines.includes(`## ${heading}`) ? rest.slice(0, rest.indexOf('')) : [];
};

const RUBY: Files = {
  'lib/tea.rb': "require_relative 'tea/leaf'\n\nmodule Tea\n  def self.brew(leaf)\n    leaf.steep\n  end\nend\n",
  'lib/tea/leaf.rb': 'module Tea\n  class Leaf\n    def steep\n      2\n    end\n  end\nend\n',
};
const PHP: Files = {
  'src/Tea.php':
    '<?php\nnamespace Shop;\n\nuse Shop\\Leaf\\GreenTest;\n\nfinal class Tea\n{\n    public function brew(GreenTest $leaf): int\n    {\n        return $leaf->steep();\n    }\n}\n',
  'src/Leaf/GreenTest.php':
    '<?php\nnamespace Shop\\Leaf;\n\nclass GreenTest\n{\n    public static function steep(): int\n    {\n        return 2;\n    }\n}\n',
  'tests/TeaTest.php': '<?php\nuse Shop\\Tea;\n\nclass TeaTest {}\n',
};
const CSHARP: Files = {
  'src/Tea.cs':
    'using Shop.Leaves;\n\nnamespace Shop\n{\n    public sealed class Tea\n    {\n        public int Brew(Leaf leaf) => leaf.Steep();\n    }\n}\n',
  'src/Leaf.cs':
    'namespace Shop.Leaves\n{\n    public class Leaf\n    {\n        public virtual int Steep()\n        {\n            return 2;\n        }\n    }\n}\n',
};
const SHELL: Files = {
  'brew.sh': '#!/bin/bash\nsource lib/leaf.sh\nsteep 2\n',
  'lib/leaf.sh': 'steep() {\n  echo "$1"\n}\n',
};

describe('where a name is', () => {
  it.each([
    ['Ruby', RUBY, 'steep', '- `lib/tea/leaf.rb:3` `def steep`'],
    ['Ruby', RUBY, 'brew', '- `lib/tea.rb:4` `def self.brew(leaf)`'],
    ['Ruby', RUBY, 'Leaf', '- `lib/tea/leaf.rb:2` `class Leaf`'],
    ['PHP', PHP, 'steep', '- `src/Leaf/GreenTest.php:6` `public static function steep(): int`'],
    ['PHP', PHP, 'Tea', '- `src/Tea.php:6` `final class Tea`'],
    ['C#', CSHARP, 'Steep', '- `src/Leaf.cs:5` `public virtual int Steep()`'],
    ['C#', CSHARP, 'Brew', '- `src/Tea.cs:7` `public int Brew(Leaf leaf) => leaf.Steep();`'],
    ['Shell', SHELL, 'steep', '- `lib/leaf.sh:1` `steep() {`'],
  ])('in %s, %#: `%3$s`', async (_, files, name, row) => {
    expect(below(await linesOn(files, `Where is \`${name}\` defined?`), 'Definitions')[0]).toBe(row);
  });

  it('says when nothing else holds it, by which search', async () => {
    const [first] = await linesOn(RUBY, 'Where is `brew` defined?');
    expect(first).toBe(
      '`brew` is defined at `lib/tea.rb:4` `def self.brew(leaf)`. No other line holds it (search for `brew`: 1 line).',
    );
  });
});

describe('imports', () => {
  it.each([
    ['Ruby', RUBY, "- lib/tea/leaf.rb: imported by 1 file, for example `lib/tea.rb:1` `require_relative 'tea/leaf'`"],
    [
      'PHP',
      PHP,
      '- src/Leaf/GreenTest.php: imported by 1 file, for example `src/Tea.php:4` `use Shop\\Leaf\\GreenTest;`',
    ],
    ['Shell', SHELL, '- lib/leaf.sh: imported by 1 file, for example `brew.sh:2` `source lib/leaf.sh`'],
    // A namespace of C# names no file.
    ['C#', CSHARP, undefined],
  ])('of %s lead to files', async (_, files, row) => {
    expect(below(await linesOn(files, 'Give me an overview'), 'Files that most others import')[0]).toBe(row);
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
      'Each of 2 modules is imported by one of 1 test file, has one named after it, or has one whose code holds a name it defines (list of all files: 4 files) (search for imports in *.{py,pyi}: 1 line; search for imports over several lines: 1 line).',
    );
  });

  it('of a Rust module and the file that declares it are no circle', async () => {
    const files = {
      'src/lib.rs': 'mod tea;\n',
      'src/tea/mod.rs': 'pub(crate) mod leaf;\n',
      'src/tea/leaf.rs': 'use crate::tea;\n',
    };
    expect(below(await linesOn(files, 'Give me an overview'), 'Circles of imports')).toEqual([
      '- none among 3 imports that lead to a file here (search for imports in *.rs: 3 lines)',
    ]);
  });
});

describe('what a project says of itself', () => {
  it('is its name, version and description, each once', async () => {
    const files = {
      'README.md': '# <img src="logo.png" alt="A picture of tea leaves">\n\nTea that is brewed by a machine.\n',
      'composer.json': '{\n  "name": "shop/tea",\n  "authors": [\n    {\n      "name": "Ada"\n    }\n  ]\n}\n',
      'pyproject.toml': '[tool.mypy]\nmodule = [\n  "tea"\n]\n',
      'setup.py': 'version = pkg.get(dist).version\n',
    };
    expect(below(await linesOn(files, 'Give me an overview'), 'What it says of itself')).toEqual([
      '- `README.md:3` `Tea that is brewed by a machine.`',
      '- `composer.json:2` `"name": "shop/tea",`',
    ]);
  });
});

describe('untested modules', () => {
  it('of a folder without any are said to be missing there, not in the whole', async () => {
    const [first] = await linesOn(PHP, 'Which modules of tests/ lack tests?');
    expect(first).toBe('There is no module to test in `tests/` (list of files: 1 file).');
  });

  it('are run by commands, not by a requirement of the same name', async () => {
    const files = {
      'setup.cfg': '[options]\ntest =\n    pytest>=6\n    pytest-cov\n',
      'tea.py': 'def brew():\n    pass\n',
    };
    expect(below(await linesOn(files, 'Which modules lack tests?'), 'How they are run')).toEqual([
      '- no line names a command for tests (search for test commands in manifests and CI: 0 lines)',
    ]);
  });
});

it('a comment in a build file is an open note', async () => {
  const note = '# TODO: brew longer';
  const lines = await linesOn({ 'CMakeLists.txt': `${note}\n` }, 'List all open notes');
  expect(below(lines, 'Open notes')).toEqual([`- \`CMakeLists.txt:1\` \`${note}\``]);
});

it('a use of a PHP package is told from its namespace', async () => {
  const files = {
    'composer.json': '{\n  "require": {\n    "shop/green-leaf": "^1.0",\n    "shop/cup": "^1.0"\n  }\n}\n',
    'src/Tea.php':
      '<?php\nnamespace Shop\\Cup;\n\nuse Shop\\Component\\GreenLeaf\\Leaf;\nuse Shop\\Contracts\\Cup\\Saucer;\n',
  };
  expect(below(await linesOn(files, 'Which dependencies are not used?'), 'composer.json, require')).toEqual([
    '- shop/green-leaf: declared at `composer.json:3` `"shop/green-leaf": "^1.0",`; imported in 1 file, for example `src/Tea.php:4` `use Shop\\Component\\GreenLeaf\\Leaf;`',
    '- shop/cup: declared at `composer.json:4` `"shop/cup": "^1.0"`; no import by its name was found (search for imports of `shop/cup`: 0 lines), and it is named nowhere else (search for `shop/cup` outside of composer.json: 1 line)',
  ]);
});

it('a method that is called as a risky function is no risk', async () => {
  const files = {
    'src/Tea.php': '<?php\nclass Tea\n{\n    public function unserialize($data): void\n    {\n    }\n}\n',
  };
  const [first] = await linesOn(files, 'Review this repository for security risks');
  expect(first).toContain('No line of 1 source file of this repository');
});
