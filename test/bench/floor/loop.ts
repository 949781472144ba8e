/** Floor of runs without a screen: `loop.js COUNT` runs so many agents at once and prints how many ended. */
import { enableCompileCache } from 'node:module';

enableCompileCache(`${process.env['XDG_CACHE_HOME'] ?? ''}/floor`);
const [{ default: Anthropic }, { agent }] = await Promise.all([import('@anthropic-ai/sdk'), import('./agent.ts')]);
const client = new Anthropic({ maxRetries: 0 });
const tasks = Array.from({ length: Number(process.argv[2]) }, (_, index) => `Bench task ${index + 1}: read the files.`);
const ended = await Promise.all(tasks.map((task) => agent(client, task)));
process.stdout.write(`${ended.length}\n`);
