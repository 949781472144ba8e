/** The entrance of `app/actions`: what a person can do to a run, for the screen, line mode and the command line. */
export { type Action, type AgentAction, type Confirmation, ENDED, type Interaction, NO_AGENT } from './action.ts';
export { NO_REPORT, NO_RUN } from './action.ts';
export * from './agent-control.ts';
export * from './answer.ts';
export * from './kill.ts';
export * from './message.ts';
export * from './plan.ts';
export * from './run.ts';
export * from './spawn.ts';
