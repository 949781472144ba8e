/** What can only be judged with all names known: roles, tools and models that the settings speak of, and rules not kept yet. */
import { resolveModel } from '../policy/models.ts';
import type { ConfigFault } from './fault.ts';
import type { Flags } from './flags.ts';
import type { Layer } from './layer.ts';
import { type NamedModel, modelNameFaults, modelNames } from './model-lists.ts';
import { suggestion } from './nearest.ts';
import { providerFaults } from './provider-faults.ts';
import { TOOL_NAMES, isToolName } from './tool-names.ts';
import type { Path } from './tree-walk.ts';

export interface KnownNames {
  /** Those of files that wait for trust as well: a list may name them. */
  readonly roles: readonly string[];
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
    ...unkept(layer),
  ]),
  ...flagFaults(known),
];

function roleFaults(layer: Layer, roles: readonly string[]): readonly ConfigFault[] {
  const { enforcement, agentOrchestration, budgets } = layer.settings;
  const allowed = enforcement?.allowedSubAgents;
  const named: readonly { readonly role: string; readonly path: Path }[] = [
    ...(allowed ?? []).map((role, index) => ({ role, path: ['enforcement', 'allowedSubAgents', index] })),
    ...keys(enforcement?.forcedSubAgents).map((role) => ({ role, path: ['enforcement', 'forcedSubAgents', role] })),
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

/** A rule that this version can't keep is refused: read and not kept would be worse than not there. */
function unkept(layer: Layer): readonly ConfigFault[] {
  const { settings } = layer;
  const remedy = 'take it out, or use a version of Mimir that keeps it';
  const forced = Object.entries(settings.enforcement?.forcedSubAgents ?? {})
    .filter(([, { enabled }]) => enabled)
    .map(([role]) =>
      layer.fault(['enforcement', 'forcedSubAgents', role], 'forced sub-agents are not kept by this version', remedy),
    );
  const files = (['denyRead', 'denyWrite'] as const)
    .filter((key) => (settings.sandbox?.fs?.[key] ?? []).length > 0)
    .map((key) => layer.fault(['sandbox', 'fs', key], `sandbox.fs.${key} is not kept by this version`, remedy));
  return [...forced, ...files];
}

function flagFaults({ flags, own }: KnownNames): readonly ConfigFault[] {
  const { model } = flags;
  if (model === undefined || resolveModel(model, own) !== null) return [];
  const remedy = suggestion(model, modelNames(own));
  return [{ file: `--model ${model}`, line: null, column: null, problem: 'is not a known model', remedy }];
}
