/** Every command of line mode. One table: dispatch, help and what stands for which action of the full screen come from it. */
import { AGENT_FILE_COMMANDS } from './line-agents-files.ts';
import { ACT_COMMANDS } from './line-act-commands.ts';
import { CHILD_COMMANDS } from './line-children.ts';
import type { LineCommand } from './line-command.ts';
import { EDIT_COMMANDS } from './line-edits.ts';
import { everywhere } from './line-everywhere-commands.ts';
import { LOOK_COMMANDS } from './line-look-commands.ts';
import { PERMISSION_COMMANDS } from './line-permissions.ts';
import { WRITES_COMMANDS } from './line-writes.ts';
import { PLAN_COMMANDS } from './line-plan-commands.ts';
import { QUESTION_COMMANDS } from './line-question-commands.ts';
import { RESULT_COMMANDS } from './line-result-commands.ts';
import { START_COMMANDS } from './line-start-commands.ts';

export const LINE_COMMANDS: readonly LineCommand[] = [
  ...START_COMMANDS,
  ...AGENT_FILE_COMMANDS,
  ...PLAN_COMMANDS,
  ...EDIT_COMMANDS,
  ...PERMISSION_COMMANDS,
  ...WRITES_COMMANDS,
  ...QUESTION_COMMANDS,
  ...LOOK_COMMANDS,
  ...ACT_COMMANDS,
  ...CHILD_COMMANDS,
  ...RESULT_COMMANDS,
  ...everywhere(() => LINE_COMMANDS),
];
