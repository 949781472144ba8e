/** Types of single files of blessed and blessed-contrib: @types/blessed covers only the root, and blessed-contrib's own types do not compile. */
declare module 'blessed/lib/widgets/screen.js' {
  import type { Widgets } from 'blessed';

  const Screen: typeof Widgets.Screen;
  export default Screen;
}

declare module 'blessed-contrib/lib/widget/canvas.js' {
  interface Pen {
    strokeStyle: number;
    beginPath(): void;
    moveTo(x: number, y: number): void;
    lineTo(x: number, y: number): void;
    stroke(): void;
    readonly _canvas: { frame(): string; set(x: number, y: number): void; color: number };
  }
  class Canvas {
    constructor(options: { readonly screen: object; readonly width: number; readonly height: number });
    readonly ctx: Pen;
    emit(event: 'attach'): void;
  }
  export default Canvas;
}
