/**
 * A worker as a process of its own, whose steps are scripted: `node worker-child.ts URL ID SLOTS IDLE [KEY…]`. A step's body is `{"do", "file", "ms"}`: it
 * appends a line with its id to the file, waits, keeps the line in the database where that is asked for, and tells what it did.
 */
import { appendFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { openDatabase, openWorker } from '../../src/distributed/index.ts';

const Body = z.object({
  file: z.string().optional(),
  line: z.string(),
  ms: z.number().default(0),
  keeps: z.boolean().default(false),
});
const [url = '', id = '', slots = '4', idle = '30', ...people] = process.argv.slice(2);
const db = openDatabase(url);
const worker = await openWorker({
  db,
  id,
  pool: 'default',
  host: 'here',
  pid: process.pid,
  slots: Number(slots),
  idle: Number(idle),
  version: '1',
  facts: '{}',
  people: () => Promise.resolve(people),
  say: (line) => console.log(line),
  performer: (store) => ({
    async perform({ workflow, body }, signal, onLive) {
      const { file, line, ms, keeps } = Body.parse(JSON.parse(body));
      if (file !== undefined) appendFileSync(file, `${line}\n`);
      onLive(line);
      await wait(ms, undefined, { signal }).catch(() => undefined);
      if (keeps) await store.keep(line);
      return { output: JSON.stringify({ workflow, line, by: id, stopped: signal.aborted }) };
    },
    ended: () => undefined,
  }),
});
console.log('open');
process.once('SIGTERM', () => worker.drain());
console.log(await worker.ended);
process.exit();
