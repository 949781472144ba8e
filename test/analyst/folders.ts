/** Small real projects in temporary folders, in several languages, and the check that every claim about them is true. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export type Files = Readonly<Record<string, string>>;

/** A fresh folder with these files; a git repository with one commit when `git` is true. Call `remove` at the end. */
export function folderOf(files: Files, { git = false } = {}): { readonly root: string; remove(): void } {
  const root = mkdtempSync(path.join(tmpdir(), 'mimir-analyst-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.join(root, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  if (git) {
    execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: root, stdio: 'ignore' });
    commit(root, 'Begin');
  }
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) };
}

/** Commits all that is in a repository. */
export function commit(root: string, subject: string, author = 'Ada'): void {
  const who = ['-c', `user.name=${author}`, '-c', 'user.email=ada@example.org'];
  execFileSync('git', ['add', '.'], { cwd: root, stdio: 'ignore' });
  execFileSync('git', [...who, 'commit', '-qm', subject], { cwd: root, stdio: 'ignore' });
}

/** Claims of a text that are not true: a file that isn't there, a line that is not, or other words in it. */
export function untrue(root: string, text: string): readonly string[] {
  return [...text.matchAll(/`([^`\n]+):(\d+)`(?: `([^`\n]*)`)?/g)].flatMap(([whole, name = '', line, words]) => {
    const lines = textOf(root, name)?.split('\n');
    const found = lines?.[Number(line) - 1];
    if (found === undefined) return [`${whole}: no such line`];
    return words === undefined || found.includes(words.replace(/ …$/, '')) ? [] : [`${whole}: the line is ${found}`];
  });
}

/** How many claims a text makes. */
export const claimCount = (text: string): number => [...text.matchAll(/`[^`\n]+:\d+`/g)].length;

function textOf(root: string, name: string): string | null {
  try {
    return readFileSync(path.join(root, name), 'utf8');
  } catch {
    return null;
  }
}

/** A web shop in TypeScript with tests, a cycle, risky lines, long functions and awkward names. */
export const SHOP: Files = {
  'package.json': `{
  "name": "shop",
  "scripts": {
    "start": "node src/server.js",
    "test": "vitest run"
  },
  "dependencies": {
    "express": "^5.0.0",
    "left-pad": "^1.3.0"
  },
  "devDependencies": {
    "vitest": "^5.0.0"
  }
}
`,
  'README.md': '# Shop\n\nA small shop that sells tea over the network.\n',
  LICENSE: 'MIT\n',
  'src/server.ts': `#!/usr/bin/env node
import express from 'express';
import { cartTotal } from './cart.js';
import { parsePrice } from './price.js';

/** Opens the shop on a port. */
const app = express();
app.get('/total', (request, response) => {
  response.send(String(cartTotal([parsePrice(String(request.query.price))])));
});
app.listen(8080);
`,
  'src/cart.ts': `import { parsePrice } from './price.js';
import { discount } from './discount.js';

/** What a cart costs, in cents. */
export function cartTotal(prices: readonly number[]): number {
  return discount(prices.reduce((sum, price) => sum + price, 0));
}

export const emptyCart = (): number => parsePrice('0');
`,
  'src/discount.ts': `import { cartTotal } from './cart.js';

export function discount(total: number): number {
  return total > 10_000 ? total * 0.9 : total;
}

export const saved = (prices: readonly number[]): number => cartTotal(prices) - discount(0);
`,
  'src/price.ts': `// Text like "3.50" becomes cents. See eval( in the old version.
export function parsePrice(text: string): number {
  const note = "eval(text) was here";
  return Math.round(Number(text) * 100) + note.length * 0;
}
export function runFormula(formula: string): unknown {
  return eval(formula);
}
export async function save(): Promise<void> {
  try { await fetch('http://shop.example/save'); } catch {}
}
const apiKey = 'sk_live_0123456789abcdef';
console.log(apiKey);
`,
  'src/with space/names and \u540d\u524d.ts': `export const cartName = 'cart';\n`,
  'src/long.ts': `export function longOne(input: number): number {\n${Array.from({ length: 60 }, (_, n) => `  const step${n} = input + ${n} * ${n};`).join('\n')}\n  return step1;\n}\n`,
  'test/cart.test.ts': `import { expect, it } from 'vitest';
import { cartTotal } from '../src/cart.js';

it('adds up', () => {
  expect(cartTotal([1, 2])).toBe(3);
});
`,
  '.github/workflows/ci.yml': 'on: push\njobs:\n  test:\n    steps:\n      - run: npm test\n',
};

export const PYTHON: Files = {
  'pyproject.toml':
    '[project]\nname = "weather"\ndependencies = [\n  "requests>=2",\n  "PyYAML",\n]\n\n[tool.pytest.ini_options]\n',
  'weather/__init__.py': '',
  'weather/forecast.py':
    'import requests\nfrom .station import Station\n\n\ndef forecast(station: Station, days=[]):\n    try:\n        return requests.get(station.url, verify=False)\n    except:\n        pass\n',
  'weather/station.py': 'class Station:\n    """Where it is measured."""\n\n    url = "http://station.example"\n',
  'weather/__main__.py':
    'from weather.forecast import forecast\n\nif __name__ == "__main__":\n    print(forecast(None))\n',
  'tests/test_station.py': 'from weather.station import Station\n\n\ndef test_url():\n    assert Station.url\n',
};

export const GO: Files = {
  'go.mod': 'module example.org/clock\n\ngo 1.24\n\nrequire github.com/spf13/cobra v1.8.0\n',
  'main.go':
    'package main\n\nimport (\n\t"example.org/clock/tick"\n\t"github.com/spf13/cobra"\n)\n\nfunc main() {\n\t_ = cobra.Command{}\n\ttick.Start()\n}\n',
  'tick/tick.go': 'package tick\n\n// Start begins to tick.\nfunc Start() {\n\tpanic("not yet")\n}\n',
  'tick/tick_test.go': 'package tick\n\nimport "testing"\n\nfunc TestStart(t *testing.T) {}\n',
};

export const RUST: Files = {
  'Cargo.toml': '[package]\nname = "moss"\n\n[dependencies]\nserde = "1"\n',
  'src/main.rs': 'mod parser;\nuse crate::parser::parse;\n\nfn main() {\n    println!("{}", parse("1").unwrap());\n}\n',
  'src/parser.rs':
    'use serde::Serialize;\n\npub fn parse(text: &str) -> Option<i32> {\n    text.parse().ok()\n}\n\n#[cfg(test)]\nmod tests {}\n',
};

export const JAVA: Files = {
  'pom.xml':
    '<project>\n  <dependencies>\n    <dependency>\n      <artifactId>junit</artifactId>\n    </dependency>\n  </dependencies>\n</project>\n',
  'src/main/java/org/example/App.java':
    'package org.example;\n\nimport org.example.store.Store;\n\npublic class App {\n    public static void main(String[] args) {\n        new Store().open("x" == args[0]);\n    }\n}\n',
  'src/main/java/org/example/store/Store.java':
    'package org.example.store;\n\npublic class Store {\n    public void open(boolean wide) {\n        try { wide = !wide; } catch (Exception e) { }\n    }\n}\n',
  'src/test/java/org/example/AppTest.java': 'package org.example;\n\nimport org.example.App;\n\nclass AppTest {}\n',
};
