/** What owners of real repositories called false or useless: each cause on a small project. */
import { describe, expect, it } from 'vitest';
import { below, linesOn } from './lines.ts';

const UNTESTED = 'Which modules lack tests?';
const DEAD = 'Find dead exports';
const UNUSED = 'Which dependencies are not used?';

describe('a module is tested', () => {
  it('in Rust by tests within it, with or without a module of their own', async () => {
    const files = {
      'Cargo.toml': '[package]\nname = "tea-pot"\n',
      'src/lib.rs': 'pub mod cup;\npub mod leaf;\npub mod pot;\n',
      'src/cup.rs': 'pub fn fill_cup() {}\n\n#[test]\nfn fills() {\n    fill_cup();\n}\n',
      'src/leaf.rs': 'pub fn pick_leaf() {}\n',
      'src/pot.rs': 'pub fn boil_water() {}\n',
      'tests/brews.rs': 'use tea_pot::leaf::pick_leaf;\n\n#[test]\nfn brews() {}\n',
    };
    const [first] = await linesOn(files, UNTESTED);
    expect(first).toMatch(/^No test was found for 1 of 3 modules: `src\/pot\.rs`\. /);
  });

  it('in C# by way of what its tests use, since imports name no file there', async () => {
    const files = {
      'src/Tea.cs': 'namespace Shop\n{\n    public class TeaPot\n    {\n        WaterBoiler boiler;\n    }\n}\n',
      'src/Water.cs': 'namespace Shop\n{\n    internal class WaterBoiler\n    {\n    }\n}\n',
      'src/Cup.cs': 'namespace Shop\n{\n    public class PaperCup\n    {\n    }\n}\n',
      'Shop.Tests/TestObjects/Guest.cs': 'namespace Shop.Tests\n{\n    public class Guest\n    {\n    }\n}\n',
      'Shop.Tests/Brewing.cs': 'namespace Shop.Tests\n{\n    class Brewing\n    {\n        TeaPot pot;\n    }\n}\n',
    };
    const lines = await linesOn(files, UNTESTED);
    expect(lines[0]).toMatch(
      /^No test was found for 1 of 3 modules: `src\/Cup\.cs`\. Tests reach 1 other only through/,
    );
    expect(below(lines, 'Modules that tests reach only through other modules')).toEqual([
      '- src/Water.cs: no test holds `WaterBoiler`; used by 1 file, as at `src/Tea.cs:5`',
    ]);
  });

  it('by no sample that only lies among the data of tests', async () => {
    const files = {
      'src/tea.rs': 'pub fn brew_tea() {}\n',
      'tests/syntax-tests/source/Rust/tea.rs': 'fn main() {\n    brew_tea();\n}\n',
      'tests/all.rs': '#[test]\nfn nothing() {}\n',
    };
    expect((await linesOn(files, UNTESTED))[0]).toMatch(/^No test was found for 1 of 1 module: `src\/tea\.rs`\. /);
  });

  it('even by name where a frame of modules or generated code beside it offers nothing', async () => {
    const files = {
      'src/index.ts': "export { tea } from './tea.ts';\n",
      'src/Tea.Designer.cs': 'class Hidden {}\n',
      'src/tea.ts': 'export const tea = 1;\n',
      'test/tea.test.ts': "import { tea } from '../src/tea.ts';\n",
    };
    expect((await linesOn(files, UNTESTED))[0]).toMatch(/^Each of 1 module has a test or is reached by one\. /);
  });
});

describe('an exported name', () => {
  it('that its own file uses is no export where exporting takes no word', async () => {
    const files = { 'tea.py': 'def boil_water():\n    pass\n\n\ndef make_tea():\n    boil_water()\n\n\nmake_tea()\n' };
    const [first] = await linesOn(files, DEAD);
    expect(first).toMatch(/^No unused name was found among 2 exported names /);
  });

  it('of a test project is none to delete', async () => {
    const files = {
      'src/Tea.cs': 'namespace Shop\n{\n    public class Tea\n    {\n    }\n}\n',
      'Shop.Tests/Guest.cs': 'namespace Shop.Tests\n{\n    public class Guest\n    {\n        Tea tea;\n    }\n}\n',
    };
    const lines = await linesOn(files, DEAD);
    expect(below(lines, 'On no other line')).toEqual([]);
    expect(below(lines, 'Only in tests')).toEqual(['- Tea: `src/Tea.cs:3` `public class Tea`']);
  });

  it('that a document names may be meant for users', async () => {
    const files = {
      'README.md': 'Call `brewTea` first.\n',
      'src/tea.ts': 'export const brewTea = 1;\nexport const pourTea = 2;\n',
      'tea.csproj': '<Compile Include="pourTea.cs" />\n',
    };
    const lines = await linesOn(files, DEAD);
    expect(lines[0]).toMatch(
      /^`pourTea` can probably be deleted: no other line holds it\. This was checked for 2 exported names /,
    );
    expect(below(lines, 'Only in tests, documents or settings')).toEqual([
      '- brewTea: `src/tea.ts:1` `export const brewTea = 1;`, named at `README.md:1`',
    ]);
  });

  it('that only its own file uses is told where exporting takes a word, unless tests use it, too', async () => {
    const files = {
      'src/tea.ts': 'export const boilWater = 1;\nexport const pickLeaf = 2;\nconsole.log(boilWater, pickLeaf);\n',
      'test/tea.test.ts': "import { pickLeaf } from '../src/tea.ts';\n",
    };
    expect(below(await linesOn(files, DEAD), 'Only in their own file')).toEqual([
      '- boilWater: `src/tea.ts:1` `export const boilWater = 1;`',
    ]);
  });
});

describe('a dependency', () => {
  const files = {
    'package.json':
      '{\n  "scripts": {\n    "lint": "eslint src"\n  },\n  "devDependencies": {\n    "eslint": "1.0.0",\n    "eslint-plugin-react": "1.0.0",\n    "@shop/file": "1.0.0"\n  },\n  "keywords": [\n    "react"\n  ]\n}\n',
    'src/tea.ts': "import { file } from './file.ts';\n// eslint is run before\n",
  };

  it('is named by settings and scripts, and by no comment, prose or part of its name', async () => {
    const lines = await linesOn(files, UNUSED);
    expect(below(lines, 'Neither imported nor named in settings or scripts')).toEqual([
      '- eslint-plugin-react (devDependencies): `package.json:7` `"eslint-plugin-react": "1.0.0",`',
      '- @shop/file (devDependencies): `package.json:8` `"@shop/file": "1.0.0"`',
    ]);
    expect(below(lines, 'Not imported, but named in settings or scripts')).toEqual([
      '- eslint (devDependencies): `package.json:6`, named at `package.json:3` `"lint": "eslint src"`',
    ]);
  });

  it('of Python may be optional, and is told once', async () => {
    const python = {
      'pyproject.toml':
        '[project.optional-dependencies]\nhttp2 = [\n  "h2>=3,<5",\n]\ncli = ["click; python_version < \'4\'"]\n',
      'requirements.txt': "trustme==1.1.0; python_version < '3.9'\ntrustme==1.2.0; python_version >= '3.9'\n",
      'tea.py': 'import h2\nimport click\nimport trustme\n',
    };
    expect((await linesOn(python, UNUSED))[0]).toBe(
      'Nothing unused was found among 3 dependencies in pyproject.toml and requirements.txt. By use: imported 3.',
    );
  });
});

describe('a review', () => {
  it('passes over tests of Rust without a module, literal patterns and failures with a reason', async () => {
    const files = {
      'src/lib.rs':
        'pub fn brew() {\n    Regex::new("tea").unwrap();\n    leaf().expect("there is tea");\n    cup().unwrap();\n}\n\n#[test]\nfn brews() {\n    brew().unwrap();\n}\n',
    };
    const lines = await linesOn(files, 'Review this repository for swallowed errors');
    expect(below(lines, 'Low risk')).toEqual([
      '- crash on a failure (1 line): check whether the failure can really not happen',
      '  - `src/lib.rs:4` `cup().unwrap();`',
    ]);
  });

  it('tells what it looked for without a hit', async () => {
    const files = { 'tea.cc': 'void brew() {\n  thread.detach();\n}\n' };
    const lines = await linesOn(files, 'Review this repository for bugs');
    expect(below(lines, 'Medium risk')[0]).toBe(
      '- thread that nobody waits for (1 line): check what it still uses when the program ends',
    );
    expect(below(lines, 'Looked for and not found')[0]).toContain('copy without a bound, ');
  });
});

describe('a quoted line', () => {
  it('that is too long is cut behind a word', async () => {
    const note = `// TODO: ${'steep longer '.repeat(12)}`;
    const [row] = below(await linesOn({ 'tea.ts': `${note}\n` }, 'List the TODOs'), 'Open notes');
    expect(row).toBe(`- \`tea.ts:1\` \`// TODO: ${'steep longer '.repeat(7)}…\``);
  });

  it('of a note without words is told with the line behind it', async () => {
    expect(below(await linesOn({ 'tea.ts': '// TODO\nbrew();\n' }, 'List the TODOs'), 'Open notes')).toEqual([
      '- `tea.ts:1` `// TODO`, above `tea.ts:2` `brew();`',
    ]);
  });
});

it('plain words lead to what does something before what only holds it, and words that no name holds are left out', async () => {
  const files = {
    'src/pager.rs': 'pub(crate) enum PagerSource {\n}\n\npub(crate) fn get_pager(config: &str) {\n}\n',
  };
  expect((await linesOn(files, 'Where is the pager selected by users?'))[0]).toMatch(
    /^The best match for `pager` is `src\/pager\.rs:4` /,
  );
});

it('a PHP package with a hyphen is used by a namespace with a separator there', async () => {
  const files = {
    'composer.json': '{\n  "require": {\n    "shop/green-leaf": "^1.0"\n  }\n}\n',
    'src/Tea.php': '<?php\nuse Shop\\Green\\Leaf\\Pot;\n',
  };
  expect((await linesOn(files, UNUSED))[0]).toBe(
    'Nothing unused was found among 1 dependency in composer.json. By use: imported 1.',
  );
});

describe('Perl and Lua', () => {
  it.each([
    [
      'Perl',
      {
        'lib/Tea/Leaf.pm': 'package Tea::Leaf;\nsub pick_leaf {\n}\n1;\n',
        'lib/Tea.pm': 'use Tea::Leaf;\n',
        't/tea.t': 'use Tea::Leaf;\n',
      },
      'pick_leaf',
      'lib/Tea/Leaf.pm:2',
      'sub pick_leaf {',
    ],
    [
      'Lua',
      {
        'tea/leaf.lua': 'local M = {}\nfunction M.pick_leaf()\nend\nreturn M\n',
        'tea/init.lua': "local leaf = require('tea.leaf')\n",
        'spec/tea_spec.lua': "require 'tea.leaf'\n",
      },
      'pick_leaf',
      'tea/leaf.lua:2',
      'function M.pick_leaf()',
    ],
  ])('in %s names are defined and imports followed', async (_, files, name, at, line) => {
    expect((await linesOn(files, `Where is ${name} defined?`))[0]).toContain(
      `\`${name}\` is defined at \`${at}\` \`${line}\`. `,
    );
    expect((await linesOn(files, UNTESTED))[0]).not.toContain('leaf');
  });
});
