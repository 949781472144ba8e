/** What the names of tools in role files grant. */
import { CAPABILITIES, type Capability } from '../../domain/agents/role.ts';
import { CAPABILITY_OF_NAME } from '../../domain/agents/tool-facts.ts';

export const TOOL_NAMES: readonly string[] = [...CAPABILITY_OF_NAME.keys(), '*'];
export const isToolName = (name: string): boolean => TOOL_NAMES.includes(name);

/** The traits of a role that affect its capabilities. */
export interface RoleTraits {
  /** `file_operations` includes writing. */
  readonly writes: boolean;
  /** Only the root may spawn, and it may commit if it has git. */
  readonly root: boolean;
  /** Roles of the user or an organisation may commit if they name that tool. */
  readonly commits?: boolean;
}

/** The capabilities of these tools, in a fixed order. `*` is all but spawning and committing; for the root it includes them. */
export function capabilitiesOf(
  names: readonly string[],
  { writes, root, commits = false }: RoleTraits,
): readonly Capability[] {
  const granted = new Set(names.flatMap((name) => capabilitiesOfName(name, writes)));
  if (root && granted.has('git-read')) granted.add('git-write');
  if (root && names.includes('*')) granted.add('spawn');
  if (!root) granted.delete('spawn');
  if (!root && !commits) granted.delete('git-write');
  return CAPABILITIES.filter((capability) => granted.has(capability));
}

function capabilitiesOfName(name: string, writes: boolean): readonly Capability[] {
  if (name === '*') return ['read', 'write', 'shell', 'git-read'];
  const own = CAPABILITY_OF_NAME.get(name);
  if (own === undefined) return [];
  return name === 'file_operations' && writes ? [own, 'write'] : [own];
}
