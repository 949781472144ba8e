/** The entrance of the full-screen interface. */
export { shownSign } from './components/header.ts';
export type { AppEnd, AppOptions } from './shell/app-options.ts';
export { runApp } from './shell/app.ts';
export { LEAVE } from './terminal/lifecycle.ts';
export { openTerminal } from './terminal/open.ts';
export { capabilities } from './terminal/styles.ts';
export type { Terminal } from './terminal/terminal.ts';
export { glyphsFor, UNICODE } from './text/glyphs.ts';
