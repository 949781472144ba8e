/** Opens the pull request of an ended run: one branch with the changes of the run, one request. Each step is recorded before and
 * after, so that doing it again continues where a crash cut it off and makes neither a second time. */
import { hash } from 'node:crypto';
import type { Loaded } from '../../config/index.ts';
import { ROOT, type SessionId } from '../../domain/ids.ts';
import { branchOf, type PrStep, type PrTarget } from '../../domain/pull-request.ts';
import { reasonText } from '../../domain/reason.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import { openRedactor } from '../../domain/text/redact.ts';
import { closedGates, type EventBody, type MimirEvent, type PullRequest, type RunState } from '../../events/index.ts';
import { type Decision, namesOf } from '../../policy/index.ts';
import { decide } from '../../policy/decide.ts';
import type { Log } from '../../ports/log.ts';
import type { RequestPreview } from '../../ports/project-service.ts';
import type { PublishDraft, Publisher, PublishPlace } from '../../tools/index.ts';
import { checkRoot, openPublisher, toolEnvironment } from '../../tools/index.ts';
import { exitOnFault, type Io, world, wrongUse } from '../process/index.ts';
import { touchedFiles } from '../views/index.ts';
import { eventsOf, type ProjectPlace, stateOf } from '../workspace/index.ts';
import { pathsOf } from '../workspace/sandbox.ts';
import { kindOf, previewLines, requestText, type RequestText } from './request-text.ts';

/** Who said yes to what leaves this machine; `rule`: a rule has to allow it. */
export type AllowedBy = 'person' | 'flag' | 'rule';

export interface Publishing {
  /** Why no run of this project can have a request, or null. */
  whyNot(signal: AbortSignal): Promise<string | null>;
  /** The request as it would be made now, or why there can be none. Changes nothing. */
  preview(session: SessionId, signal: AbortSignal): Promise<Result<RequestPreview, string>>;
  /** Makes what was shown as `digest`, and gives its address; refused if anything has changed since. A rule that denies it is
   * recorded. `heard` gets each recorded event. */
  send(order: SendOrder, signal: AbortSignal): Promise<Result<Sent, string>>;
}

export interface SendOrder {
  readonly session: SessionId;
  readonly digest: string;
  readonly by: AllowedBy;
  readonly heard?: (event: MimirEvent) => void;
}

export interface Sent {
  readonly branch: string;
  readonly url: string;
  /** `Pull request`, or on GitLab `Merge request`. */
  readonly kind: string;
}

export interface PublishingParts {
  readonly project: ProjectPlace;
  readonly config: Pick<Loaded, 'rules' | 'secrets'>;
  readonly log: Log;
  readonly env: Io['env'];
}

/** Throws an `Exit` if the folder of the project cannot be used. */
export function openPublishing({ project, config, log, env }: PublishingParts): Publishing {
  const { root, places } = project;
  const rules = pathsOf(config.rules.box, places);
  const checked = checkRoot(root, { home: places.home, state: places.state, rules });
  if (!checked.ok) throw wrongUse(checked.fault);
  const environment = toolEnvironment(root, { ...env });
  const place = { root: checked.value, home: places.home, stateDir: places.state };
  // Keys of models are not for these programs.
  const secrets = new Set(config.secrets.map(({ value }) => value));
  const person = Object.fromEntries(Object.entries(env).filter(([, value]) => !secrets.has(value?.trim() ?? '')));
  const publisher = openPublisher({ ...place, environment, person });
  const { clean } = openRedactor(config.secrets.map(({ value }) => value));
  const parts: Parts = { publisher, clean, log, rules: config.rules };
  return {
    whyNot: async (signal) => {
      const found = await publisher.place(signal);
      return found.ok ? null : found.fault;
    },
    preview: async (session, signal) => {
      const made = await plan(parts, session, signal);
      return made.ok ? ok(shownOf(made.value)) : made;
    },
    send: (order, signal) => send(parts, order, signal),
  };
}

interface Parts {
  readonly publisher: Publisher;
  readonly clean: (text: string) => string;
  readonly log: Log;
  readonly rules: Loaded['rules'];
}

/** Everything about a request that is known before it is made. */
interface Plan {
  readonly state: RunState;
  readonly target: PrTarget;
  readonly place: PublishPlace;
  readonly names: readonly string[];
  readonly tip: string | null;
  /** The commit that the branch gets without a new one; null: it needs one. */
  readonly commit: string | null;
  readonly tree: string;
  readonly text: RequestText;
  readonly commands: readonly string[];
  readonly decision: Decision;
  readonly lines: readonly string[];
  readonly digest: string;
}

/** `claimed`: this process has claimed the session for the request. */
async function plan(
  parts: Parts,
  session: SessionId,
  signal: AbortSignal,
  claimed = false,
): Promise<Result<Plan, string>> {
  const { publisher, log } = parts;
  const state = stateOf(log, session);
  const why = whyNot(log, state, claimed);
  if (why !== null) return fail(why);
  const place = await publisher.place(signal);
  if (!place.ok) return place;
  const target = targetOf(state, place.value);
  if (!target.ok) return target;
  const tip = await tipOf(publisher, target.value.branch, state.pullRequest, signal);
  if (!tip.ok) return tip;
  const names = touchedFiles(state).map((file) => file.path);
  const shown = await publisher.draft(names, null, place.value, signal);
  if (!shown.ok) return shown;
  const added = tip.value === null ? shown : await publisher.draft(names, tip.value, place.value, signal);
  if (!added.ok) return added;
  const ready = readyCommit(added.value, tip.value, target.value.branch, shown.value);
  if (!ready.ok) return ready;
  const known = { state, target: target.value, place: place.value, names, tip: tip.value, commit: ready.value };
  return ok({ ...known, ...textsOf(parts, session, known, shown.value, added.value.tree) });
}

/** Where the request goes: as it was begun, or as the project says now. */
function targetOf({ pullRequest: known, task, session }: RunState, place: PublishPlace): Result<PrTarget, string> {
  const { remote, address, base, program } = place;
  if (known === undefined) return ok({ branch: branchOf(task, session ?? ''), remote, address, base, program });
  if (known.remote !== remote || known.program !== program)
    return fail(`its branch goes to ${known.remote} by ${known.program}, which is not what this project uses now`);
  return ok({ branch: known.branch, remote, address, base: known.base, program });
}

type Decided = Pick<Plan, 'tree' | 'text' | 'commands' | 'decision' | 'lines' | 'digest'>;

function textsOf(
  { clean, log, rules }: Parts,
  session: SessionId,
  { state, target, tip }: Pick<Plan, 'state' | 'target' | 'tip'>,
  draft: PublishDraft,
  tree: string,
): Decided {
  const approvals = eventsOf(log, session, 0, { types: ['plan.approved', 'plan.amended', 'approval.answered'] });
  const text = requestText(state, draft, approvals, clean);
  const commands = commandsOf(target);
  const decision = decisionOf(commands, rules, state, null);
  const denied = decision.verdict === 'deny' ? reasonText(decision.because) : null;
  const mixed = mixedFiles(state, draft);
  const suspicious = draft.files.filter(({ diff = '' }) => clean(diff) !== diff).map((file) => file.path);
  const lines = previewLines({ state, target, draft, text, commands, mixed, suspicious, denied });
  const digest = hash('sha256', JSON.stringify([target, tree, tip, text, state.pullRequest?.url]));
  return { tree, text, commands, decision, lines, digest };
}

function whyNot(log: Log, state: RunState, claimed: boolean): string | null {
  const summary = exitOnFault(() => log.sessions()).find(({ session }) => session === state.session);
  if (summary?.state === 'running' && !claimed) return 'the run has not ended';
  if (touchedFiles(state).length === 0) return 'this run changed no file';
  const [closed] = closedGates(state);
  return closed === undefined
    ? null
    : `the review ${closed.role}, which blocks, did not pass: ask for what it found, and let it pass first`;
}

/** The commit of the run's branch; a branch of that name with another one is not touched. */
async function tipOf(
  publisher: Publisher,
  branch: string,
  known: PullRequest | undefined,
  signal: AbortSignal,
): Promise<Result<string | null, string>> {
  const tip = await publisher.tip(branch, signal);
  if (!tip.ok || tip.value === null || known?.commits.includes(tip.value) === true) return tip;
  const at = tip.value.slice(0, 12);
  return fail(
    `the branch ${branch} is at ${at}, where Mimir did not put it: rename it, or push it and open the request yourself`,
  );
}

/** The commit that needs no further one, null where one has to be made, or why there is nothing to publish. */
function readyCommit(
  added: PublishDraft,
  tip: string | null,
  branch: string,
  { ahead, parent }: PublishDraft,
): Result<string | null, string> {
  if (added.files.length > 0)
    return tip !== null && added.from === branch
      ? fail(`you are on the branch ${branch}: commit and push there yourself`)
      : ok(null);
  if (tip !== null) return ok(tip);
  if (parent !== null && ahead !== null && ahead.length > 0) return ok(parent);
  const out = added.leftOut.slice(0, 10).map(({ path, because }) => `\n  ${path} is left out: ${because}`);
  return fail(`nothing is left to publish: the files of this run are as in the last commit${out.join('')}`);
}

/** The commands that leave this machine, as a person would type them: what rules about commands are applied to. */
const commandsOf = ({ branch, remote, base, program }: PrTarget): readonly string[] => [
  `git push ${remote} ${branch}`,
  program === 'gh'
    ? `gh pr create --head ${branch}${base === null ? '' : ` --base ${base}`}`
    : `glab mr create --source-branch ${branch}${base === null ? '' : ` --target-branch ${base}`}`,
];

/** `by` null: as long as nobody has answered. */
function decisionOf(
  commands: readonly string[],
  rules: Loaded['rules'],
  { mode }: RunState,
  by: AllowedBy | null,
): Decision {
  const circumstances = {
    mode,
    interactive: by !== 'rule',
    sandbox: 'none',
    capabilities: [],
  } as const;
  const answered = by === 'person' || by === 'flag';
  return decide({ is: 'publish', commands }, rules, { ...circumstances, answered });
}

/** Files that differ from the last commit by more lines than agents changed: somebody else changed them too. */
function mixedFiles(state: RunState, { files }: PublishDraft): readonly string[] {
  const touched = new Map(touchedFiles(state).map((file) => [file.path, file]));
  return files.flatMap(({ path, added, removed }) => {
    const own = touched.get(path);
    return own !== undefined && (added > own.added || removed > own.removed) ? [path] : [];
  });
}

const shownOf = ({ state, target, commit, tip, lines, text, decision, digest }: Plan): RequestPreview => {
  const url = state.pullRequest?.url ?? null;
  return {
    kind: kindOf(target),
    branch: target.branch,
    lines,
    ...text,
    digest,
    url,
    isComplete: url !== null && commit === tip && state.pullRequest?.why === '',
    verdict: decision.verdict,
    because: reasonText(decision.because),
  };
};

async function send(parts: Parts, order: SendOrder, signal: AbortSignal): Promise<Result<Sent, string>> {
  const { log } = parts;
  const claim = exitOnFault(() => log.claim(order.session));
  if (!claim.ok) return fail(`the run has not ended: ${claim.holder}`);
  try {
    return await sendClaimed(parts, order, signal);
  } finally {
    log.release(order.session);
  }
}

type Record = (body: EventBody) => void;

/** Makes exactly what was shown, if the rules and the person allow it. */
async function sendClaimed(
  parts: Parts,
  { session, digest, by, heard }: SendOrder,
  signal: AbortSignal,
): Promise<Result<Sent, string>> {
  const { rules, log } = parts;
  const record: Record = (body) => {
    const time = new Date(world.now()).toISOString();
    for (const event of exitOnFault(() => log.append(session, time, [body]))) heard?.(event);
  };
  const made = await plan(parts, session, signal, true);
  if (!made.ok) return made;
  const { commands, state } = made.value;
  if (made.value.digest !== digest)
    return fail('the files or the session have changed since this was shown; look at it again');
  const decision = decisionOf(commands, rules, state, by);
  const { verdict, because } = decision;
  if (verdict === 'allow')
    return carryOut(parts, made.value, { record, by: by === 'rule' ? reasonText(because) : by }, signal);
  if (verdict === 'deny' && decision.unanswered !== true) {
    const facts = { ...because, ...namesOf(rules), subject: commands.join('; '), action: 'publish' };
    record({ type: 'policy.decided', agent: ROOT, decision: 'deny', ...facts });
  }
  return fail(`denied: ${reasonText(because)}`);
}

/** Carries out the steps that are left; each is recorded before and after. */
async function carryOut(
  { publisher, clean }: Parts,
  { target, text, names, tip, tree, ...made }: Plan,
  { record, by }: { readonly record: Record; readonly by: string },
  signal: AbortSignal,
): Promise<Result<Sent, string>> {
  const place = { ...made.place, base: target.base };
  async function step(
    name: PrStep,
    act: () => Promise<Result<string | void, string>>,
    facts: { readonly commit?: string; readonly by?: string } = {},
  ): Promise<string> {
    record({ type: 'pr.step', step: name, is: 'began', ...facts });
    const done = await act();
    if (!done.ok) throw new StepFault(clean(done.fault));
    const value = done.value ?? '';
    const learned = name === 'commit' ? { commit: value } : name === 'request' ? { url: value } : {};
    record({ type: 'pr.step', step: name, is: 'done', ...learned });
    return value;
  }
  record({ type: 'pr.started', ...target, title: text.title, files: names });
  try {
    const order = { names, onto: tip, message: text.message, tree };
    const commit = made.commit ?? (await step('commit', () => publisher.commit(order, signal)));
    if (commit !== tip) await step('branch', () => publisher.setBranch(target.branch, commit, tip), { commit });
    await step('push', () => publisher.push(place, target.branch, commit, signal), { by });
    const url = await step('request', () => found(publisher, { place, target, text }, signal), { by });
    record({ type: 'pr.finished', ok: true, why: '' });
    return ok({ branch: target.branch, url, kind: kindOf(target) });
  } catch (error) {
    if (!(error instanceof StepFault)) throw error;
    record({ type: 'pr.finished', ok: false, why: error.message });
    return fail(error.message);
  }
}

class StepFault extends Error {}

/** The request of the branch that is there, or a new one. */
async function found(
  publisher: Publisher,
  { place, target, text }: Pick<Plan, 'place' | 'target' | 'text'>,
  signal: AbortSignal,
): Promise<Result<string, string>> {
  const there = await publisher.find(place, target.branch, signal);
  if (!there.ok) return there;
  return there.value === null ? publisher.request(place, target.branch, text, signal) : ok(there.value);
}
