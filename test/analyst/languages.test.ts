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
    expect(first).toBe('`brew` is defined at `tea.c:1` `int brew(int leaves) {`.');
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
    ['Give me an overview', 'It says of itself: `README.md:3` `Tea that is brewed by a machine.`'],
    ['Give me an overview', 'A program starts at `main.rb:1` `#!/usr/bin/env ruby # Brews…`'],
    ['Where is `brew?` defined?', '`brew?` is defined at `main.rb:3` `def brew?`'],
    ['Where is `steep!` defined?', '`steep!` is defined at `main.rb:6` `def steep!`'],
    ['Which dependencies are not used?', 'the first at `requirements.txt:1` `leaf  # Do we need it?`'],
    ['What changed lately?', 'The change log begins at `CHANGES.md:1` `# 1.0.0 is the first!`'],
  ])('%s: it has no stop of its own where the quote ends one', async (task, words) => {
    const [first = ''] = await linesOn(ENDED, task);
    expect(`${first} `).toContain(`${words} `);
    expect(first.replaceAll('`', '')).not.toMatch(/[.!?…]\.(?:\s|$)/);
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

  it('is neither in a comment of its README nor said of its parent', async () => {
    const files = {
      'README.md': '<!---\n Licensed under the terms of the licence of tea\n-->\nTea that is brewed by a machine.\n',
      'pom.xml':
        '<project>\n  <parent>\n    <artifactId>drinks</artifactId>\n  </parent>\n  <artifactId>tea</artifactId>\n</project>\n',
    };
    expect(below(await linesOn(files, 'Give me an overview'), 'What it says of itself')).toEqual([
      '- `README.md:4` `Tea that is brewed by a machine.`',
      '- `pom.xml:5` `<artifactId>tea</artifactId>`',
    ]);
  });
});

describe('where programs start', () => {
  const headed = async (files: Files): Promise<readonly string[]> =>
    below(await linesOn(files, 'Give me an overview'), 'Where programs start');

  it('is where scripts are declared, and at no other entry point', async () => {
    const files = {
      'setup.cfg':
        '[options.entry_points]\nbabel.extractors =\n  tea = tea.leaf:extract\nconsole_scripts =\n  brew = tea.pot:brew\n',
      'pyproject.toml': '[project.entry-points.drinks]\nt = "tea:leaf"\n\n[project.scripts]\npour = "tea.pot:pour"\n',
    };
    expect(await headed(files)).toEqual([
      '- declared: `pyproject.toml:5` `pour = "tea.pot:pour"`',
      '- declared: `setup.cfg:5` `brew = tea.pot:brew`',
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
      'source files: 1 TypeScript or JavaScript; 1 more is vendored, generated or translated; test files in known languages: 1 (',
    );
    expect(below(lines, 'Folders').slice(0, 3)).toEqual([
      '- src/ 1 file, of them 1 source',
      '- src/locales/ 1 file',
      '- src/tests/locales/ 1 file, of them 1 test',
    ]);
  });

  it('is left out of a review, which says so', async () => {
    const [first] = await linesOn(files, 'Review this repository for risky patterns');
    expect(first).toContain(
      '1 source file of this repository (tests, examples, scripts, documents and vendored, generated or translated code left out)',
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
      'No test was found for 2 of 4 modules: no test file imports them, even through other modules, is named after them, or has in its code one of their names that were searched for; tests import 1 module only through other modules (list of all files: 5 files) (search for imports in TypeScript or JavaScript: 2 lines; search for names of modules: 0 lines).',
    );
    expect(below(lines, 'Modules that tests import only through other modules')).toEqual([
      "- src/leaf.ts: it exports `f1`, which was not searched for in tests; imported by 1 file of the program, for example `src/shop.ts:1` `import { f1 } from './leaf.ts';`",
    ]);
  });

  it('are listed with the names that were not searched for, and without names where none was recognised', async () => {
    expect(below(await linesOn(TESTED, 'Which modules lack tests?'), 'Modules for which no test was found')).toEqual([
      '- src/brew.ts: no exported name was recognised in it',
      '- src/cup.ts: it exports `f2`, which was not searched for in tests',
    ]);
  });
});

it('names that a module exports are found where a folder has more of them than one search shows', async () => {
  const many = (letter: string): string =>
    Array.from({ length: 700 }, (_, at) => `export const ${letter}${at} = ${at};\n`).join('');
  const files = { 'src/tea.ts': many('tea'), 'src/leaf.ts': many('leaf'), 'test/all.test.ts': 'export {};\n' };
  const rows = below(await linesOn(files, 'Which modules lack tests?'), 'Modules for which no test was found');
  expect(rows.map((row) => row.slice(0, 40))).toEqual(
    ['- src/leaf.ts: no code of a test holds `l', '- src/tea.ts: no code of a test holds `te'].map((row) =>
      row.slice(0, 40),
    ),
  );
});

describe('dead exports', () => {
  it('are no labels of C', async () => {
    const files = { 'src/tea.c': 'case YY_STATE_EOF(INITIAL):\nint brew(int leaves) {\n  return leaves;\n}\n' };
    expect(below(await linesOn(files, 'Find dead code'), 'On no other line of code')).toEqual([
      '- brew: `src/tea.c:2` `int brew(int leaves) {`',
    ]);
  });

  it('are not names that begin with a dollar sign and are used', async () => {
    const files = {
      'src/leaf.ts': 'export const $leaf = 2;\n',
      'src/tea.ts': "import { $leaf } from './leaf.ts';\nconsole.log($leaf);\n",
    };
    expect((await linesOn(files, 'Find dead code'))[0]).toMatch(
      /^Of 1 exported name, 0 occur in no other file of the program/,
    );
  });
});

describe('where plain words lead', () => {
  it('is a name that holds all of them, whatever their endings', async () => {
    const files = { 'lib/tea.rb': 'class EncodingHandler\nend\n\ndef detect_encoding(text)\nend\n' };
    expect((await linesOn(files, 'How does encoding detection work?'))[0]).toBe(
      'The best match for `encoding` and `detection` is `lib/tea.rb:4` `def detect_encoding(text)`, one of 2 definitions with one of these words in the name.',
    );
  });

  it('is a name that holds the rare word before many that hold the common one', async () => {
    const names = ['Read', 'Write', 'Check', 'Print'].map((verb) => `def ${verb}Settings():\n    pass\n`);
    const files = {
      'gyp/settings.py': names.join('\n'),
      'lib/download.js': 'function download (gyp) {\n  const hasProxyEnv = process.env.http_proxy\n}\n',
    };
    expect((await linesOn(files, 'Where is proxy settings'))[0]).toBe(
      'The best match for `proxy` and `settings` is `lib/download.js:2` `const hasProxyEnv = process.env.http_proxy`, one of 5 definitions with one of these words in the name.',
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
  const rows = below(await linesOn(files, 'Which dependencies are not used?'), 'pom.xml, dependency');
  expect(rows.map((row) => row.replace(/^- (.*?): .*?; (.*?)(?: \(.*|, for .*)$/, '$1: $2'))).toEqual([
    'tea-leaf3: no import by its name was found',
    'tea-cup: imported in 1 file',
    'pot-api: imported in 1 file',
  ]);
});

it('a use of a PHP package is told from its namespace', async () => {
  const files = {
    'composer.json': '{\n  "require": {\n    "shop/green-leaf": "^1.0",\n    "shop/cup": "^1.0"\n  }\n}\n',
    'src/Tea.php':
      '<?php\nnamespace Shop\\Cup;\n\nuse Shop\\Component\\GreenLeaf\\Leaf;\nuse Shop\\Contracts\\Cup\\Saucer;\n',
  };
  expect(below(await linesOn(files, 'Which dependencies are not used?'), 'composer.json, require')).toEqual([
    '- shop/green-leaf: declared at `composer.json:3` `"shop/green-leaf": "^1.0",`; imported in 1 file, for example `src/Tea.php:4` `use Shop\\Component\\GreenLeaf\\Leaf;`',
    '- shop/cup: declared at `composer.json:4` `"shop/cup": "^1.0"`; no import by its name was found (search for imports of `shop/cup`: 0 lines), but `src/Tea.php:2` `namespace Shop\\Cup;` names it',
  ]);
});

it('a gem is not imported where only the beginning of its name is', async () => {
  const files = {
    'tea.gemspec': 'spec.add_development_dependency("tea-cup", "~> 1.0")\nspec.add_dependency("leaf")\n',
    Rakefile: 'require "tea_cup_dock"\n',
    'lib/tea.rb': 'require "leaf/green"\n',
  };
  expect(below(await linesOn(files, 'Which dependencies are not used?'), 'tea.gemspec')).toEqual([
    '- tea-cup: declared at `tea.gemspec:1` `spec.add_development_dependency("tea-cup", "~> 1.0")`; no import by its name was found (search for imports of `tea-cup`: 0 lines), and no other line names it (search for `tea-cup`: 1 line)',
    '- leaf: declared at `tea.gemspec:2` `spec.add_dependency("leaf")`; imported in 1 file, for example `lib/tea.rb:1` `require "leaf/green"`',
  ]);
});

it('dependencies are all searched for, however many calls that takes', async () => {
  const names = Array.from({ length: 40 }, (_, at) => `tea-${at}`);
  const files = {
    'package.json': `{\n  "dependencies": {\n${names.map((name) => `    "${name}": "1.0.0"`).join(',\n')}\n  }\n}\n`,
    'src/all.js': names.map((name) => `require('${name}');\n`).join(''),
  };
  expect((await linesOn(files, 'Which dependencies are not used?'))[0]).toBe(
    '40 dependencies are declared in package.json, the first at `package.json:3` `"tea-0": "1.0.0",`.',
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
  expect(below(await linesOn(files, 'Which dependencies are not used?'), 'Cargo.toml')).toEqual([
    '- regex: declared at `Cargo.toml:1` `[dependencies.regex]`; imported in 1 file, for example `src/main.rs:1` `use regex::Regex;`',
  ]);
});

it('a method that is called as a risky function is no risk', async () => {
  const files = {
    'src/Tea.php': '<?php\nclass Tea\n{\n    public function unserialize($data): void\n    {\n    }\n}\n',
  };
  const [first] = await linesOn(files, 'Review this repository for security risks');
  expect(first).toContain('No line of 1 source file of this repository');
});
