/** Starts a child that the plan does not have, and reads the words that ask for one. */
import type { SpawnRequest } from '../../domain/agents/agent.ts';
import type { AgentId } from '../../domain/ids.ts';
import type { RunState } from '../../events/index.ts';
import { type Arguments, invalidFlag, wrongUse } from '../process/index.ts';
import { type Action, rowOf, whyNotAgent } from './action.ts';

export const spawnChild: Action<{ readonly parent: AgentId; readonly wish: SpawnRequest }> = {
  ...rowOf('run.spawn'),
  whyNot: (state, { parent }) => whyNotSpawn(state, parent),
  command: (_, { parent, wish }) => ({ do: 'spawn', parent, wish }),
};

export const whyNotSpawn = (state: RunState, parent: AgentId): string | null =>
  whyNotAgent(state, parent, ({ outcome, name }) =>
    outcome === null ? null : `${name} has ended and cannot spawn children.`,
  );

/** The name of a child: with a role as prefix: `engineer-task1`. */
export const childName = (name: string | null, role: string | null): string | null =>
  name === null || name === '' || role === null ? name : `${role.toLowerCase()}-${name}`;

/** The request of `spawn [ROLE] "PROMPT"` with its flags, the folder as typed. Throws an `Exit` (2) for wrong ones. Checked by hand: loading
 * the schema would take most of the start of an agent's command. */
export function readSpawn(args: Arguments): SpawnRequest {
  const [first = '', second] = args.words;
  const role = second === undefined ? null : first;
  const request: SpawnRequest = {
    prompt: second ?? first,
    role,
    model: args.get('model') ?? null,
    name: childName(args.get('name') ?? null, role),
    wait: waitOf(args.get('wait')),
    workingDir: args.get('working-dir') ?? null,
  };
  const fault = faultIn(request);
  if (fault !== null) throw wrongUse(fault);
  return request;
}

function faultIn(request: SpawnRequest): string | null {
  const { prompt, name } = request;
  if (prompt.trim() === '') return 'missing argument: prompt\n  mimir spawn [ROLE] "As engineer, implement …"';
  for (const [field, most, fault] of LIMITS) {
    const length = request[field]?.length ?? 1;
    if (length === 0 || length > most) return fault;
  }
  return name === null || /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,59}$/u.test(name) ? null : WRONG_NAME;
}

/** As the schema has it (domain/agents/agent.ts). */
const LIMITS = [
  [
    'prompt',
    50_000,
    'the prompt is longer than 50000 characters\n  put the details into a file of the project and name it',
  ],
  [
    'role',
    100,
    'ROLE is empty or too long\n  expected the name of a role, such as finder or general-purpose; or leave it out',
  ],
  ['model', 200, '--model is empty or too long\n  expected opus, sonnet, haiku or the name of a model'],
  ['workingDir', 4096, '--working-dir is empty or too long\n  expected a folder of the project'],
] as const;

const WRONG_NAME =
  '--name takes up to 60 letters, digits, blanks, ".", "_" or "-", a letter or digit first (the role before it counts)';

function waitOf(said: string | undefined): number | null {
  if (said === undefined) return null;
  const seconds = /^\d+(\.\d+)?$/.test(said) ? Number(said) : Number.NaN;
  if (seconds <= 86_400) return seconds;
  throw invalidFlag('wait', said, 'seconds, 0 to 86400');
}
