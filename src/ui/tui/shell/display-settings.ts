/** How the person wants the screen: theme and mouse, changed while it is shown. Motion is the configuration's. */
import type { Lobby } from '../../../ports/project-service.ts';
import type { Look, Toast } from '../frame/screen.ts';
import type { Terminal } from '../terminal/terminal.ts';

export class Looks {
  readonly #terminal: Terminal;
  readonly #lobby: Lobby;
  #now: Look;

  /** `first` is how the terminal was opened. */
  constructor(terminal: Terminal, lobby: Lobby, first: Look) {
    this.#terminal = terminal;
    this.#lobby = lobby;
    this.#now = first;
  }

  get now(): Look {
    return this.#now;
  }

  /** Shows another theme from the next painting on; what is wrong with it becomes a toast, and the old one stays. */
  theme(name: string): Toast | null {
    if (name === this.#now.theme) return null;
    const theme = this.#lobby.theme?.(name);
    if (theme === undefined) return { level: 'warn', text: "Themes can't be changed here." };
    if (!theme.ok) return { level: 'error', text: theme.fault };
    this.#now = { ...this.#now, theme: name };
    this.#terminal.setTheme(theme.value);
    return null;
  }

  /** Mouse to Mimir, or to the terminal for selecting; the words for what is now. */
  mouse(): Toast {
    const mouse = !this.#now.mouse;
    this.#now = { ...this.#now, mouse };
    this.#terminal.setMouse(mouse);
    const text = mouse
      ? 'Mouse: on. Hold Shift while dragging to select text.'
      : 'Mouse: off. Dragging selects text as the terminal does it.';
    return { level: 'info', text };
  }
}
