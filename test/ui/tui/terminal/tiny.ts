/** A tiny program for the tests of the life cycle: shows its size and the last input, and does as its argument says. */
import { writeFileSync } from 'node:fs';
import { openScheduler } from '../../../../src/ui/tui/terminal/scheduler.ts';
import { openTerminal } from '../../../../src/ui/tui/terminal/open.ts';
import type { Line } from '../../../../src/app/views/text/line.ts';
import { theme } from '../../../support/theme.ts';

const [what = '', file = ''] = process.argv.slice(2);
let last = 'nothing yet';

const terminal = openTerminal({
  theme,
  signalled(signal, code) {
    terminal.close();
    if (what !== 'plain end') process.stdout.write(`saved at ${signal}\n`);
    process.exit(code);
  },
  crashed(error) {
    if (file !== '') writeFileSync(file, error instanceof Error ? (error.stack ?? '') : String(error));
    return file === '' ? null : file;
  },
});
const when = openScheduler({ paint, load: () => terminal.load() });
const now = (): void => {
  when.now();
};

function paint(): void {
  const { width, height } = terminal.size();
  const rest = height > 100 ? Array.from({ length: height }, (): Line => [[last, {}]]) : [];
  const lines: readonly Line[] = [
    [[`size ${width}x${height}`, { fg: 'ok', bold: true }]],
    [
      ['last ', {}],
      [last, { fg: 'role:oracle' }],
    ],
    ...rest,
  ];
  terminal.paint({ lines, cursor: { x: 2, y: 3 } });
}

terminal.onResize(now);
terminal.onInput((input) => {
  last = input.is === 'key' ? `key ${input.key}` : JSON.stringify(input);
  now();
  if (input.is !== 'key') return;
  if (input.key === 'ctrl-z') terminal.suspend();
  if (input.key === 'q') {
    terminal.close();
    process.exit(0);
  }
  if (input.key === 'T') throw new Error('a \u001b[31mbug');
  if (input.key === 'R') void Promise.reject(new Error('rejected'));
  if (input.key === 'W') process.emitWarning('a warning of a library');
  if (input.key === 'S') stream(0);
  if (input.key === 'E') {
    void terminal.lend({ edit: 'before' }).then((text) => {
      last = text.ok ? `edited ${text.value}` : `not edited: ${text.fault}`;
      now();
    });
  }
});
terminal.setTitle('tiny \u009d0;evil\u0007');
when.clock(what === 'clock');
now();

/** Far more frames than a terminal that stalls can take, while the loop must go on. */
function stream(turn: number): void {
  last = `turn ${turn} ${String(turn % 10).repeat(3000)}`;
  terminal.redraw();
  now();
  if (turn === 200 && file !== '') writeFileSync(file, 'done');
  if (turn < 200) setTimeout(() => stream(turn + 1), 5);
}
