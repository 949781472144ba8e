/** What can only be judged with all names known: roles, tools, models and paths that the settings speak of. */
import { fail, ok, type Result } from '../../domain/result.ts';
import { suggestion } from '../../domain/text/nearest.ts';
import { resolveModel } from '../../policy/models.ts';
import type { Rules } from '../../policy/rules.ts';
import type { ConfigFault } from '../files/fault.ts';
import type { Flags } from '../files/flags.ts';
import type { Layer } from '../files/layer.ts';
import { type Effective, inOrder, merge } from '../files/merge.ts';
import { endpointFaults, providerFaults } from '../providers/faults.ts';
import type { Path } from '../schema/keys.ts';
import { isToolName, TOOL_NAMES } from '../schema/tool-names.ts';
import { childFaults } from './children.ts';
import { forcedNameFaults, forcedRoleFaults, pinFaults } from './mandatory-reviews.ts';
import { type KnownRoles } from '../roles/resolve-roles.ts';
import { modelLists, modelNameFaults, modelNames, type NamedModel } from './model-lists.ts';
import { boxFaults } from './sandbox.ts';
import { toRules } from './to-rules.ts';

export interface KnownNames {
  /** Those of files that wait for trust as well: a list may name them. */
  readonly roles: readonly string[];
  /** Those that may be forced. */
  readonly forcible: KnownRoles;
  readonly own: readonly NamedModel[];
  readonly flags: Flags;
}

/** All faults of all layers. */
const checkLayers = (layers: readonly Layer[], known: KnownNames): readonly ConfigFault[] => [
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

export interface InForce {
  readonly rules: Rules;
  /** Every key with what holds and where it is written. */
  readonly values: ReadonlyMap<string, Effective>;
}

/** `layers` in any order, the defaults among them. */
export function inForce(given: readonly Layer[], known: KnownNames): Result<InForce, readonly ConfigFault[]> {
  const layers = inOrder(given);
  const models = modelLists(layers, known.own);
  const faults = [...models.faults, ...checkLayers(layers, known)];
  if (faults.length > 0) return fail(faults);
  const values = merge(layers);
  const rules = toRules(layers, values, models);
  const pins = pinFaults(layers, rules, known.own);
  return pins.length > 0 ? fail(pins) : ok({ rules, values });
}
