/**
 * The questions that wait for the person, one at a time: who asks, exactly what would happen, and the answers. Enter never
 * allows anything dangerous, what was typed before a question was on the screen doesn't answer it, and a long action must
 * have been seen to its end before it can be allowed. How it looks is inbox-view.ts.
 */
import type { Offer } from '../../app/views/answers.ts';
import { offersFor } from '../../app/views/answers.ts';
import type { Millis } from '../../domain/ids.ts';
import type { Approval } from '../../events/state.ts';
import type { Command } from '../../ports/controls.ts';
import type { Context } from '../screen.ts';
import type { Input, Size } from '../term/terminal.ts';
import { edit, editorText, openEditor } from '../text/editor.ts';
import { amountOption, keptOf, kindOf, questionsOf } from './inbox-state.ts';
import type { InboxState, Kept, Question } from './inbox-state.ts';
import { exactRows, inboxHints, inboxView } from './inbox-view.ts';
import { closed, scrolled, stay } from './overlay.ts';
import type { Overlay, Pressed } from './overlay.ts';

/** Keys within this time after a question was on the screen first were meant for something else. */
const DEAF: Millis = 300;

/** The box, at the oldest question. */
export const inboxOverlay = (): Overlay =>
  open({ current: null, kept: new Map(), seen: new Map(), answered: new Set() });

/** What is left to answer. */
const waiting = (state: InboxState, context: Context): readonly Question[] =>
  questionsOf(context.state.approvals.filter(({ id }) => !state.answered.has(id)));

const currentOf = (state: InboxState, context: Context): Question | undefined =>
  waiting(state, context).find(({ key }) => key === state.current);

function open(state: InboxState): Overlay {
  return {
    title: 'Approvals',
    kind: 'inbox',
    view: (context, size) => inboxView(state, waiting(state, context), context, size),
    settle(context) {
      const left = waiting(state, context);
      const first = left[0];
      if (first === undefined) return null;
      // The question that is shown stays, whatever comes meanwhile.
      return left.some(({ key }) => key === state.current) ? this : open({ ...state, current: first.key });
    },
    painted(context) {
      const fresh = (currentOf(state, context)?.all ?? []).filter(({ id }) => !state.seen.has(id));
      if (fresh.length === 0) return this;
      return open({ ...state, seen: new Map([...state.seen, ...fresh.map(({ id }) => [id, context.now] as const)]) });
    },
    again: (approval) => open({ ...state, answered: new Set([...state.answered].filter((id) => id !== approval)) }),
    press: (input, context, size) => press(state, input, context, size),
    hints: (context) => {
      const current = currentOf(state, context);
      return current ? inboxHints(current, waiting(state, context).length, context) : [];
    },
  };
}

/** All that answers a key: what is shown, and where the person is in it. */
interface Asked {
  readonly state: InboxState;
  readonly question: Question;
  readonly kept: Kept;
  readonly context: Context;
  readonly size: Size;
}

function press(state: InboxState, input: Input, context: Context, size: Size): Pressed {
  const left = waiting(state, context);
  const question = left.find(({ key }) => key === state.current);
  if (question === undefined) return left.length === 0 ? closed() : stay(open(state));
  if (input.is === 'key' && (input.key === 'tab' || input.key === 'backtab'))
    return turnTo(state, left, question, input.key);
  if (!isHeard(state, question, context.now)) return stay(open(state));
  const asked: Asked = { state, question, kept: keptOf(state, question), context, size };
  if (asked.kept.reason) return reason(asked, input);
  if (input.is === 'key' && input.key === 'esc') return closed();
  const kinds = { permission, options, words };
  return kinds[kindOf(question.first)](asked, input);
}

/** Was it on the screen long enough for a key to be meant for it? */
const isHeard = (state: InboxState, { all }: Question, now: Millis): boolean =>
  all.some(({ id }) => now - (state.seen.get(id) ?? Number.POSITIVE_INFINITY) >= DEAF);

function turnTo(state: InboxState, left: readonly Question[], current: Question, key: string): Pressed {
  const by = key === 'tab' ? 1 : left.length - 1;
  const next = left[(left.indexOf(current) + by) % left.length] ?? current;
  return stay(open({ ...state, current: next.key }));
}

function permission(asked: Asked, input: Input): Pressed {
  const key = input.is === 'key' ? input.key : '';
  const number = LETTERS[key] ?? key;
  const offer = offersFor(asked.question.first.request).find((one) => one.number === number);
  if (offer !== undefined) return give(asked, offer);
  if (/^[1-5]$/.test(number)) return warn(asked, 'This is asked anew each time: 1 allows it once.');
  if (key === 'enter') return warn(asked, 'Enter allows nothing here: 1 allows it once, 4 denies it.');
  // It opens the questions: an answer on the same key would be given by a key too many.
  if (key === 'A') return warn(asked, 'Answer by number: 1 allows it once, 4 denies it.');
  return scroll(asked, input);
}

/** Letters that answer as well. */
const LETTERS: Readonly<Record<string, string | undefined>> = { y: '1', n: '4', N: '4' };

function give(asked: Asked, { allow, scope, reason: asksWhy }: Offer): Pressed {
  if (asksWhy) return keep(asked, { reason: true, editor: openEditor('', true) });
  if (!allow) return answer(asked, { allow, scope });
  return isRead(asked)
    ? answer(asked, { allow, scope })
    : warn(asked, 'There is more of it: read to the end first (G), then answer.');
}

/** The reason of a no is typed; Esc takes the no back. */
function reason(asked: Asked, input: Input): Pressed {
  const { editor } = asked.kept;
  if (input.is === 'key' && input.key === 'esc') return keep(asked, { reason: false });
  if (input.is === 'key' && input.key === 'enter') {
    const text = editorText(editor).trim();
    return answer(asked, { allow: false, scope: 'once', ...(text === '' ? {} : { text }) });
  }
  const next = edit(editor, input);
  return next === null ? scroll(asked, input) : keep(asked, { editor: next });
}

/** Was all of it on the screen? */
function isRead({ question, kept, context, size }: Asked): boolean {
  const { total, rows } = exactRows(question, context, size);
  return kept.deepest + rows >= total;
}

function scroll(asked: Asked, input: Input): Pressed {
  const { question, kept, context, size } = asked;
  const { total, rows } = exactRows(question, context, size);
  const top = scrolled(input, kept.top, total, rows);
  return top === null ? stay(open(asked.state)) : keep(asked, { top, deepest: Math.max(kept.deepest, top) });
}

function keep({ state, question, kept }: Asked, change: Partial<Kept>): Pressed {
  return stay(open({ ...state, kept: new Map(state.kept).set(question.key, { ...kept, ...change }) }));
}

function options(asked: Asked, input: Input): Pressed {
  if (input.is !== 'key') return scroll(asked, input);
  const { kept } = asked;
  const choices = asked.question.first.request.options;
  const more = amountOption(asked.question.first);
  const typed = more === -1 ? null : amount(asked, more, input);
  if (typed !== null) return typed;
  const by = STEPS[input.key];
  if (by !== undefined) return keep(asked, { option: Math.max(0, Math.min(choices.length - 1, kept.option + by)) });
  const number = more === -1 && /^[1-9]$/.test(input.key) ? Number(input.key) - 1 : -1;
  const option = choices[input.key === 'enter' ? kept.option : number];
  return option === undefined ? scroll(asked, input) : chosen(asked, option);
}

const STEPS: Readonly<Record<string, number | undefined>> = { up: -1, k: -1, down: 1, j: 1 };

/** Another amount than is offered: digits go into a field of that option, and select it. Null for every other key. */
function amount(asked: Asked, option: number, input: Extract<Input, { readonly is: 'key' }>): Pressed | null {
  const { editor } = asked.kept;
  const typed = editorText(editor).trim();
  if (input.key === 'enter') return typed === '' || asked.kept.option !== option ? null : chosen(asked, `add ${typed}`);
  const isAmount = /^[\d.$]$|^(?:backspace|delete)$/.test(input.key) || (typed !== '' && /^[kmsh]$/.test(input.key));
  const next = isAmount ? edit(editor, input) : null;
  return next === null ? null : keep(asked, { editor: next, option });
}

const chosen = (asked: Asked, text: string): Pressed => answer(asked, { allow: true, scope: 'once', text });

function words(asked: Asked, input: Input): Pressed {
  const { editor } = asked.kept;
  if (input.is === 'key' && input.key === 'enter') {
    const text = editorText(editor).trim();
    if (text === '' && asked.question.first.request.action !== 'turn')
      return warn(asked, 'Type an answer, or Esc for later.');
    return answer(asked, { allow: true, scope: 'once', ...(text === '' ? {} : { text }) });
  }
  const next = edit(editor, input);
  return next === null ? scroll(asked, input) : keep(asked, { editor: next });
}

/** One answer for all who ask it and were in sight. One for the session is given once: the run clears the equal ones. */
function answer(
  { state, question }: Asked,
  how: Omit<Extract<Command, { readonly do: 'answer' }>, 'do' | 'approval'>,
): Pressed {
  const seen = question.all.filter(({ id }) => state.seen.has(id));
  // Changes of files are allowed to one agent, all else to all that ask the same.
  const isShared = how.scope !== 'once' && question.first.request.action !== 'write';
  const told: readonly Approval[] = isShared ? seen.slice(0, 1) : seen;
  return {
    overlay: open({ ...state, answered: new Set([...state.answered, ...seen.map(({ id }) => id)]) }),
    effect: { commands: told.map(({ id }) => ({ do: 'answer', approval: id, ...how })) },
  };
}

const warn = ({ state }: Asked, text: string): Pressed => ({
  overlay: open(state),
  effect: { toast: { level: 'warn', text } },
});
