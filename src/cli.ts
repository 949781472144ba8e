#!/usr/bin/env node
/** Reads argv, loads one verb, turns a failure into an exit code. */
import { enableCompileCache } from 'node:module';

const { env } = process;
// In a folder of one's own: what stands in the shared one below /tmp could be anybody's code.
const cache = env['XDG_CACHE_HOME'] ?? (env['HOME'] === undefined ? '' : `${env['HOME']}/.cache`);
if (cache.startsWith('/')) enableCompileCache(`${cache}/mimir`);

const { main } = await import('./verbs/main.ts');
await main(process.argv.slice(2), env);
