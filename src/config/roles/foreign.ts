/** Agents of other programs from the configuration: each is a role whose only model is the agent itself. */
import path from 'node:path';
import { FOREIGN_PROVIDERS, ModelId, RoleName } from '../../domain/ids.ts';
import { MOST_ITERATIONS, type Role } from '../../domain/agents/role.ts';
import type { ModelOption } from '../../domain/plan/plan.ts';
import { defined, fail, ok, type Result } from '../../domain/result.ts';
import { type ConfigFault, fileFault } from '../files/read-text.ts';
import type { Settings } from '../schema/schema.ts';
import { lookOf } from './roles.ts';
import DATA from './known-agents.json' with { type: 'json' };

export interface ForeignSetup {
  readonly name: string;
  /** How it is talked to: by the Agent Client Protocol, or in a terminal. */
  readonly by: keyof typeof FOREIGN_PROVIDERS;
  readonly command: readonly string[];
  /** The only hosts that it reaches, as `host` or `host:port`. */
  readonly hosts: readonly string[];
  /** Files and folders of the person's home that it may write, relative to it. */
  readonly home: readonly string[];
  readonly env: readonly string[];
  /** Its mode in which it asks; null to choose a known one. */
  readonly mode: string | null;
  /** The folder of its transcripts, relative to the person's home; null where it writes none that is known. */
  readonly transcript: string | null;
  /** Its first arguments to continue its last conversation in its folder; empty where none are known. */
  readonly continues: readonly string[];
}

/** What is known of adapters by the usual names of their agents. */
const KNOWN: Readonly<Record<string, Pick<ForeignSetup, 'hosts' | 'home'> & Partial<ForeignSetup>>> = DATA;

const NOTHING = { hosts: [], home: [], env: [], mode: null, transcript: null, continues: [] };

/** The configured agents that have a command, and the one that `childAgents.command` names. */
export function foreignSetups({
  agents = {},
  childAgents = {},
}: Pick<Settings, 'agents' | 'childAgents'>): readonly ForeignSetup[] {
  const { command: program, args = [], defaultModel } = childAgents;
  const byCommand =
    program === undefined
      ? ''
      : path
          .basename(program)
          .toLowerCase()
          .replaceAll(/[^a-z0-9_-]/g, '-');
  // The programs that are known take a model in this way.
  const model = defaultModel === undefined || KNOWN[byCommand] === undefined ? [] : ['--model', defaultModel];
  const own: typeof agents = program === undefined ? {} : { [byCommand]: { tmux: [program, ...model, ...args] } };
  return Object.entries({ ...own, ...agents }).flatMap(([name, setup]) => {
    const { acp, tmux, ...more } = setup;
    const of = { ...NOTHING, ...KNOWN[name], ...defined(more) };
    const [by, command] = acp === undefined ? (['terminal', tmux] as const) : (['protocol', acp] as const);
    return command === undefined ? [] : [{ ...of, name, by, command }];
  });
}

/** The models that lists may name: the configured agents and those that are known by name, which an administrator may forbid before. */
export const foreignModelsOf = (setups: readonly ForeignSetup[]): readonly Pick<ModelOption, 'id' | 'aliases'>[] =>
  [...new Set([...Object.keys(KNOWN), ...setups.map(({ name }) => name)])].flatMap((name) =>
    Object.values(FOREIGN_PROVIDERS).map((provider) => ({ id: ModelId.parse(`${provider}/${name}`), aliases: [] })),
  );

/** A role for each, or a fault where a name is taken by another role or it is not clear how an agent is talked to. */
export function foreignRoles(
  setups: readonly ForeignSetup[],
  others: readonly Role[],
  agents: Settings['agents'] = {},
): Result<readonly Role[], readonly ConfigFault[]> {
  const faults = setups.flatMap(({ name }) => {
    const other = others.find((role) => lookOf(role.name) === lookOf(name));
    const { acp, tmux } = agents[name] ?? {};
    if (acp !== undefined && tmux !== undefined)
      return [fileFault(`agents.${name}`, 'has both acp and tmux', 'remove one of them')];
    if (other === undefined) return [];
    return [fileFault(`agents.${name}`, `is also the name of a role (${other.source})`, 'choose another name')];
  });
  if (faults.length > 0) return fail(faults);
  return ok(
    setups.map(({ name, by, command }) => ({
      name: RoleName.parse(name),
      description: `The agent ${name} (${path.basename(command[0] ?? name)}), which works by itself in a tree of its own.`,
      prompt: 'Works by its own instructions.',
      tools: ['file_operations', 'bash_execution'],
      capabilities: ['read', 'write', 'shell'],
      models: [`${FOREIGN_PROVIDERS[by]}/${name}`],
      // One reply is one thing that it asks or tells.
      iterations: MOST_ITERATIONS,
      tree: 'own',
      planned: true,
      source: `agents.${name}`,
    })),
  );
}
