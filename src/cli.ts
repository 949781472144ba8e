#!/usr/bin/env node
/** Reads argv, loads one verb, turns a failure into an exit code. */
import { enableCompileCache } from 'node:module';

enableCompileCache();

const { main } = await import('./verbs/main.ts');
await main(process.argv.slice(2), process.env);
