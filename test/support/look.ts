/** A screen as text: events in, rows out. */
import type { MimirEvent } from '../../src/events/event.ts';
import { foldAll } from '../../src/events/fold.ts';
import { cleanEvent } from '../../src/app/views/text/sanitise-state.ts';
import { bodySize, frameOf } from '../../src/ui/tui/shell/frame.ts';
import { UNICODE } from '../../src/ui/tui/text/glyphs.ts';
import type { Page } from '../../src/ui/tui/frame/keymap.ts';
import type { Context } from '../../src/ui/tui/frame/screen.ts';
import type { Size } from '../../src/ui/tui/terminal/terminal.ts';
import { plain } from '../../src/app/views/text/line.ts';
import { PROJECT_SERVICE } from './fake-run.ts';
import { START } from './recorded-run.ts';

/** What screens look at, 192 s after the start of the recorded run. */
export const contextOf = (events: readonly MimirEvent[], more: Partial<Context> = {}): Context => ({
  state: foldAll(events.map((event) => cleanEvent(event))),
  projectService: PROJECT_SERVICE,
  now: START + 192_000,
  glyphs: UNICODE,
  live: new Map(),
  ...more,
});

/** The rows after `keys` were pressed. */
export function look(page: Page, context: Context, size: Size, keys: readonly string[] = []): readonly string[] {
  page.settle(context, bodySize(size));
  for (const key of keys) {
    page.press({ is: 'key', key }, context, bodySize(size));
    page.settle(context, bodySize(size));
  }
  return frameOf({ page, overlays: [], toasts: [] }, context, size).lines.map(plain);
}
