/**
 * From a task to a sound plan: one model call through the gate, its answer read and checked, faults sent back at most
 * twice, then a plan of one task. Charged to ROOT. What may be in a plan is policy's.
 */
import type { WorkOrder } from '../../domain/agents/agent.ts';
import type { PlanContext } from '../../domain/plan/check-plan.ts';
import { checkPlan, readDraft } from '../../domain/plan/check-plan.ts';
import type { DraftPlan, PlanChoices, PlanFault, SoundPlan } from '../../domain/plan/plan.ts';
import type { RepositoryFacts } from '../../domain/repository.ts';
import type { Result } from '../../domain/result.ts';
import { fail, ok } from '../../domain/result.ts';
import { MAIN } from '../../domain/agents/role.ts';
import { planIn, plannerForm } from '../../domain/plan/planner-form.ts';
import type { ModelReply, Turn } from '../../domain/turn.ts';
import { askRoot } from '../messaging/ask-root.ts';
import type { AskFault, Gate } from '../gate/gate.ts';
import { withoutPermissions } from './permissions.ts';
import { effortsOffered, modelNames, planRequest, severalRoles } from './request.ts';
import type { RunOptions } from '../run/run-options.ts';

const REPAIRS = 2;
/** What a planner may estimate for one task. */
const [LEAST_TOKENS, MOST_TOKENS] = [500, 1_000_000];

type PlanningFault = Exclude<AskFault, { readonly is: 'told' | 'too long' }>;

export interface Planning {
  readonly options: RunOptions;
  readonly gate: Gate;
  readonly root: WorkOrder;
  readonly context: PlanContext;
  /** Gathered only where a planner is asked. */
  readonly facts: (signal: AbortSignal) => Promise<RepositoryFacts>;
  /** What the person said when asking for another plan; empty at first. */
  readonly hint: string;
  /** The plan that was not taken then; null at first. */
  readonly before: SoundPlan | null;
}

/** A plan, and who made it, as the screens say it. */
interface Planned {
  readonly plan: SoundPlan;
  readonly by: string;
  /** Why it is none of the planner's; absent where it is, and where no planner was to be asked. */
  readonly fault?: string;
}

/** Resolves with a sound plan and who made it. Fails only when no model could be asked. */
export async function makePlan(planning: Planning, signal: AbortSignal): Promise<Result<Planned, PlanningFault>> {
  const { options, context } = planning;
  if (options.plan !== null) {
    const given = checkPlan(withModels(options.plan.draft, options), context);
    return given.ok ? ok({ plan: given.value, by: options.plan.from }) : fail(notSound(options.plan.from, given.fault));
  }
  // A person who was shown the plan and wants another one wants a planner's.
  if (options.direct === true && planning.hint === '') return oneTask(planning, 'main was asked directly', 'you');
  if (!options.rules.enabled.value) return oneTask(planning, 'orchestration is switched off', 'the rules');
  if (severalRoles(context.choices).length === 0)
    return oneTask(planning, 'the rules allow no role of a sub-agent', 'the rules');
  return askPlanner(planning, signal);
}

/**
 * Where a person waits for the plan and nobody could make one: the former plan, else one task by hand, so that the reason can be
 * read, the plan made again or changed. Null where there is nothing to offer: then the run ends with the fault.
 */
export function planByHand(planning: Planning, fault: PlanningFault): Planned | null {
  const { options, before } = planning;
  if (options.approval !== 'person' || (fault.is !== 'model' && fault.is !== 'budget')) return null;
  if (before !== null) return { plan: before, by: 'Mimir', fault: fault.text };
  const one = oneTask(planning, 'no planner could be asked', 'Mimir');
  return one.ok ? { ...one.value, fault: fault.text } : null;
}

async function askPlanner(planning: Planning, signal: AbortSignal): Promise<Result<Planned, PlanningFault>> {
  const { options, gate, root, context, hint, before } = planning;
  const facts = await planning.facts(signal);
  const { choices } = context;
  const roles = severalRoles(choices).map(({ name }) => name);
  const split = !options.rules.autoDetect.value;
  const purpose = {
    is: 'plan',
    task: options.task,
    facts,
    roles,
    maxTasks: choices.limits.maxTasks,
    split: split ? 'always' : 'auto',
  } as const;
  const format = plannerForm(roles, modelNames(choices), effortsOffered(choices));
  const asked = planRequest({ task: options.task, hint, before, choices, facts, split });
  const turns: Turn[] = [gate.tell(root, asked)];
  for (let repairs = 0; ; repairs += 1) {
    const reply = await askRoot(gate, { order: root, turns, purpose, format }, 'between turns', signal);
    if (!reply.ok) {
      const { fault } = reply;
      if (fault.is === 'too long') return instead(planning, "the task is too long for the planner's model");
      return fail(fault);
    }
    if (reply.value.stopReason === 'refused') return instead(planning, 'the model refused to plan it');
    const plan = readReply(reply.value, options, context);
    if (plan.ok) return ok({ plan: plan.value, by: labelOf(choices, reply.value.model) });
    if (repairs === REPAIRS)
      return instead(planning, `the planner's answer could not be used: ${plan.fault[0]?.problem ?? ''}`);
    turns.push(answered(reply.value), gate.tell(root, repairText(plan.fault)));
  }
}

/** One task in place of the planner's plan, and why. */
function instead(planning: Planning, fault: string): ReturnType<typeof oneTask> {
  const one = oneTask(planning, fault, 'Mimir');
  return one.ok ? ok({ ...one.value, fault }) : one;
}

/** The failed answer stays in the conversation. Providers refuse a turn without a word. */
export const answered = ({ text, opaque }: ModelReply): Turn => ({
  by: 'model',
  text: text.trim() === '' ? '(no answer)' : text,
  calls: [],
  ...(opaque === undefined ? {} : { opaque }),
});

/** What the reply makes: a plan, or what is wrong with it in the words that the model is told. */
function readReply(
  reply: ModelReply,
  options: RunOptions,
  context: PlanContext,
): Result<SoundPlan, readonly PlanFault[]> {
  const json = planIn(reply.text);
  if (json === undefined) return fail([formFault(reply)]);
  const draft = readDraft(json);
  if (!draft.ok) return draft;
  return checkPlan(
    withBounds(withModels(doneByMain(withoutPermissions(draft.value), context), options), context),
    context,
  );
}

/** A single task is main's, whatever role the planner names. */
function doneByMain(draft: DraftPlan, { choices }: PlanContext): DraftPlan {
  const [task, ...more] = draft.tasks;
  if (task === undefined || more.length > 0 || !choices.roles.some(({ name }) => name === MAIN)) return draft;
  const { recommendedRole: _role, tools: _tools, maySpawn: _spawns, ...rest } = task;
  return { ...draft, tasks: [{ ...rest, role: MAIN }] };
}

function formFault({ text, stopReason }: ModelReply): PlanFault {
  const cut = 'the answer was cut off at the output limit: give fewer tasks and shorter descriptions';
  const none =
    text.trim() === '' ? 'the answer is empty' : 'the answer is not one JSON object with `reason` and `tasks`';
  return { task: null, problem: stopReason === 'output limit' ? cut : none };
}

/** An estimate sizes budgets: one that can't be meant is brought within what one agent may use. */
function withBounds(draft: DraftPlan, { choices }: PlanContext): DraftPlan {
  const tasks = draft.tasks.map((task) => {
    if (task.estimatedTokens === undefined) return task;
    const role = choices.roles.find(({ name }) => name === (task.role ?? task.recommendedRole));
    const most = Math.min(MOST_TOKENS, (role?.limit ?? choices.limits.agent).maxTokens ?? MOST_TOKENS);
    return { ...task, estimatedTokens: Math.min(most, Math.max(LEAST_TOKENS, task.estimatedTokens)) };
  });
  return { ...draft, tasks };
}

/** `--model` and `--role-model` are asked for in place of what the planner recommends. */
function withModels(draft: DraftPlan, { model, roleModels }: RunOptions): DraftPlan {
  const tasks = draft.tasks.map((task) => {
    const asked = roleModels.get(task.role ?? task.recommendedRole ?? '') ?? model;
    if (asked === null || asked === undefined) return task;
    const { recommendedModel: _, ...rest } = task;
    return { ...rest, model: asked };
  });
  return { ...draft, tasks };
}

const repairText = (faults: readonly PlanFault[]): string =>
  `This plan can't be used. Answer with the whole corrected plan as JSON only.\n${faults
    .slice(0, 20)
    .map(({ task, problem }) => `- ${task === null ? '' : `${task}: `}${problem}`)
    .join('\n')}`;

/** The whole task for one agent: also where splitting is switched off. */
function oneTask({ options, context }: Planning, reason: string, by: string): Result<Planned, PlanningFault> {
  const roles = context.choices.roles.map(({ name }) => name);
  const role = [MAIN, 'oracle'].find((name) => roles.some((one) => one === name)) ?? roles[0];
  const draft = {
    reason: `One agent for the whole task: ${reason}`,
    tasks: [{ id: 'task-1', description: options.task.slice(0, 20_000), role }],
  };
  const read = readDraft(draft);
  const plan = read.ok ? checkPlan(withModels(read.value, options), context) : read;
  return plan.ok ? ok({ plan: plan.value, by }) : fail(notSound('the task for one agent', plan.fault));
}

const notSound = (from: string, faults: readonly PlanFault[]): PlanningFault => ({
  is: 'denied',
  text: `${from}: ${faults.map(({ task, problem }) => `${task === null ? '' : `${task}: `}${problem}`).join('\n')}`,
});

const labelOf = ({ models }: PlanChoices, id: string): string => models.find((model) => model.id === id)?.label ?? id;
