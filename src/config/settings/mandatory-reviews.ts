/**
 * Agents that run whatever a plan says: united over all layers by name, so that no layer can take one out,
 * weaken it or unpin its model. Whether they can run at all is checked here, before anything does.
 */
import { ON_FAILURE, type OnFailure, type Trigger, TRIGGERS } from '../../domain/agents/mandatory-review.ts';
import { type Reason, reasonText } from '../../domain/reason.ts';
import { nearest, suggestion } from '../../domain/text/nearest.ts';
import { modelProblem, resolveModel } from '../../policy/models.ts';
import type { ForcedRule, Rules } from '../../policy/rules.ts';
import type { ConfigFault } from '../files/fault.ts';
import type { Layer } from '../files/layer.ts';
import { highest } from '../files/merge.ts';
import type { KnownRoles } from '../roles/resolve-roles.ts';
import { modelNames, type NamedModel } from './model-lists.ts';

/** What a layer that forces an agent leaves open. */
const DEFAULT_TRIGGER: Trigger = 'on-write';
const DEFAULT_ON_FAILURE: OnFailure = 'block';

interface Word {
  readonly layer: Layer['name'];
  readonly model: string | undefined;
  readonly trigger: Trigger;
  readonly onFailure: OnFailure;
  readonly from: Reason;
}

/** One rule an agent, by name; a layer with `enabled: false` says nothing. `layers` in order. */
export const forcedRules = (layers: readonly Layer[]): readonly ForcedRule[] =>
  namesIn(layers).flatMap((name) => {
    const words = layers.flatMap((layer) => wordOf(layer, name));
    return words.length === 0 ? [] : [united(name, words)];
  });

const namesIn = (layers: readonly Layer[]): readonly string[] =>
  [...new Set(layers.flatMap(({ settings }) => Object.keys(settings.enforcement?.forcedSubAgents ?? {})))].sort();

function wordOf(layer: Layer, name: string): readonly Word[] {
  const said = layer.settings.enforcement?.forcedSubAgents?.[name];
  if (said?.enabled !== true) return [];
  const { model, trigger = DEFAULT_TRIGGER, onFailure = DEFAULT_ON_FAILURE } = said;
  const from = layer.reason(['enforcement', 'forcedSubAgents', name]);
  return [{ layer: layer.name, model, trigger, onFailure, from }];
}

/** `words` is not empty. */
function united(name: string, words: readonly Word[]): ForcedRule {
  const pinning = words.filter(({ model }) => model !== undefined);
  const model = pinning.length === 0 ? null : (highest(pinning).model ?? null);
  return {
    name,
    model,
    triggers: TRIGGERS.filter((trigger) => words.some((word) => word.trigger === trigger)),
    onFailure:
      ON_FAILURE.findLast((strict) => words.some(({ onFailure }) => onFailure === strict)) ?? DEFAULT_ON_FAILURE,
    from: highest(words).from,
  };
}

/** Faults of names: an organisation can't rely on a role that the person writes, nobody on one that a project does. */
export const forcedNameFaults = (layer: Layer, { sure, own }: KnownRoles): readonly ConfigFault[] =>
  Object.entries(layer.settings.enforcement?.forcedSubAgents ?? {}).flatMap(([name, { enabled }]) => {
    const known = layer.name === 'managed' ? sure : own;
    if (!enabled || (known.includes(name) && name !== 'main')) return [];
    const path = ['enforcement', 'forcedSubAgents', name];
    const others = known.filter((each) => each !== 'main');
    const isNew = layer.name === 'managed' && name !== 'main' && nearest(name, others) === null;
    const remedy = `${suggestion(name, others)}${isNew ? `; or describe it in /etc/mimir/agents/${name}.md` : ''}`;
    return [layer.fault(path, `there is no role "${name}" that could be forced here`, remedy)];
  });

/**
 * A pinned model has no stand-in (A10): one that nobody knows or that a rule forbids is refused at the start, with the place
 * of the pin.
 */
export const pinFaults = (layers: readonly Layer[], rules: Rules, own: readonly NamedModel[]): readonly ConfigFault[] =>
  (rules.forcedAgents ?? []).flatMap(({ name, model }) => {
    const at = ['enforcement', 'forcedSubAgents', name, 'model'];
    const pinning = layers.filter(({ settings }) => {
      const said = settings.enforcement?.forcedSubAgents?.[name];
      return said?.enabled === true && said.model !== undefined;
    });
    if (model === null || pinning.length === 0) return [];
    const { file: layer } = highest(pinning.map((file) => ({ layer: file.name, file })));
    const id = resolveModel(model, own);
    if (id === null) return [layer.fault(at, `"${model}" is not a known model`, suggestion(model, modelNames(own)))];
    const against = modelProblem(id, rules);
    if (against === null) return [];
    const problem = `the forced agent ${name} is pinned to ${model}, which is not allowed: ${reasonText(against)}`;
    return [layer.fault(at, problem, 'pin it to a model that every list allows')];
  });

/** A person's or a project's settings can't change the role that an organisation forces: it would run, and see nothing. */
export const forcedRoleFaults = (layers: readonly Layer[]): readonly ConfigFault[] => {
  const forced = managedForced(layers);
  return layers
    .filter(({ name }) => name === 'user' || name === 'project')
    .flatMap((layer) =>
      Object.entries(layer.settings.agentOrchestration?.roles ?? {}).flatMap(([role, said]) => {
        const rule = forced.find(({ name }) => name === role);
        const key = (['tools', 'iterations', 'effort'] as const).find((each) => said[each] !== undefined);
        if (rule === undefined || key === undefined) return [];
        const problem = `the role ${role} is forced as it is by ${rule.from.file ?? rule.from.layer}:${rule.from.line ?? ''}`;
        return [layer.fault(['agentOrchestration', 'roles', role, key], problem, `take ${key} out`)];
      }),
    );
};

/** What an organisation forces, by itself. */
export const managedForced = (layers: readonly Layer[]): readonly ForcedRule[] =>
  forcedRules(layers.filter(({ name }) => name === 'managed'));
