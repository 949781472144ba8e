/** The key that was pressed lights up in the footer for a moment, where anything may move. */
import type { Millis } from '../../../../domain/ids.ts';
import type { World } from '../../../../ports/world.ts';
import type { Glyphs } from '../../text/glyphs.ts';
import { keyLabel } from '../../frame/keymap.ts';

const MOMENT: Millis = 160;

export class Lit {
  readonly #world: World;
  readonly #over: () => void;
  #label: string | null = null;
  #presses = 0;

  /** `over` is called when a light goes out. */
  constructor(world: World, over: () => void) {
    this.#world = world;
    this.#over = over;
  }

  /** The sign of the key as the footer shows it, or null. */
  get label(): string | null {
    return this.#label;
  }

  press(key: string, glyphs: Glyphs): void {
    this.#label = keyLabel(key, glyphs);
    this.#presses += 1;
    const press = this.#presses;
    void this.#world.sleep(MOMENT).then(() => {
      if (press !== this.#presses) return;
      this.#label = null;
      this.#over();
    });
  }
}
