/**
 * A custom agent drafted by a model, where one may be asked as `main` is: a session of its own in the log, within its limits and the
 * rules of now. What the draft must keep to is domain/agents/form.ts's; who drafts instead, agents-draft.ts's.
 */
import { newAgent } from '../../config/roles/agent-files.ts';
import { oncePerTurn, openLaw } from '../../config/settings/policy-watcher.ts';
import type { Loaded } from '../../config/settings/load.ts';
import { promptText } from '../../config/roles/prompts.ts';
import type { AgentDraft } from '../../domain/agents/draft.ts';
import { AGENT_FORM, agentIn, agentRequest, withinSentence } from '../../domain/agents/form.ts';
import { tightest } from '../../domain/budget.ts';
import type { SessionId } from '../../domain/ids.ts';
import type { ModelOption } from '../../domain/plan/plan.ts';
import { openRedactor } from '../../domain/text/redact.ts';
import { type Result, fail, ok } from '../../domain/result.ts';
import { plainLine } from '../../domain/text/text.ts';
import type { Drafted, DraftOrder } from '../../engine/planning/drafting.ts';
import { drafterFor, startDrafting } from '../../engine/planning/drafting.ts';
import type { RunOptions } from '../../engine/run/run-options.ts';
import type { Log } from '../../ports/log.ts';
import type { OpenModels } from '../../models/open.ts';
import { agentFolders } from './list.ts';
import { agentLines } from './text.ts';
import { dayLedgerFor } from '../project/daily-budget.ts';
import { orExit } from '../client/log-of.ts';
import { packageRoot, packageVersion } from '../process/package-root.ts';
import type { ProjectPlace } from '../project/project-place.ts';
import type { Providers } from '../project/providers.ts';
import { newSession } from '../client/connect.ts';
import { world } from '../process/world.ts';

/** What a draft is made in. */
export interface DraftGround extends Pick<RunOptions, 'model' | 'roleModels'> {
  readonly project: ProjectPlace;
  readonly config: Loaded;
  readonly log: Log;
  readonly providers: Providers;
}

export interface DraftWish {
  readonly sentence: string;
  /** A name that can't be used: then a number is put behind it. */
  readonly isTaken: (name: string) => boolean;
  /** Instead of the name that would be drafted. */
  readonly named?: string | undefined;
  /** Aborted by the person. */
  readonly signal: AbortSignal;
  /** Told once, before the call. */
  asking(model: Pick<ModelOption, 'id' | 'label'>): void;
}

/** What was spent, and by whom. */
export interface Spending extends Omit<Drafted<never>, 'made'> {
  readonly session: SessionId;
  /** As people call the model. */
  readonly label: string;
  /** Who was to be asked, where that one could not be reached. */
  readonly instead: string | null;
}

export interface ByModel {
  readonly draft: Result<AgentDraft, string>;
  readonly spending: Spending;
}

/** A draft is worth that much at most: tokens of all its calls, and milliseconds. */
const MOST = { maxTokens: 60_000, maxDuration: 120_000 };
const MOST_OF_THE_TASK = 200;

/** Fails, before anything was asked or recorded, where no model may be asked; the reason is for a person. */
export async function draftedByModel(ground: DraftGround, wish: DraftWish): Promise<Result<ByModel, string>> {
  const { log, providers, config, project } = ground;
  const models = await providers.open('none');
  const day = dayLedgerFor(config.rules, project.places.state);
  const options = optionsFor(ground, wish.sentence, models, day);
  const claim = (): ReturnType<Log['claim']> => orExit(() => log.claim(options.session));
  try {
    const drafter = drafterFor(options);
    if (!drafter.ok) return drafter;
    const claimed = claim();
    if (!claimed.ok) return fail(`its session is held by another process: ${claimed.holder}`);
    models.warm(drafter.value.id);
    wish.asking(drafter.value);
    const order = orderFor(ground, wish, drafter.value);
    return ok(byModel(await ended(options, order, wish.signal), options, drafter.value));
  } finally {
    orExit(() => log.release(options.session));
    day?.close();
  }
}

async function ended(
  options: RunOptions,
  order: DraftOrder<AgentDraft>,
  signal: AbortSignal,
): Promise<Drafted<AgentDraft>> {
  const drafting = startDrafting(options, order);
  const stop = (): void => drafting.stop('stopped by the person');
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  try {
    return await drafting.result;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function byModel(
  { made, ...spent }: Drafted<AgentDraft>,
  { session, models }: RunOptions,
  first: ModelOption,
): ByModel {
  const label = models.models().find(({ id }) => id === spent.model)?.label ?? spent.model;
  const instead = spent.model === first.id ? null : first.label;
  return { draft: made, spending: { ...spent, session, label, instead } };
}

function orderFor(
  { project }: DraftGround,
  { sentence, ...naming }: DraftWish,
  { label }: ModelOption,
): DraftOrder<AgentDraft> {
  const [folder] = agentFolders(project);
  return {
    system: promptText(packageRoot(), 'agent'),
    asked: agentRequest(sentence),
    form: AGENT_FORM,
    read(answer) {
      const read = agentIn(answer);
      if (!read.ok) return read;
      const draft = withinSentence(read.value, sentence, label, naming);
      // The name is made free, or was chosen by the person, who is told of it when the file is made.
      const file = folder === undefined ? null : newAgent(draft, folder, []);
      return file === null || file.ok ? ok(draft) : file;
    },
    words: (draft) => agentLines(draft).join('\n'),
  };
}

function optionsFor(
  { project, config, log, providers, model, roleModels }: DraftGround,
  sentence: string,
  models: OpenModels,
  day: ReturnType<typeof dayLedgerFor>,
): RunOptions {
  const { rules } = config;
  return {
    session: newSession(),
    task: `Draft a custom agent: ${plainLine(sentence, MOST_OF_THE_TASK)}`,
    cwd: project.root,
    version: packageVersion(),
    provider: providers.words,
    notes: [],
    mode: rules.mode,
    rules,
    law: oncePerTurn(openLaw(config, rules)),
    ...(day === null ? {} : { day }),
    redactor: openRedactor(config.secrets.map(({ value }) => value)),
    roles: config.roles,
    prompts: config.prompts,
    models,
    tools: { tools: [], sandbox: { is: 'none', because: 'a draft uses no tools' } },
    toolsOf: () => [],
    repository: { facts: () => Promise.reject(new Error('a draft looks at no repository')) },
    log,
    world,
    person: false,
    approval: 'nobody',
    offlineOnly: providers.offlineOnly,
    model,
    roleModels,
    runBudget: tightest(rules.runBudget.value, MOST),
    plan: null,
  };
}
