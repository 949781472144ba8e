/** Single files of blessed and blessed-contrib that are used: types name the first by its root only, the other's own don't compile. */
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
