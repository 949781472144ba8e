/** The boxes that the app opens by itself, on whatever screen: help, palette, themes. They are made from the tables of keys. */
import { helpNotes, type APP_KEYS } from '../app-keys.ts';
import type { Boxes, Top } from './overlay-stack.ts';
import { copyOverlay } from '../../copy/overlay.ts';
import { helpOverlay } from '../../dialogs/commands/help.ts';
import { paletteOverlay } from '../../dialogs/commands/palette.ts';
import { themesOverlay } from '../../dialogs/themes.ts';
import { type Entry, type HelpPart, entriesOf, helpOf } from '../../frame/keymap.ts';
import type { Page } from '../../frame/page.ts';
import type { Context } from '../../frame/screen.ts';
import type { Frame } from '../../../../app/views/text/line.ts';

export interface OwnBoxesParts {
  readonly boxes: Boxes;
  /** The screen that is shown. */
  readonly page: () => Page;
  /** The app's own keys, as the person wants them. */
  readonly keys: typeof APP_KEYS;
  /** The person's keys by action. */
  readonly own: Readonly<Record<string, string>>;
}

/** What a box says of its keys in the footer; the screen below it waits. */
const helpOfBox = (box: Top, context: Context): HelpPart => ({
  title: box.title,
  rows: box.hints(context).map(({ keys, hint }) => ({ keys, help: hint })),
});

export class OwnBoxes {
  readonly #of: OwnBoxesParts;

  constructor(parts: OwnBoxesParts) {
    this.#of = parts;
  }

  help(context: Context): void {
    const { boxes, page, keys, own } = this.#of;
    const { top } = boxes;
    // Over the help it is the way out of it.
    if (top?.kind === 'help') return boxes.pop();
    const here = top === undefined ? page().help(context) : helpOfBox(top, context);
    const meant = keys.filter((binding) => binding.whyNot(null, context) !== '');
    const parts = [here, helpOf('Everywhere', meant, context.glyphs, own)];
    boxes.push(helpOverlay(parts, helpNotes(context.glyphs)));
  }

  /** Over a box the screen's own actions wait: those of the app are left. */
  palette(): void {
    const { boxes, page, keys } = this.#of;
    if (boxes.top?.kind === 'palette') return boxes.pop();
    const over = boxes.top !== undefined;
    boxes.push(
      paletteOverlay((context): readonly Entry[] => [
        ...(over ? [] : page().entries(context)),
        ...entriesOf(keys, null, context, (effect) => {
          const { ui: _, ...rest } = effect;
          return rest;
        }),
      ]),
    );
  }

  /** Over the screen as it is, boxes included; again: out of it. */
  copyMode(frame: Frame): void {
    const { boxes } = this.#of;
    if (boxes.top?.kind === 'copy') return boxes.pop();
    boxes.push(copyOverlay(frame, this.#of.own));
  }

  themes(context: Context): void {
    this.#of.boxes.push(themesOverlay(context));
  }
}
