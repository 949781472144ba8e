/**
 * Floor of the screen: bare blessed, a field and, with `screen.js COUNT`, a box for each of so many agents that stream. Keys
 * are painted at once, streams thirty times a second.
 */
import { enableCompileCache, flushCompileCache } from 'node:module';

enableCompileCache(`${process.env['XDG_CACHE_HOME'] ?? ''}/floor`);
setTimeout(flushCompileCache, 2000).unref();
const { default: blessed } = await import('blessed');
const count = Number(process.argv[2] ?? 0);
const screen = blessed.screen({ smartCSR: true, fullUnicode: true, warnings: false });
const field = blessed.box({ parent: screen, bottom: 0, height: 3, width: '100%', border: 'line', content: '' });
const columns = count > 24 ? 8 : count > 6 ? 4 : Math.max(1, Math.min(count, 2));
const rows = Math.max(1, Math.ceil(count / columns));
const boxes = Array.from({ length: count }, (_, index) =>
  blessed.box({
    parent: screen,
    left: `${Math.floor(((index % columns) * 100) / columns)}%`,
    top: `${Math.floor((Math.floor(index / columns) * 90) / rows)}%`,
    width: `${Math.floor(100 / columns)}%`,
    height: `${Math.floor(90 / rows)}%`,
    border: 'line',
  }),
);

let typed = '';
screen.on('keypress', (letter: string | undefined) => {
  typed = `${typed}${letter ?? ''}`.slice(-60);
  field.setContent(`What do you want to do? ${typed}`);
  screen.render();
});
field.setContent('What do you want to do?');
screen.render();

if (count > 0) {
  const [{ default: Anthropic }, { agent }] = await Promise.all([import('@anthropic-ai/sdk'), import('./agent.ts')]);
  const client = new Anthropic({ maxRetries: 0 });
  const said = boxes.map(() => '');
  let dirty = false;
  setInterval(() => {
    if (!dirty) return;
    dirty = false;
    for (const [index, box] of boxes.entries()) {
      const room = (Number(box.width) - 2) * (Number(box.height) - 2);
      box.setContent((said[index] ?? '').slice(-room));
    }
    screen.render();
  }, 33);
  for (const index of boxes.keys()) {
    void agent(client, `Bench task ${index + 1}: say much.`, (text) => {
      said[index] = `${said[index] ?? ''}${text}`.slice(-2000);
      dirty = true;
    });
  }
}
