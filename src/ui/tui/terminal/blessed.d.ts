/** What @types/blessed leaves out: the cell buffer, the drawing step, and the handlers that we take away again. */
import type { Row } from './surface/surface.ts';

declare module 'blessed' {
  namespace Widgets {
    interface Screen {
      lines: Row[];
      alloc(): void;
      draw(start: number, end: number): void;
    }
  }
}
