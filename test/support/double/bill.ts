/** The double's own bill: what every request came to, by how it ended. */
import type { Asked, Counted } from './asked.ts';
import { NOTHING } from './asked.ts';

export interface Sum extends Counted {
  readonly calls: number;
}

export interface Bill {
  /** Whole replies. */
  readonly answered: Sum;
  /** The same by the model that was asked. */
  readonly byModel: Readonly<Record<string, Sum>>;
  /** Broken off, by a fault or because the client left: the input once anything had been sent, and the output sent so far. */
  readonly broken: Sum;
  /** Answered with a fault before any work began; nothing is billed. */
  readonly refused: number;
  /** Neither ended nor broken off yet. */
  readonly waiting: number;
}

const NONE: Sum = { calls: 0, ...NOTHING };

export function billOf(all: readonly Asked[]): Bill {
  const calls = all.filter(({ wire }) => wire === 'messages' || wire === 'chat' || wire === 'responses');
  const by = (is: string): readonly Asked[] => calls.filter(({ outcome }) => outcome.is === is);
  const answered = by('answered');
  const models = [...new Set(answered.map(({ model }) => model))].sort();
  return {
    answered: sum(answered),
    byModel: Object.fromEntries(models.map((model) => [model, sum(answered.filter((one) => one.model === model))])),
    broken: sum(by('broken')),
    refused: by('refused').length,
    waiting: by('waiting').length,
  };
}

const sum = (some: readonly Asked[]): Sum =>
  some.reduce(
    (all, { outcome: { usage } }) => ({
      calls: all.calls + 1,
      input: all.input + usage.input,
      output: all.output + usage.output,
      cacheRead: all.cacheRead + usage.cacheRead,
      cacheWrite: all.cacheWrite + usage.cacheWrite,
    }),
    NONE,
  );
