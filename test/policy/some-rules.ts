/** Rules for tests: the package's defaults by hand, with what a test changes. */
import type { Reason } from '../../src/domain/reason.ts';
import { CAPABILITIES } from '../../src/domain/agents/role.ts';
import type { Circumstances } from '../../src/policy/decide.ts';
import { type ModelEntry, type Rule, type Rules, builtIn } from '../../src/policy/rules.ts';
import { RULES } from '../support/run.ts';

const rule = <T>(value: T): Rule<T> => ({ value, from: builtIn('default') });

/** A rule written in a user's file. */
export const written = (text: string, line: number): Reason => ({
  rule: text,
  layer: 'user',
  file: '~/config.yml',
  line,
});

export const entry = (pattern: string, from: Reason): ModelEntry => ({ written: pattern, pattern, from });

export const someRules = (changes: Partial<Rules> = {}): Rules => ({
  ...RULES,
  runBudget: rule({ maxCost: 5 }),
  agentBudget: rule({ maxCost: 1 }),
  ...changes,
});

/** Where a decision is made: mode confirm, a person there, a box, an agent that may do everything. */
export const at = (changes: Partial<Circumstances> = {}): Circumstances => ({
  mode: 'confirm',
  interactive: true,
  sandbox: 'read-write',
  capabilities: CAPABILITIES,
  ...changes,
});
