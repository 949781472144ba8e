/** Flags that several verbs share, and what they mean. */
import { durationMs } from '../config/schema.ts';
import type { Budget } from '../domain/budget.ts';
import { withoutAbsent } from '../domain/budget.ts';
import type { Mode } from '../domain/mode.ts';
import { MODES } from '../domain/mode.ts';
import { EXIT, Exit } from './exit.ts';
import type { Arguments, Flags } from './flags.ts';
import { COLOR } from './colour.ts';

export { CWD, JSON_FLAG } from './plain-flags.ts';

export const MODELS: Flags = {
  model: { value: 'M', help: 'ask for this model for every agent (`offline`: the built-in analyst)' },
  'role-model': { value: 'role=M', help: 'ask for this model for one role; may be repeated', many: true },
  'no-offline': { value: '', help: 'end with 6 instead of using the built-in analyst' },
};

export const LIMITS: Flags = {
  mode: { value: 'human|confirm|yolo', help: 'how much is asked (default: confirm)' },
  'max-cost': { value: 'USD', help: 'the run may cost at most this' },
  'max-tokens': { value: 'N', help: 'the run may use at most this many tokens' },
  'max-duration': { value: '10m', help: 'the run may take at most this long' },
};

export const SCREEN: Flags = {
  ...COLOR,
  theme: { value: 'NAME', help: 'colour theme (default: auto, dark or light as the terminal is)' },
  plain: { value: '', help: 'lines instead of a full screen' },
};

/** `--max-cost` and its like as a budget. */
export function budgetFrom(args: Arguments): Budget {
  const duration = args.get('max-duration');
  const ms = duration === undefined ? undefined : durationMs(duration);
  if (ms === null) throw wrong('--max-duration', duration, 'a time such as 90s, 10m or 1h');
  return withoutAbsent({
    maxCost: numberFrom(args, 'max-cost', { whole: false }),
    maxTokens: numberFrom(args, 'max-tokens', { whole: true }),
    maxDuration: ms,
  });
}

function numberFrom(args: Arguments, flag: string, { whole }: { readonly whole: boolean }): number | undefined {
  const text = args.get(flag);
  if (text === undefined) return undefined;
  const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(number) || (whole && !Number.isSafeInteger(number))) {
    throw wrong(`--${flag}`, text, whole ? 'a whole number of 0 or more' : 'an amount such as 2.50');
  }
  return number;
}

export function modeFrom(args: Arguments): Mode | undefined {
  const text = args.get('mode');
  if (text === undefined) return undefined;
  const mode = MODES.find((one) => one === text);
  if (mode === undefined) throw wrong('--mode', text, 'human, confirm or yolo');
  return mode;
}

export function roleModelsFrom(args: Arguments): ReadonlyMap<string, string> {
  return new Map(
    args.all('role-model').map((text): [string, string] => {
      const cut = text.indexOf('=');
      if (cut < 1 || cut === text.length - 1) throw wrong('--role-model', text, 'role=model, such as oracle=o3');
      return [text.slice(0, cut), text.slice(cut + 1)];
    }),
  );
}

const wrong = (flag: string, got: string | undefined, expected: string): Exit =>
  new Exit(EXIT.wrongUse, `${flag} ${got ?? ''}\n  expected ${expected}`);
