/** What people read on a card while a tool looks: words instead of a long pattern. */
import { afterAll, describe, expect, it } from 'vitest';
import { openTools } from '../../src/tools/index.ts';
import { folderOf } from '../analyst/folders.ts';

const folder = folderOf({});
afterAll(() => folder.remove());

function labelOf(name: string, input: unknown): string {
  const tools = openTools({ root: folder.root, home: '/nonexistent-home', stateDir: '/nonexistent-state' });
  if (!tools.ok) throw new Error(tools.fault);
  const tool = tools.value.tools.find((one) => one.name === name);
  if (tool === undefined) throw new Error(`there is no ${name}`);
  return tool.label(tool.input.parse(input));
}

describe('labels of looks', () => {
  it('say what is looked for, where the call says so', () => {
    expect(
      labelOf('search', { pattern: '\\bfunc main', path: 'src', glob: '*.go', about: 'where programs start' }),
    ).toBe('search where programs start in src');
    expect(labelOf('list_files', { glob: '*.{ts,tsx}', about: 'sources' })).toBe('list sources');
  });

  it('give the pattern and the glob otherwise, long ones cut', () => {
    expect(labelOf('search', { pattern: 'main', glob: '*.go' })).toBe('search main (*.go)');
    expect(labelOf('search', { pattern: 'x'.repeat(200) })).toBe(`search ${'x'.repeat(59)}…`);
  });
});
