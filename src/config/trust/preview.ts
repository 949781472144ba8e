/** What the files of a project would bring if it were trusted, a line each, for the person who decides. Reads nothing itself. */
import path from 'node:path';
import type { TrustFile } from './files.ts';
import { INSTRUCTION_FILES } from '../roles/instructions.ts';
import { ruleOf } from '../schema/keys.ts';
import { words } from '../files/layer.ts';
import { isRoleFile, projectRoleText } from '../roles/project-roles.ts';
import { readRole } from '../roles/role-file.ts';
import { valueAt } from '../files/issues.ts';
import { PLAN_FOLDER, readTemplate } from '../templates/templates.ts';
import { readTree } from './tree.ts';
import { leavesOf, plainOf, respelled } from './tree-walk.ts';

/** Empty when the project says nothing that needs trust; its restrictions never do. */
export const bringsOf = (files: readonly TrustFile[]): readonly string[] => [
  ...files.flatMap(rolesOf),
  ...files.flatMap(preferencesOf),
  ...files.flatMap(templatesOf),
  ...INSTRUCTION_FILES.flatMap((name) => files.filter(({ file }) => file === name)).map(instructionsLine),
];

function rolesOf({ file, text }: TrustFile): readonly string[] {
  if (!isRoleFile(file)) return [];
  const role = readRole(projectRoleText(file, text ?? ''));
  if (!role.ok) return [`a role file with a fault (${file})`];
  const { name, capabilities } = role.value.role;
  return [`role ${name}: ${capabilities.length === 0 ? 'no tools' : capabilities.join(', ')} (${file})`];
}

/** A plan is text that agents follow: `plan template audit: 3 tasks (.mimir/plans/audit.yml)`. */
function templatesOf({ file, text }: TrustFile): readonly string[] {
  const { dir, ext, name } = path.parse(file);
  if (dir !== PLAN_FOLDER || ext !== '.yml') return [];
  const read = readTemplate({ shown: file, stem: name, text: text ?? '' });
  if (!read.ok) return [`a plan template with a fault (${file})`];
  const { tasks } = read.value.info;
  return [`plan template ${name}: ${tasks === 1 ? '1 task' : `${tasks} tasks`} (${file})`];
}

/** `prefers theme mimir-light`; a file with a fault says nothing here, and refuses to run anyway. */
function preferencesOf({ file, text }: TrustFile): readonly string[] {
  if (file !== '.mimir/config.yml') return [];
  const read = readTree(text ?? '', file);
  if (!read.ok) return [];
  const tree = respelled(read.value);
  const plain = plainOf(tree);
  return leavesOf(tree)
    .filter((key) => ruleOf(key).kind === 'preference')
    .map((key) => {
      const [name, value] = [key.join('.'), words(valueAt(plain, key))];
      return `prefers ${name.replace(SECTION, '')} ${value}${isIgnored(name, value) ? IGNORED : ''}`;
    });
}
/** `withoutYolo` in layer.ts leaves it out, trusted or not. */
const isIgnored = (name: string, value: string): boolean => name === 'mode.default' && value === 'yolo';
const IGNORED = ', which is ignored: what a project prefers is never looser than confirm';
const SECTION = /^(?:agentOrchestration|ui)\./;

const instructionsLine = ({ file, bytes }: TrustFile): string =>
  `instructions ${file} (${bytes < 1000 ? `${bytes} B` : `${(bytes / 1000).toFixed(1)} KB`})`;
