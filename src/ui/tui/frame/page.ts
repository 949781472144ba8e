/** A screen together with its own state, so that the app can hold screens of different kinds alike. */
import type { AgentId } from '../../../domain/ids.ts';
import type { PlanEdit } from '../../../domain/plan/plan-edit.ts';
import type { DialogEffect, Binding, Body, Context, Effect, Screen, ScreenName } from './screen.ts';
import { type Entry, type HelpPart, type Hint, entriesOf, helpOf, hintsOf, isPlain, rebind } from './keymap.ts';
import type { Input, Size } from '../terminal/terminal.ts';
import type { Line } from '../../../app/views/text/line.ts';

/** What a table says of a binding. */
export type Action = Pick<Binding<never>, 'action' | 'keys' | 'hint' | 'help'>;

export interface Page {
  readonly name: ScreenName;
  settle(context: Context, size: Size): void;
  painted(context: Context): void;
  moving(context: Context): boolean;
  unfinished(): boolean;
  header(context: Context, width: number): { readonly left: Line; readonly right: Line };
  body(context: Context, size: Size): Body;
  position(context: Context): string;
  hints(context: Context): readonly Hint[];
  help(context: Context): HelpPart;
  /** Everything that there is to do here, for the palette. */
  entries(context: Context): readonly Entry[];
  typing(context: Context): boolean;
  /** What an input leads to; null when the screen has no use for it. */
  press(input: Input, context: Context, size: Size): DialogEffect | null;
  /** Opens one agent, where the screen shows agents. */
  open(agent: AgentId): void;
  /** Takes an edit that a dialog of the screen led to. */
  drafted(edit: PlanEdit, context: Context): DialogEffect;
  /** Back to how it was at first. */
  reset(): void;
  readonly actions: readonly Action[];
}

export const TITLES: Readonly<Record<ScreenName, string>> = {
  start: 'Start',
  plan: 'Plan',
  run: 'Run',
  result: 'Result',
};

/** `own` are the user's keys by action. */
export function pageOf<Ui>(screen: Screen<Ui>, own: Readonly<Record<string, string>>): Page {
  const table = rebind(screen.keys, own);
  // To be read, what the screen itself does comes before what its fields and panes do; a key is looked up in the table's order.
  const isOwn = ({ action }: Action): boolean => action.startsWith(`${screen.name}.`);
  const ordered = [...table.filter(isOwn), ...table.filter((binding) => !isOwn(binding))];
  let ui = screen.first;
  const taken = (effect: Effect<Ui>): DialogEffect => {
    const { ui: next, ...rest } = effect;
    if (next !== undefined) ui = next;
    return rest;
  };
  const viaTable = (key: string, context: Context): DialogEffect | null => {
    const wanted = table.filter(({ keys }) => keys.includes(key)).map((one) => ({ one, why: one.whyNot(ui, context) }));
    const able = wanted.find(({ why }) => why === null);
    if (able) return taken(able.one.run(ui, context, key));
    // An empty reason: the key means nothing here, and the app may have a use for it.
    const why = wanted.find((one) => one.why !== '')?.why ?? null;
    return why === null ? null : { toast: { level: 'info', text: why } };
  };
  const viaInput = (input: Input, context: Context, size: Size): DialogEffect | null => {
    const effect = screen.input?.(ui, context, input, size) ?? null;
    return effect === null ? null : taken(effect);
  };
  return {
    name: screen.name,
    settle(context, size) {
      ui = screen.settle?.(ui, context, size) ?? ui;
    },
    painted(context) {
      ui = screen.painted?.(ui, context) ?? ui;
    },
    moving: (context) => screen.moving?.(ui, context) ?? false,
    unfinished: () => screen.unfinished?.(ui) ?? false,
    header: (context, width) => screen.header(ui, context, width),
    body: (context, size) => screen.body(ui, context, size),
    position: (context) => screen.position?.(ui, context) ?? '',
    hints: (context) => hintsOf(table, ui, context),
    // What means nothing in this state of the run has another binding for its keys.
    help: (context) =>
      helpOf(
        TITLES[screen.name],
        ordered.filter((binding) => binding.whyNot(ui, context) !== ''),
        context.glyphs,
        own,
      ),
    entries: (context) => entriesOf(ordered, ui, context, taken),
    typing: (context) => screen.typing?.(ui, context) ?? false,
    press(input, context, size) {
      if (input.is !== 'key') return viaInput(input, context, size);
      if (screen.typing?.(ui, context) === true) {
        return viaInput(input, context, size) ?? (isPlain(input.key) ? null : viaTable(input.key, context));
      }
      return viaTable(input.key, context) ?? viaInput(input, context, size);
    },
    open: (agent) => void (ui = screen.opened?.(ui, agent) ?? ui),
    drafted: (edit, context) => taken(screen.drafted?.(ui, context, edit) ?? {}),
    reset() {
      ui = screen.first;
    },
    actions: ordered,
  };
}
