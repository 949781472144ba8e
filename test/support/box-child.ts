/**
 * A process that opens the sandbox and runs commands as the bash tool does, one after the other: so that a test can be
 * another user, have another environment, stand in another box, or be killed. Orders come as JSON in the first argument.
 */
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { ROOT } from '../../src/domain/ids.ts';
import type { ToolContext } from '../../src/ports/tool.ts';
import { openSandbox, openTools, toolEnvironment } from '../../src/tools/index.ts';
import { type BoxAnswer, BoxOrders } from './box-orders.ts';

// For this process alone: no command sees it.
delete process.env['NODE_COMPILE_CACHE'];
const { paths, program, hide, door, workingDir, reads, passthrough, ...orders } = BoxOrders.parse(
  JSON.parse(process.argv[2] ?? ''),
);
const own = {
  ...(program === undefined ? {} : { program }),
  ...(passthrough === undefined ? {} : { environment: toolEnvironment(orders.root, undefined, passthrough) }),
};
const sandbox = await openSandbox({
  ...orders,
  ...own,
  ...(paths === undefined ? {} : { paths }),
  ...(hide === undefined ? {} : { hide }),
});
const port = openTools({ ...orders, ...own, sandbox });
if (!port.ok) throw new Error(port.fault);
const bash = port.value.tools.find(({ name }) => name === 'bash');
if (bash === undefined) throw new Error('no bash');

const told = { ok: true, text: '' };
const context: ToolContext = {
  agent: ROOT,
  signal: new AbortController().signal,
  sandbox: orders.box,
  ...(door === undefined ? {} : { socket: door }),
  ...(workingDir === undefined ? {} : { workingDir }),
  ...(reads === undefined ? {} : { reads }),
  toolHost: {
    setTodos: () => told,
    sendMessage: () => told,
    readFinding: () => ({ ok: false, text: 'not here' }),
    spawn: () => Promise.resolve(told),
    askUser: () => Promise.resolve(told),
    giveVerdict: () => told,
  },
  onOutput: (text) => {
    process.stderr.write(text);
    if (orders.leaves === true) process.exit();
  },
};
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
const texts: string[] = [];
const seconds: number[] = [];
for (const command of orders.commands) {
  const { text } = await bash.run(bash.input.parse({ command, timeout: orders.timeout }), context);
  seconds.push(Number(/after ([0-9.]+) s/.exec(text)?.[1] ?? 0));
  texts.push(text.replace(/after [0-9.]+ s/, 'after T'));
}
delay.disable();
const answer: BoxAnswer = { state: sandbox.state, texts, seconds, late: delay.percentile(90) / 1e6 };
if (orders.out === undefined) process.stdout.write(JSON.stringify(answer));
else writeFileSync(orders.out, JSON.stringify(answer));
