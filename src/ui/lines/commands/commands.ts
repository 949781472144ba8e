/** Every command of line mode. One table: dispatch, help and what stands for which action of the full screen come from it. */
import { AGENT_FILE_COMMANDS } from './agent-files.ts';
import { ACT_COMMANDS } from './agents.ts';
import { CHILD_COMMANDS } from './children.ts';
import type { LineCommand } from '../command.ts';
import { EDIT_COMMANDS } from './edits.ts';
import { everywhere } from './everywhere.ts';
import { LOOK_COMMANDS } from './look.ts';
import { PERMISSION_COMMANDS } from './permissions.ts';
import { PLAN_COMMANDS } from './plan.ts';
import { QUESTION_COMMANDS } from './questions.ts';
import { RESULT_COMMANDS } from './results.ts';
import { START_COMMANDS } from './start.ts';

export const LINE_COMMANDS: readonly LineCommand[] = [
  ...START_COMMANDS,
  ...AGENT_FILE_COMMANDS,
  ...PLAN_COMMANDS,
  ...EDIT_COMMANDS,
  ...PERMISSION_COMMANDS,
  ...QUESTION_COMMANDS,
  ...LOOK_COMMANDS,
  ...ACT_COMMANDS,
  ...CHILD_COMMANDS,
  ...RESULT_COMMANDS,
  ...everywhere(() => LINE_COMMANDS),
];
