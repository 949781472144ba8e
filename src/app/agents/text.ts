/** Agents in lines: the list, one by itself, and what can be done with them. For the verb and for line mode. */
import { suggestion } from '../../domain/text/nearest.ts';
import type { AgentText } from '../../domain/agents/draft.ts';
import { type Result, fail, ok } from '../../domain/result.ts';
import type { AgentInfo, LobbyInfo } from '../../ports/project-service.ts';
import { isCustom } from './list.ts';

/** How a name, a remark and a warning look; as they are where nothing is painted. */
type Painting = Readonly<Record<'bold' | 'dim' | 'yellow', (text: string) => string>>;

/** Custom ones first, then what is built in; files that were left out last. */
export function listLines(all: readonly AgentInfo[], leftOut: readonly string[], paint: Painting): readonly string[] {
  const custom = all.filter(isCustom);
  const width = Math.max(...all.map(({ name }) => name.length));
  const row = ({ name, description, capabilities, source }: AgentInfo): string =>
    `  ${paint.bold(name.padEnd(width))}  ${description} ${paint.dim(`(${capabilities.join(', ')}${source === 'built-in' ? '' : `; ${source}`})`)}`;
  return [
    ...(custom.length === 0 ? [NO_CUSTOM] : ['Custom agents:', ...custom.map(row)]),
    'Built in:',
    ...all.filter((one) => !isCustom(one)).map(row),
    ...leftOut.map((note) => paint.yellow(`· ${note}`)),
  ];
}

const NO_CUSTOM = 'No custom agents yet: mimir agents create "<what it should do>" makes one.';

export const showLines = (agent: AgentInfo): readonly string[] => [
  `${agent.name}: ${agent.description}`,
  `  tools     ${agent.tools.join(', ')}`,
  `  may       ${agent.capabilities.join(', ') || 'use no tools'}${agent.capabilities.includes('spawn') ? '' : '; never Task'}`,
  `  models    ${agent.models.join(', ')}`,
  `  from      ${agent.source}`,
  '',
  ...agent.prompt.split('\n'),
];

/** What one is made of. */
export const agentLines = ({ name, description, tools, prompt }: AgentText): readonly string[] => [
  `${name}: ${description}`,
  `  tools: ${tools.join(', ')}`,
  ...indented(prompt),
];

export const indented = (text: string): readonly string[] => text.split('\n').map((line) => `  ${line}`);

/** By name; a file that describes no agent is told with its reason. */
export function agentNamed(
  name: string,
  { all, leftOut }: NonNullable<LobbyInfo['agents']>,
): Result<AgentInfo, string> {
  const found = all.find((one) => one.name === name);
  if (found !== undefined) return ok(found);
  const why = leftOut.filter((note) => note.includes(`/${name}.`));
  const known = all.map((one) => one.name);
  return fail(`there is no agent "${name}"\n  ${why.length > 0 ? why.join('\n  ') : suggestion(name, known)}`);
}
