/** What the values of flags mean that several verbs share. */
import { durationMs } from '../../../config/schema/schema.ts';
import type { Budget } from '../../../domain/budget.ts';
import { withoutAbsent } from '../../../domain/budget.ts';
import type { Mode } from '../../../domain/mode.ts';
import { MODES } from '../../../domain/mode.ts';
import type { Permissions } from '../../../domain/plan/plan.ts';
import { PERMITTED } from '../../../domain/plan/permissions.ts';
import { EXIT, Exit } from '../exit.ts';
import type { Arguments } from './flags.ts';

export { CWD, JSON_FLAG, LIMITS, MODELS, SCREEN } from './plain.ts';

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

/** `--allow edits,commands`; undefined without the flag. */
export function allowFrom(args: Arguments): Permissions | undefined {
  const text = args.get('allow');
  if (text === undefined) return undefined;
  const names = text.split(',').map((name) => name.trim());
  const chosen = PERMITTED.filter((what) => names.includes(what));
  const isKnown = names.every((name) => PERMITTED.some((what) => what === name));
  if (!isKnown || chosen.length === 0) throw wrong('--allow', text, 'edits, commands, or both: edits,commands');
  return Object.fromEntries(chosen.map((what) => [what, 'allow']));
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
