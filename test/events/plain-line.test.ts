import { describe, expect, it } from 'vitest';
import { plainLine } from '../../src/events/log-line.ts';

describe('an answer in one plain line', () => {
  it.each([
    [
      '_No language model was used: this is the offline analyst._\n\n## About\n\nThe shop has **2** files.',
      'The shop has 2 files.',
    ],
    ['## About\n\nIt says of itself: `README.md:1` `# Shop`.', 'It says of itself: README.md:1 # Shop.'],
    ['- first *thing*\n- second', 'first thing'],
    ['1. **Cache**: see [the code](src/cache.ts).', 'Cache: see the code.'],
    ['> quoted', 'quoted'],
    ['---\n```ts\nconst a_b_c = 2 * 3 * 4;\n```', 'const a_b_c = 2 * 3 * 4;'],
    ['src/_a_.ts and __init__.py and snake_case_name stay', 'src/_a_.ts and __init__.py and snake_case_name stay'],
    ['## Only a heading', 'Only a heading'],
    ['_Only a remark_', 'Only a remark'],
    ['no marks at all', 'no marks at all'],
    ['\n \n', ''],
  ])('%j: %j', (text, line) => {
    expect(plainLine(text)).toBe(line);
  });
});
