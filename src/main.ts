#!/usr/bin/env node
/** Takes the environment out of the process and turns the compile cache on, before anything else is loaded. */
import { enableCompileCache, flushCompileCache } from 'node:module';

// A copy: variables with secrets are taken out of the process itself, and may have been handed over instead.
const handed = process.env['MIMIR_HANDED'] !== undefined;
const env = handed ? (await import('./app/workspace/secrets.ts')).environmentWithHanded() : { ...process.env };
// In a folder of one's own: what stands in the shared one below /tmp could be anybody's code.
const cache = env['XDG_CACHE_HOME'] ?? (env['HOME'] === undefined ? '' : `${env['HOME']}/.cache`);
if (cache.startsWith('/')) {
  enableCompileCache(`${cache}/mimir`);
  // Node writes it at the end, which a program whose window is closed doesn't have.
  setTimeout(flushCompileCache, 2000).unref();
}

const { main } = await import('./cli/dispatch.ts');
await main(process.argv.slice(2), env);
