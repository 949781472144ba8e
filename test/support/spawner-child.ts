/**
 * A client that asks a run for children without a pause, all at once: `node spawner-child.ts STATE PROJECT SESSION NAME COUNT`. A line
 * of stdout for each that was promised to it, so whoever kills it knows what must be there.
 */
import { writeSync } from 'node:fs';
import { whereOf } from '../../src/remote/socket-paths.ts';
import { reach } from '../../src/remote/client.ts';
import { ROOT, SessionId } from '../../src/domain/ids.ts';

const [, , stateDir = '', project = '', name = '', label = '', count = '0'] = process.argv;
const session = SessionId.parse(name);
const run = await reach(whereOf({ stateDir, runtimeDir: `${stateDir}/run`, project, session }), session);
if (run === null) throw new Error('nobody carries the run');
const wanted = Array.from({ length: Number(count) }, (_, n) => `${label} ${n}`);
await Promise.all(
  wanted.map(async (prompt) => {
    const wish = { prompt, role: 'finder', model: null, name: null, wait: null, workingDir: null };
    const receipt = await run.controls.submit({ do: 'spawn', parent: ROOT, wish });
    writeSync(1, receipt.ok ? `${receipt.value.agent} ${prompt}\n` : `refused ${receipt.fault.text}\n`);
  }),
);
run.close();
