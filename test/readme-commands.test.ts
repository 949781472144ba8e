/** The README's commands against the program's: each that there is stands in the table, and what is shown of any is taken. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { openHome } from './support/cli.ts';

const README = readFileSync('README.md', 'utf8');
const TABLE = README.slice(README.indexOf('## Commands'), README.indexOf('## Configuration'));

let help: string;
beforeAll(async () => {
  const home = openHome();
  help = (await home.run(['--help'])).out;
  home.remove();
});
const verbs = (): readonly string[] => [...help.matchAll(/^ {2}(\w+) +[A-Z]/gm)].map(([, verb = '']) => verb);

describe('the commands of the README', () => {
  it('are all that the program has', () => {
    const told = new Set([...TABLE.matchAll(/[`·|] ?`?(?:mimir )?([a-z]+)/g)].map(([, verb]) => verb));
    expect(verbs().length).toBeGreaterThan(25);
    expect(verbs().filter((verb) => !told.has(verb))).toEqual([]);
  });

  it('are none that it hasn’t, wherever one is named', () => {
    const named = [...README.matchAll(/(?:^|[`(|]|\$\()mimir ([a-z]+)\b/gm)].map(([, verb = '']) => verb);
    expect(named.length).toBeGreaterThan(40);
    expect([...new Set(named)].filter((verb) => !verbs().includes(verb))).toEqual([]);
  });
});
