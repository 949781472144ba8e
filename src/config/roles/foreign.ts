/** Agents of other programs from the configuration: each is a role whose only model is the agent itself. */
import path from 'node:path';
import { FOREIGN_PROVIDER, ModelId, RoleName } from '../../domain/ids.ts';
import { MOST_ITERATIONS, type Role } from '../../domain/agents/role.ts';
import type { ModelOption } from '../../domain/plan/plan.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import { type ConfigFault, fileFault } from '../files/read-text.ts';
import type { Settings } from '../schema/schema.ts';
import { lookOf } from './roles.ts';

export interface ForeignSetup {
  readonly name: string;
  readonly command: readonly string[];
  /** The only hosts that it reaches, as `host` or `host:port`. */
  readonly hosts: readonly string[];
  /** Files and folders of the person's home that it may write, relative to it. */
  readonly home: readonly string[];
  readonly env: readonly string[];
  /** Its mode in which it asks; null to choose a known one. */
  readonly mode: string | null;
}

/** What is known of adapters by the usual names of their agents. */
const KNOWN: Readonly<Record<string, Pick<ForeignSetup, 'hosts' | 'home'>>> = {
  claude: { hosts: ['api.anthropic.com'], home: ['.claude', '.claude.json'] },
  codex: { hosts: ['chatgpt.com', 'api.openai.com', 'auth.openai.com'], home: ['.codex'] },
  gemini: {
    hosts: ['generativelanguage.googleapis.com', 'cloudcode-pa.googleapis.com', 'oauth2.googleapis.com'],
    home: ['.gemini'],
  },
};

/** The configured agents that have a command. */
export const foreignSetups = ({ agents = {} }: Pick<Settings, 'agents'>): readonly ForeignSetup[] =>
  Object.entries(agents).flatMap(([name, { acp, hosts, home, env = [], mode = null }]) => {
    const known = KNOWN[name] ?? { hosts: [], home: [] };
    return acp === undefined
      ? []
      : [{ name, command: acp, hosts: hosts ?? known.hosts, home: home ?? known.home, env, mode }];
  });

/** The models that lists may name: the configured agents and those that are known by name, which an administrator may forbid before. */
export const foreignModelsOf = (setups: readonly ForeignSetup[]): readonly Pick<ModelOption, 'id' | 'aliases'>[] =>
  [...new Set([...Object.keys(KNOWN), ...setups.map(({ name }) => name)])].map((name) => ({
    id: ModelId.parse(`${FOREIGN_PROVIDER}/${name}`),
    aliases: [],
  }));

/** A role for each, or a fault where a name is taken by another role. */
export function foreignRoles(
  setups: readonly ForeignSetup[],
  others: readonly Role[],
): Result<readonly Role[], readonly ConfigFault[]> {
  const taken = setups.flatMap(({ name }) => {
    const other = others.find((role) => lookOf(role.name) === lookOf(name));
    return other === undefined ? [] : [{ name, other }];
  });
  if (taken.length > 0)
    return fail(
      taken.map(({ name, other }) =>
        fileFault(`agents.${name}`, `is also the name of a role (${other.source})`, 'choose another name'),
      ),
    );
  return ok(
    setups.map(({ name, command }) => ({
      name: RoleName.parse(name),
      description: `The agent ${name} (${path.basename(command[0] ?? name)}), which works by itself in a tree of its own.`,
      prompt: 'Works by its own instructions.',
      tools: ['file_operations', 'bash_execution'],
      capabilities: ['read', 'write', 'shell'],
      models: [`${FOREIGN_PROVIDER}/${name}`],
      // One reply is one thing that it asks or tells.
      iterations: MOST_ITERATIONS,
      tree: 'own',
      planned: true,
      source: `agents.${name}`,
    })),
  );
}
