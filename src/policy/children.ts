/** What holds for children beyond the plan where no file says otherwise. */
import { builtIn, type ChildRules, type Rules } from './rules.ts';

const SECOND = 1000;

export const CHILD_DEFAULTS: ChildRules = {
  mode: { value: 'auto', from: builtIn('childAgents.mode: auto') },
  orphans: 'adopt',
  messages: { value: 'run', from: builtIn('childAgents.messages: run') },
  maxPerParent: { value: 16, from: builtIn('childAgents.maxPerParent: 16') },
  defaultModel: null,
  idleTimeout: 600 * SECOND,
  notify: { complete: true, error: true, idle: false },
  killOnComplete: false,
  archivePath: null,
  workingDir: 'inherit',
  naming: { pattern: '{friendly_name}', fallback: 'child-{short_id}' },
};

/** The rules on children in force, whole. */
export const childRules = ({ children = {} }: Pick<Rules, 'children'>): ChildRules => ({
  ...CHILD_DEFAULTS,
  ...children,
});
