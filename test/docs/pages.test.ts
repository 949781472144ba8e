/** The generated pages equal what the program has; `npm run docs` writes them anew. */
import { describe, expect, it } from 'vitest';
import { allActions } from '../support/actions.ts';
import { generatedPages } from './pages.ts';

const pages = await generatedPages();

describe('the documentation', () => {
  it.each([...pages.keys()])('has in %s what the program has (else: npm run docs)', async (page) => {
    await expect(pages.get(page)).toMatchFileSnapshot(`../../${page}`);
  });

  it('says of each configuration key what it is for', () => {
    const rows = (pages.get('docs/configuration.md') ?? '').split('\n').filter((line) => line.startsWith('| `'));
    expect(rows.length).toBeGreaterThan(100);
    expect(rows.filter((row) => row.endsWith('|  |'))).toEqual([]);
  });

  it('names each action once, by a short name', () => {
    const actions = allActions();
    expect(new Set(actions.map(({ action }) => action)).size).toBe(actions.length);
    expect(actions.filter(({ help }) => !/^[A-Z].{1,30}[^.]$/.test(help)).map(({ action }) => action)).toEqual([]);
  });
});
