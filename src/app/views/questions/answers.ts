/** The answers that a question offers, by number, with what each covers in words: for the screen and for line mode. */
import type { AnswerScope, GrantScope } from '../../../domain/agents/grant.ts';
import { coveredWords, programsText } from '../../../domain/agents/grant.ts';
import type { ApprovalRequest } from '../../../events/event.ts';
import type { StandingGrant } from '../../../events/state.ts';
import { kindOf, takesAmount } from './question.ts';

export interface Offer {
  /** Of a permission they are fixed: 1 once, 2 and 3 for the session, 4 no, 5 no with a reason. Of options, their places. */
  readonly number: string;
  /** A few words: `allow once`, `npm test …`; an option as it is worded. */
  readonly label: string;
  /** What a yes for the session covers; null for the others. */
  readonly covers: string | null;
  readonly allow: boolean;
  readonly scope: AnswerScope;
  /** What is sent with it; empty: nothing. */
  readonly text: string;
  /** What the person types before it is given; null where it is given at once. */
  readonly asks: 'reason' | 'words' | 'amount' | null;
}

/** In the order of their numbers; what the question does not offer is missing. None where it is answered in words alone. */
export function offersFor(request: ApprovalRequest): readonly Offer[] {
  const kind = kindOf(request);
  if (kind === 'words') return [];
  if (kind === 'options') return request.action === 'turn' ? TURN : optionsFor(request);
  const [narrow, wide] = SCOPES[request.action] ?? [null, null];
  return [
    { ...YES, number: '1', label: 'allow once' },
    ...wider('2', request, narrow),
    ...wider('3', request, wide),
    { ...NO, number: '4', label: 'deny' },
    { ...NO, number: '5', label: 'deny, say why', asks: 'reason' },
  ];
}

const YES = { covers: null, allow: true, scope: 'once', text: '', asks: null } as const;
const NO = { ...YES, allow: false } as const;

const TURN: readonly Offer[] = [
  { ...YES, number: '1', label: 'go on' },
  { ...YES, number: '2', label: 'send a message, or !command', asks: 'words' },
];

/** Those of the question, and behind them what a person may say instead. */
function optionsFor(request: ApprovalRequest): readonly Offer[] {
  const { action, options } = request;
  const given = options.map((label, at): Offer => ({ ...YES, number: String(at + 1), label, text: label }));
  const more = String(options.length + 1);
  if (action === 'question') return [...given, { ...YES, number: more, label: 'in your own words', asks: 'words' }];
  return options.some((option) => takesAmount(request, option))
    ? [...given, { ...YES, number: more, label: 'add another amount', asks: 'amount' }]
    : given;
}

/** The place of the answer that Enter takes at first, of options: the first that costs nothing more. */
export const firstChosen = (request: ApprovalRequest): number =>
  Math.max(
    0,
    request.options.findIndex((option) => !takesAmount(request, option)),
  );

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
  return [{ ...YES, number, label: labelOf(request, scope), covers: `${covers}, until this session ends`, scope }];
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
