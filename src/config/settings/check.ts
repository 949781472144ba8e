/** Checks that need all known names: roles, tools, models and paths in the settings. */
import { placeText } from '../../domain/reason.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import { suggestion } from '../../domain/text/text.ts';
import { resolveModel, type Rules } from '../../policy/index.ts';
import { type ConfigFault, fileFault } from '../files/read-text.ts';
import type { Flags, Layer } from '../files/layer.ts';
import { type Effective, inOrder, merge } from '../files/merge.ts';
import { providerFaults } from '../providers/faults.ts';
import type { Path } from '../schema/schema.ts';
import { isToolName, TOOL_NAMES } from '../schema/tool-names.ts';
import { forcedNameFaults, forcedRoleFaults, pinFaults } from './mandatory-reviews.ts';
import type { KnownRoles } from '../roles/roles.ts';
import { modelLists, modelNameFaults, modelNames, type NamedModel } from './model-lists.ts';
import { boxFaults, toRules } from './to-rules.ts';

export interface KnownNames {
  /** Includes those of files that wait for trust, because lists may name them. */
  readonly roles: readonly string[];
  readonly forcible: KnownRoles;
  readonly own: readonly NamedModel[];
  readonly flags: Flags;
}

const checkLayers = (layers: readonly Layer[], known: KnownNames): readonly ConfigFault[] => [
  ...layers.flatMap((layer) => [
    ...roleFaults(layer, known.roles),
    ...toolFaults(layer),
    ...modelNameFaults(layer, known.own),
    ...providerFaults(layer),
    ...forcedNameFaults(layer, known.forcible),
    ...boxFaults(layer),
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
  const remedy = 'name at least one, or set agentOrchestration.enabled: false';
  const problem = 'allowedSubAgents is empty, so no sub-agent may be used';
  return [
    ...(allowed?.length === 0 ? [layer.fault(['enforcement', 'allowedSubAgents'], problem, remedy)] : []),
    ...named
      .filter(({ role }) => !roles.includes(role))
      .map(({ role, path }) => layer.fault(path, `there is no role "${role}"`, suggestion(role, roles))),
  ];
}

const keys = (map: object | undefined): readonly string[] => Object.keys(map ?? {});

const toolFaults = (layer: Layer): readonly ConfigFault[] =>
  Object.entries(layer.settings.agentOrchestration?.roles ?? {}).flatMap(([role, { tools = [] }]) =>
    tools.flatMap((tool, index) => {
      const path = ['agentOrchestration', 'roles', role, 'tools', index];
      return isToolName(tool) ? [] : [layer.fault(path, `there is no tool "${tool}"`, suggestion(tool, TOOL_NAMES))];
    }),
  );

/** Faults for lists of allowed roles without a common one: no plan could have a task. */
function nobodyLeft(layers: readonly Layer[]): readonly ConfigFault[] {
  const path = ['enforcement', 'allowedSubAgents'];
  const naming = layers.filter(({ settings }) => (settings.enforcement?.allowedSubAgents ?? []).length > 0);
  const lists = naming.map(({ settings }) => settings.enforcement?.allowedSubAgents ?? []);
  const [last] = naming.slice(-1);
  if (last === undefined || lists[0]?.some((role) => lists.every((list) => list.includes(role))) === true) return [];
  const against = naming
    .slice(0, -1)
    .map((layer) => layer.reason(path))
    .map((from) => `${from.rule} in ${placeText(from)}`)
    .join(' and ');
  const problem = `allowedSubAgents has no role in common with ${against}`;
  return [last.fault(path, problem, 'allow at least one role in all of these lists')];
}

function flagFaults({ flags, own }: KnownNames): readonly ConfigFault[] {
  const { model } = flags;
  if (model === undefined || resolveModel(model, own) !== null) return [];
  return [fileFault('--model', `"${model}" is not a known model`, suggestion(model, modelNames(own)))];
}

/** The rules in force for `layers`, in any order and including the defaults, and every key with its value and origin; or all faults. */
export function inForce(
  given: readonly Layer[],
  known: KnownNames,
): Result<{ readonly rules: Rules; readonly values: ReadonlyMap<string, Effective> }, readonly ConfigFault[]> {
  const layers = inOrder(given);
  const models = modelLists(layers, known.own);
  const faults = [...models.faults, ...checkLayers(layers, known)];
  if (faults.length > 0) return fail(faults);
  const values = merge(layers);
  const rules = toRules(layers, values, models);
  const pins = pinFaults(layers, rules, known.own);
  return pins.length > 0 ? fail(pins) : ok({ rules, values });
}
