/** `mimir audit verify` checks the hash chain of the log; `mimir audit export` prints who decided what, by which rule. */
import { hash } from 'node:crypto';
import { type Arguments, EXIT, sanitise, type Io, exitOnFault, wrongUse } from '../../app/process/index.ts';
import { eventsOf, openReader, projectOf, type ProjectPlace, sessionOf, storeOf } from '../../app/workspace/index.ts';
import { type ByType, forType, type MimirEvent } from '../../events/index.ts';
import { type AuditFault, verifyLog } from '../../store/index.ts';
import { command } from '../verb.ts';
import { plural } from '../../domain/lists.ts';

export const auditVerb = command('audit', (args, io) => {
  const [what, session] = args.words;
  const project = projectOf(args, io);
  if (what === 'verify') return Promise.resolve(verify(project, session, args, io));
  if (what === 'export') return Promise.resolve(exported(project, session, args, io));
  const words = what === undefined ? 'audit needs a subcommand: verify or export' : `there is no "audit ${what}"`;
  throw wrongUse(`${words}\n  \`mimir audit verify\` or \`mimir audit export\``);
});

/** Exit code 0 if every record is unchanged, else 1. */
function verify(project: ProjectPlace, session: string | undefined, args: Arguments, io: Io): number {
  // A damaged session may not be listed, so its name is searched in the records.
  const wanted = (name: string): boolean => session === undefined || name.startsWith(session);
  const found = exitOnFault(() => verifyLog(storeOf(project), wanted));
  if (session !== undefined && found.sessions === 0 && found.faults.length === 0)
    throw wrongUse(`this project has no session "${session}"\n  \`mimir sessions\` lists them`);
  if (args.has('json')) io.json(found);
  else {
    for (const fault of found.faults) io.complain(faultLine(fault));
    const checked = `${plural(found.records, 'record')} of ${plural(found.sessions, 'session')}, ${plural(found.checkpoints, 'checkpoint')}`;
    io.say(found.faults.length === 0 ? `${checked}: unchanged since they were written` : `${checked}: damaged`);
  }
  return found.faults.length === 0 ? EXIT.done : EXIT.agentFailed;
}

function faultLine({ session, seq, problem }: AuditFault): string {
  if (session === null) return sanitise(problem);
  return sanitise(seq === null ? `session ${session}: ${problem}` : `session ${session}, record ${seq}: ${problem}`);
}

function exported(project: ProjectPlace, session: string | undefined, args: Arguments, io: Io): number {
  const reader = openReader(project);
  const sessions =
    session === undefined ? exitOnFault(() => reader.sessions()).toReversed() : [sessionOf(reader, session)];
  for (const one of sessions) for (const event of eventsOf(reader, one.session)) print(event, args, io);
  return EXIT.done;
}

function print(event: MimirEvent, args: Arguments, io: Io): void {
  const decision = decisionIn(event);
  if (decision === null) return;
  if (args.has('json')) io.json(decision);
  else io.say(sanitise(decisionLine(decision)));
}

// A decision for an audit: who, what, why, by which rule; digests instead of contents.

interface Decision {
  readonly session: string;
  readonly seq: number;
  readonly time: string;
  readonly type: MimirEvent['type'];
  /** An agent's id, or what decided for the run. */
  readonly who: string;
  readonly what: string;
  readonly [detail: string]: string | number | boolean | null;
}

type Details = Readonly<Record<string, string | number | boolean | null>> & { readonly what: string };

/** Null for an event that is not a decision. */
export function decisionIn(event: MimirEvent): Decision | null {
  const details = forType<[], [], Details>(DETAILS, event.type)?.(event) ?? null;
  if (details === null) return null;
  const { session, seq, time, type } = event;
  const who = 'agent' in event && event.agent !== null ? event.agent : 'run';
  return { session, seq, time, type, who, ...details };
}

/** One line for a person: the important fields first, the rest by name. */
function decisionLine({ session, seq, time, type, who, what, ...rest }: Decision): string {
  const details = Object.entries(rest).flatMap(([name, value]) => (value === null ? [] : [`${name}=${String(value)}`]));
  return [session, seq, time, type, who, what, ...details].join('  ');
}

/** The hash of the policy, and the hashes of several states that applied together, separated by commas. */
const policyOf = ({
  policyHash,
  policyHashes,
}: Extract<MimirEvent, { readonly policyHash: string }>): Readonly<Record<string, string>> => ({
  policyHash,
  ...(policyHashes === undefined ? {} : { policyHashes: policyHashes.join(',') }),
});

const DETAILS: ByType<[], [], Details> = {
  'session.started'(event) {
    const { mode, version, sandbox, provider, task } = event;
    return { what: `began in mode ${mode}`, ...policyOf(event), version, sandbox, provider, digest: digestOf(task) };
  },
  'session.resumed': (event) => ({ what: 'resumed', ...policyOf(event), version: event.version }),
  'session.mode': ({ mode }) => ({ what: `mode ${mode}` }),
  'agent.pinned': ({ mode }) => ({ what: mode === null ? 'no longer pinned' : `pinned to mode ${mode}` }),
  'session.finished': ({ status, totals: { cost, tokens, agents } }) => ({ what: status, cost, tokens, agents }),
  'plan.approved': ({ by, digest }) => ({ what: 'approved', by, digest }),
  'plan.rejected': ({ reason }) => ({ what: 'rejected', digest: digestOf(reason) }),
  'agent.created': ({ role, model, parent, forced }) => ({
    what: `created ${role}`,
    model: model.used,
    parent,
    trigger: forced?.trigger ?? null,
  }),
  'approval.requested'({ approval, request: { action, because, unsandboxed, exact } }) {
    return { what: `asked for ${action}`, approval, why: because, unsandboxed, digest: digestOf(exact) };
  },
  'approval.answered': ({ answer, approval, by, scope, text }) => ({
    what: answer,
    approval,
    by,
    scope,
    digest: text === '' ? null : digestOf(text),
  }),
  'forced.verdict'({ role, tree, pass, summary, findings }) {
    const digest = digestOf(JSON.stringify([summary, findings]));
    return { what: pass ? 'passed' : 'did not pass', role, tree, findings: findings.length, digest };
  },
  'forced.gate'({ open, role, trigger, tree, onFailure, why, due }) {
    const what = due !== undefined ? 'review due' : open ? 'gate open' : 'gate closed';
    return { what, role, trigger, tree, onFailure, why };
  },
  'policy.decided'(event) {
    const { decision, action, subject, rule, layer, file, line } = event;
    return { what: `${decision} ${action}`, subject, why: rule, layer, file, line, ...policyOf(event) };
  },
  'budget.changed'({ by, budget: { maxTokens = null, maxCost = null, maxDuration = null } }) {
    return { what: 'budget changed', by, maxTokens, maxCost, maxDuration };
  },
  'changes.undone': ({ files, restored = false }) => ({
    what: restored ? 'changes restored' : 'changes undone',
    by: 'person',
    files: files.length,
  }),
  'pr.started': ({ branch, remote, address, base, program, files }) => ({
    what: 'pull request',
    branch,
    remote,
    address,
    base,
    program,
    files: files.length,
  }),
  'pr.step': ({ step, is, by = null, commit = null, url = null }) => ({ what: `${step} ${is}`, by, commit, url }),
  'pr.finished': ({ ok, why }) => ({ what: ok ? 'opened' : 'not opened', why: ok ? null : why }),
  'budget.exhausted': ({ what, scope, spent, limit }) => ({ what: `${what} used up`, scope, spent, limit }),
};

const digestOf = (content: string): string => hash('sha256', content);
