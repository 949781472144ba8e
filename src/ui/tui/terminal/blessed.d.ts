/** Parts that @types/blessed lacks: the cell buffer and the drawing step. */
import type { Row } from './blessed-screen.ts';

declare module 'blessed' {
  namespace Widgets {
    interface Screen {
      lines: Row[];
      alloc(): void;
      draw(start: number, end: number): void;
    }
  }
}
