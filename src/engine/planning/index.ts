/** The entrance of the planning: drafts, checks, approval and amendments of a plan. */
export { choicesOf, deniedUnattended, type PlanTerms, startingPermissions } from './context.ts';
export { answered } from './planner.ts';
export { openPlanning, type Planning, type PlanTable } from './planning.ts';
export { plannedAgents } from './plan-agents.ts';
