/** The table of line mode against the full screen's key tables, and how a typed line becomes a command. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Exit } from '../../../../src/app/process/exit.ts';
import { allActions } from '../../../support/actions.ts';
import { LINE_COMMANDS } from '../../../../src/ui/lines/commands/commands.ts';
import { meantBy, type Place, usageOf } from '../../../../src/ui/lines/command.ts';

const PLACES: readonly Place[] = ['start', 'plan', 'run', 'result'];

/** The actions of the screens by the command of line mode that stands for them. */
const COVERED: Readonly<Record<string, string>> = {
  task: 'start.go start.move start.next start.clear start.editor',
  direct: 'start.direct',
  history: 'start.history',
  templates: 'start.templates',
  trust: 'start.trust',
  agents:
    'start.agents result.cards result.agents run.fold run.only run.filter run.match filter.take filter.leave filter.move run.showAll run.sort',
  plan: 'run.plan result.plan',
  keep: 'plan.keep',
  commit: 'plan.commit result.commit',
  accept: 'plan.accept plan.anyway',
  cancel: 'plan.cancel',
  again: 'plan.again',
  try: 'plan.try',
  undo: 'plan.undo result.undo',
  redo: 'plan.redo',
  whatif: 'plan.whatIf',
  edit: 'plan.describe plan.describeOutside plan.manual plan.change',
  role: 'plan.role',
  model: 'run.model plan.model',
  budget: 'run.budget plan.budget plan.cap',
  tools: 'plan.tools',
  needs: 'plan.needs',
  add: 'plan.add run.add',
  drop: 'plan.drop',
  split: 'plan.split',
  join: 'plan.join',
  move: 'plan.moveDown plan.moveUp',
  permissions: 'plan.permissions',
  writes: 'plan.writes',
  turns: 'plan.order',
  checks: 'plan.checks',
  graph: 'run.graph',
  show: 'run.open run.checks run.tab run.unfold detail.enter',
  find: 'detail.find detail.next find.take find.leave',
  copy: 'detail.copy detail.copyCode detail.open copy.take app.copy result.copy result.editor',
  attention: 'run.attention',
  log: 'run.log log.level',
  spend: 'run.charts result.costs',
  message:
    'run.message run.messageAll message.send message.delivery message.history message.editor message.leave message.clear',
  interrupt: 'run.interrupt',
  resume: 'run.resume result.resume result.retry',
  retry: 'run.retry',
  skip: 'run.skip',
  kill: 'run.kill',
  pin: 'run.pin',
  review: 'run.review',
  spawn: 'run.spawn run.spawnBelow',
  stop: 'run.stop',
  mode: 'app.mode',
  detach: 'run.detach plan.detach',
  here: 'app.goOn',
  answer: 'app.answer',
  grants: 'run.grants',
  report: 'run.result result.report result.next',
  compare: 'result.estimates',
  changed: 'result.files',
  changes: 'result.review run.changes review.group',
  mark: 'review.accept',
  reject: 'review.undo',
  comment: 'review.comment',
  export: 'result.export',
  main: 'result.message',
  pr: 'result.request',
  merge: 'result.merge',
  new: 'result.new',
  help: 'app.help app.palette',
  quit: 'app.quit app.stop start.quit',
};

/** Actions of the screens without a command, by the reason. */
const WITHOUT: Readonly<Record<string, string>> = {
  'the question and the log name the command that opens it': 'run.terminal',
  'nothing is drawn': 'app.redraw',
  'there is no cursor: things are named by number':
    'start.back start.page plan.down plan.up plan.pageDown plan.pageUp plan.first plan.last run.move run.back detail.scroll detail.select detail.block detail.leave',
  'there are no panes': 'plan.pane plan.paneNumber plan.zoom plan.unzoom run.pane run.goto run.zoom',
  'the terminal selects and searches lines':
    'copy.move copy.word copy.select copy.lines copy.block copy.search copy.next copy.leave',
  'Ctrl-Z belongs to the shell here': 'app.suspend',
  'line mode has no themes': 'app.theme',
  'the mouse belongs to the terminal here': 'app.mouse',
  'commands of the run can be used at once': 'plan.back',
  'changes are named by number': 'review.move review.scroll review.back',
  'log prints as many lines as you want': 'log.scroll',
  'there are no cards': 'run.density',
  'more prints the next part of a long text': 'result.scroll',
};

const actionsIn = (table: Readonly<Record<string, string>>): readonly string[] =>
  Object.values(table).flatMap((actions) => actions.split(' '));

describe('the commands of line mode', () => {
  it('stand for every action of every screen, or it is known why there is none', () => {
    const onScreens = [...new Set(allActions().map(({ action }) => action))];
    expect([...actionsIn(COVERED), ...actionsIn(WITHOUT)].toSorted()).toEqual(onScreens.toSorted());
    const names = new Set(LINE_COMMANDS.map(({ name }) => name));
    expect(Object.keys(COVERED).filter((name) => !names.has(name))).toEqual([]);
  });

  it('have one meaning in one place, by name and by short form', () => {
    for (const place of PLACES) {
      const words = LINE_COMMANDS.filter(({ where }) => where.includes(place)).flatMap(({ name, short = [] }) => [
        name,
        ...short,
      ]);
      expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([]);
    }
  });

  it('leave the answers to the plan and to questions alone', () => {
    const taken = new Set(['Y', 'y', 'n', 'N', 'e', 'm', 'A', '1', '2', '3', 'no']);
    const here = LINE_COMMANDS.filter(({ where }) => where.includes('plan') || where.includes('run'));
    expect(here.flatMap(({ name, short = [] }) => [name, ...short]).filter((word) => taken.has(word))).toEqual([]);
  });

  it('each have a sentence for the help', () => {
    for (const command of LINE_COMMANDS) expect(usageOf(command)).toMatch(/^[a-z]+.*: [A-Z].*\.$/);
  });
});

describe('a typed line', () => {
  const meant = (typed: string, place: Place, exact = false): string => {
    try {
      const found = meantBy(typed, LINE_COMMANDS, place, exact);
      return found === null ? 'other' : `${found.command.name}(${found.rest})`;
    } catch (error) {
      if (error instanceof Exit) return error.message;
      throw error;
    }
  };

  it.each([
    ['message 2 look at refresh', 'run', 'message(2 look at refresh)'],
    ['mess 2 hello', 'run', 'message(2 hello)'],
    ['i all stop', 'run', 'message(all stop)'],
    ['/show 3 diffs', 'run', 'show(3 diffs)'],
    ['SHOW 3', 'run', 'show(3)'],
    ['mod', 'run', '"mod" could be model, mode or models. Nothing was done'],
    ['interupt 2', 'run', 'unknown command "interupt". Did you mean interrupt? Nothing was done'],
    ['accept', 'run', 'accept is for a plan that waits for approval. Nothing was done'],
    ['sessions', 'run', 'sessions is for the start, before a run. Nothing was done'],
    ['no', 'plan', 'other'],
    ['x', 'plan', 'other'],
    ['yes please', 'plan', 'other'],
    ['what?', 'plan', 'other'],
    ['/frobnicate', 'run', 'Unknown command "frobnicate". Try help'],
    ['constructor', 'run', 'other'],
  ] as const)('"%s" at %s means %s', (typed, place, words) => {
    expect(meant(typed, place)).toBe(words);
  });

  it.each([
    ['mode yolo', 'mode(yolo)'],
    ['mode of failure is unclear', 'other'],
    ['show 2', 'show(2)'],
    ['show me the whole diff first', 'other'],
    ['agents', 'agents()'],
    ['agents running', 'agents(running)'],
    ['agents that fail', 'other'],
    ['mess 2 hello', 'other'],
    ['/mess 2 hello', 'message(2 hello)'],
  ])('where any words could be the answer, only a whole command is one: "%s"', (typed, words) => {
    expect(meant(typed, 'run', true)).toBe(words);
  });

  it('is a command, a refusal or other text, and never means a command of another place', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(...PLACES), fc.boolean(), (typed, place, exact) => {
        const name = /^(\w+)\(/.exec(meant(typed, place, exact))?.[1];
        const places = LINE_COMMANDS.filter((command) => command.name === name).flatMap(({ where }) => where);
        if (name !== undefined) expect(places).toContain(place);
      }),
    );
  });
});
