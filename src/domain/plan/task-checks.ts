/** The checks of a task: commands that Mimir runs when the agent says that it is done. The task counts as done only when all of them end as expected.
 */
import { z } from 'zod';
import { typedLimit } from '../budget.ts';
import { fail, ok, type Result } from '../result.ts';
import { seenText } from '../text/text.ts';

/** Milliseconds that a check may take where nothing is said. */
const USUAL_TIME = 600_000;
/** Bounds where no configuration names others, as in plans of earlier versions. */
export const CHECK_BOUNDS: CheckBounds = { count: 10, time: 1_800_000 };
/** Rounds of work and checks. A second one, because the output of a first failure mostly names a slip; each further one costs another conversation. */
export const USUAL_ATTEMPTS = 2;
const MOST_ATTEMPTS = 10;

export interface CheckBounds {
  readonly count: number;
  /** The most milliseconds of one check. */
  readonly time: number;
}

const Command = z
  .string()
  .trim()
  .min(1)
  .max(1000)
  .refine((run) => !/[\0\n\r]/.test(run), 'a check is one line');
const ExitCode = z.int().min(0).max(255);

/** One check, with everything that is executed. */
export const Check = z.strictObject({
  /** The command line, run like the commands of the task's agent. */
  run: Command,
  expect: ExitCode,
  /** Milliseconds. */
  timeout: z.int().min(1).max(86_400_000),
});
export type Check = z.infer<typeof Check>;
export const Checks = z.array(Check).min(1).max(100).readonly();
export const Attempts = z.int().min(1).max(MOST_ATTEMPTS);

/** As written: a command alone, or with what is to differ. */
export const DraftCheck = z.union(
  [
    Command,
    z.strictObject({
      run: Command,
      expect: ExitCode.optional(),
      timeout: z.union([z.int().min(1).max(86_400_000), z.string().max(20)]).optional(),
    }),
  ],
  'a check is a command, or {run, expect, timeout}',
);
export type DraftCheck = z.infer<typeof DraftCheck>;
type LongCheck = Exclude<DraftCheck, string>;
export const DraftChecks = z.array(DraftCheck).max(100).readonly();

/** The checks and attempts of a task, as a plan has them; both missing where there are no checks. */
export interface CheckedTask {
  readonly checks?: readonly Check[];
  readonly attempts?: number;
}

/** The checks as they will be run, or what is wrong with them. */
export function soundChecks(
  {
    checks = [],
    attempts,
  }: { readonly checks?: readonly DraftCheck[] | undefined; readonly attempts?: number | undefined },
  { count, time }: CheckBounds = CHECK_BOUNDS,
): Result<CheckedTask, string> {
  if (checks.length === 0) return ok({});
  if (checks.length > count) return fail(`it has ${checks.length} checks; at most ${count} are allowed`);
  const sound: Check[] = [];
  for (const written of checks) {
    const check = soundCheck(typeof written === 'string' ? { run: written } : written, time);
    if (!check.ok) return check;
    const { run } = check.value;
    if (sound.some((other) => other.run === run)) return fail(`the check ${run} is named twice`);
    sound.push(check.value);
  }
  return ok({ checks: sound, attempts: attempts ?? USUAL_ATTEMPTS });
}

/** `most`: milliseconds that it may take. A number below a second was meant in another unit. */
function soundCheck({ run: typed, expect = 0, timeout }: LongCheck, most: number): Result<Check, string> {
  const run = seenText(typed).trim();
  const ms = typeof timeout === 'string' ? typedLimit('maxDuration', timeout) : (timeout ?? Math.min(USUAL_TIME, most));
  if (ms === null || ms < 1000) return fail(`the timeout "${timeout ?? ''}" of ${run} is no time such as 90s or 10m`);
  return ms > most
    ? fail(`the check ${run} may take ${timeText(ms)}; at most ${timeText(most)} are allowed`)
    : ok({ run, expect, timeout: ms });
}

/** `npm test`, or with what differs from the usual: `npm test => exit 1, 90s`. `readChecks` reads it. */
export function checkText({ run, expect, timeout }: Check): string {
  const others = [expect === 0 ? '' : `exit ${expect}`, timeout === USUAL_TIME ? '' : timeText(timeout)].filter(
    (part) => part !== '',
  );
  return others.length === 0 ? run : `${run} => ${others.join(', ')}`;
}

/** As short as a person writes it. */
export const writtenCheck = (check: Check): DraftCheck =>
  check.expect === 0 && check.timeout === USUAL_TIME ? check.run : check;

/** `npm test; npm run lint (3 attempts)`; `none` without checks. */
export function checksText({ checks = [], attempts = USUAL_ATTEMPTS }: CheckedTask): string {
  const tries = attempts === USUAL_ATTEMPTS ? '' : ` (${attempts === 1 ? '1 attempt' : `${attempts} attempts`})`;
  return checks.length === 0 ? 'none' : `${checks.map(checkText).join('; ')}${tries}`;
}

const SUFFIX = /^(?<run>.*\S)\s+=>\s+(?:exit (?<exit>\d{1,3}))?(?:(?:, *)?(?<time>[\d.]+(?:ms|s|m|h)))?$/;

/** One check a line, as a person types them. */
export const readChecks = (typed: string): readonly DraftCheck[] =>
  typed.split('\n').flatMap((line): DraftCheck[] => {
    const text = line.trim();
    if (text === '') return [];
    const { run = text, exit, time } = SUFFIX.exec(text)?.groups ?? {};
    if (exit === undefined && time === undefined) return [text];
    return [{ run, ...(exit !== undefined && { expect: Number(exit) }), ...(time !== undefined && { timeout: time }) }];
  });

const timeText = (ms: number): string =>
  ms % 60_000 === 0 ? `${ms / 60_000}m` : ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;

/** How one run of a check ended. */
export interface CheckEnd {
  readonly passed: boolean;
  /** Null when it did not end by itself. */
  readonly exit: number | null;
  /** Why it has no exit code. */
  readonly failure?: CheckFailure;
  /** The end of what it printed. */
  readonly lines: string;
  readonly ms: number;
  /** Digest of the project when it had ended; null where that cannot be told. */
  readonly tree: string | null;
  readonly changed?: readonly string[];
  /** Files that its agent changed and that decide what it does: its script, its tests. */
  readonly judged?: readonly string[];
}

export interface CheckFailure {
  readonly is: 'time limit' | 'budget' | 'denied' | 'signal' | 'not run';
  readonly text: string;
}

/** `exit code 1`, `stopped after its time limit of 10m`, `denied: …` */
export const checkEndText = ({ exit, failure }: Pick<CheckEnd, 'exit' | 'failure'>, { timeout }: Check): string =>
  failure === undefined
    ? `exit code ${exit ?? '?'}`
    : failure.is === 'time limit'
      ? `stopped after its time limit of ${timeText(timeout)}`
      : failure.text;
