/** Shapes of everything that may be asked of a run, as a stranger may send it: strict, with bounds. Nothing is decided here. */
import { z } from 'zod';
import { Budget } from '../domain/budget.ts';
import { EFFORTS } from '../domain/models/effort.ts';
import { ON_FAILURE, TRIGGERS } from '../domain/agents/mandatory-review.ts';
import { GRANT_SCOPES } from '../domain/agents/grant.ts';
import { AgentId, ModelId, RoleName, TaskId } from '../domain/ids.ts';
import { MODES } from '../domain/mode.ts';
import { Permission, Permissions } from '../domain/permissions.ts';
import { SpawnWish } from '../domain/agents/spawn.ts';

/** Of texts that people and plans write; a line has its own bound. */
const text = z.string().max(1_000_000);
const name = z.string().max(300);
const ids = z.array(TaskId).max(1000).readonly();
const count = z.number().min(0).max(1e12);
const tools = z.array(name).max(100).readonly();
const cost = z.number().min(0).max(1e9).nullable();

export const ModeShape = z.enum(MODES);
const choice = z.strictObject({ asked: name, used: ModelId, because: text.nullable() });
const figures = { estimatedTokens: count, estimatedCost: cost, estimatedSeconds: count, budget: Budget };

const globs = z.array(z.string().max(500)).max(100).readonly();

const effort = z.enum(EFFORTS);
const task = z.strictObject({
  id: TaskId,
  description: text,
  role: RoleName,
  model: choice,
  tools,
  ...figures,
  dependsOn: ids,
  writes: globs,
  after: z
    .array(z.strictObject({ task: TaskId, because: text }))
    .max(1000)
    .readonly()
    .exactOptional(),
  alongside: ids.exactOptional(),
  maySpawn: z.boolean(),
  permissions: Permissions.exactOptional(),
  effort: effort.exactOptional(),
});

const forced = z.strictObject({
  role: RoleName,
  model: choice,
  triggers: z.array(z.enum(TRIGGERS)).max(10).readonly(),
  onFailure: z.enum(ON_FAILURE),
  after: ids,
  runs: count,
  ...figures,
  because: text,
});

/** A plan that somebody says is sound: the engine checks it again before it counts. */
const PlanShape = z.strictObject({
  reason: text,
  tasks: z.array(task).max(1000).readonly(),
  permissions: Permissions.exactOptional(),
  commit: z.literal(true).exactOptional(),
  forced: z.array(forced).max(100).readonly().exactOptional(),
});

const EditShape = z.discriminatedUnion('is', [
  z.strictObject({ is: z.literal('describe'), task: TaskId, description: text }),
  z.strictObject({ is: z.literal('role'), task: TaskId, role: name }),
  z.strictObject({ is: z.literal('model'), task: TaskId, model: name }),
  z.strictObject({ is: z.literal('budget'), task: TaskId, budget: Budget }),
  z.strictObject({ is: z.literal('effort'), task: TaskId, effort: effort.nullable() }),
  z.strictObject({ is: z.literal('tools'), task: TaskId, tools }),
  z.strictObject({ is: z.literal('depends'), task: TaskId, dependsOn: ids }),
  z.strictObject({ is: z.literal('writes'), task: TaskId, writes: globs.nullable() }),
  z.strictObject({ is: z.literal('alongside'), task: TaskId, others: ids }),
  z.strictObject({
    is: z.literal('add'),
    description: text,
    role: name,
    dependsOn: ids,
    writes: globs.exactOptional(),
  }),
  z.strictObject({ is: z.literal('drop'), task: TaskId }),
  z.strictObject({
    is: z.literal('split'),
    task: TaskId,
    descriptions: z.array(text).max(100).readonly(),
    inOrder: z.boolean(),
  }),
  z.strictObject({ is: z.literal('join'), task: TaskId, other: TaskId }),
  z.strictObject({
    is: z.literal('models'),
    models: z
      .array(z.strictObject({ task: TaskId, model: name }))
      .max(1000)
      .readonly(),
  }),
  z.strictObject({
    is: z.literal('permissions'),
    task: TaskId.nullable(),
    permissions: z.strictObject({
      edits: Permission.nullable().exactOptional(),
      commands: Permission.nullable().exactOptional(),
    }),
  }),
  z.strictObject({ is: z.literal('commit'), commit: z.boolean() }),
  z.strictObject({ is: z.literal('move'), task: TaskId, by: z.union([z.literal(1), z.literal(-1)]) }),
  z.strictObject({
    is: z.literal('form'),
    task: TaskId,
    description: text,
    role: name,
    model: name,
    budget: Budget,
    dependsOn: ids,
    tools: tools.exactOptional(),
    effort: effort.nullable().exactOptional(),
    writes: globs.exactOptional(),
  }),
  z.strictObject({ is: z.literal('replace'), plan: PlanShape }),
]);
export const EditsShape = z.array(EditShape).max(1000).readonly();

const digest = z.string().max(200);

/** One shape for each `Command` of ports/controls.ts: a command without one doesn't compile where it is asked (reach.ts). */
export const CommandShape = z.discriminatedUnion('do', [
  z.strictObject({ do: z.literal('edit plan'), edit: EditShape }),
  z.strictObject({ do: z.literal('approve plan'), digest }),
  z.strictObject({ do: z.literal('reject plan') }),
  z.strictObject({ do: z.literal('plan again'), hint: text }),
  z.strictObject({
    do: z.literal('message'),
    to: z.union([AgentId, z.literal('all')]),
    text: text.min(1),
    delivery: z.enum(['sequential', 'important', 'urgent']),
  }),
  z.strictObject({ do: z.literal('interrupt'), agent: AgentId }),
  z.strictObject({ do: z.literal('resume'), agent: AgentId }),
  z.strictObject({ do: z.literal('kill'), agent: AgentId }),
  z.strictObject({ do: z.literal('retry'), agent: AgentId }),
  z.strictObject({ do: z.literal('skip'), agent: AgentId }),
  z.strictObject({
    do: z.literal('answer'),
    approval: name,
    allow: z.boolean(),
    scope: z.enum(['once', ...GRANT_SCOPES]),
    text: text.exactOptional(),
  }),
  z.strictObject({ do: z.literal('withdraw grant'), grant: name }),
  z.strictObject({ do: z.literal('set mode'), mode: ModeShape }),
  z.strictObject({ do: z.literal('pin mode'), agent: AgentId, mode: ModeShape.nullable() }),
  z.strictObject({ do: z.literal('set budget'), agent: AgentId, budget: Budget }),
  z.strictObject({ do: z.literal('review'), role: RoleName }),
  z.strictObject({ do: z.literal('amend plan'), edits: EditsShape, base: digest, digest }),
  z.strictObject({ do: z.literal('set model'), agent: AgentId, model: name }),
  z.strictObject({ do: z.literal('spawn'), parent: AgentId, wish: SpawnWish }),
  z.strictObject({
    do: z.literal('complete'),
    agent: AgentId,
    status: z.enum(['completed', 'error']),
    message: text,
  }),
  z.strictObject({ do: z.literal('hand over'), how: z.enum(['when quiet', 'now', 'stay']) }),
  z.strictObject({ do: z.literal('stop run'), reason: text }),
]);
