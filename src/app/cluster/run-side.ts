/** A run on a cluster: its agents' model calls and the tools that work in a project are carried out by workers, everything else here. The agents' loop,
 * the gate, budgets, questions and the log are those of any run. */
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Loaded } from '../../config/index.ts';
import * as distributed from '../../distributed/index.ts';
import { jsonDigest } from '../../domain/digest.ts';
import { type AgentId, isForeign, type ModelId, OFFLINE, providerOf, ROOT, type SessionId } from '../../domain/ids.ts';
import { defined, fail, ok, type Result } from '../../domain/result.ts';
import { turns } from '../../domain/serial-queue.ts';
import { type EventBody, isForced, type MimirEvent, type RunState, UNKNOWN_EFFECT } from '../../events/index.ts';
import { workspaceOf } from '../../events/index.ts';
import { orAborted } from '../../engine/gate/index.ts';
import type { RunOptions } from '../../engine/run/index.ts';
import type { OpenModels } from '../../models/index.ts';
import type { Log } from '../../ports/log.ts';
import type { DayLedger } from '../../ports/daily-budget.ts';
import { relayToRun } from '../../remote/index.ts';
import { placeOf } from '../client/index.ts';
import type { Tool, ToolContext, ToolOutput, ToolPort } from '../../ports/tool.ts';
import type { TransportPort, WorkspacePort } from '../../ports/workspace.ts';
import { EXIT, Exit, packageVersion, world } from '../process/index.ts';
import { plural } from '../views/index.ts';
import type { ProjectPlace } from '../workspace/index.ts';
import { closedIn, type Place, ReplyOutput, type StepBody, ToolResult } from './body.ts';
import { asExit, checkWorkers, continueText, openConfigured, peopleOf, poolOf, signingKey } from './settings.ts';

export interface ClusterRun {
  readonly project: ProjectPlace;
  readonly config: Loaded;
  readonly session: SessionId;
  /** The run's state; null before it has begun. */
  readonly state: () => RunState | null;
  readonly tools: ToolPort;
  readonly workspaces: WorkspacePort;
  readonly transport: TransportPort;
  readonly models: OpenModels;
  readonly log: Log;
  /** Ends the run so that it can be continued, with the reason. */
  readonly stop: (reason: string) => void;
  /** What is told about the configuration at the start. */
  readonly notes: readonly string[];
  /** The daily ledger of this machine; absent where no rule limits a day. */
  readonly day?: DayLedger;
  /** A person watches, and so sees output while it comes. */
  readonly live: boolean;
}

/** The ports of a run whose agents work on a cluster. */
export interface ClusterSide {
  /** In place of the run's own. `day`: that of the person on all machines. */
  readonly parts: Pick<RunOptions, 'tools' | 'models' | 'elsewhere' | 'notes' | 'log'> & { readonly day?: DayLedger };
  /** Lets terminals on other machines attach, by the socket that now listens. */
  serve(): void;
  ended(agent: AgentId | null): Promise<void>;
}

/** Connects to the cluster of the configuration and checks that it can carry out the run. Rejects with an `Exit`. */
export async function joinCluster(run: ClusterRun): Promise<ClusterSide> {
  const problem = run.workspaces.whyNot();
  if (problem !== null)
    throw new Exit(EXIT.refused, `--cluster: agents on workers need trees of their own: ${problem}`);
  const db = openConfigured(run.config);
  const told = new Set<(text: string | null) => void>();
  try {
    await distributed.checkDatabase(db);
    const pool = poolOf(run.config);
    const facts = await checkWorkers(db, pool);
    const head = await headOf(db, run);
    const cluster = await distributed.openCluster({
      db,
      pool,
      version: packageVersion(),
      run: run.session,
      process: world.name(6),
      key: signingKey(run.project.places.state),
      host: hostname(),
      place: createHash('sha256').update(`${hostname()} ${run.project.root}`).digest('hex').slice(0, 16),
      log: { head, lost: () => run.stop(ELSEWHERE) },
      trouble: (text) => {
        for (const tell of told) tell(text);
      },
    });
    const pauses = await distributed.openPauses(db, pool).catch(async (error: unknown) => {
      await cluster.close(true);
      throw error;
    });
    const side = new Side(run, db, cluster, {
      pauses,
      // An agent lands on any worker of the pool, so that all have to have its model.
      usable: facts.map(({ models }) => new Set(models)).reduce((all, next) => all.intersection(next)),
      told,
      note: `the agents work on the workers of pool ${pool}: ${plural(facts.length, 'worker')} now`,
    });
    side.catchUp(head);
    return side;
  } catch (error) {
    await db.close();
    throw asExit(error);
  }
}

interface Joined {
  readonly usable: ReadonlySet<string>;
  readonly pauses: distributed.Pauses;
  readonly told: Set<(text: string | null) => void>;
  readonly note: string;
}

/** The place of an agent, and the last state of its tree that is known here. */
interface AgentPlace {
  readonly place: string;
  /** The name of its tree here; null where nothing of it is merged. */
  readonly tree: string | null;
  at: distributed.TreeAt;
  /** Those of the tools that use it: what changes it runs alone, because each step says in which state it begins. */
  readonly inTurn: ReturnType<typeof turns>;
}

class Side implements ClusterSide {
  readonly parts: ClusterSide['parts'];
  private readonly run: ClusterRun;
  private readonly person: string;
  private readonly db: distributed.Database;
  private readonly cluster: distributed.Cluster;
  private readonly usable: ReadonlySet<string>;
  private readonly pauses: distributed.Pauses;
  private tellWorker: (agent: AgentId, worker: string) => void = () => undefined;
  private endLines: () => void = () => undefined;
  /** By agent, and by the name of its tree: a later attempt, or one that resolves conflicts, works in another. */
  private readonly places = new Map<AgentId, Map<string | null, Promise<AgentPlace>>>();

  constructor(
    run: ClusterRun,
    db: distributed.Database,
    cluster: distributed.Cluster,
    { usable, pauses, told, note }: Joined,
  ) {
    this.run = run;
    this.person = distributed.publicKeyOf(signingKey(run.project.places.state));
    this.db = db;
    this.cluster = cluster;
    this.usable = usable;
    this.pauses = pauses;
    const { day: own, tools, log } = run;
    this.parts = {
      log: {
        ...log,
        append: (session, time, bodies) => {
          const events = log.append(session, time, bodies);
          this.record(time, bodies);
          return events;
        },
      },
      tools: { ...tools, tools: tools.tools.map((tool) => (isOfProject(tool) ? this.elsewhere(tool) : tool)) },
      models: this.modelsElsewhere(),
      notes: [...run.notes, note],
      elsewhere: ({ outage, worked }) => {
        told.add(outage);
        this.tellWorker = worked;
      },
      ...(own !== undefined && {
        day: distributed.openSharedDay({ db, person: this.person, own, today: dayOfNow }),
      }),
    };
  }

  serve(): void {
    const { project, config, session } = this.run;
    const keys = { own: signingKey(project.places.state), others: peopleOf(project, config) };
    const where = placeOf(project, session);
    // Apart, so that terminals do not wait behind the steps of a thousand agents.
    const lines = distributed.openDatabase(this.db.url, 2);
    const end = distributed.answerLines(lines, session, keys, (line) => relayToRun(where, line));
    this.endLines = () => {
      end();
      void lines.close();
    };
  }

  async ended(agent: AgentId | null): Promise<void> {
    if (agent !== null) {
      this.places.delete(agent);
      return this.cluster.ended(agent);
    }
    this.endLines();
    this.pauses.close();
    this.parts.day?.close();
    const end = this.run.state()?.finished?.status ?? 'stopped';
    await this.cluster.close(end === 'stopped');
    await this.db.close();
  }

  /** Writes events that an earlier process could not. */
  catchUp(head: distributed.LogBatch | null): void {
    for (const event of this.run.log.each(this.run.session, head?.last)) this.record(event.time, [bodyOf(event)]);
  }

  private record(time: string, bodies: readonly EventBody[]): void {
    const isChanged = bodies.some((body) => this.mayChangeProject(body));
    this.cluster.log.append([time, bodies], isChanged ? () => this.keepProject() : undefined);
  }

  /** Keeps the project as it stands, so that what is kept is never older than the log says. */
  private async keepProject(): Promise<void> {
    const sent = await this.send(null).catch(() => null);
    // One that is older must not stay: without a project the run cannot be continued elsewhere.
    const body = sent === null ? '' : JSON.stringify(sent);
    await this.cluster.store.keepPlace(this.run.session, { tree: '', chain: '', body, packs: sent?.packs ?? [] });
  }

  private mayChangeProject(body: EventBody): boolean {
    if (PROJECT_CHANGES.has(body.type)) return true;
    if (body.type !== 'tool.finished') return false;
    const tool = this.run.tools.tools.find(({ name }) => name === body.tool);
    const state = this.run.state();
    return tool?.repeat !== 'safe' && state !== null && workspaceOf(state, body.agent) === undefined;
  }

  private elsewhere(tool: Tool): Tool {
    return {
      ...tool,
      run: (input, context) =>
        this.isElsewhere(context) ? this.runTool(tool, input, context) : tool.run(input, context),
    };
  }

  /** Agents with a tree of their own, and those that change nothing. What judges the project itself stays where it is. */
  private isElsewhere({ agent, workspace, judges }: ToolContext): boolean {
    if (workspace !== undefined) return true;
    const state = this.run.state();
    const one = state?.agents.get(agent);
    if (state === null || one === undefined || agent === ROOT || judges === true) return false;
    return one.writes?.length === 0 && !isForced(state, agent);
  }

  private async runTool(tool: Tool, input: unknown, context: ToolContext): Promise<ToolOutput> {
    const { agent, workspace, signal } = context;
    // All who work in a tree give their steps to the worker of the agent whose tree it is.
    const owner = workspace === undefined ? agent : this.ownerOf(workspace).id;
    const place = await this.placeOf(owner, context);
    if (!place.ok) return { ok: false, text: `Not run: its tree could not be sent to a worker: ${place.fault}` };
    const turn = Promise.withResolvers<boolean>();
    const done = place.value.inTurn(tool.repeat === 'never', () => {
      turn.resolve(true);
      return signal.aborted ? Promise.resolve(STOPPED) : this.runAt(owner, place.value, tool, { input, context });
    });
    return (await orAborted(turn.promise, signal, false)) ? done : STOPPED;
  }

  private async runAt(
    owner: AgentId,
    place: AgentPlace,
    tool: Tool,
    { input, context }: { readonly input: unknown; readonly context: ToolContext },
  ): Promise<ToolOutput> {
    const { agent, sandbox, reads, room, writes, workingDir, judges, signal } = context;
    const sent = { agent, sandbox, ...defined({ reads, room, writes, workingDir, judges }) };
    const body: StepBody = { is: 'tool', tool: tool.name, input, context: sent };
    const named = this.named(`tool ${tool.name}`);
    const step = { ...named, repeat: tool.repeat, body: JSON.stringify(body), tree: place.at, parts: [place.place] };
    await orAborted(this.cluster.log.written(), signal, undefined);
    const result = await this.cluster.perform(owner, step, signal, (text) => context.onOutput(text));
    if (result === null) return tool.repeat === 'safe' ? STOPPED : { ok: false, text: UNKNOWN_EFFECT };
    if (result.is === 'unknown') return { ok: false, text: WORKER_LOST };
    if (result.is === 'refused') return { ok: false, text: `Not run: ${result.because}` };
    this.tellWorker(agent, result.worker);
    const followed = result.tree === undefined ? ok(undefined) : await this.follow(place, result.tree);
    const output = ToolResult.parse(JSON.parse(result.output));
    if (followed.ok) return output;
    return { ok: false, text: `${output.text}\n\nIts changes could not be fetched from the worker: ${followed.fault}` };
  }

  private named(name: string): { readonly id: string; readonly name: string; readonly live: boolean } {
    return { id: `${this.run.session}.${world.name(14)}`, name, live: this.run.live };
  }

  /** Sends the tree of the agent once; one that changes nothing gets the project as it stands. */
  private async placeOf(
    agent: AgentId,
    { workspace }: Pick<ToolContext, 'workspace'>,
  ): Promise<Result<AgentPlace, string>> {
    const tree = workspace ?? null;
    try {
      return ok(await (this.places.get(agent)?.get(tree) ?? this.makePlace(agent, tree)));
    } catch (error) {
      this.places.get(agent)?.delete(tree);
      if (error instanceof PlaceFault || error instanceof distributed.ClusterFault) return fail(error.message);
      throw error;
    }
  }

  private makePlace(agent: AgentId, tree: string | null): Promise<AgentPlace> {
    const made = this.send(tree === null ? null : { name: tree, base: this.ownerOf(tree).base });
    const at = { chain: `${this.run.session}/${agent}/${world.name(8)}`, n: 0, commit: null };
    const place = made.then(async (sent) => {
      const body = JSON.stringify(sent);
      const kept = { tree, chain: at.chain, body, packs: sent.packs };
      if (tree !== null) await this.cluster.store.keepPlace(this.run.session, { ...kept, tree });
      return { place: body, tree, at, inTurn: turns() };
    });
    this.places.set(agent, (this.places.get(agent) ?? new Map<string | null, Promise<AgentPlace>>()).set(tree, place));
    return place;
  }

  /** The agent whose tree it is; its children work there as well. */
  private ownerOf(tree: string): { readonly id: AgentId; readonly base: string } {
    for (const { id, ownTree } of this.run.state()?.agents.values() ?? [])
      if (ownTree?.name === tree) return { id, base: ownTree.base };
    throw new Error(`no agent has the tree ${tree}`);
  }

  /** Sends a tree, or the project as it stands. */
  private async send(of: Parameters<TransportPort['pack']>[0]): Promise<Place> {
    const { packs, ...packed } = given(await this.run.transport.pack(of, signal));
    const ids = await Promise.all(packs.map((pack) => this.cluster.store.keep(pack)));
    const { box } = this.run.config.rules;
    return { packed, packs: ids, ...(box && { closed: closedIn(this.run.project, box) }) };
  }

  /** Brings the tree here to a state of the tree there. */
  private async follow(place: AgentPlace, to: distributed.TreeAt): Promise<Result<void, string>> {
    const { tree, at } = place;
    if (to.commit === null) return ok(undefined);
    const states = await this.cluster.store.trees(at.chain, at.n, to.n);
    const packs = await this.cluster.store.read(states.map(({ pack }) => pack));
    const done = tree === null ? ok(undefined) : await this.run.transport.follow(tree, packs, to.commit, signal);
    if (done.ok) place.at = to;
    return done;
  }

  /** Models that every worker can call are asked there; others, and what is no language model, here. */
  private modelsElsewhere(): OpenModels {
    const { models } = this.run;
    const options = models
      .models()
      .map((one) => (this.usable.has(one.id) ? { ...one, usable: { yes: true as const } } : one));
    const isHere = (model: ModelId): boolean => model === OFFLINE || isForeign(model) || !this.usable.has(model);
    return {
      ...models,
      models: () => options,
      call: (request, stop, onDelta) =>
        isHere(request.model)
          ? models.call(request, stop, onDelta)
          : this.callInTurn(request, stop, (text) => onDelta({ is: 'text', text })),
    };
  }

  /** Not while the provider has asked any run of the pool to wait: the gate then tries again in time. */
  private async callInTurn(...call: Parameters<Side['callModel']>): ReturnType<OpenModels['call']> {
    const provider = providerOf(call[0].model);
    const left = this.pauses.left(provider);
    if (left > 0) {
      const message = `${provider} is rate limited: it asked another run of this pool to wait`;
      return fail({ is: 'rate limited', message, retryAfterMs: left });
    }
    const reply = await this.callModel(...call);
    if (!reply.ok && reply.fault.is === 'rate limited')
      void this.pauses.note(provider, reply.fault.retryAfterMs ?? SHORT_PAUSE);
    return reply;
  }

  private async callModel(
    { system, tools, turns, ...request }: Parameters<OpenModels['call']>[0],
    stop: AbortSignal,
    onText: (text: string) => void,
  ): ReturnType<OpenModels['call']> {
    const body: StepBody = { is: 'model', request };
    const parts = [system, tools, ...turns].map((part) => JSON.stringify(part));
    if (stop.aborted) return fail({ is: 'aborted', message: 'stopped' });
    // Each repetition is a call of its own, which the gate reserves.
    const named = { ...this.named(`model ${request.model}`), repeat: 'never' as const, body: JSON.stringify(body) };
    await orAborted(this.cluster.log.written(), stop, undefined);
    const result = await this.cluster.perform(request.agent, { ...named, parts }, stop, onText);
    // The provider may bill all of it.
    const input = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
    const spent = { input, output: request.maxOutputTokens, cacheRead: 0, cacheWrite: 0 };
    if (result === null) return fail({ is: 'aborted', message: 'stopped', spent });
    if (result.is === 'unknown') return fail({ is: 'cut', message: 'the worker that made the call was lost', spent });
    if (result.is === 'refused') return fail({ is: 'refused', message: result.because });
    this.tellWorker(request.agent, result.worker);
    return ReplyOutput.parse(JSON.parse(result.output));
  }
}

/** The last batch of the log that the database has. Rejects with an `Exit` where it is not a part of the log here. */
async function headOf(db: distributed.Database, { log, session }: ClusterRun): Promise<distributed.LogBatch | null> {
  const head = await distributed.lastBatch(db, session);
  const [last, own] = [head?.entries.at(-1)?.[1].at(-1), log.at(session, head?.last ?? 0)];
  if (head !== null && (own === null || jsonDigest(bodyOf(own)) !== jsonDigest(last)))
    throw new Exit(
      EXIT.refused,
      `run ${session} was continued on another machine, and this is the part of its log from before\n  ${continueText(session)} brings it here as it is now`,
    );
  return head;
}

const bodyOf = ({ v: _v, seq: _seq, session: _session, time: _time, ...body }: MimirEvent): EventBody => body;
const ELSEWHERE = 'another process continues this run';

/** Events after which the files of the project may be others. */
const PROJECT_CHANGES: ReadonlySet<EventBody['type']> = new Set([
  'plan.approved',
  'session.resumed',
  'merge.finished',
  'changes.undone',
]);

const STOPPED: ToolOutput = { ok: false, text: 'stopped' };

/** Milliseconds of a pause whose length the provider does not tell. */
const SHORT_PAUSE = 1000;

const WORKER_LOST =
  'The worker that ran this was lost. What it changed in your files is not there; whether it had any other effect is not known: check that before you repeat it.';

const { signal } = new AbortController();

/** The agent's tree cannot be sent. */
class PlaceFault extends Error {}

function given<T>(result: Result<T, string>): T {
  if (!result.ok) throw new PlaceFault(result.fault);
  return result.value;
}

/** The local date, as daily limits mean it: `2026-11-28`. */
function dayOfNow(): string {
  const now = new Date(world.now());
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}

/** Tools that read or change the files of a project. What commits, and what an agent asks of the run, stays with the run. */
const isOfProject = (tool: Tool): boolean =>
  tool.capability !== null &&
  tool.capability !== 'spawn' &&
  tool.propose === undefined &&
  !tool.name.startsWith('agent_');
