/** Actions of the full screen that mean nothing in lines, each with the reason. All others have a command (line-commands.ts). */
const CURSOR = 'there is no cursor: things are named by number';
const PANES = 'there are no panes';
const SELECTED = 'lines stay in the terminal, to be selected and searched there';
const DRAWN = 'nothing is drawn';

export const WITHOUT_LINES: Readonly<Record<string, string>> = {
  'app.redraw': DRAWN,
  'app.suspend': 'Ctrl-Z is the shell’s own here',
  'app.theme': 'lines have no colours to choose',
  'app.mouse': 'the mouse is the terminal’s own here',
  'app.pane': PANES,
  'app.zoom': PANES,
  'start.back': CURSOR,
  'start.page': CURSOR,
  'plan.back': 'commands of the run are there at once',
  'plan.down': CURSOR,
  'plan.up': CURSOR,
  'plan.pageDown': CURSOR,
  'plan.pageUp': CURSOR,
  'plan.first': CURSOR,
  'plan.last': CURSOR,
  'plan.pane': PANES,
  'plan.paneNumber': PANES,
  'plan.zoom': PANES,
  'plan.unzoom': PANES,
  'run.move': CURSOR,
  'run.back': CURSOR,
  'run.pane': PANES,
  'detail.scroll': CURSOR,
  'detail.select': CURSOR,
  'detail.block': CURSOR,
  'detail.leave': CURSOR,
  'copy.move': SELECTED,
  'copy.word': SELECTED,
  'copy.select': SELECTED,
  'copy.lines': SELECTED,
  'copy.block': SELECTED,
  'copy.search': SELECTED,
  'copy.next': SELECTED,
  'copy.leave': SELECTED,
  'run.density': 'there are no cards',
  'result.scroll': 'more says the next part of a long text',
};
