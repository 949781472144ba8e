/** The entrance of the policy: whether an agent may do what it wants to do, decided by rules alone. */
export { deciding, fixedAtStart, meet, tightestBudgets, unitedReviews } from './intersect-rules.ts';
export { ALIASES, answerProblem, chooseModel, endpointProblem, entryAllows, entryHolds } from './models.ts';
export { OFFLINE } from '../domain/ids.ts';
export { fallbackModels, foldName, modelProblem, modelsOfRole, obstacleTo, resolveModel } from './models.ts';
export { spokenModel, wordsOf } from './models.ts';
export { plannableRoles, plannedRoleProblem, roleNamed, roleProblem } from './roles.ts';
export { agentBudget, agentCeiling, type Binding, type SandboxRules, type BudgetRule, builtIn } from './rules.ts';
export { type Ceiling, CHILD_DEFAULTS, type ChildRules, childRules, type CommandRule } from './rules.ts';
export { type CommandRules, type Decision, type ReviewRule, type ModelEntry, namesOf, Permit } from './rules.ts';
export { priceProblem, type Rule, type Rules, runCeiling } from './rules.ts';
