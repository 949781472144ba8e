/** All checks of a checkout: the tests, and beside them what looks at the text of the code, told of after them. Fails when either does. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { text } from 'node:stream/consumers';

const run = (script, stdio) => spawn('npm', ['run', '--silent', script], { stdio });

// The tests wait now and then, and are the longer part.
const lint = run('lint', ['ignore', 'pipe', 'pipe']);
setPriority(lint.pid, 10);
const said = Promise.all([text(lint.stdout), text(lint.stderr)]);
const ended = [once(run('unit', 'inherit'), 'close'), once(lint, 'close')];
const codes = (await Promise.all(ended)).map(([code]) => code ?? 1);
process.stderr.write(`\n${(await said).join('')}`);
process.exitCode = Math.max(...codes);
