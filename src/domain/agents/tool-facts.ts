/** Facts about Mimir's own tools by name, for the log, the screens and the rules. */
import type { Capability } from './role.ts';

export interface ToolFacts {
  /** Null for tools that concern only the agent itself and need no permission. */
  readonly capability: Capability | null;
  /** Further names that role files may use, Mimir's own and those of other programs. */
  readonly also?: readonly string[];
  /** Only some agents have it, regardless of their capabilities. */
  readonly rare?: true;
  /** Changes the file that it names. */
  readonly writes?: true;
  /** Waits for a child or a person; the work is not in the call itself. */
  readonly waits?: true;
  /** Its result is not worth showing. */
  readonly quiet?: true;
}

/** In the order in which models see them. */
const FACTS: ReadonlyMap<string, ToolFacts> = new Map<string, ToolFacts>([
  ['read_file', { capability: 'read', also: ['file_operations', 'Read'], quiet: true }],
  ['list_files', { capability: 'read', quiet: true }],
  ['search', { capability: 'read', also: ['file_search', 'Grep', 'Glob'], quiet: true }],
  ['edit_file', { capability: 'write', also: ['Edit', 'MultiEdit'], writes: true }],
  ['write_file', { capability: 'write', also: ['Write'], writes: true }],
  ['bash', { capability: 'shell', also: ['bash_execution', 'Bash'] }],
  ['git', { capability: 'git-read' }],
  ['git_commit', { capability: 'git-write' }],
  ['Task', { capability: 'spawn', also: ['Agent'], waits: true }],
  ['update_todos', { capability: null, quiet: true }],
  ['send_message', { capability: null, quiet: true }],
  ['ask_user', { capability: null, waits: true }],
  ['read_finding', { capability: null, quiet: true, rare: true }],
  ['give_verdict', { capability: null, rare: true }],
  ['agent_command', { capability: 'shell', rare: true }],
  ['agent_edit', { capability: 'write', rare: true }],
  ['agent_did', { capability: null, rare: true, quiet: true }],
]);

const NONE: ToolFacts = { capability: null, rare: true };

/** The facts of a tool; none for tools that are not Mimir's. */
export const factsOf = (tool: string): ToolFacts => FACTS.get(tool) ?? NONE;

/** Whether the tool may change files. */
export const mayChangeFiles = (tool: string): boolean => ['write', 'shell'].includes(factsOf(tool).capability ?? '');

/** Names of the tools that these capabilities grant, in the order in which models see them. */
export const toolsFor = (capabilities: readonly Capability[]): readonly string[] =>
  [...FACTS].flatMap(([name, { capability, rare }]) =>
    rare !== true && (capability === null || capabilities.includes(capability)) ? [name] : [],
  );

/** The capability that each name of a tool in a role file grants. */
export const CAPABILITY_OF_NAME: ReadonlyMap<string, Capability> = new Map(
  [...FACTS].flatMap(([name, { capability, also = [] }]) =>
    capability === null ? [] : [...also, name].map((known) => [known, capability] as const),
  ),
);

/** The tools by which an agent of another program asks and tells what it does: the only ones that it has. */
export const FOREIGN_TOOLS: readonly string[] = [
  'agent_command',
  'agent_edit',
  'agent_did',
  'update_todos',
  'ask_user',
];

/** Whether the tool starts an agent. */
export const isSpawn = (tool: string): boolean => factsOf(tool).capability === 'spawn';
