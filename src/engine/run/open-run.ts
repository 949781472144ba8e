/** Opens the modules of a run in the order in which they may import each other. */
import { type AgentId, ROOT, type SessionId } from '../../domain/ids.ts';
import type { Mode } from '../../domain/reason.ts';
import { ok, type Result } from '../../domain/result.ts';
import type { AgentState, EndedBy, EventBody, ResumedLog } from '../../events/index.ts';
import { namesOf, roleNamed } from '../../policy/index.ts';
import type { Log, MessageStore } from '../../ports/log.ts';
import type { TreePort } from '../../ports/tree.ts';
import type { World } from '../../ports/world.ts';
import { type AgentModules, type NewAgent, openAgents } from '../agents/index.ts';
import * as gates from '../gate/index.ts';
import { type Messaging, openMessaging } from '../messaging/index.ts';
import { openPlanning, type Planning, type PlanTerms } from '../planning/index.ts';
import { MandatoryReviews } from '../reviews/index.ts';
import { openWorkspaces, type Workspaces } from '../workspaces/index.ts';

/** The modules of one run, and the functions that end it. */
export interface RunModules extends AgentModules {
  /** `options.rules` are always the present rules. */
  readonly options: RunOptions;
  readonly workspaces: Workspaces;
  readonly reviews: MandatoryReviews;
  readonly planning: Planning;
  readonly messaging: Messaging;
  /** Ends the run so that it can be resumed. Only the first call's cause counts. */
  readonly stop: (reason: string, endedBy?: EndedBy) => void;
  readonly why: () => RunFailure;
  /** Notes why the run cannot continue, without stopping it. */
  readonly note: (text: string, is: RunResult['errorIs']) => void;
}

interface RunFailure {
  readonly text: string | null;
  readonly is: RunResult['errorIs'];
  /** What stopped it, unless a person or a fault did. */
  readonly endedBy?: EndedBy | undefined;
}

/** Opens the modules. Times in the run are immune to jumps of the wall clock. `root`: the spec of `main`. */
export function openRun(given: RunOptions, root: NewAgent): RunModules {
  const world = gates.steadyWorld(given.world);
  const recorder = gates.openRecorder(given.log, given.session, world, given.redactor, given.folded);
  const control = new AbortController();
  let why: RunFailure = { text: null, is: null };
  const note: RunModules['note'] = (text, is) => void (why = { ...why, text, is });
  const stop: RunModules['stop'] = (reason, endedBy) => {
    if (!control.signal.aborted) why = { ...why, endedBy };
    control.abort(reason);
  };
  const fail: gates.RunContext['fail'] = (text, is) => {
    if (is !== undefined) note(text, is);
    stop(text);
  };
  const options = watched({ ...given, world }, (text) => fail(text, 'denied'));
  const context: gates.RunContext = { recorder, world, rules: () => options.rules, signal: control.signal, fail };
  const { trees, messageStore } = options;
  const agents = openAgents({ ...context, options, gate: gates.openGate(context, options) }, root);
  const reviews = new MandatoryReviews({ ...agents, trees });
  const workspaces = openWorkspaces(agents);
  const planning = openPlanning(agents);
  const messaging = openMessaging({ ...agents, workspaces, reviews, messageStore });
  options.elsewhere?.({ outage: outageIn(context), worked: (agent, worker) => recordWorker(context, agent, worker) });
  return { ...agents, workspaces, reviews, planning, messaging, stop, why: () => why, note };
}

/** During an outage, agents at work wait and say why; their clocks are paused. */
function outageIn({ recorder, signal }: gates.RunContext): ElsewhereEvents['outage'] {
  let shown = '';
  const statusOf = (agent: AgentId, text: string | null): EventBody =>
    text === null
      ? { type: 'agent.status', agent, status: 'running', reason: '' }
      : {
          type: 'agent.status',
          agent,
          status: 'waiting',
          reason: text,
          waitsFor: 'provider',
          waitingFor: { is: 'provider', why: text, wait: null },
        };
  return (text) => {
    if (signal.aborted) return;
    // Those that wait for another reason by now stay as they are.
    const waits = ({ status, reason }: AgentState): boolean => status === 'waiting' && reason === shown;
    const agents = [...recorder.state().agents.values()].filter(
      (one) => one.id !== ROOT && ((text !== shown && waits(one)) || (text !== null && one.status === 'running')),
    );
    if (agents.length > 0) recorder.record(...agents.map(({ id }) => statusOf(id, text)));
    shown = text ?? '';
  };
}

/** Records which worker carries out the steps of an agent, when it is another one than before. */
function recordWorker({ recorder, signal }: gates.RunContext, agent: AgentId, worker: string): void {
  const one = recorder.state().agents.get(agent);
  if (signal.aborted || one === undefined || one.worker === worker) return;
  recorder.record({ type: 'agent.worker', agent, worker });
}

/** The options with a `rules` getter that shows the present rules. The rule files are checked at most once per microtask, because no change
 * of theirs could be seen in between. */
function watched(options: RunOptions, pause: (text: string) => void): RunOptions {
  const { policyWatcher } = options;
  if (policyWatcher === undefined) return options;
  let last = options.rules;
  let looked = false;
  return {
    ...options,
    get rules() {
      if (looked) return last;
      looked = true;
      queueMicrotask(() => (looked = false));
      const now = policyWatcher.now();
      if (now.ok) last = now.value;
      else pause(now.fault);
      return last;
    },
  };
}

/** The spec of `main`, which plans, writes the report and is the parent of unplanned children; its budget is the run's. Fails when it has no model. */
export function rootAgent(options: RunOptions): Result<NewAgent, string> {
  const role = roleNamed('main', options.roles);
  if (role === null) throw new Error('the role "main" is missing from the package');
  const model = gates.modelFor(options, role, options.roleModels.get('main') ?? options.model);
  if (!model.ok) return model;
  return ok({
    agent: ROOT,
    parent: null,
    role,
    name: 'main',
    task: options.task,
    taskId: null,
    model: model.value.choice,
    capabilities: role.capabilities,
    budget: options.runBudget,
    dependsOn: [],
  });
}

/** Everything a run is started with: the request as plain data, and the ports to the outside besides models and tools. Each module gets its part. */
export interface RunOptions extends gates.AgentSetup, PlanTerms {
  readonly session: SessionId;
  readonly version: string;
  /** The provider as the screens show it: `offline (no provider)`. */
  readonly provider: string;
  readonly notes: readonly string[];
  /** `--mode` of this start; it overrides the mode of a resumed run. */
  readonly chosenMode?: Mode;
  /** No plan: ROOT waits for messages, and the run ends after the idle time. */
  readonly idle?: boolean;
  /** A person's message to `main` (`mainAgent` in events/queries.ts) when a recorded run is resumed. A completed or failed run only answers
   * it and repeats nothing of its plan. */
  readonly followUp?: string;
  /** The agent that gets it instead of `main`, if it can continue. */
  readonly followUpTo?: AgentId;
  readonly log: Log;
  /** The log of a resumed session, if it was read already. */
  readonly folded?: ResumedLog;
  readonly world: World;
  /** Changes in the project, for mandatory reviews; missing where they cannot be determined. */
  readonly trees?: TreePort;
  readonly messageStore?: MessageStore;
  /** Who carries out the steps of its agents elsewhere; missing: nobody does. */
  readonly elsewhere?: (on: ElsewhereEvents) => void;
  /** Whether a person watches the run from another process; missing: nobody can. */
  readonly watched?: () => boolean;
}

/** What a run hears of workers on other machines. */
interface ElsewhereEvents {
  /** What the agents work with does not answer, with the reason; null: it does again. */
  readonly outage: (text: string | null) => void;
  /** The worker has carried out a step of the agent. */
  readonly worked: (agent: AgentId, worker: string) => void;
}

/** How a run ended. */
export interface RunResult {
  readonly success: boolean;
  readonly status: 'completed' | 'failed' | 'rejected' | 'stopped';
  /** Lines of the form `Agent N: <summary>`. */
  readonly message: string;
  readonly metadata: { readonly totalCost: number; readonly totalTokens: number; readonly agentCount: number };
  /** Whether a limit of the run or of the day ended anything. */
  readonly overBudget: boolean;
  /** Why the run could not continue (the log cannot be written, no model is allowed); otherwise null. */
  readonly error: string | null;
  /** The kind of that fault: `denied` by rules, unreachable `model`, `budget`, `log`; null without one. */
  readonly errorIs: 'denied' | 'model' | 'budget' | 'log' | null;
}

type Started = Extract<EventBody, { readonly type: 'session.started' }>;

/** The first event of a session. `kind`: an idle run or a draft; without a plan, the choices that children may be made from. */
export const startedEvent = (options: RunOptions, kind: Pick<Started, 'idle' | 'draft' | 'choices'>): Started => ({
  type: 'session.started',
  task: options.task,
  cwd: options.cwd,
  mode: options.mode,
  ...namesOf(options.rules),
  version: options.version,
  budget: options.runBudget,
  maxParallel: options.rules.maxParallelAgents.value,
  sandbox: sandboxText(options),
  provider: options.provider,
  notes: options.notes,
  ...kind,
});

const sandboxText = ({ tools }: gates.AgentSetup): string =>
  tools.sandbox.is === 'none' ? `none: ${tools.sandbox.because}` : tools.sandbox.is;
