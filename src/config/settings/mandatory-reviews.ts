/** The rules of mandatory reviews: united over all layers by name, so that no layer can remove one, weaken it or unpin its model. Whether they can
 * run is checked before anything else does. */
import type { OnFailure, Trigger } from '../../domain/agents/agent.ts';
import { placeText, type Reason, reasonText } from '../../domain/reason.ts';
import { defined } from '../../domain/result.ts';
import { nearest, suggestion } from '../../domain/text/text.ts';
import type { ChildRules, ReviewRule, Rule, Rules } from '../../policy/index.ts';
import { modelProblem, resolveModel, unitedReviews } from '../../policy/index.ts';
import type { Layer } from '../files/layer.ts';
import { type Effective, highestFirst, settingsFrom } from '../files/merge.ts';
import type { ConfigFault } from '../files/read-text.ts';
import type { KnownRoles } from '../roles/roles.ts';
import { durationMs, type Settings } from '../schema/schema.ts';
import { modelNames, type NamedModel } from './model-lists.ts';

const DEFAULT_TRIGGER: Trigger = 'on-write';
const DEFAULT_ON_FAILURE: OnFailure = 'block';

/** One rule for each review, by name; a layer with `enabled: false` has no effect. `layers` are in merge order. */
export const forcedRules = (layers: readonly Layer[]): readonly ReviewRule[] =>
  unitedReviews(
    highestFirst(layers.map((layer) => ({ layer: layer.name, rules: rulesIn(layer) }))).flatMap(({ rules }) => rules),
  );

const rulesIn = (layer: Layer): readonly ReviewRule[] =>
  Object.entries(layer.settings.enforcement?.forcedSubAgents ?? {}).flatMap(([name, said]) => {
    const { enabled, model = null, trigger = DEFAULT_TRIGGER, onFailure = DEFAULT_ON_FAILURE } = said;
    const from = layer.reason(['enforcement', 'forcedSubAgents', name]);
    return enabled ? [{ name, model, triggers: [trigger], onFailure, from }] : [];
  });

/** Faults of unknown roles: an organisation may not rely on a person's role, and nobody on a project's. */
export const forcedNameFaults = (layer: Layer, { sure, own }: KnownRoles): readonly ConfigFault[] =>
  Object.entries(layer.settings.enforcement?.forcedSubAgents ?? {}).flatMap(([name, { enabled }]) => {
    const known = layer.name === 'managed' ? sure : own;
    if (!enabled || (known.includes(name) && name !== 'main')) return [];
    const path = ['enforcement', 'forcedSubAgents', name];
    const others = known.filter((each) => each !== 'main');
    const isNew = layer.name === 'managed' && name !== 'main' && nearest(name, others) === null;
    const remedy = `${suggestion(name, others)}${isNew ? `; or define it in /etc/mimir/agents/${name}.md` : ''}`;
    return [layer.fault(path, `there is no role "${name}" for a mandatory review`, remedy)];
  });

/** Faults of pinned models, which have no fallback: an unknown or forbidden one is refused at the start. */
export const pinFaults = (layers: readonly Layer[], rules: Rules, own: readonly NamedModel[]): readonly ConfigFault[] =>
  (rules.forcedAgents ?? []).flatMap(({ name, model }) => {
    const at = ['enforcement', 'forcedSubAgents', name, 'model'];
    const pinning = layers.filter(({ settings }) => {
      const said = settings.enforcement?.forcedSubAgents?.[name];
      return said?.enabled === true && said.model !== undefined;
    });
    const [{ file: layer } = {}] = highestFirst(pinning.map((file) => ({ layer: file.name, file })));
    if (model === null || layer === undefined) return [];
    const id = resolveModel(model, own);
    if (id === null) return [layer.fault(at, `"${model}" is not a known model`, suggestion(model, modelNames(own)))];
    const against = modelProblem(id, rules);
    if (against === null) return [];
    const problem = `the mandatory review ${name} is pinned to ${model}, which is not allowed: ${reasonText(against)}`;
    return [layer.fault(at, problem, 'pin it to a model that every list allows')];
  });

/** Faults of settings by a person or a project for a role that an organisation requires: they could make the review useless. */
export const forcedRoleFaults = (layers: readonly Layer[]): readonly ConfigFault[] => {
  const forced = managedForced(layers);
  return layers
    .filter(({ name }) => name === 'user' || name === 'project')
    .flatMap((layer) =>
      Object.entries(layer.settings.agentOrchestration?.roles ?? {}).flatMap(([role, said]) => {
        const rule = forced.find(({ name }) => name === role);
        const key = (['tools', 'iterations', 'effort'] as const).find((each) => said[each] !== undefined);
        if (rule === undefined || key === undefined) return [];
        const problem = `the role ${role} cannot be changed: it is a mandatory review (${placeText(rule.from)})`;
        return [layer.fault(['agentOrchestration', 'roles', role, key], problem, `remove ${key}`)];
      }),
    );
};

/** The mandatory reviews of the organisation alone. */
export const managedForced = (layers: readonly Layer[]): readonly ReviewRule[] =>
  forcedRules(layers.filter(({ name }) => name === 'managed'));

// The settings for children beyond the plan as rules. Policy applies them to a spawn.

type Values = ReadonlyMap<string, Effective>;

/** Undefined if only the package's defaults set anything. */
export function childRulesFrom(values: Values): Rules['children'] {
  const said = [...values.values()].filter(
    ({ path: [section], from }) => section === 'childAgents' && !isDefault(from),
  );
  const { childAgents: own = {} } = settingsFrom(said);
  const { autoComplete, cleanup, naming, notifications } = own;
  const ruled = <T>(key: string, value: T | undefined): Rule<T> | undefined => {
    const from = values.get(`childAgents.${key}`)?.from;
    return value === undefined || from === undefined ? undefined : { value, from };
  };
  const children: Partial<ChildRules> = defined({
    mode: ruled('mode', own.mode),
    orphans: own.orphans,
    messages: ruled('messages', own.messages),
    maxPerParent: ruled('maxPerParent', own.maxPerParent),
    defaultModel: own.defaultModel,
    idleTimeout: idleOf(autoComplete),
    notify: noticesOf(notifications),
    killOnComplete: cleanup?.autoKillOnComplete,
    archivePath: archiveOf(cleanup),
    workingDir: own.workingDir,
    naming: naming && { pattern: '{friendly_name}', fallback: 'child-{short_id}', ...defined(naming) },
  });
  return Object.keys(children).length === 0 ? undefined : children;
}

type Written = NonNullable<Settings['childAgents']>;
const isDefault = ({ layer }: Reason): boolean => layer === 'default';

/** The idle time in milliseconds. A bare number is seconds here, unlike elsewhere. 0 means never. */
function idleOf({ enabled, idleTimeout }: Written['autoComplete'] = {}): number | undefined {
  if (enabled === false) return 0;
  return idleTimeout === undefined ? undefined : secondsMs(idleTimeout);
}

/** The milliseconds of a time whose bare number is seconds. */
export const secondsMs = (written: string | number): number =>
  typeof written === 'number' ? Math.round(written * 1000) : (durationMs(written) ?? 0);

function noticesOf(said: Written['notifications']): ChildRules['notify'] | undefined {
  if (said === undefined) return undefined;
  const { notifyParentOnComplete: complete = true, notifyParentOnError: error = true } = said;
  return { complete, error, idle: said.notifyParentOnIdle ?? false };
}

/** A folder alone switches the archive on; null if it is switched off, undefined without a folder. */
const archiveOf = ({ archivePath, autoArchiveTranscript }: Written['cleanup'] = {}): string | null | undefined =>
  archivePath !== undefined && autoArchiveTranscript === false ? null : archivePath;
