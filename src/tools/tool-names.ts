/** Which tools a capability stands for: a table, so that names can be listed without opening anything. */
import type { Capability } from '../domain/agents/role.ts';

const BY_CAPABILITY: ReadonlyMap<Capability, readonly string[]> = new Map<Capability, readonly string[]>([
  ['read', ['read_file', 'list_files', 'search']],
  ['write', ['edit_file', 'write_file']],
  ['shell', ['bash']],
  ['git-read', ['git']],
  ['git-write', ['git_commit']],
  ['spawn', ['Task']],
]);

/** Tools of every agent, asked of no rule. */
const OWN = ['update_todos', 'send_message', 'ask_user'];

/** Names of the tools an agent with these capabilities has, in the order models are told of them. */
export function toolsFor(capabilities: readonly Capability[]): readonly string[] {
  const granted = [...BY_CAPABILITY].filter(([capability]) => capabilities.includes(capability));
  return [...granted.flatMap(([, names]) => names), ...OWN];
}
