/** A custom agent that a model drafts while the screen goes on: a box says who is asked and since when, then its form opens. */
import type { Lobby } from '../../../ports/project-service.ts';
import type { World } from '../../../ports/world.ts';
import type { Boxes } from './overlays/overlay-stack.ts';
import type { DialogEffect } from './overlays/dialog.ts';
import { draftedForm } from '../dialogs/forms/agents.ts';
import type { Waited } from '../dialogs/wait.ts';
import { waitOverlay } from '../dialogs/wait.ts';
import type { Wanted } from './app-effects.ts';

export interface DraftingParts {
  readonly lobby: Lobby;
  readonly boxes: Boxes;
  readonly world: Pick<World, 'now'>;
  readonly act: (effect: DialogEffect) => void;
  readonly changed: () => void;
  readonly fail: (error: unknown) => void;
}

type Order = Extract<Wanted, { draftAgent: object }>['draftAgent'];

export class Drafting {
  readonly #of: DraftingParts;
  #now: Waited | null = null;

  constructor(parts: DraftingParts) {
    this.#of = parts;
  }

  get waits(): boolean {
    return this.#now !== null;
  }

  /** Esc stops the model, and the fixed rules draft it; Esc again leaves. */
  begin({ sentence, model }: Order): void {
    const { lobby, boxes, world, act, changed, fail } = this.#of;
    if (lobby.draftAgent === undefined) return act({ toast: { level: 'warn', text: 'No agent can be made here.' } });
    const control = new AbortController();
    const waited: Waited = {
      title: 'New agent',
      since: world.now(),
      words: 'Looking for a model that may be asked',
      is: 'open',
      stop: () => control.abort('stopped'),
    };
    const asking = (words: string): void => {
      waited.words = words;
      changed();
    };
    this.#now = waited;
    boxes.push(waitOverlay(waited));
    void lobby.draftAgent(sentence, { model, signal: control.signal, asking }).then((made) => {
      const left = waited.is === 'left';
      waited.is = 'over';
      if (this.#now === waited) this.#now = null;
      // The box goes as soon as it is looked at; what is typed meanwhile is for the form.
      act(left ? { toast: { level: 'info', text: made.said } } : { dialog: draftedForm(made, lobby.info()) });
      changed();
    }, fail);
  }
}
