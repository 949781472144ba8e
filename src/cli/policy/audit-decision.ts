/** A decision as an audit sees it: who, what, why, by which rule; digests in place of contents. */
import { hash } from 'node:crypto';
import type { MimirEvent } from '../../events/event.ts';

export interface Decision {
  readonly session: string;
  readonly seq: number;
  readonly time: string;
  readonly type: MimirEvent['type'];
  /** An agent's path, or what decided for the run. */
  readonly who: string;
  readonly what: string;
  readonly [detail: string]: string | number | boolean | null;
}

type Details = Readonly<Record<string, string | number | boolean | null>> & { readonly what: string };

/** Null for what is no decision. */
export function decisionIn(event: MimirEvent): Decision | null {
  const details = detailsOf(event);
  if (details === null) return null;
  const { session, seq, time, type } = event;
  const who = 'agent' in event && event.agent !== null ? event.agent : 'run';
  return { session, seq, time, type, who, ...details };
}

/** One line for a person: what matters first, the rest by name. */
export function decisionLine({ session, seq, time, type, who, what, ...rest }: Decision): string {
  const details = Object.entries(rest).flatMap(([name, value]) => (value === null ? [] : [`${name}=${String(value)}`]));
  return [session, seq, time, type, who, what, ...details].join('  ');
}

function detailsOf(event: MimirEvent): Details | null {
  return ofSession(event) ?? ofPlan(event) ?? ofApproval(event) ?? ofForced(event) ?? ofRule(event);
}

function ofSession(event: MimirEvent): Details | null {
  switch (event.type) {
    case 'session.started': {
      const { mode, version, sandbox, provider, task } = event;
      return { what: `began in mode ${mode}`, ...policyOf(event), version, sandbox, provider, digest: digestOf(task) };
    }
    case 'session.resumed':
      return { what: 'resumed', ...policyOf(event), version: event.version };
    case 'session.mode':
      return { what: `mode ${event.mode}` };
    case 'agent.pinned':
      return { what: event.mode === null ? 'no longer pinned' : `pinned to mode ${event.mode}` };
    case 'session.finished':
      return { what: event.status, cost: event.totals.cost, tokens: event.totals.tokens, agents: event.totals.agents };
    default:
      return null;
  }
}

/** The hashes of the files, where several of their states held together, parted by commas. */
const policyOf = ({
  policyHash,
  policyHashes,
}: Extract<MimirEvent, { readonly policyHash: string }>): Readonly<Record<string, string>> => ({
  policyHash,
  ...(policyHashes === undefined ? {} : { policyHashes: policyHashes.join(',') }),
});

function ofPlan(event: MimirEvent): Details | null {
  switch (event.type) {
    case 'plan.approved':
      return { what: 'approved', by: event.by, digest: event.digest };
    case 'plan.rejected':
      return { what: 'rejected', digest: digestOf(event.reason) };
    case 'agent.created': {
      const { role, model, parent, forced } = event;
      return { what: `created ${role}`, model: model.used, parent, trigger: forced?.trigger ?? null };
    }
    default:
      return null;
  }
}

function ofApproval(event: MimirEvent): Details | null {
  switch (event.type) {
    case 'approval.requested': {
      const { action, because, unsandboxed, exact } = event.request;
      return {
        what: `asked for ${action}`,
        approval: event.approval,
        why: because,
        unsandboxed,
        digest: digestOf(exact),
      };
    }
    case 'approval.answered': {
      const { answer, approval, by, scope, text } = event;
      return { what: answer, approval, by, scope, digest: text === '' ? null : digestOf(text) };
    }
    default:
      return null;
  }
}

function ofForced(event: MimirEvent): Details | null {
  switch (event.type) {
    case 'forced.verdict': {
      const { role, tree, pass, summary, findings } = event;
      const digest = digestOf(JSON.stringify([summary, findings]));
      return { what: pass ? 'passed' : 'did not pass', role, tree, findings: findings.length, digest };
    }
    case 'forced.gate': {
      const { open, role, trigger, tree, onFailure, why, due } = event;
      const what = due !== undefined ? 'review due' : open ? 'gate open' : 'gate closed';
      return { what, role, trigger, tree, onFailure, why };
    }
    default:
      return null;
  }
}

function ofRule(event: MimirEvent): Details | null {
  switch (event.type) {
    case 'policy.decided': {
      const { decision, action, subject, rule, layer, file, line } = event;
      return { what: `${decision} ${action}`, subject, why: rule, layer, file, line, ...policyOf(event) };
    }
    case 'budget.changed': {
      const { maxTokens = null, maxCost = null, maxDuration = null } = event.budget;
      return { what: 'budget changed', by: event.by, maxTokens, maxCost, maxDuration };
    }
    case 'budget.exhausted':
      return { what: `${event.what} used up`, scope: event.scope, spent: event.spent, limit: event.limit };
    default:
      return null;
  }
}

const digestOf = (content: string): string => hash('sha256', content);
