/** Has a model draft a custom agent, in a session of its own in the log, within the limits and rules in force. */
import { type Loaded, newAgent, oncePerTurn, openPolicyWatcher, promptText } from '../../config/index.ts';
import { AGENT_FORM, type AgentDraft, agentIn, agentRequest, withinSentence } from '../../domain/agents/form.ts';
import { tightest } from '../../domain/budget.ts';
import type { SessionId } from '../../domain/ids.ts';
import type { ModelOption } from '../../domain/plan/plan.ts';
import { openRedactor } from '../../domain/text/redact.ts';
import { type Result, fail, ok } from '../../domain/result.ts';
import { plainLine } from '../../domain/text/text.ts';
import { type Drafted, drafterFor, type DraftOrder, type RunOptions, startDrafting } from '../../engine/run/index.ts';
import type { Log } from '../../ports/log.ts';
import type { OpenModels } from '../../models/index.ts';
import { agentFolders } from './catalogue.ts';
import { agentLines } from './text.ts';
import { dayLedgerFor, type ProjectPlace, type Providers } from '../workspace/index.ts';
import { newSession, exitOnFault, packageRoot, packageVersion, world } from '../process/index.ts';

export interface DraftContext extends Pick<RunOptions, 'model' | 'roleModels'> {
  readonly project: ProjectPlace;
  readonly config: Loaded;
  readonly log: Log;
  readonly providers: Providers;
}

export interface DraftRequest {
  readonly sentence: string;
  /** Whether a name is taken; a drafted name then gets a number. */
  readonly isTaken: (name: string) => boolean;
  /** The name to use instead of a drafted one. */
  readonly named?: string | undefined;
  /** Aborted when the user cancels. */
  readonly signal: AbortSignal;
  /** Called once, before the model is called. */
  asking(model: Pick<ModelOption, 'id' | 'label'>): void;
}

/** What the draft cost, and which model wrote it. */
export interface Spending extends Omit<Drafted<never>, 'made'> {
  readonly session: SessionId;
  readonly label: string;
  /** The label of the preferred model, if it could not be reached; otherwise null. */
  readonly instead: string | null;
}

export interface ModelDraft {
  readonly draft: Result<AgentDraft, string>;
  readonly spending: Spending;
}

const DRAFT_LIMITS = { maxTokens: 60_000, maxDuration: 120_000 };
const MAX_TASK_LENGTH = 200;

/** Drafts an agent. Fails, before anything is called or recorded, if no model may be used; the fault is for a person. */
export async function draftByModel(context: DraftContext, wish: DraftRequest): Promise<Result<ModelDraft, string>> {
  const { log, providers, config, project } = context;
  const models = await providers.open('none');
  const day = dayLedgerFor(config.rules, project.places.state);
  const options = draftOptions(context, wish.sentence, models, day);
  try {
    const drafter = drafterFor(options);
    if (!drafter.ok) return drafter;
    const claimed = exitOnFault(() => log.claim(options.session));
    if (!claimed.ok) return fail(`another process holds the session of the draft: ${claimed.holder}`);
    models.warm(drafter.value.id);
    wish.asking(drafter.value);
    const order = draftOrder(context, wish, drafter.value);
    return ok(modelDraft(await runDraft(options, order, wish.signal), options, drafter.value));
  } finally {
    exitOnFault(() => log.release(options.session));
    day?.close();
  }
}

async function runDraft(
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

function modelDraft(
  { made, ...spent }: Drafted<AgentDraft>,
  { session, models }: RunOptions,
  first: ModelOption,
): ModelDraft {
  const label = models.models().find(({ id }) => id === spent.model)?.label ?? spent.model;
  const instead = spent.model === first.id ? null : first.label;
  return { draft: made, spending: { ...spent, session, label, instead } };
}

function draftOrder(
  { project }: DraftContext,
  { sentence, ...naming }: DraftRequest,
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
      // `withinSentence` resolves name clashes; a name that the user chose is checked when the file is created.
      const file = folder === undefined ? null : newAgent(draft, folder, []);
      return file === null || file.ok ? ok(draft) : file;
    },
    textOf: (draft) => agentLines(draft).join('\n'),
  };
}

function draftOptions(
  { project, config, log, providers, model, roleModels }: DraftContext,
  sentence: string,
  models: OpenModels,
  day: ReturnType<typeof dayLedgerFor>,
): RunOptions {
  const { rules } = config;
  return {
    session: newSession(),
    task: `Draft a custom agent: ${plainLine(sentence, MAX_TASK_LENGTH)}`,
    cwd: project.root,
    version: packageVersion(),
    provider: providers.words,
    notes: [],
    mode: rules.mode,
    rules,
    policyWatcher: oncePerTurn(openPolicyWatcher(config, rules)),
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
    runBudget: tightest(rules.runBudget.value, DRAFT_LIMITS),
    plan: null,
  };
}
