/** Keys of the run screen's list: the filter, its matches, only who works, the order, folded subtrees, the graph. */
import type { Binding, Context } from '../../frame/screen.ts';
import type { Input } from '../../terminal/terminal.ts';
import { edit, openEditor } from '../../text/editor.ts';
import { hiddenBy, filterOf, SORTS, withFold, type ListUi } from '../../components/runs/list.ts';
import { type RunUi, move, selectedOf } from './state.ts';

const SILENT = '';

/** True while the filter is typed: letters are the field's. */
export const isFiltering = ({ list }: RunUi): boolean => list.field !== null;

const withList = (ui: RunUi, list: Partial<ListUi>): RunUi => ({ ...ui, list: { ...ui.list, ...list } });
const inList = (ui: RunUi): string | null => (ui.focus === 'cards' && !isFiltering(ui) ? null : SILENT);
const whileTyped = (ui: RunUi): string | null => (isFiltering(ui) ? null : SILENT);
const parentOf = (ui: RunUi, context: Context): string | null =>
  (selectedOf(ui, context)?.children.length ?? 0) > 0 ? null : 'It has no sub-agents to fold.';

/** While the filter is typed: before all others, since its field takes Enter and Esc. */
export const FILTER_KEYS: readonly Binding<RunUi>[] = [
  {
    keys: ['enter'],
    action: 'filter.take',
    hint: 'keep',
    help: 'Keep the filter and go on in the list.',
    whyNot: whileTyped,
    run: (ui) => ({ ui: withList(ui, { filter: filterOf(ui.list), field: null }) }),
  },
  {
    keys: ['esc', 'ctrl-c'],
    action: 'filter.leave',
    hint: 'show all',
    help: 'Leave the filter: all agents are listed again.',
    whyNot: whileTyped,
    run: (ui) => ({ ui: withList(ui, { filter: '', field: null }) }),
  },
  {
    keys: ['up', 'down'],
    action: 'filter.move',
    hint: 'select',
    help: 'Through the matches while the filter is typed.',
    whyNot: whileTyped,
    run: (ui, context, key) => ({ ui: move(ui, context, key === 'up' ? -1 : 1) }),
  },
];

/** The list's own keys. */
export const LIST_KEYS: readonly Binding<RunUi>[] = [
  {
    keys: ['/'],
    action: 'run.filter',
    hint: 'filter',
    help: 'List only agents with these words in name, role, model, state or task.',
    whyNot: inList,
    run: (ui) => ({ ui: withList(ui, { field: openEditor(ui.list.filter, true) }) }),
  },
  {
    keys: ['n', 'N'],
    action: 'run.match',
    hint: 'next match',
    help: 'The next match of the filter, or the one before.',
    whyNot: (ui) => inList(ui) ?? (ui.list.filter === '' ? SILENT : null),
    run: (ui, context, key) => ({ ui: move(ui, context, key === 'n' ? 1 : -1) }),
  },
  {
    keys: ['esc'],
    action: 'run.showAll',
    hint: 'show all',
    help: 'List all agents again, in the order in which they began.',
    whyNot: (ui, { state }) =>
      inList(ui) ?? (ui.list.filter === '' && !ui.list.only && hiddenBy(ui.list, state) === 0 ? SILENT : null),
    run: (ui) => ({ ui: withList(ui, { filter: '', only: false, folded: new Set() }) }),
  },
  {
    keys: ['f'],
    action: 'run.only',
    hint: '',
    help: 'List only agents at work, or all.',
    whyNot: () => null,
    run: (ui) => ({
      ui: withList(ui, { only: !ui.list.only }),
      toast: { level: 'info', text: ui.list.only ? 'All agents are listed.' : 'Only agents at work are listed.' },
    }),
  },
  {
    keys: ['o'],
    action: 'run.sort',
    hint: '',
    help: 'Order of the list: as they began, what needs eyes first, cost, tokens.',
    whyNot: inList,
    run: (ui) => {
      const sort = SORTS[(SORTS.indexOf(ui.list.sort) + 1) % SORTS.length] ?? 'start';
      return { ui: withList(ui, { sort }), toast: { level: 'info', text: `Order: ${WORDS[sort]}` } };
    },
  },
  {
    keys: [' '],
    action: 'run.fold',
    hint: '',
    help: 'Fold the sub-agents of the selected agent away, or list them again.',
    whyNot: (ui, context) => inList(ui) ?? parentOf(ui, context),
    run: (ui, context) => {
      const agent = selectedOf(ui, context);
      return agent === undefined ? {} : { ui: { ...ui, list: withFold(ui.list, agent.id) } };
    },
  },
  {
    keys: ['T'],
    action: 'run.graph',
    hint: 'graph',
    help: 'The live graph: who runs, who waits for whom, what can never run, how long it will take.',
    whyNot: (_, { state }) => (state.plan === null ? 'There is no plan.' : null),
    run: (ui) => ({ ui: { ...ui, graph: !ui.graphShown } }),
  },
];

const WORDS: Readonly<Record<(typeof SORTS)[number], string>> = {
  start: 'as they began',
  status: 'what needs eyes first',
  cost: 'by cost',
  tokens: 'by tokens',
};

/** What the filter's field makes of an input; null when it isn't the field's. The list follows each letter. */
export function filterTyped(ui: RunUi, input: Input): RunUi | null {
  const { field } = ui.list;
  const next = field === null ? null : edit(field, input);
  return next === null ? null : withList(ui, { field: next });
}
