/**
 * The questions that wait for the person, one at a time: who asks, exactly what would happen, and the answers by number. It takes no key
 * before the person turns to it. Enter never allows anything dangerous, a key that was down before the question had the keys doesn't
 * answer it, a long action must have been seen to its end before it can be allowed, and what destroys takes a second key. How it
 * looks is view.ts.
 */
import { type Offer, offersFor } from '../../../../app/views/questions/answers.ts';
import { type Question, destroys, kindOf, questionsOf } from '../../../../app/views/questions/question.ts';
import type { Millis } from '../../../../domain/ids.ts';
import type { Command } from '../../../../ports/controls.ts';
import type { DialogEffect, Context } from '../../frame/screen.ts';
import type { Hint } from '../../frame/keymap.ts';
import type { Input } from '../../terminal/terminal.ts';
import { edit, editorText, openEditor } from '../../text/editor.ts';
import { keptOf, NEW, type InboxState, type Kept } from './answers.ts';
import { currentOf, inboxHints, inboxView, sightOf, type Docked } from './view.ts';
import { scrolled, type OverlayView } from '../../frame/overlay.ts';

/** Keys within this time after a question was on the screen first were meant for something else. */
const DEAF: Millis = 300;

/** What a key led to; `leaves`: the screen has the keys again. */
export interface Asked {
  readonly inbox: Inbox;
  readonly leaves?: boolean;
  readonly effect?: DialogEffect;
}

/** The questions and where the person is in them. Nothing changes in place. */
export class Inbox {
  readonly title = 'Questions';
  readonly kind = 'inbox';
  readonly #state: InboxState;

  constructor(state: InboxState = NEW) {
    this.#state = state;
  }

  /** What is left to answer. */
  left({ state }: Context): readonly Question[] {
    return questionsOf(state.approvals.filter(({ id }) => !this.#state.answered.has(id)));
  }

  view(context: Context, docked: Docked): OverlayView {
    return inboxView(this.#state, this.left(context), context, docked);
  }

  hints(context: Context): readonly Hint[] {
    const left = this.left(context);
    const current = currentOf(this.#state, left);
    return current === undefined ? [] : inboxHints(current, keptOf(this.#state, current), left.length, context);
  }

  /** The question that is shown stays, whatever comes meanwhile; one that was left for later gives way to a new one. */
  settle(context: Context, focused: boolean): Inbox {
    const left = this.left(context);
    const { current, putOff } = this.#state;
    const isNew = ({ all }: Question): boolean => all.some(({ id }) => !putOff.has(id));
    const shown = left.find(({ key }) => key === current);
    if (shown !== undefined && (focused || isNew(shown) || !left.some(isNew))) return this;
    const next = focused ? left[0] : (left.find(isNew) ?? left[0]);
    return next === undefined || next.key === current ? this : this.#with({ current: next.key, since: context.now });
  }

  /** The person turns to it: keys are meant for it from now on. */
  turnedTo({ now }: Context): Inbox {
    return this.#with({ since: now });
  }

  /** It was put on the screen: what of it was in sight was seen. */
  painted(context: Context, docked: Docked): Inbox {
    const current = currentOf(this.#state, this.left(context));
    if (current === undefined) return this;
    const sight = sightOf(this.#state, current, context, docked);
    if (sight === null) return this;
    const { seen } = this.#state;
    const kept = keptOf(this.#state, current);
    const fresh = current.all.filter(({ id }) => !seen.has(id));
    if (fresh.length === 0 && sight.seen <= kept.read) return this;
    return this.#with({
      seen: new Map([...seen, ...fresh.map(({ id }) => [id, context.now] as const)]),
      kept: new Map(this.#state.kept).set(current.key, { ...kept, read: Math.max(kept.read, sight.seen) }),
    });
  }

  /** An answer that was given in it was refused: it is asked again. */
  again(approval: string): Inbox {
    const { answered, putOff } = this.#state;
    const without = (all: ReadonlySet<string>): ReadonlySet<string> =>
      new Set([...all].filter((id) => id !== approval));
    return this.#with({ answered: without(answered), putOff: without(putOff) });
  }

  press(input: Input, context: Context, docked: Docked): Asked {
    const left = this.left(context);
    const question = currentOf(this.#state, left);
    if (question === undefined) return { inbox: this, leaves: true };
    const at: At = { inbox: this, state: this.#state, question, left, context, docked };
    if (input.is === 'key') {
      if (input.key === 'tab' || input.key === 'backtab') return this.#next(at, input.key === 'tab' ? 1 : -1);
      if (input.key === 'esc') return this.#back(at);
    }
    return isHeard(at) ? pressed(at, input) : { inbox: this };
  }

  /** The next question, round; with one alone the screen has the keys again. */
  #next({ left, question, context }: At, by: 1 | -1): Asked {
    if (left.length === 1) return { inbox: this, leaves: true };
    const next = left[(left.indexOf(question) + by + left.length) % left.length] ?? question;
    return { inbox: this.#with({ current: next.key, since: context.now }) };
  }

  /** First out of what is being typed or made sure, then out of the question, which waits. */
  #back(at: At): Asked {
    const kept = keptOf(this.#state, at.question);
    if (kept.typing !== null || kept.sure !== null) return keep(at, { typing: null, sure: null });
    const ids = at.context.state.approvals.map(({ id }) => id);
    return { inbox: this.#with({ putOff: new Set([...this.#state.putOff, ...ids]) }), leaves: true };
  }

  #with(change: Partial<InboxState>): Inbox {
    return new Inbox({ ...this.#state, ...change });
  }
}

/** All that answers a key: what is shown, and where the person is in it. */
interface At {
  readonly inbox: Inbox;
  readonly state: InboxState;
  readonly question: Question;
  readonly left: readonly Question[];
  readonly context: Context;
  readonly docked: Docked;
}

/** When the question was on the screen long enough for a key to be meant for it. */
const heardFrom = ({ state, question }: At): Millis =>
  Math.min(...question.all.map(({ id }) => (state.seen.get(id) ?? Number.POSITIVE_INFINITY) + DEAF));

const isHeard = (at: At): boolean => at.context.now >= heardFrom(at);

/** Was the key let go since the question has the keys? One that was down before, or repeats since, answers nothing. */
function isFresh(at: At, input: Input, since: Millis = at.state.since): boolean {
  const down = input.is === 'key' ? (input.since ?? at.context.now) : at.context.now;
  return down >= since && down >= heardFrom(at);
}

function pressed(at: At, input: Input): Asked {
  const kept = keptOf(at.state, at.question);
  const kind = kindOf(at.question.first.request);
  if (kept.sure !== null) return sure(at, kept.sure, input);
  if (kept.typing !== null || kind === 'words') return typed(at, kept, input);
  if (input.is !== 'key') return scroll(at, input);
  const offers = offersFor(at.question.first.request);
  const offer = offers.find(({ number }) => number === input.key);
  if (offer !== undefined) return chosen(at, offer, input);
  if (kind === 'options') return options(at, kept, offers, input);
  if (/^[1-9]$/.test(input.key)) return warn(at, 'This is asked anew each time: 1 allows it once.');
  if (input.key === 'enter') return warn(at, 'Enter allows nothing here: 1 allows it once, 4 denies it.');
  // It opens the questions: an answer on the same key would be given by a key too many.
  return /^[AynN]$/.test(input.key) ? warn(at, 'Answer by number: 1 allows it once, 4 denies it.') : scroll(at, input);
}

type Key = Extract<Input, { readonly is: 'key' }>;

function options(at: At, kept: Kept, offers: readonly Offer[], input: Key): Asked {
  const by = STEPS[input.key];
  if (by !== undefined) return keep(at, { option: Math.max(0, Math.min(offers.length - 1, kept.option + by)) });
  const offer = input.key === 'enter' ? offers[kept.option] : undefined;
  return offer === undefined ? scroll(at, input) : chosen(at, offer, input);
}

const STEPS: Readonly<Record<string, number | undefined>> = { up: -1, k: -1, down: 1, j: 1 };

/** An answer by its number, or by Enter on it. */
function chosen(at: At, offer: Offer, input: Key): Asked {
  const { request } = at.question.first;
  if (!isFresh(at, input)) return warn(at, HELD);
  if (offer.asks !== null) return keep(at, { typing: offer, editor: openEditor('', true) });
  if (!offer.allow || kindOf(request) !== 'permission') return answer(at, offer, offer.text);
  if (!isRead(at)) return warn(at, 'There is more of it: read to the end first (G), then answer.');
  return destroys(request) === null
    ? answer(at, offer, offer.text)
    : keep(at, { sure: { offer, since: at.context.now } });
}

const HELD = 'A key that is held down answers nothing: let go of it for a second, then press it.';

/** What may destroy something is allowed by a second key, another one. */
function sure(at: At, { offer, since }: NonNullable<Kept['sure']>, input: Input): Asked {
  if (input.is !== 'key') return scroll(at, input);
  if (input.key === 'y') return isFresh(at, input, since) ? answer(at, offer, offer.text) : warn(at, HELD);
  return input.key === offer.number ? { inbox: at.inbox } : warn(at, 'y allows it, Esc goes back.');
}

/** Words are typed: the reason of a no, an answer of one's own, another amount. */
function typed(at: At, { editor, typing }: Kept, input: Input): Asked {
  if (input.is !== 'key' || input.key !== 'enter') {
    const next = edit(editor, input);
    return next === null ? scroll(at, input) : keep(at, { editor: next });
  }
  return isFresh(at, input) ? said(at, editorText(editor).trim(), typing) : warn(at, HELD);
}

function said(at: At, text: string, typing: Offer | null): Asked {
  if (text === '' && typing?.asks !== 'reason') return warn(at, 'Type an answer, or Esc for later.');
  const words = typing?.asks === 'amount' ? `add ${text}` : text;
  return answer(at, typing ?? { allow: true, scope: 'once' }, words);
}

/** Was all of it on the screen? */
function isRead({ state, question, context, docked }: At): boolean {
  const sight = sightOf(state, question, context, docked);
  return sight !== null && keptOf(state, question).read >= sight.end;
}

function scroll(at: At, input: Input): Asked {
  const sight = sightOf(at.state, at.question, at.context, at.docked);
  const top = sight === null ? null : scrolled(input, sight.top, sight.total, sight.rows);
  if (sight === null || top === null) return { inbox: at.inbox };
  // The end is first that of the text: what stands below it needn't be read.
  const end = isRead(at) ? top : Math.min(top, Math.max(0, sight.last + 1 - sight.rows));
  return keep(at, { at: sight.at(end) });
}

function keep({ state, question }: At, change: Partial<Kept>): Asked {
  const kept = new Map(state.kept).set(question.key, { ...keptOf(state, question), ...change });
  return { inbox: new Inbox({ ...state, kept }) };
}

/** One answer for all who ask it and were in sight. One for the session is given once: the run clears the equal ones. */
function answer({ state, question, left, context }: At, how: Pick<Offer, 'allow' | 'scope'>, text: string): Asked {
  const { allow, scope } = how;
  const seen = question.all.filter(({ id }) => state.seen.has(id));
  // Changes of files are allowed to one agent, all else to all that ask the same.
  const isShared = scope !== 'once' && question.first.request.action !== 'write';
  const told = isShared ? seen.slice(0, 1) : seen;
  const answered = new Set([...state.answered, ...seen.map(({ id }) => id)]);
  const next = left[left.indexOf(question) + 1] ?? left.find((one) => one !== question);
  const command = (approval: string): Command => ({
    do: 'answer',
    approval,
    allow,
    scope,
    ...(text === '' ? {} : { text }),
  });
  return {
    inbox: new Inbox({ ...state, answered, current: next?.key ?? null, since: context.now }),
    leaves: next === undefined,
    effect: { commands: told.map(({ id }) => command(id)) },
  };
}

const warn = ({ inbox }: At, text: string): Asked => ({ inbox, effect: { toast: { level: 'warn', text } } });
