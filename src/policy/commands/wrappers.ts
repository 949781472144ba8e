/** Data: which options of the programs that run other programs are known, and where the program begins behind them. */

export interface Wrapper {
  /** Letters of options without a value, and with one. An option that is in neither is a doubt. */
  readonly flags?: string;
  readonly values?: string;
  readonly long?: string;
  readonly longValues?: string;
  /** Words before the program, as the duration of `timeout`. */
  readonly skip?: number;
  /** `A=1` may stand before the program. */
  readonly assigns?: boolean;
  /** Arguments are added that the text doesn't have. */
  readonly open?: boolean;
}

export const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  [
    'env',
    { flags: 'i0v', values: 'uC', long: 'ignore-environment null debug', longValues: 'unset chdir', assigns: true },
  ],
  [
    'timeout',
    {
      flags: 'vpf',
      values: 'ks',
      long: 'preserve-status foreground verbose',
      longValues: 'kill-after signal',
      skip: 1,
    },
  ],
  ['nohup', {}],
  ['nice', { flags: '0123456789', values: 'n', longValues: 'adjustment' }],
  ['time', { flags: 'pvaq', values: 'of', long: 'portability verbose append quiet', longValues: 'output format' }],
  ['stdbuf', { values: 'ioe', longValues: 'input output error' }],
  ['setsid', { flags: 'cfw', long: 'ctty fork wait' }],
  [
    'xargs',
    {
      flags: '0rtpxo',
      values: 'nLIPsdaE',
      long: 'null no-run-if-empty verbose interactive exit open-tty',
      longValues: 'max-args max-lines replace max-procs max-chars delimiter arg-file',
      open: true,
    },
  ],
  ['builtin', {}],
  ['exec', { flags: 'cl', values: 'a' }],
  [
    'sudo',
    {
      flags: 'EHnSkbKAP',
      values: 'ugpCDhRT',
      long: 'preserve-env non-interactive stdin set-home',
      longValues: 'user group',
      assigns: true,
    },
  ],
  ['doas', { flags: 'nL', values: 'uC' }],
  ['busybox', {}],
  ['toybox', {}],
  ['npx', { flags: 'yq', values: 'p', long: 'yes no no-install quiet', longValues: 'package' }],
  ['bunx', { long: 'bun silent verbose', values: 'p', longValues: 'package' }],
  ['pnpx', {}],
  ['uvx', { flags: 'qvn', longValues: 'from with python', values: 'p', long: 'quiet verbose offline isolated' }],
]);

const PLAIN: Wrapper = {};
const PACKAGE: Wrapper = { flags: 'yq', values: 'p', long: 'yes silent quiet', longValues: 'package' };

/** By program and verb. */
export const RUNNERS: ReadonlyMap<string, Readonly<Record<string, Wrapper>>> = new Map([
  ['npm', { exec: PACKAGE, x: PACKAGE }],
  ['pnpm', { dlx: PACKAGE, exec: PLAIN }],
  ['yarn', { dlx: PACKAGE, exec: PLAIN }],
  ['bun', { x: PACKAGE }],
  ['deno', { task: PLAIN }],
  [
    'uv',
    { run: { flags: 'qvn', values: 'p', longValues: 'with python', long: 'quiet verbose offline isolated frozen' } },
  ],
  ['pipx', { run: { longValues: 'spec python' } }],
  ['poetry', { run: PLAIN }],
  ['pipenv', { run: PLAIN }],
  ['pdm', { run: PLAIN }],
  ['hatch', { run: PLAIN }],
  ['rye', { run: PLAIN }],
  ['bundle', { exec: PLAIN }],
  ['direnv', { exec: { skip: 1 } }],
]);
