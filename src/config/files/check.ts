/** What can only be judged with all names known: roles, tools, models and paths that the settings speak of. */
import { resolveModel } from '../../policy/models.ts';
import type { ConfigFault } from './fault.ts';
import type { Flags } from '../schema/flags.ts';
import type { Layer } from './layer.ts';
import { boxFaults } from '../settings/sandbox.ts';
import { childFaults } from '../settings/children.ts';
import { type KnownRoles, forcedNameFaults, forcedRoleFaults } from '../settings/mandatory-reviews.ts';
import { type NamedModel, modelNameFaults, modelNames } from '../settings/model-lists.ts';
import { suggestion } from '../../domain/text/nearest.ts';
import { endpointFaults, providerFaults } from '../providers/faults.ts';
import { TOOL_NAMES, isToolName } from '../schema/tool-names.ts';
import type { Path } from '../trust/tree-walk.ts';

export interface KnownNames {
  /** Those of files that wait for trust as well: a list may name them. */
  readonly roles: readonly string[];
  /** Those that may be forced. */
  readonly forcible: KnownRoles;
  readonly own: readonly NamedModel[];
  readonly flags: Flags;
}

/** All faults of all layers. */
export const checkLayers = (layers: readonly Layer[], known: KnownNames): readonly ConfigFault[] => [
  ...layers.flatMap((layer) => [
    ...roleFaults(layer, known.roles),
    ...toolFaults(layer),
    ...modelNameFaults(layer, known.own),
    ...providerFaults(layer),
    ...endpointFaults(layer),
    ...forcedNameFaults(layer, known.forcible),
    ...boxFaults(layer),
    ...childFaults(layer),
  ]),
  ...forcedRoleFaults(layers),
  ...nobodyLeft(layers),
  ...flagFaults(known),
];

function roleFaults(layer: Layer, roles: readonly string[]): readonly ConfigFault[] {
  const { enforcement, agentOrchestration, budgets } = layer.settings;
  const allowed = enforcement?.allowedSubAgents;
  const named: readonly { readonly role: string; readonly path: Path }[] = [
    ...(allowed ?? []).map((role, index) => ({ role, path: ['enforcement', 'allowedSubAgents', index] })),
    ...keys(agentOrchestration?.roles).map((role) => ({ role, path: ['agentOrchestration', 'roles', role] })),
    ...keys(budgets?.role).map((role) => ({ role, path: ['budgets', 'role', role] })),
  ];
  const empty =
    allowed?.length === 0
      ? [
          layer.fault(
            ['enforcement', 'allowedSubAgents'],
            'allowedSubAgents is empty, so no sub-agent may be used',
            'name at least one, or set agentOrchestration.enabled: false',
          ),
        ]
      : [];
  const unknown = named
    .filter(({ role }) => !roles.includes(role))
    .map(({ role, path }) => layer.fault(path, `there is no role "${role}"`, suggestion(role, roles)));
  return [...empty, ...unknown];
}

const keys = (map: object | undefined): readonly string[] => Object.keys(map ?? {});

const toolFaults = (layer: Layer): readonly ConfigFault[] =>
  Object.entries(layer.settings.agentOrchestration?.roles ?? {}).flatMap(([role, { tools = [] }]) =>
    tools.flatMap((tool, index) =>
      isToolName(tool)
        ? []
        : [
            layer.fault(
              ['agentOrchestration', 'roles', role, 'tools', index],
              `there is no tool "${tool}"`,
              suggestion(tool, TOOL_NAMES),
            ),
          ],
    ),
  );

/** Lists of roles that have none in common: no plan could have a task. All of them are named. */
function nobodyLeft(layers: readonly Layer[]): readonly ConfigFault[] {
  const path = ['enforcement', 'allowedSubAgents'];
  const naming = layers.filter(({ settings }) => (settings.enforcement?.allowedSubAgents ?? []).length > 0);
  const lists = naming.map(({ settings }) => settings.enforcement?.allowedSubAgents ?? []);
  const [last] = naming.slice(-1);
  if (last === undefined || lists[0]?.some((role) => lists.every((list) => list.includes(role))) === true) return [];
  const against = naming
    .slice(0, -1)
    .map((layer) => layer.reason(path))
    .map(({ rule, file, layer, line }) => `${rule} in ${file ?? layer}:${line ?? ''}`)
    .join(' and ');
  const problem = `allowedSubAgents leaves no role together with ${against}`;
  return [last.fault(path, problem, 'let the lists have a role in common')];
}

function flagFaults({ flags, own }: KnownNames): readonly ConfigFault[] {
  const { model } = flags;
  if (model === undefined || resolveModel(model, own) !== null) return [];
  const remedy = suggestion(model, modelNames(own));
  return [{ file: `--model ${model}`, line: null, column: null, problem: 'is not a known model', remedy }];
}
