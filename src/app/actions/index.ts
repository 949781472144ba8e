/** What a person can do to a run: one row per action, for the screen, line mode and the command line. */
export type { Action, AgentAction } from './action.ts';
export { commitAtEnd, commitEdit, commitWords } from './commit.ts';
export type { Killable } from './kill.ts';
export { endedByKill, killAgent, killedAgents } from './kill.ts';
export { COMMIT_REQUEST, isFollowUp, messageMain, recipientOf, whyNotCommit, whyNotTalk } from './message-main.ts';
export { retryRun, retryWords } from './retry.ts';
export type { PermissionsArgs } from './set-permissions.ts';
export { permissionsEdit, setPermissions } from './set-permissions.ts';
export { alongsideEdit, setAlongside, setWrites, typedWrites, writesEdit, writesIn } from './set-writes.ts';
export { withdrawGrant } from './withdraw-grant.ts';
