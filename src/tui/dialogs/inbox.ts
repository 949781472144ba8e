/**
 * The questions that wait for the person, one at a time: who asks, exactly what would happen, and the answers. Enter never
 * allows anything dangerous, what was typed before a question was drawn doesn't answer it, and a long action must have been
 * seen to its end before it can be allowed. How it looks is inbox-view.ts.
 */
import type { Millis } from '../../domain/ids.ts';
import type { Approval } from '../../events/state.ts';
import type { Command } from '../../ports/controls.ts';
import type { DialogEffect } from '../dialog.ts';
import type { Context } from '../screen.ts';
import type { Input, Size } from '../term/terminal.ts';
import { edit, editorText, openEditor } from '../text/editor.ts';
import { kindOf } from './inbox-state.ts';
import type { InboxState } from './inbox-state.ts';
import { exactRows, inboxHints, inboxView } from './inbox-view.ts';
import { closed, scrolled, stay } from './overlay.ts';
import type { Overlay, Pressed } from './overlay.ts';

/** Keys within this time after a question appeared were meant for something else. */
const DEAF: Millis = 300;

/** The box, at the first question of `state`. `now` where it opened by itself, null where the person asked for it. */
export const inboxOverlay = (now: Millis | null): Overlay =>
  open({ ...fresh(null, now ?? Number.NEGATIVE_INFINITY), answered: new Set() });

const fresh = (current: string | null, since: Millis): Omit<InboxState, 'answered'> => ({
  current,
  since,
  top: 0,
  deepest: 0,
  editor: openEditor('', true),
  option: 0,
});

/** What is left to answer. */
const waiting = (state: InboxState, context: Context): readonly Approval[] =>
  context.state.approvals.filter(({ id }) => !state.answered.has(id));

function open(state: InboxState): Overlay {
  return {
    title: 'Approvals',
    kind: 'inbox',
    view: (context, size) => inboxView(state, waiting(state, context), context, size),
    settle(context) {
      const left = waiting(state, context);
      const first = left[0];
      if (first === undefined) return null;
      if (left.some(({ id }) => id === state.current)) return this;
      const since = state.current === null ? state.since : context.now;
      return open({ ...state, ...fresh(first.id, since) });
    },
    press: (input, context, size) => press(state, input, context, size),
    hints: (context) => {
      const current = waiting(state, context).find(({ id }) => id === state.current);
      return current ? inboxHints(current, waiting(state, context).length, context) : [];
    },
  };
}

function press(state: InboxState, input: Input, context: Context, size: Size): Pressed {
  const left = waiting(state, context);
  const current = left.find(({ id }) => id === state.current);
  if (current === undefined) return left.length === 0 ? closed() : stay(open(state));
  if (context.now - state.since < DEAF) return stay(open(state));
  if (input.is === 'key' && input.key === 'esc') return closed();
  if (input.is === 'key' && (input.key === 'tab' || input.key === 'backtab'))
    return turnTo(state, left, current, input.key);
  const kinds = { permission, options, words } as const;
  return kinds[kindOf(current)](state, current, input, context, size);
}

function turnTo(state: InboxState, left: readonly Approval[], current: Approval, key: string): Pressed {
  const by = key === 'tab' ? 1 : left.length - 1;
  const next = left[(left.indexOf(current) + by) % left.length] ?? current;
  return stay(open({ ...state, ...fresh(next.id, Number.NEGATIVE_INFINITY) }));
}

function permission(state: InboxState, current: Approval, input: Input, context: Context, size: Size): Pressed {
  const key = input.is === 'key' ? input.key : '';
  if (key === 'n' || key === 'N') return answer(state, current, { allow: false, scope: 'once' });
  if (key === 'y' || key === 'A') {
    if (!isRead(state, current, context, size)) {
      return warn(state, 'There is more of it: read to the end first (G), then answer.');
    }
    return answer(state, current, { allow: true, scope: key === 'A' ? 'session' : 'once' });
  }
  if (key === 'enter') return warn(state, 'Enter allows nothing here: y allows it once, n denies it.');
  return scroll(state, current, input, context, size);
}

/** Was all of it on the screen? */
function isRead(state: InboxState, current: Approval, context: Context, size: Size): boolean {
  const { total, rows } = exactRows(current, context, size);
  return state.deepest + rows >= total;
}

function scroll(state: InboxState, current: Approval, input: Input, context: Context, size: Size): Pressed {
  const { total, rows } = exactRows(current, context, size);
  const top = scrolled(input, state.top, total, rows);
  return stay(open(top === null ? state : { ...state, top, deepest: Math.max(state.deepest, top) }));
}

function options(state: InboxState, current: Approval, input: Input, context: Context, size: Size): Pressed {
  const choices = current.request.options;
  const move = (to: number): Pressed => stay(open({ ...state, option: Math.max(0, Math.min(choices.length - 1, to)) }));
  if (input.is !== 'key') return scroll(state, current, input, context, size);
  if (input.key === 'up' || input.key === 'k') return move(state.option - 1);
  if (input.key === 'down' || input.key === 'j') return move(state.option + 1);
  const number = /^[1-9]$/.test(input.key) ? Number(input.key) - 1 : -1;
  const chosen = input.key === 'enter' ? choices[state.option] : choices[number];
  if (chosen !== undefined) return answer(state, current, { allow: true, scope: 'once', text: chosen });
  return scroll(state, current, input, context, size);
}

function words(state: InboxState, current: Approval, input: Input, context: Context, size: Size): Pressed {
  if (input.is === 'key' && input.key === 'enter') {
    const text = editorText(state.editor).trim();
    if (text === '' && current.request.action === 'question') return warn(state, 'Type an answer, or Esc for later.');
    return answer(state, current, { allow: true, scope: 'once', ...(text === '' ? {} : { text }) });
  }
  const editor = edit(state.editor, input);
  if (editor !== null) return stay(open({ ...state, editor }));
  return scroll(state, current, input, context, size);
}

function answer(
  state: InboxState,
  current: Approval,
  how: Omit<Extract<Command, { readonly do: 'answer' }>, 'do' | 'approval'>,
): Pressed {
  const effect: DialogEffect = { commands: [{ do: 'answer', approval: current.id, ...how }] };
  return { overlay: open({ ...state, answered: new Set(state.answered).add(current.id) }), effect };
}

const warn = (state: InboxState, text: string): Pressed => ({
  overlay: open(state),
  effect: { toast: { level: 'warn', text } },
});
