/**
 * A process that carries a run for those who knock: `node control-child.ts STATE RUNTIME`. Prints the door of an agent when it
 * listens. `message` records its text as an event, `stop run` ends the run and the process.
 */
import { ok } from '../../src/domain/result.ts';
import { openControl } from '../../src/remote/server.ts';
import { whereOf } from '../../src/remote/socket-paths.ts';
import { world } from '../../src/app/process/index.ts';
import { FINDER, FINISHED, KNOCKED, knockedRun, said } from './control-run.ts';

const [, , stateDir = '', runtimeDir = ''] = process.argv;
const control = openControl(whereOf({ stateDir, runtimeDir, project: '/', session: KNOCKED }), world);
const run = knockedRun((command) => {
  if (command.do === 'message') run.record(said(command.text));
  if (command.do === 'stop run') {
    run.record(FINISHED);
    setImmediate(() => void control.close());
  }
  return Promise.resolve(ok({ text: `done: ${command.do}` }));
});
await control.serve(run.given);
console.log(await control.agentSockets.open(FINDER));
