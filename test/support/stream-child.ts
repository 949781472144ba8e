/**
 * One call of a model in a process of its own: `node stream-child.ts WIRE URL`. Prints how the call ended and how far the memory of the
 * process rose meanwhile, in megabytes. `/warm` below the URL answers as a model does, `/` as the test wants.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { anthropicCaller } from '../../src/models/anthropic/adapter.ts';
import { openaiCaller } from '../../src/models/openai/adapter.ts';
import { world } from '../../src/app/process/index.ts';
import { ask, setupFor as anthropicSetup } from '../models/anthropic-parts.ts';
import { LOCAL, NEVER, requestFor, setupFor } from '../models/openai-setup.ts';

const [, , wire = '', url = ''] = process.argv;

const caller = (at: string) =>
  wire === 'anthropic'
    ? anthropicCaller(anthropicSetup(at), world)
    : openaiCaller(setupFor(at, wire === 'chat' ? LOCAL : {}), world);
const request = wire === 'anthropic' ? ask() : requestFor(wire === 'chat' ? { model: 'local/qwen3' } : {});

/** The most memory that the process ever had, in kilobytes. */
const peak = (): number => Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);

await caller(`${url}/warm`).call(request, NEVER, () => undefined);
globalThis.gc?.();
// The peak begins anew from here.
writeFileSync('/proc/self/clear_refs', '5');
const before = peak();
const came = await caller(url).call(request, NEVER, () => undefined);
const ended = came.ok ? `reply of ${came.value.text.length}` : `${came.fault.is}: ${came.fault.message}`;
console.log(JSON.stringify({ ended, grown: Math.round((peak() - before) / 1024) }));
process.exit();
