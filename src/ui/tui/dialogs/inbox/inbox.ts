/** Open questions, one at a time: the asking agent, the exact action, and numbered answers. Takes no key until focused. Enter never allows; a key held
 * before the focus does not answer; a long action must be seen to its end first; a destructive one needs a second key. view.ts draws it. */
import { answerCommands } from '../../../../app/actions/index.ts';
import { dangerOf, kindOf, type Offer, offersFor, type Question, questionsOf } from '../../../../app/views/index.ts';
import type { Millis } from '../../../../domain/ids.ts';
import type { DialogEffect, Context } from '../../frame/screen.ts';
import { cycled, type Hint } from '../../frame/keymap.ts';
import type { Input } from '../../terminal/terminal.ts';
import { edit, editorText, openEditor } from '../../text/editor.ts';
import { answerOf, type AnswerState, inboxHints, type InboxState, NEW } from './answers.ts';
import { currentOf, type Docked, inboxView, layoutOf, textEnd } from './view.ts';
import { scrolled, type OverlayView } from '../../frame/overlay.ts';

/** Keys within this time after a question first appeared are ignored. */
const IGNORED_MS: Millis = 300;

/** The result of a key; `leaves` returns the focus to the screen. */
export interface Outcome {
  readonly inbox: Inbox;
  readonly leaves?: boolean;
  readonly effect?: DialogEffect;
}

/** The open questions and the user's position in them. Immutable. */
export class Inbox {
  readonly title = 'Questions';
  readonly kind = 'inbox';
  readonly #state: InboxState;

  constructor(state: InboxState = NEW) {
    this.#state = state;
  }

  unanswered({ state }: Context): readonly Question[] {
    return questionsOf(state.approvals.filter(({ id }) => !this.#state.answered.has(id)));
  }

  view(context: Context, docked: Docked): OverlayView {
    return inboxView(this.#state, this.unanswered(context), context, docked);
  }

  hints(context: Context): readonly Hint[] {
    const left = this.unanswered(context);
    const current = currentOf(this.#state, left);
    return current === undefined ? [] : inboxHints(current, answerOf(this.#state, current), left.length, context);
  }

  /** Keeps the shown question when others arrive; a postponed one gives way to a new one. */
  settle(context: Context, focused: boolean): Inbox {
    const left = this.unanswered(context);
    const { current, postponed } = this.#state;
    const isNew = ({ all }: Question): boolean => all.some(({ id }) => !postponed.has(id));
    const shown = left.find(({ key }) => key === current);
    if (shown !== undefined && (focused || isNew(shown) || !left.some(isNew))) return this;
    const next = focused ? left[0] : (left.find(isNew) ?? left[0]);
    return next === undefined || next.key === current ? this : this.#with({ current: next.key, since: context.now });
  }

  /** Focuses the question: keys pressed from now on are meant for it. */
  focus({ now }: Context): Inbox {
    return this.#with({ since: now });
  }

  /** Records which part of the question was visible. */
  painted(context: Context, docked: Docked): Inbox {
    const current = currentOf(this.#state, this.unanswered(context));
    if (current === undefined) return this;
    const laid = layoutOf(this.#state, current, context, docked);
    if (laid === null) return this;
    const visible = textEnd(laid.rows.slice(laid.top, laid.top + laid.count));
    const { seen } = this.#state;
    const kept = answerOf(this.#state, current);
    const fresh = current.all.filter(({ id }) => !seen.has(id));
    if (fresh.length === 0 && visible <= kept.read) return this;
    return this.#with({
      seen: new Map([...seen, ...fresh.map(({ id }) => [id, context.now] as const)]),
      kept: new Map(this.#state.kept).set(current.key, { ...kept, read: Math.max(kept.read, visible) }),
    });
  }

  /** Offers a question again whose answer was refused. */
  again(approval: string): Inbox {
    const { answered, postponed } = this.#state;
    const again = new Set([approval]);
    return this.#with({ answered: answered.difference(again), postponed: postponed.difference(again) });
  }

  press(input: Input, context: Context, docked: Docked): Outcome {
    const left = this.unanswered(context);
    const question = currentOf(this.#state, left);
    if (question === undefined) return { inbox: this, leaves: true };
    const at: Press = { inbox: this, state: this.#state, question, left, context, docked };
    if (input.is === 'key') {
      if (input.key === 'tab' || input.key === 'backtab') return this.#next(at, input.key === 'tab' ? 1 : -1);
      if (input.key === 'esc') return this.#back(at);
    }
    return context.now >= acceptsFrom(at) ? pressed(at, input) : { inbox: this };
  }

  /** Selects the next question in a circle; with only one, returns the focus to the screen. */
  #next({ left, question, context }: Press, by: 1 | -1): Outcome {
    if (left.length === 1) return { inbox: this, leaves: true };
    return { inbox: this.#with({ current: cycled(left, question, by).key, since: context.now }) };
  }

  /** Leaves the typed text or the second confirmation first, then postpones the question. */
  #back(at: Press): Outcome {
    const kept = answerOf(this.#state, at.question);
    if (kept.typing !== null || kept.sure !== null) return keep(at, { typing: null, sure: null });
    const ids = at.context.state.approvals.map(({ id }) => id);
    return { inbox: this.#with({ postponed: new Set([...this.#state.postponed, ...ids]) }), leaves: true };
  }

  #with(change: Partial<InboxState>): Inbox {
    return new Inbox({ ...this.#state, ...change });
  }
}

interface Press {
  readonly inbox: Inbox;
  readonly state: InboxState;
  readonly question: Question;
  readonly left: readonly Question[];
  readonly context: Context;
  readonly docked: Docked;
}

const acceptsFrom = ({ state, question }: Press): Millis =>
  Math.min(...question.all.map(({ id }) => (state.seen.get(id) ?? Number.POSITIVE_INFINITY) + IGNORED_MS));

/** True if the key was pressed after the question got the focus. A key held since before answers nothing. */
function isFresh(at: Press, input: Input, since: Millis = at.state.since): boolean {
  const down = input.is === 'key' ? (input.since ?? at.context.now) : at.context.now;
  return down >= since && down >= acceptsFrom(at);
}

function pressed(at: Press, input: Input): Outcome {
  const kept = answerOf(at.state, at.question);
  const kind = kindOf(at.question.first.request);
  if (kept.sure !== null) return sure(at, kept.sure, input);
  if (kept.typing !== null || kind === 'words') return typed(at, kept, input);
  if (input.is !== 'key') return scroll(at, input);
  const offers = offersFor(at.question.first.request);
  const offer = offers.find(({ number }) => number === input.key);
  if (offer !== undefined) return chosen(at, offer, input);
  if (kind === 'options') return options(at, kept, offers, input);
  if (/^[1-9]$/.test(input.key)) return warn(at, 'This cannot be allowed for the session. 1 allows it once.');
  if (input.key === 'enter') return warn(at, 'Press 1 to allow once or 4 to deny. Enter does nothing here.');
  // `A` opens the questions, so pressing it once too often must not answer one.
  return /^[AynN]$/.test(input.key) ? warn(at, 'Press 1 to allow once or 4 to deny.') : scroll(at, input);
}

type Key = Extract<Input, { readonly is: 'key' }>;

function options(at: Press, kept: AnswerState, offers: readonly Offer[], input: Key): Outcome {
  const by = STEPS[input.key];
  if (by !== undefined) return keep(at, { option: Math.max(0, Math.min(offers.length - 1, kept.option + by)) });
  const offer = input.key === 'enter' ? offers[kept.option] : undefined;
  return offer === undefined ? scroll(at, input) : chosen(at, offer, input);
}

const STEPS: Readonly<Record<string, number | undefined>> = { up: -1, k: -1, down: 1, j: 1 };

function chosen(at: Press, offer: Offer, input: Key): Outcome {
  const { request } = at.question.first;
  if (!isFresh(at, input)) return warn(at, KEY_HELD);
  if (offer.asks !== null) return keep(at, { typing: offer, editor: openEditor('', true) });
  if (!offer.allow || kindOf(request) !== 'permission') return answer(at, offer, offer.text);
  if (!isRead(at)) return warn(at, 'Scroll to the end (G) before answering.');
  return dangerOf(request) === null
    ? answer(at, offer, offer.text)
    : keep(at, { sure: { offer, since: at.context.now } });
}

const KEY_HELD = 'Held keys do not answer. Release the key for a second, then press it.';

/** Handles the second key, which a destructive action needs. */
function sure(at: Press, { offer, since }: NonNullable<AnswerState['sure']>, input: Input): Outcome {
  if (input.is !== 'key') return scroll(at, input);
  if (input.key === 'y') return isFresh(at, input, since) ? answer(at, offer, offer.text) : warn(at, KEY_HELD);
  return input.key === offer.number ? { inbox: at.inbox } : warn(at, 'Press y to allow or Esc to go back.');
}

/** Handles typed text: the reason of a denial, a free answer, another amount. */
function typed(at: Press, { editor, typing }: AnswerState, input: Input): Outcome {
  if (input.is !== 'key' || input.key !== 'enter') {
    const next = edit(editor, input);
    return next === null ? scroll(at, input) : keep(at, { editor: next });
  }
  return isFresh(at, input) ? submitText(at, editorText(editor).trim(), typing) : warn(at, KEY_HELD);
}

function submitText(at: Press, text: string, typing: Offer | null): Outcome {
  if (text === '' && typing?.asks !== 'reason') return warn(at, 'Type an answer, or press Esc for later.');
  const words = typing?.asks === 'amount' ? `add ${text}` : text;
  return answer(at, typing ?? { allow: true, scope: 'once' }, words);
}

function isRead({ state, question, context, docked }: Press): boolean {
  const laid = layoutOf(state, question, context, docked);
  return laid !== null && answerOf(state, question).read >= textEnd(laid.rows);
}

function scroll(at: Press, input: Input): Outcome {
  const laid = layoutOf(at.state, at.question, at.context, at.docked);
  const top = laid === null ? null : scrolled(input, laid.top, laid.rows.length, laid.count);
  if (laid === null || top === null) return { inbox: at.inbox };
  // The end key stops at the end of the text first; what follows need not be read.
  const last = laid.rows.findLastIndex(({ exact }) => exact);
  const end = isRead(at) ? top : Math.min(top, Math.max(0, last + 1 - laid.count));
  return keep(at, { at: laid.rows[end]?.from ?? 0 });
}

function keep({ state, question }: Press, change: Partial<AnswerState>): Outcome {
  const kept = new Map(state.kept).set(question.key, { ...answerOf(state, question), ...change });
  return { inbox: new Inbox({ ...state, kept }) };
}

/** Answers for the agents that were visible; once for an approval for the session, since that covers equal questions. */
function answer({ state, question, left, context }: Press, how: Pick<Offer, 'allow' | 'scope'>, text: string): Outcome {
  const { allow, scope } = how;
  const seen = question.all.filter(({ id }) => state.seen.has(id));
  const ids = seen.map(({ id }) => id);
  const answered = new Set([...state.answered, ...ids]);
  const next = left[left.indexOf(question) + 1] ?? left.find((one) => one !== question);
  const given = { allow, scope, ...(text === '' ? {} : { text }) };
  return {
    inbox: new Inbox({ ...state, answered, current: next?.key ?? null, since: context.now }),
    leaves: next === undefined,
    effect: { commands: answerCommands(question, ids, given) },
  };
}

const warn = ({ inbox }: Press, text: string): Outcome => ({ inbox, effect: { toast: { level: 'warn', text } } });
