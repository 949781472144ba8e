/** Opens the double of double/child.ts, and asks it. */
import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Bill } from '../../support/double/double.ts';
import type { Script } from '../../support/double/script.ts';

export interface Marks {
  /** How often agents asked. */
  readonly requests: number;
  /** Milliseconds of the double's clock: the first request, the last one, and its answer. */
  readonly firstAt: number;
  readonly lastAskedAt: number;
  readonly lastAt: number;
}

export interface Report {
  readonly url: string;
  readonly marks: Marks;
  readonly bill: Bill;
  /** Requests that a provider's prompt cache could not have used. */
  readonly prefixFaults: number;
}

export interface Meter {
  readonly url: string;
  report(): Promise<Report>;
  /** Sets the marks back; the bill goes on. */
  forget(): Promise<void>;
  close(): Promise<void>;
}

/** A double that answers by `script`. */
export async function openMeter(script: Script): Promise<Meter> {
  const child = fork(join(import.meta.dirname, 'child.ts'), [JSON.stringify(script)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: ['--max-old-space-size=6000'],
  });
  const end = (): void => void child.kill('SIGKILL');
  process.on('exit', end);
  await Promise.race([once(child, 'message'), once(child, 'exit').then(() => Promise.reject(new Error('no double')))]);
  const ask = async (question: string): Promise<Report> => {
    const answer = once(child, 'message');
    child.send(question);
    const report: unknown = (await answer).at(0);
    if (!isReport(report)) throw new Error('the double said something else');
    return report;
  };
  const { url } = await ask('report');
  return {
    url,
    report: () => ask('report'),
    forget: async () => void (await ask('forget')),
    close: () => closed(child, end),
  };
}

async function closed(child: ChildProcess, end: () => void): Promise<void> {
  const gone = once(child, 'exit');
  end();
  await gone;
  process.off('exit', end);
}

const isReport = (value: unknown): value is Report => typeof value === 'object' && value !== null && 'bill' in value;
