/** What `mimir doctor` finds about policy: who rules and whether that can be relied on, trust, forced agents, days, rights of the state. */
import { existsSync, lstatSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { faultText } from '../../config/files/fault.ts';
import type { Loaded } from '../../config/settings/load.ts';
import { MANAGED_ROOT, passedOver } from '../../config/managed/managed.ts';
import { vanished } from '../../config/settings/seen.ts';
import { nestedFolders } from '../../config/trust/nested.ts';
import type { ProjectTrust } from '../../config/trust/record.ts';
import { resolvedIn } from '../../policy/explain/model.ts';
import { chooseModel, wordsOf } from '../../policy/models.ts';
import { modelsOfRole } from '../../policy/role-models.ts';
import { roleNamed } from '../../policy/roles.ts';
import type { ForcedRule } from '../../policy/rules.ts';
import type { DayLedger } from '../../ports/daily-budget.ts';
import { LogFault } from '../../ports/log.ts';
import { openDayLedger } from '../../store/daily-budget.ts';
import { databaseOf, folderOf } from '../../store/log-path.ts';
import type { ProjectPlace } from '../../app/project/project-trust.ts';
import { trustLine } from '../../app/project/project-trust.ts';
import { portOf } from '../../app/project/model-port.ts';
import { world } from '../../app/process/world.ts';

export interface Finding {
  readonly what: string;
  readonly state: 'ok' | 'note' | 'problem';
  readonly words: string;
}

/** What is wrong with a managed file is a fault of the configuration already; here is what holds. */
export function policyFindings(config: Loaded | null): readonly Finding[] {
  if (config === null) return [];
  const gone = vanished(config.managed, config.places);
  const files = config.managed.map(({ shown }) => `${shown} (${rightsOf(shown)})`);
  const words = files.length === 0 ? 'no managed policy: nobody but you rules here' : `managed by ${files.join(', ')}`;
  const resolved = new Set(resolvedIn(config.rules).map(({ written, id }) => `${written} is ${id}`));
  return [
    ...gone.map((fault): Finding => ({ what: 'policy', state: 'problem', words: `${faultText(fault)}; nothing runs` })),
    ...(gone.length > 0 && files.length === 0 ? [] : [{ what: 'policy', state: 'ok', words } as const]),
    ...passedOver(MANAGED_ROOT).map(
      (file): Finding => ({
        what: 'policy',
        state: 'note',
        words: `${file} is not read: only policy.yml and names that end in .yml are`,
      }),
    ),
    ...namespaceFindings(),
    ...(resolved.size === 0 ? [] : [{ what: 'policy', state: 'ok', words: [...resolved].join(', ') } as const]),
  ];
}

function rightsOf(file: string): string {
  const { uid, mode } = statSync(file);
  return `owner ${uid === 0 ? 'root' : uid}, mode ${(mode & 0o7777).toString(8).padStart(4, '0')}`;
}

/** The map of users of a process that is in no namespace of its own. */
const WHOLE_MAP = /^\s*0\s+0\s+4294967295\s*$/;

function namespaceFindings(): readonly Finding[] {
  try {
    if (WHOLE_MAP.test(readFileSync('/proc/self/uid_map', 'utf8'))) return [];
  } catch {
    return [];
  }
  const words = "this process is in a user namespace: that /etc/mimir looks like root's proves nothing about the host";
  return [{ what: 'policy', state: 'note', words }];
}

export function trustFindings({ root }: ProjectPlace, trust: ProjectTrust): readonly Finding[] {
  const line = trustLine(trust);
  const quiet = trust.problem === null && (trust.state === 'nothing' || trust.state === 'trusted');
  const nested = nestedFolders(root).map((name) => `${name} counts for nothing: only the one at the root does`);
  return [
    { what: 'trust', state: quiet ? 'ok' : 'note', words: line === '' ? 'nothing here needs trust' : line },
    ...nested.map((words): Finding => ({ what: 'trust', state: 'note', words })),
  ];
}

/** A forced agent that can't run keeps its gate closed: better known before. */
export const forcedFindings = (config: Loaded | null): readonly Finding[] =>
  (config?.rules.forcedAgents ?? []).map((forced) => {
    const problem = config === null ? null : problemOfForced(forced, config);
    const { name, triggers, onFailure, from } = forced;
    const place = from.file === null ? from.layer : `${from.layer}, ${from.file}:${from.line ?? ''}`;
    const rule = `${name} runs ${triggers.join(' and ')} (${place})`;
    if (problem === null) return { what: 'forced', state: 'ok', words: rule };
    const closed = onFailure === 'block' ? 'and what it guards stays closed' : 'and that is only told';
    return {
      what: 'forced',
      state: onFailure === 'block' ? 'problem' : 'note',
      words: `${rule}, but can't: ${problem}; ${closed}`,
    };
  });

function problemOfForced({ name, model }: ForcedRule, config: Loaded): string | null {
  const role = roleNamed(name, config.roles);
  if (role === null) return 'there is no such role';
  if (role.protocol === 'text') return 'its role works by words (protocol: text), and a verdict is given by a tool';
  const offlineOnly = !config.providers.some((provider) => provider.configured);
  const models = portOf(config, new Map(), 'none').models();
  const { rules } = config;
  const words = wordsOf(role);
  const fallbacks = modelsOfRole(role, { rules, models, offlineOnly });
  const wish = { asked: model, role: name, fallbacks, rules, models, offlineOnly, words };
  const chosen = chooseModel(wish);
  if (!chosen.ok) return chosen.fault.text;
  if (model === null || chosen.value.reason === null) return null;
  return `its model ${model} can't be used here (${chosen.value.reason.rule}), and a pinned model has no stand-in`;
}

/** Only where a rule limits days, and only what is there: looking makes no ledger. */
export function dayFindings({ places }: ProjectPlace, config: Loaded | null): readonly Finding[] {
  const rules = config?.rules;
  if (rules === undefined || (rules.dayBudget ?? rules.modelBudgets?.[0]) === undefined) return [];
  const most = rules.dayBudget?.value.maxCost;
  const limit = most === undefined ? '' : ` of $${most.toFixed(2)}`;
  try {
    const { cost, tokens } = todayIn(places.state);
    return [
      { what: 'today', state: 'ok', words: `$${cost.toFixed(2)}${limit} and ${tokens} tokens used, by all runs` },
    ];
  } catch (error) {
    if (error instanceof LogFault) return [{ what: 'today', state: 'problem', words: error.message }];
    throw error;
  }
}

function todayIn(stateDir: string): ReturnType<DayLedger['today']> {
  // A ledger that is gone is made anew from the logs, where there are some.
  if (!['days.db', 'projects'].some((name) => existsSync(join(stateDir, name)))) return { tokens: 0, cost: 0 };
  const ledger = openDayLedger(stateDir, () => world.now());
  try {
    return ledger.today();
  } finally {
    ledger.close();
  }
}

/** Folders and files of the state that others could open; the state directory itself is looked at elsewhere. */
export function rightsFindings({ root, places }: ProjectPlace): readonly Finding[] {
  const place = { stateDir: places.state, project: root };
  const own = ['projects', 'trust', 'days.db'].map((name) => join(places.state, name));
  return [...own, folderOf(place), databaseOf(place)].flatMap((path): readonly Finding[] => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return [];
    if (found.isSymbolicLink())
      return [{ what: 'state', state: 'problem', words: `${path} is a symbolic link: remove it` }];
    if ((found.mode & 0o077) === 0) return [];
    const right = found.isDirectory() ? '700' : '600';
    return [{ what: 'state', state: 'problem', words: `${path}: others may open it: chmod ${right} it` }];
  });
}
