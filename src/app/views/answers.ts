/** The answers that a question for permission offers, by number, with what each covers in words: for the screen and for line mode. */
import type { AnswerScope, GrantScope } from '../../domain/grant.ts';
import { coveredWords, programsText } from '../../domain/grant.ts';
import type { ApprovalRequest } from '../../events/event.ts';
import type { StandingGrant } from '../../events/state.ts';

export interface Offer {
  /** Fixed: 1 once, 2 and 3 for the session, 4 no, 5 no with a reason. */
  readonly number: string;
  /** A few words: `allow once`, `npm test …`. */
  readonly label: string;
  /** What a yes for the session covers; null for the others. */
  readonly covers: string | null;
  readonly allow: boolean;
  readonly scope: AnswerScope;
  /** The person is asked why; the agent reads it. */
  readonly reason: boolean;
}

/** In the order of their numbers; what the question does not offer is missing. */
export function offersFor(request: ApprovalRequest): readonly Offer[] {
  const [narrow, wide] = SCOPES[request.action] ?? [null, null];
  return [
    { number: '1', label: 'allow once', covers: null, allow: true, scope: 'once', reason: false },
    ...wider('2', request, narrow),
    ...wider('3', request, wide),
    { number: '4', label: 'deny', covers: null, allow: false, scope: 'once', reason: false },
    { number: '5', label: 'deny, say why', covers: null, allow: false, scope: 'once', reason: true },
  ];
}

type Scopes = readonly [narrow: GrantScope | null, wide: GrantScope | null];

const SCOPES: Readonly<Partial<Record<ApprovalRequest['action'], Scopes>>> = {
  shell: ['session', 'program'],
  'git-write': ['session', null],
  write: ['file', 'session'],
  read: [null, 'session'],
  'git-read': [null, 'session'],
  spawn: [null, 'session'],
};

function wider(number: string, request: ApprovalRequest, scope: GrantScope | null): readonly Offer[] {
  const covers = scope === null ? null : coveredWords(request, scope);
  if (scope === null || covers === null) return [];
  const label = labelOf(request, scope);
  return [{ number, label, covers: `${covers}, until this session ends`, allow: true, scope, reason: false }];
}

const LABELS: Readonly<Partial<Record<ApprovalRequest['action'], string>>> = {
  shell: 'this command',
  'git-write': 'this commit',
  write: "this agent's edits",
  read: 'all reading',
  'git-read': 'all looks at git',
  spawn: 'all spawns',
};

function labelOf({ action, programs = [] }: ApprovalRequest, scope: GrantScope): string {
  if (scope === 'program') return programsText(programs);
  return scope === 'file' ? 'this file' : (LABELS[action] ?? 'all of these');
}

/** What a grant covers, as a row of the list of grants. */
export function grantText(grant: StandingGrant): string {
  const covers = coveredWords(grant, grant.scope) ?? grant.title;
  return grant.scope === 'session' && grant.action !== 'write' ? `${grant.title}: ${covers}` : covers;
}
