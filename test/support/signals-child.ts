/** A run that is told to stop and does not: what a second Ctrl-C is for. */
import { watchSignals } from '../../src/app/process/world.ts';

watchSignals((signal) => {
  process.stdout.write(`stopped by ${signal}\n`);
});
setInterval(() => {}, 1000);
process.stdout.write('ready\n');
