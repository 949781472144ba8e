/** What the command line says in the words of the configuration: a layer like the files, with flags for lines. */
import type { Mode } from '../../domain/mode.ts';
import type { Permissions } from '../../domain/plan/plan.ts';
import { type Layer, typedLayer, words } from './layer.ts';
import type { Settings } from '../schema/schema.ts';
import type { Path } from '../schema/keys.ts';

/** Flags that speak about rules and preferences, already parsed. Milliseconds and US dollars. */
export interface Flags {
  readonly mode?: Mode;
  readonly maxCost?: number;
  readonly maxTokens?: number;
  readonly maxDuration?: number;
  /** For every role. */
  readonly model?: string;
  /** Role -> model. */
  readonly roleModels?: Readonly<Record<string, string>>;
  readonly theme?: string;
  /** What agents of this run may do without asking. */
  readonly allow?: Permissions;
}

/** The flags as a layer; it tightens and prefers, and grants nothing but what `--allow` names. */
export function flagLayer(flags: Flags): Layer {
  const { mode, maxCost, maxTokens, maxDuration, theme, allow } = flags;
  const roles = Object.entries(flags.roleModels ?? {}).map(([role, defaultModel]) => [role, { defaultModel }] as const);
  const settings: Settings = {
    budgets: {
      run: {
        ...(maxCost === undefined ? {} : { maxCost }),
        ...(maxTokens === undefined ? {} : { maxTokens }),
        ...(maxDuration === undefined ? {} : { maxDuration }),
      },
    },
    ...(mode === undefined ? {} : { mode: { default: mode } }),
    ...(theme === undefined ? {} : { ui: { theme } }),
    ...(allow === undefined ? {} : { permissions: allow }),
    ...(roles.length === 0 ? {} : { agentOrchestration: { roles: Object.fromEntries(roles) } }),
  };
  return typedLayer(settings, (path) => flagOf(path, flags));
}

const NAMES: ReadonlyMap<string, string> = new Map([
  ['maxCost', '--max-cost'],
  ['maxTokens', '--max-tokens'],
  ['maxDuration', '--max-duration'],
  ['mode', '--mode'],
  ['ui', '--theme'],
]);

/** `--max-cost 5`, `--role-model oracle=o3`. */
function flagOf(path: Path, flags: Flags): string {
  if (path[0] === 'agentOrchestration') {
    const role = String(path[2]);
    return `--role-model ${role}=${flags.roleModels?.[role] ?? ''}`;
  }
  if (path[0] === 'permissions') return `--allow ${String(path[1])}`;
  const key = String(path[0] === 'budgets' ? path[2] : path[0]);
  const value: unknown = { ...flags, ui: flags.theme }[key];
  return value === undefined ? (NAMES.get(key) ?? key) : `${NAMES.get(key) ?? key} ${words(value)}`;
}
