/** To whom a key belongs: the box on top, else the screen, else the app; Ctrl-C by what happened before. What it leads to is the app's. */
import type { APP_KEYS } from '../app-keys.ts';
import type { Boxes } from '../overlays/overlay-stack.ts';
import type { DialogEffect, Context } from '../../frame/screen.ts';
import { bodySize, inBody } from '../frame.ts';
import { bindingFor, isPlain } from '../../frame/keymap.ts';
import type { Page } from '../../frame/page.ts';
import type { Input, Size } from '../../terminal/terminal.ts';
import { isTooSmall } from '../../components/small.ts';

export interface Listeners {
  readonly context: Context;
  readonly size: Size;
  readonly page: Page;
  readonly boxes: Boxes;
  /** Rows that the questions take, and where they begin. */
  readonly dock: { readonly top: number; readonly rows: number };
  /** The app's own keys, as the person wants them. */
  readonly keys: typeof APP_KEYS;
  /** Ctrl-C was pressed: is it meant as leaving? */
  readonly leaves: () => boolean;
}

/** What an input leads to; null when nobody has a use for it. */
export function dispatch(input: Input, to: Listeners): DialogEffect | null {
  const { context, size, boxes } = to;
  const key = input.is === 'key' ? input.key : null;
  if (key === 'ctrl-c') return stopKey(to);
  const always = key !== null && ALWAYS.has(key) && bindingFor(to.keys, key) !== undefined;
  if (key !== null && (isTooSmall(size) || always)) return appKey(key, to);
  return boxes.top ? boxes.press(input, context, size) : pressed(input, to);
}

/** The screen first. Letters that a field didn't take are no commands either. */
function pressed(input: Input, to: Listeners): DialogEffect | null {
  const { context, size, page, dock } = to;
  const own = inBody(input, dock);
  if (own === null) return input.is === 'click' ? { app: 'inbox' } : null;
  const effect = page.press(own, context, bodySize(size, dock.rows));
  if (effect !== null || input.is !== 'key') return effect;
  return page.typing(context) && isPlain(input.key) ? null : appKey(input.key, to);
}

/** Keys that no box and no field takes. */
const ALWAYS: ReadonlySet<string> = new Set(['ctrl-l', 'ctrl-z', 'ctrl-p', 'f1', 'f2', 'f3']);

function appKey(key: string, { keys, context }: Listeners): DialogEffect | null {
  const binding = bindingFor(keys, key);
  if (binding === undefined) return null;
  const why = binding.whyNot(null, context);
  // An empty reason: it means nothing now.
  if (why === '') return null;
  if (why !== null) return { toast: { level: 'info', text: why } };
  const { ui: _, ...effect } = binding.run(null, context, key);
  return effect;
}

/** First: clears the field, closes the box or interrupts the selected agent. Twice: leaves, or asks whether to. */
function stopKey({ context, size, page, boxes, dock, leaves }: Listeners): DialogEffect | null {
  if (leaves()) return { app: 'quit' };
  if (boxes.top) {
    boxes.pop();
    return null;
  }
  const effect = page.press({ is: 'key', key: 'ctrl-c' }, context, bodySize(size, dock.rows));
  return effect ?? { toast: { level: 'info', text: 'Ctrl-C again to leave.' } };
}
