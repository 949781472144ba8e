/** The first run of a session, and what comes before it: nothing begins while it isn't settled whether the project is trusted. */
import type { SessionId } from '../../../domain/ids.ts';
import type { Lobby } from '../../../ports/project-service.ts';
import type { Boxes } from './overlays/overlay-stack.ts';
import { attachTo } from '../../../app/client/attach.ts';
import { cleanLobby } from '../../../app/views/text/sanitise-text.ts';
import { trustOverlay } from '../dialogs/trust.ts';
import { isOpen } from '../../../app/views/trust-question.ts';
import type { Runs } from '../components/runs/runs.ts';
import type { Toast } from './screen.ts';

export interface BeginningParts {
  readonly lobby: Lobby;
  readonly boxes: Boxes;
  readonly runs: Runs;
  readonly firstTask?: string;
  readonly resumeSession?: SessionId;
  readonly followUp?: string;
  readonly attach?: { readonly session: SessionId };
  readonly changed: () => void;
  readonly toast: (toast: Toast) => void;
  readonly fail: (error: unknown) => void;
}

export class Beginning {
  readonly #of: BeginningParts;
  #begun = false;

  constructor(parts: BeginningParts) {
    this.#of = parts;
  }

  /** Asks about trust where that is open, else begins with what was asked for. A run that goes on elsewhere is begun already. */
  start(): void {
    if (this.#of.attach !== undefined || !this.ask()) this.begin();
  }

  /** Puts the question on the screen; false when there is none. */
  ask(): boolean {
    const { lobby, boxes } = this.#of;
    const { trust } = cleanLobby(lobby.info());
    if (lobby.trust === undefined || !isOpen(trust)) return false;
    boxes.push(trustOverlay(trust));
    return true;
  }

  /** The person said yes to what was shown under this digest. */
  trust(digest: string): void {
    const { lobby, toast, changed, fail } = this.#of;
    const given = lobby.trust?.(digest);
    void given?.then((result) => {
      toast(result.ok ? { level: 'info', text: result.value.text } : { level: 'error', text: result.fault.text });
      // Refused, it has changed meanwhile: what is there now is another question.
      if (result.ok || !this.ask()) this.begin();
      changed();
    }, fail);
  }

  /** What was asked for on the command line, once. */
  begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    const { lobby, runs, firstTask, resumeSession, followUp, attach } = this.#of;
    if (attach !== undefined) runs.begin(() => attachTo(lobby, attach.session));
    else if (resumeSession !== undefined) runs.begin(() => lobby.resume(resumeSession, followUp));
    else if (firstTask !== undefined) runs.begin(() => lobby.start(firstTask));
  }
}
