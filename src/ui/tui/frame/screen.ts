/** The types of screens and dialogs. A screen is a body drawn from state, and a table of keys from which dispatch,
 * footer, help and docs/keys.md are made. Screens do not act: they return effects, and the app (app.ts) applies them. */
import type { AgentId, Millis } from '../../../domain/ids.ts';
import type { Mode } from '../../../domain/reason.ts';
import type { RunState } from '../../../events/index.ts';
import type { Command, ModePreview, PlanPreview } from '../../../ports/controls.ts';
import type { AgentRequest, ChangeAction, ProjectInfo, ReportFormat } from '../../../ports/project-service.ts';
import type { TemplateRequest } from '../../../ports/project-service.ts';
import type { PlanEdit } from '../../../domain/plan/plan-edit.ts';
import type { Result } from '../../../domain/result.ts';
import type { Glyphs } from '../text/glyphs.ts';
import type { Cursor, Line } from '../../../app/views/index.ts';
import type { Input, Size } from '../terminal/terminal.ts';

/** Everything a view may use. Equal contexts give equal lines. */
export interface Context {
  readonly state: RunState;
  readonly projectService: ProjectInfo;
  readonly now: Millis;
  readonly glyphs: Glyphs;
  /** Text and output that are streaming, by agent; sanitised, limited to the end. */
  readonly live: ReadonlyMap<string, string>;
  readonly reasoning?: ReadonlyMap<string, string>;
  /** Tool calls whose arguments are being written, by agent; sanitised. Absent if nothing streams. */
  readonly calls?: ReadonlyMap<string, { readonly tool: string; readonly size: number; readonly act?: string }>;
  preview?(mode: Mode, agent?: AgentId): ModePreview | null;
  /** Previews the plan after some edits; null until the run answers. Absent without a run. */
  readonly amended?: (edits: readonly PlanEdit[]) => Result<PlanPreview, string> | null;
  readonly look?: Look;
  /** Project files that match the text after an `@`; null while searching. */
  files?(query: string): readonly string[] | null;
  /** The state of a run in another process. Absent: the run is in this process, or there is none. */
  readonly elsewhere?: RemoteOwner;
  /** Keys of the changes that the person has accepted in the review of this session. Absent: none. */
  readonly accepted?: ReadonlySet<string>;
  /** An agent's activity: tokens per second, and the last seconds one by one. Absent if nothing streams. */
  activity?(agent: string): { readonly rate: number; readonly steps: readonly number[] };
}

/** A run in another process; `lost` says why it cannot be reached any more. */
export interface RemoteOwner {
  readonly lost: { readonly why: string } | null;
}

/** The user's display settings. */
export interface Look {
  readonly theme: string;
  readonly mouse: boolean;
  /** True if nothing may blink, spin or move. */
  readonly still: boolean;
}

export interface Toast {
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
  /** The toast disappears with this: when another screen is shown, or when no question waits any more. Absent: after its time. */
  readonly about?: 'screen' | 'question';
}

/** What should happen after a key. All fields are optional; without any, the key did nothing. */
export interface Effect<Ui> {
  readonly ui?: Ui;
  readonly commands?: readonly Command[];
  readonly dialog?: Dialog;
  /** Opened if a command was refused, so that typed text is not lost. */
  readonly again?: Dialog;
  readonly toast?: Toast;
  /** The run has to answer first: the rest of the effect is ignored, and its origin is repeated after the answer. */
  readonly checking?: true;
  /** An edit from a dialog for the screen that opened it (`Screen.drafted`); nothing is sent to the run. */
  readonly drafted?: PlanEdit;
  readonly app?: AppRequest;
}

/** A request that only the app can carry out. */
export type AppRequest =
  | AppCommand
  | RunRequest
  | ProjectRequest
  /** Copies to the clipboard and to the file with the last copy; `what` names the text in the toast. */
  | { readonly copy: string; readonly what: string }
  | EditRequest
  /** Sets the text of the screen's field, as if it came from the user's editor. */
  | { readonly fill: string }
  | { readonly show: ScreenName };

export type AppCommand =
  | 'quit'
  | 'suspend'
  | 'redraw'
  | 'help'
  /** Focuses the open questions. */
  | 'inbox'
  | 'trust'
  /** Continues without trust. */
  | 'untrusted'
  /** Detaches: moves the run to a background process, if it is not in one already. */
  | 'detach'
  /** Takes over a run whose process was lost. */
  | 'go on here'
  | 'palette'
  | 'copy mode'
  /** Toggles the mouse between Mimir and the terminal's selection. */
  | 'mouse'
  | 'themes';

export type RunRequest =
  /** `direct` asks main without a planner and approves its plan of one task. */
  | { readonly start: string; readonly direct?: 'direct' }
  | { readonly template: string; readonly values: Readonly<Record<string, string>> }
  /** `followUp` is a message to main, or to an agent that can continue, with its earlier context. */
  | { readonly resume: string; readonly followUp?: string; readonly to?: AgentId }
  | { readonly attach: string }
  /** Shows a finished session read-only. */
  | { readonly look: string };

export type ProjectRequest =
  | { readonly theme: string }
  | { readonly export: ReportFormat }
  | { readonly keep: TemplateRequest }
  | { readonly createAgent: AgentRequest }
  | { readonly deleteAgent: string }
  /** Drafts an agent from a sentence and opens its form. `model`: by a model, if one is available. */
  | { readonly draftAgent: { readonly sentence: string; readonly model: boolean } }
  | { readonly trust: string }
  /** Marks a change of the run as accepted, or takes the mark back. */
  | { readonly accept: string; readonly isAccepted: boolean }
  /** Shows what an action would do; with the digest of what was shown it is carried out. */
  | { readonly change: ChangeAction; readonly digest?: string };

export type EditRequest =
  /** Opens a text in the user's editor; `then` receives the saved text, and is not called if nothing was saved. */
  | { readonly edit: string; then(text: string): DialogEffect }
  /** Opens the text of a field in the user's editor; it returns as the input `edited`. */
  | { readonly field: string }
  /** Shows a session of Mimir's tmux server until the person detaches. */
  | { readonly terminal: string };

export type ScreenName = 'start' | 'plan' | 'run' | 'result' | 'review';

export interface Binding<Ui> {
  /** Names as in `Input.key`; footer and help show the first. */
  readonly keys: readonly string[];
  /** The stable name for `keys:` of the user's configuration: `run.kill`. */
  readonly action: string;
  /** One or two words for the footer; empty leaves it out. */
  readonly hint: string;
  /** Its name in the help and the palette: verb and object. */
  readonly help: string;
  /** One sentence that adds what the name does not tell. */
  readonly more?: string;
  value?(ui: Ui, context: Context): string;
  /** Null if possible now, otherwise the reason, which is shown on press; the footer leaves the key out. */
  whyNot(ui: Ui, context: Context): string | null;
  /** True while the command only has to wait: the footer shows it greyed without its key. Absent: never. */
  soon?(ui: Ui, context: Context): boolean;
  run(ui: Ui, context: Context, key: string): Effect<Ui>;
}

export interface Body {
  /** Exactly `height` lines of exactly `width` columns. */
  readonly lines: readonly Line[];
  readonly cursor?: Cursor | null;
  /** The number of last lines that are a field; questions are docked above it. Absent: none. */
  readonly field?: number;
}

export interface Screen<Ui> {
  readonly name: ScreenName;
  readonly first: Ui;
  /** In the order of the footer. These take precedence over the app's keys. */
  readonly keys: readonly Binding<Ui>[];
  /** The header after the MIMIR badge, and its right end. */
  header(ui: Ui, context: Context, width?: number): { readonly left: Line; readonly right: Line };
  /** The part between header and footer, including an input line. */
  body(ui: Ui, context: Context, size: Size): Body;
  /** Adjusts `ui` (selection, scrolling) before each frame and key; the same object if it fits. */
  settle?(ui: Ui, context: Context, size: Size): Ui;
  /** Called after the screen was painted. Optional. */
  painted?(ui: Ui, context: Context): Ui;
  /** True while the content changes with time alone, without an active run. */
  moving?(ui: Ui, context: Context): boolean;
  /** True if work was left to the next frame to paint in time. Absent: never. */
  unfinished?(ui: Ui): boolean;
  /** The right end of the footer: `4/12`. */
  position?(ui: Ui, context: Context): string;
  /** Handles other keys, pastes, the wheel and clicks (body coordinates); null if unused. */
  input?(ui: Ui, context: Context, input: Input, size: Size): Effect<Ui> | null;
  opened?(ui: Ui, agent: AgentId): Ui;
  /** Takes an edit from one of its dialogs. Absent: the screen keeps no drafts. */
  drafted?(ui: Ui, context: Context, edit: PlanEdit): Effect<Ui>;
  /** True while letters go to a field; the table's letter keys are then inactive. */
  typing?(ui: Ui, context: Context): boolean;
}

/** The result of a dialog: an effect without a screen's own state. */
export type DialogEffect = Omit<Effect<never>, 'ui'>;

export interface Choice {
  readonly value: string;
  readonly label: string;
  /** A dim note after the label: a price, a description. */
  readonly note: string;
  readonly whyNot: string | null;
}

export type Field = { readonly name: string; readonly label: string } & (
  | { readonly is: 'text'; readonly value: string; readonly lines: number; readonly hint: string }
  | { readonly is: 'choice'; readonly value: string; readonly choices: readonly Choice[] }
  | { readonly is: 'checks'; readonly values: readonly string[]; readonly choices: readonly Choice[] }
);

/** A text field of one or more lines. */
export const textField = (name: string, label: string, value: string, hint: string, lines: number = 1): Field => ({
  is: 'text',
  name,
  label,
  value,
  lines,
  hint,
});

export const choiceField = (name: string, label: string, value: string, choices: readonly Choice[]): Field => ({
  is: 'choice',
  name,
  label,
  value,
  choices,
});

/** A list of choices that are checked one by one; `values` are checked at first. */
export const checksField = (
  name: string,
  label: string,
  values: readonly string[],
  choices: readonly Choice[],
): Field => ({ is: 'checks', name, label, values, choices });

/** The text of a form's field without blanks at its ends. */
export const textIn = ({ texts }: FormValues, name: string): string => (texts[name] ?? '').trim();

/** An available choice, by default with its value as its label. */
export const choice = (value: string, note: string = '', label: string = value): Choice => ({
  value,
  label,
  note,
  whyNot: null,
});

/** A list of items, in which `value` is preselected. `then` receives the chosen item. */
export function pickFrom<Item>(
  title: string,
  items: readonly Item[],
  choiceOf: (item: Item) => Choice,
  then: (item: Item) => DialogEffect,
  value: string = '',
): Extract<Dialog, { readonly is: 'pick' }> {
  const choices = items.map(choiceOf);
  return {
    is: 'pick',
    title,
    choices,
    value,
    then(chosen) {
      const item = items[choices.findIndex((one) => one.value === chosen)];
      return item === undefined ? {} : then(item);
    },
  };
}

export type Dialog =
  /** One text field; Enter accepts, Alt-Enter breaks the line if `lines` > 1. `check` returns the fault of the text, or null. */
  | {
      readonly is: 'text';
      readonly title: string;
      readonly hint: string;
      readonly value: string;
      readonly lines: number;
      /** What Enter does, for the footer. */
      readonly yes: string;
      check(text: string): string | null;
      then(text: string): DialogEffect;
    }
  | {
      readonly is: 'pick';
      readonly title: string;
      readonly choices: readonly Choice[];
      readonly value: string;
      /** Column heads above the labels and the notes. */
      readonly heads?: readonly [label: string, note: string];
      /** Hides unavailable choices until something is typed; a line counts them. */
      readonly folds?: true;
      /** The key that opened it: it goes on to the next one. */
      readonly next?: string;
      then(value: string): DialogEffect;
      /** Previews the selected choice, or the original one after Esc. */
      seen?(value: string): DialogEffect;
    }
  /** Enter is the safe choice; irreversible acts need `word` to be typed. `instead` is a third choice. */
  | {
      readonly is: 'confirm';
      readonly title: string;
      readonly lines: readonly Line[];
      readonly yes: string;
      readonly no: string;
      readonly word?: string;
      readonly instead?: { readonly key: string; readonly hint: string; readonly leadsTo: DialogEffect };
      then(): DialogEffect;
    }
  /** Several fields: Tab moves, Space toggles, Ctrl-S saves, Esc asks if something changed. */
  | {
      readonly is: 'form';
      readonly title: string;
      /** The footer's word for Ctrl-S; `save` by default. */
      readonly yes?: string;
      /** A note above the fields, if there is space. */
      readonly note?: string;
      readonly fields: readonly Field[];
      /** Name of the field that has the keys at first; the first one when left out. */
      readonly at?: string;
      check(values: FormValues): string | null;
      /** What saving would change, shown below the fields as they are filled in; null for nothing to show. */
      effect?(values: FormValues): string | null;
      then(values: FormValues): DialogEffect;
    }
  /** Alternatives side by side; the first column is the present state. */
  | {
      readonly is: 'compare';
      readonly title: string;
      /** The key that opened it: it goes on to the next one. */
      readonly next: string;
      /** What Enter does, for the footer. */
      readonly yes: string;
      readonly at: number;
      /** The names of the rows: totals, which stay visible, and details. */
      readonly heads: readonly Line[];
      readonly rows: readonly Line[];
      readonly columns: readonly CompareColumn[];
      then(column: number): DialogEffect;
    }
  | { readonly is: 'mode'; readonly agent: AgentId | null }
  | { readonly is: 'charts' }
  | { readonly is: 'read'; readonly title: string; readonly lines: readonly Line[] };

export interface CompareColumn {
  readonly title: string;
  /** One cell per row of the dialog's `heads` and `rows`. */
  readonly heads: readonly Line[];
  readonly rows: readonly Line[];
  readonly notes: readonly Line[];
  readonly whyNot: string | null;
}

export interface FormValues {
  readonly texts: Readonly<Record<string, string>>;
  readonly checks: Readonly<Record<string, readonly string[]>>;
}
