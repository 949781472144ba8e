import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Child } from '../../support/child.ts';
import { ended, start } from '../../support/child.ts';

const IO = join(import.meta.dirname, '../../../src/app/process/io.ts');
/** A process of its own, whose stdout is a pipe. */
const child = (code: string): Child =>
  start(process.execPath, [
    '--input-type=module',
    '-e',
    `import { openIo } from ${JSON.stringify(IO)}; const io = openIo({}); ${code}`,
  ]);

describe('JSON on stdout', () => {
  it('is one object a line, in its place among other lines, to the last one', async () => {
    const { out, err } = await ended(
      child(`
      for (let n = 0; n < 3; n += 1) { io.json({ n }); io.say('line ' + n); }
      await null;
      io.json({ n: 3 });
    `),
    );
    expect([out, err]).toEqual(['{"n":0}\nline 0\n{"n":1}\nline 1\n{"n":2}\nline 2\n{"n":3}\n', '']);
  });

  it('comes while the program goes on', async () => {
    const running = child(`io.json({ is: 'first' }); setInterval(() => undefined, 1000);`);
    const { out, signal } = await ended(running, (some) => {
      if (some.endsWith('\n')) running.kill('SIGKILL');
    });
    expect([out, signal]).toEqual(['{"is":"first"}\n', 'SIGKILL']);
  });

  it('is whole, however much comes at once', async () => {
    const { out } = await ended(
      child(`for (let n = 0; n < 20000; n += 1) io.json({ n, text: 'x'.repeat(200) }); io.say('end');`),
    );
    const lines = Array.from({ length: 20_000 }, (_, n) => `${JSON.stringify({ n, text: 'x'.repeat(200) })}\n`);
    expect(out === `${lines.join('')}end\n`).toBe(true);
  });

  it('is not held in memory for its reader where the program waits until it is taken', async () => {
    const { out, err } = await ended(
      child(`
      let most = 0;
      for (let n = 0; n < 20000; n += 1) {
        io.json({ text: 'x'.repeat(1000) });
        most = Math.max(most, process.stdout.writableLength);
        await io.taken();
      }
      io.complain(String(most));
    `),
    );
    expect(out).toHaveLength(20_000 * '{"text":""}\n'.length + 20_000_000);
    expect(Number(err)).toBeLessThan(100_000);
  });
});
