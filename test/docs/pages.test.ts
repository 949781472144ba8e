/** The generated pages equal what the program has; `npm run docs` writes them anew. */
import { describe, expect, it } from 'vitest';
import { allActions } from '../../src/ui/tui/shell/keys/actions.ts';
import { generatedPages } from './pages.ts';

const pages = await generatedPages();

describe('the documentation', () => {
  it.each([...pages.keys()])('has in %s what the program has (else: npm run docs)', async (page) => {
    await expect(pages.get(page)).toMatchFileSnapshot(`../../${page}`);
  });

  it('names each action once, with a sentence', () => {
    const actions = allActions();
    expect(new Set(actions.map(({ action }) => action)).size).toBe(actions.length);
    expect(actions.filter(({ help }) => !/^[A-Z].*\.$/s.test(help)).map(({ action }) => action)).toEqual([]);
  });
});
