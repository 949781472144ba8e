/** Languages and manifests beside those of the other fixtures: what defines, starts, tests and uses in them. */
import { describe, expect, it } from 'vitest';
import type { Files } from './folders.ts';
import { below, CSHARP, linesOn, PHP, RUBY, SHELL } from './lines.ts';

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

  it('counts definitions and declarations apart', async () => {
    const files = {
      'tea.h': 'int brew(int leaves);\n',
      'tea.c': 'int brew(int leaves) {\n  return leaves;\n}\n',
    };
    const [first] = await linesOn(files, 'Where is `brew` defined?');
    expect(first).toBe(
      '`brew` is defined at `tea.c:1` `int brew(int leaves) {`. No other line holds it (search for `brew`: 2 lines).',
    );
  });

  it('says when nothing else holds it, by which search', async () => {
    const [first] = await linesOn(RUBY, 'Where is `brew` defined?');
    expect(first).toBe(
      '`brew` is defined at `lib/tea.rb:4` `def self.brew(leaf)`. No other line holds it (search for `brew`: 1 line).',
    );
  });
});

describe('a sentence that ends with a quote', () => {
  const ENDED: Files = {
    'README.md': '# Tea\n\nTea that is brewed by a machine.\n',
    'CHANGES.md': '# 1.0.0 is the first!\n',
    'requirements.txt': 'leaf  # Do we need it?\n',
    'main.rb': '#!/usr/bin/env ruby # Brews…\nrequire "leaf"\ndef brew?\nend\n\ndef steep!\nend\n',
  };

  it.each([
    ['Give me an overview', 'This repository is described at `README.md:3` `Tea that is brewed by a machine.`'],
    ['Where is `brew?` defined?', '`brew?` is defined at `main.rb:3` `def brew?`'],
    ['Where is `steep!` defined?', '`steep!` is defined at `main.rb:6` `def steep!`'],
    ['What changed lately?', 'The newest entry of the change log is at `CHANGES.md:1` `# 1.0.0 is the first!`'],
  ])('%s: it has no stop of its own where the quote ends one', async (task, words) => {
    const [first = ''] = await linesOn(ENDED, task);
    expect(`${first} `).toContain(`${words} `);
    expect(first.replaceAll('`', '')).not.toMatch(/[.!?…]\.(?:\s|$)/);
  });
});

describe('the description of a project', () => {
  it('is that of its manifest first, then the first sentences of its README', async () => {
    const files = {
      'README.md':
        '# <img src="logo.png" alt="A picture of tea leaves">\n\nTea that is brewed by a machine.\n\nInstall it with the package manager:\n',
      'composer.json': '{\n  "name": "shop/tea",\n  "description": "A tea machine"\n}\n',
    };
    const lines = await linesOn(files, 'Give me an overview');
    expect(lines[0]).toMatch(
      /^This repository is described at `composer.json:3` `"description": "A tea machine"`\. It has/,
    );
    expect(below(lines, 'Project description')).toEqual(['- `README.md:3` `Tea that is brewed by a machine.`']);
  });

  it('is neither in a comment of its README nor said of its parent', async () => {
    const files = {
      'README.md': '<!---\n Licensed under the terms of the licence of tea\n-->\nTea that is brewed by a machine.\n',
      'pom.xml':
        '<project>\n  <parent>\n    <description>Drinks</description>\n  </parent>\n  <artifactId>tea</artifactId>\n</project>\n',
    };
    const [first] = await linesOn(files, 'Give me an overview');
    expect(first).toContain('This repository is described at `README.md:4` `Tea that is brewed by a machine.`');
  });
});

describe('where programs start', () => {
  const headed = async (files: Files): Promise<readonly string[]> =>
    below(await linesOn(files, 'Give me an overview'), 'Entry points');

  it('is where entry points are declared, and where a library is imported', async () => {
    const files = {
      'setup.cfg': '[options.entry_points]\nconsole_scripts =\n  brew = tea.pot:brew\n',
      'pyproject.toml': '[project.scripts]\npour = "tea.pot:pour"\n',
      'tea/__init__.py': '',
      'tea/leaf/__init__.py': '',
    };
    expect(await headed(files)).toEqual([
      '- library: `tea/__init__.py`',
      '- declared: `pyproject.toml:2` `pour = "tea.pot:pour"`',
      '- declared: `setup.cfg:3` `brew = tea.pot:brew`',
    ]);
  });

  it('is in no test', async () => {
    const files = {
      'tests/tea.c': 'int main(void) {\n  return 0;\n}\n',
      'tea.c': 'int brew(void) {\n  return 2;\n}\n',
    };
    expect(await headed(files)).toEqual([
      '- no line outside tests that declares or starts a program was found (search for starts of programs in C or C++: 1 line)',
    ]);
  });
});

describe('code that is not the own work of a project', () => {
  const files = {
    'src/tea.ts': 'export const tea = 2;\n',
    'src/locales/de.ts': 'export const name = 1;\n',
    'src/tests/locales/de.test.ts': "import '../../locales/de.ts';\n",
  };

  it('is counted apart in an overview', async () => {
    const lines = await linesOn(files, 'Give me an overview');
    expect(lines[0]).toContain(
      'source files: 1 TypeScript or JavaScript; 1 more is vendored, generated or translated; test files: 1 (',
    );
    expect(below(lines, 'Folders').slice(0, 3)).toEqual([
      '- `src/`: 1 file, of them 1 source',
      '- `src/locales/`: 1 file',
      '- `src/tests/locales/`: 1 file, of them 1 test',
    ]);
  });

  it('is left out of a review, which says so', async () => {
    const [first] = await linesOn(files, 'Review this repository for risky patterns');
    expect(first).toContain(
      'No line of 1 source file of this repository looks risky (search for risky patterns: 0 lines',
    );
    expect(first).toContain(
      'Left out: comments, strings, tests, examples, scripts, documents and vendored, generated or translated code.',
    );
  });
});

describe('untested modules', () => {
  it('of a folder without any are said to be missing there, not in the whole', async () => {
    const [first] = await linesOn(PHP, 'Which modules of tests/ lack tests?');
    expect(first).toBe('There is no module to test in `tests/` (list of files: 1 file).');
  });
});

describe('modules and their tests', () => {
  const TESTED: Files = {
    'src/shop.ts': "import { f1 } from './leaf.ts';\nexport const openShop = (): number => f1();\n",
    'src/leaf.ts': 'export function f1(): number {\n  return 2;\n}\n',
    'src/cup.ts': 'export function f2(): number {\n  return 2;\n}\n',
    'src/brew.ts': "console.log('tea');\n",
    'test/all.test.ts': "import { openShop } from '../src/shop.ts';\n\nopenShop();\n",
  };

  it('are told apart: imported by a test, only by way of another module, or neither', async () => {
    const lines = await linesOn(TESTED, 'Which modules lack tests?');
    expect(lines[0]).toBe(
      'No test was found for 2 of 4 modules: `src/brew.ts` and `src/cup.ts`. Tests reach 1 other only through other modules. A module counts as tested if a test imports it, is named after it or holds one of the first 8 names that it exports (search for imports in TypeScript or JavaScript: 2 lines; search for names of modules: 0 lines; 1 more search).',
    );
    expect(below(lines, 'Modules that tests reach only through other modules')).toEqual([
      '- src/leaf.ts: no name to search for; used by 1 file, as at `src/shop.ts:1`',
    ]);
  });

  it('are listed without names where none could be searched for', async () => {
    expect(below(await linesOn(TESTED, 'Which modules lack tests?'), 'Modules without a test')).toEqual([
      '- src/brew.ts: no name to search for',
      '- src/cup.ts: no name to search for',
    ]);
  });
});

it('names that a module exports are found where a folder has more of them than one search shows', async () => {
  const many = (letter: string): string =>
    Array.from({ length: 700 }, (_, at) => `export const ${letter}${at} = ${at};\n`).join('');
  const files = { 'src/tea.ts': many('tea'), 'src/leaf.ts': many('leaf'), 'test/all.test.ts': 'export {};\n' };
  const rows = below(await linesOn(files, 'Which modules lack tests?'), 'Modules without a test');
  expect(rows.map((row) => row.slice(0, 40))).toEqual(
    ['- src/leaf.ts: no test holds `leaf0`, `leaf1', '- src/tea.ts: no test holds `tea0`, `tea1`, '].map((row) =>
      row.slice(0, 40),
    ),
  );
});

describe('dead exports', () => {
  it('are no labels of C', async () => {
    const files = { 'src/tea.c': 'case YY_STATE_EOF(INITIAL):\nint brew(int leaves) {\n  return leaves;\n}\n' };
    expect(below(await linesOn(files, 'Find dead code'), 'On no other line')).toEqual([
      '- brew: `src/tea.c:2` `int brew(int leaves) {`',
    ]);
  });

  it('are not names that begin with a dollar sign and are used', async () => {
    const files = {
      'src/leaf.ts': 'export const $leaf = 2;\n',
      'src/tea.ts': "import { $leaf } from './leaf.ts';\nconsole.log($leaf);\n",
    };
    expect((await linesOn(files, 'Find dead code'))[0]).toMatch(/^No unused name was found among 1 exported name /);
  });
});

describe('where plain words lead', () => {
  it('is a name that holds all of them, whatever their endings', async () => {
    const files = { 'lib/tea.rb': 'class EncodingHandler\nend\n\ndef detect_encoding(text)\nend\n' };
    expect((await linesOn(files, 'How does encoding detection work?'))[0]).toBe(
      'The best match for `encoding` and `detection` is `lib/tea.rb:4` `def detect_encoding(text)`, one of 2 definitions with `encoding` or `detection` in the name (search for definitions of names with `encoding` and `detection` in Ruby: 2 lines).',
    );
  });

  it('is a name that holds the rare word before many that hold the common one', async () => {
    const names = ['Read', 'Write', 'Check', 'Print'].map((verb) => `def ${verb}Settings():\n    pass\n`);
    const files = {
      'gyp/settings.py': names.join('\n'),
      'lib/download.js': 'function download (gyp) {\n  const hasProxyEnv = process.env.http_proxy\n}\n',
    };
    expect((await linesOn(files, 'Where is proxy settings'))[0]).toContain(
      'The best match for `proxy` is `lib/download.js:2` `const hasProxyEnv = process.env.http_proxy`, one of 5 definitions with `proxy` or `settings` in the name (search for ',
    );
  });
});

it('a comment in a build file is an open note', async () => {
  const note = '# TODO: brew longer';
  const lines = await linesOn({ 'CMakeLists.txt': `${note}\n` }, 'List all open notes');
  expect(below(lines, 'Open notes')).toEqual([`- \`CMakeLists.txt:1\` \`${note}\``]);
});

it('a Java library is told from all parts of its name', async () => {
  const dependency = (name: string): string =>
    `    <dependency>\n      <artifactId>${name}</artifactId>\n    </dependency>\n`;
  const files = {
    'pom.xml': `<project>\n${['tea-leaf3', 'tea-cup', 'pot-api'].map(dependency).join('')}</project>\n`,
    'src/main/java/org/tea/Shop.java': 'import org.tea.cup.Saucer;\nimport org.pot.Lid;\n',
  };
  const lines = await linesOn(files, 'Which dependencies are not used?');
  expect(below(lines, 'Neither imported nor named in settings or scripts')).toEqual([
    '- tea-leaf3 (dependency): `pom.xml:3` `<artifactId>tea-leaf3</artifactId>`',
  ]);
  expect(below(lines, 'Imported').map((row) => row.replace(/ \(.*/, ''))).toEqual(['- tea-cup', '- pot-api']);
});

it('a use of a PHP package is told from its namespace', async () => {
  const files = {
    'composer.json': '{\n  "require": {\n    "shop/green-leaf": "^1.0",\n    "shop/cup": "^1.0"\n  }\n}\n',
    'src/Tea.php':
      '<?php\nnamespace Shop\\Cup;\n\nuse Shop\\Component\\GreenLeaf\\Leaf;\nuse Shop\\Contracts\\Cup\\Saucer;\n',
  };
  const lines = await linesOn(files, 'Which dependencies are not used?');
  expect(below(lines, 'Imported')).toEqual([
    '- shop/green-leaf (require): 1 file, for example `src/Tea.php:4` `use Shop\\Component\\GreenLeaf\\Leaf;`',
  ]);
  expect(below(lines, 'Neither imported nor named in settings or scripts')).toEqual([
    '- shop/cup (require): `composer.json:4` `"shop/cup": "^1.0"`',
  ]);
});

it('a gem is not imported where only the beginning of its name is', async () => {
  const files = {
    'tea.gemspec': 'spec.add_development_dependency("tea-cup", "~> 1.0")\nspec.add_dependency("leaf")\n',
    Rakefile: 'require "tea_cup_dock"\n',
    'lib/tea.rb': 'require "leaf/green"\n',
  };
  const lines = await linesOn(files, 'Which dependencies are not used?');
  expect(below(lines, 'Neither imported nor named in settings or scripts')).toEqual([
    '- tea-cup: `tea.gemspec:1` `spec.add_development_dependency("tea-cup", "~> 1.0")`',
  ]);
  expect(below(lines, 'Imported')).toEqual(['- leaf: 1 file, for example `lib/tea.rb:1` `require "leaf/green"`']);
});

it('dependencies are all searched for, however many calls that takes', async () => {
  const names = Array.from({ length: 40 }, (_, at) => `tea-${at}`);
  const files = {
    'package.json': `{\n  "dependencies": {\n${names.map((name) => `    "${name}": "1.0.0"`).join(',\n')}\n  }\n}\n`,
    'src/all.js': names.map((name) => `require('${name}');\n`).join(''),
  };
  expect((await linesOn(files, 'Which dependencies are not used?'))[0]).toBe(
    'Nothing unused was found among 40 dependencies in package.json. By use: imported 40.',
  );
});

it('a test module within a module of Rust is not reviewed', async () => {
  const files = {
    'src/lib.rs':
      'pub fn brew() {}\n\n#[cfg(test)]\nmod brewing {\n    fn brews() {\n        None.unwrap()\n    }\n}\n',
  };
  const [first] = await linesOn(files, 'Review this repository for swallowed errors');
  expect(first).toContain('No line of 1 source file of this repository');
});

it('a dependency of Cargo may have a section of its own', async () => {
  const files = {
    'Cargo.toml': '[dependencies.regex]\nversion = "1.7.0"\n',
    'src/main.rs': 'use regex::Regex;\n\nfn main() {}\n',
  };
  expect(below(await linesOn(files, 'Which dependencies are not used?'), 'Imported')).toEqual([
    '- regex: 1 file, for example `src/main.rs:1` `use regex::Regex;`',
  ]);
});

it('a method that is called as a risky function is no risk', async () => {
  const files = {
    'src/Tea.php': '<?php\nclass Tea\n{\n    public function unserialize($data): void\n    {\n    }\n}\n',
  };
  const [first] = await linesOn(files, 'Review this repository for security risks');
  expect(first).toContain('No line of 1 source file of this repository');
});
