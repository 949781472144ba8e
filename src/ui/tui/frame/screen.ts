/**
 * What a screen is: a body drawn from state, and a table of keys. Dispatch, footer, help and docs/keys.md come from the table.
 * Screens never act by themselves: they return what should happen, and the app (app.ts) does it.
 */
import type { AgentId, Millis } from '../../../domain/ids.ts';
import type { Mode } from '../../../domain/mode.ts';
import type { RunState } from '../../../events/state.ts';
import type { Command, ModePreview, PlanPreview } from '../../../ports/controls.ts';
import type { AgentWish, LobbyInfo, ReportFormat, TemplateWish } from '../../../ports/project-service.ts';
import type { PlanEdit } from '../../../domain/plan/plan-edit.ts';
import type { Result } from '../../../domain/result.ts';
import type { Glyphs } from '../text/glyphs.ts';
import type { Cursor, Line } from '../../../app/views/text/line.ts';
import type { Input, Size } from '../terminal/terminal.ts';

/** Everything a view may look at. The same context, the same lines. */
export interface Context {
  readonly state: RunState;
  readonly lobby: LobbyInfo;
  readonly now: Millis;
  readonly glyphs: Glyphs;
  /** Text and output that stream right now, by agent; sanitised, cut to their end. */
  readonly live: ReadonlyMap<string, string>;
  /** Reasoning that streams right now, by agent; gone as soon as text comes. Absent where nothing streams. */
  readonly reasoning?: ReadonlyMap<string, string>;
  /** Calls that models write the arguments of right now, by agent; harmless. Absent where nothing streams. */
  readonly calls?: ReadonlyMap<string, { readonly tool: string; readonly size: number }>;
  /** What a change of the mode would do, or a pin of this agent. Absent without a run. */
  preview?(mode: Mode, agent?: AgentId): ModePreview;
  /** The plan in force after some edits. Absent without a run. */
  amended?(edits: readonly PlanEdit[]): Result<PlanPreview, string>;
  /** What the person chose for the screen itself. Absent: as it comes. */
  readonly look?: Look;
  /** Files of the project for what stands behind an `@` in a field; `null` while they are looked for. */
  files?(query: string): readonly string[] | null;
  /** Of a run that another process carries. Absent: it runs here, or there is none. */
  readonly elsewhere?: Elsewhere;
  /** How busy an agent is: tokens a second, and the last seconds one by one. Absent where nothing streams. */
  activity?(agent: string): { readonly rate: number; readonly steps: readonly number[] };
}

/** A run in another process: why that can't be reached any more, or null while it can. */
export interface Elsewhere {
  readonly lost: { readonly why: string } | null;
}

/** How the person wants the screen. */
export interface Look {
  readonly theme: string;
  readonly mouse: boolean;
  /** Nothing blinks, spins or runs along. */
  readonly still: boolean;
}

export interface Toast {
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
}

/** What should happen after a key. Everything is optional; nothing at all means the key did nothing. */
export interface Effect<Ui> {
  readonly ui?: Ui;
  readonly commands?: readonly Command[];
  readonly dialog?: Dialog;
  /** Opened when a command was refused: what was typed is not lost. */
  readonly again?: Dialog;
  readonly toast?: Toast;
  /** An edit that a dialog of a screen was asked for, back to that screen (`Screen.drafted`): nothing is sent to the run. */
  readonly drafted?: PlanEdit;
  /** Things only the app can do. */
  readonly app?:
    | 'quit'
    | 'suspend'
    | 'redraw'
    | 'help'
    /** What waits for the person: the approvals. */
    | 'inbox'
    /** Back to where the run is: plan, cards or result. */
    | 'back'
    /** Shows what the project would bring, and asks. */
    | 'trust'
    /** Goes on without trust. */
    | 'untrusted'
    /** Lets the run go on without this screen: in a process of its own, where it isn't in one already. */
    | 'detach'
    /** Goes on here with a run whose process was lost. */
    | 'go on here'
    /** Every action that there is here, to choose by name. */
    | 'palette'
    /** The screen stands still and text is selected by keys. */
    | 'copy mode'
    /** Mouse events to Mimir, or to the terminal for selecting. */
    | 'mouse'
    /** The themes to choose from. */
    | 'themes'
    /** Copies to the clipboard, and to the file that always has the last copy; `what` names it in the toast. */
    | { readonly copy: string; readonly what: string }
    /** Opens the text in the person's editor; `then` gets what they saved, nothing happens when they didn't. */
    | { readonly edit: string; then(text: string): DialogEffect }
    /** Opens what stands in a field in the person's editor; comes back as an input `edited`, to whom has the field. */
    | { readonly field: string }
    | { readonly theme: string }
    | { readonly export: ReportFormat }
    | { readonly template: string; readonly values: Readonly<Record<string, string>> }
    | { readonly keep: TemplateWish }
    | { readonly createAgent: AgentWish }
    | { readonly deleteAgent: string }
    /** Has an agent drafted from a sentence, and opens its form. `model`: by one, where one may be asked. */
    | { readonly draftAgent: { readonly sentence: string; readonly model: boolean } }
    /** Trusts what was shown under this digest. */
    | { readonly trust: string }
    /** `direct`: asks main without a planner; this is the approval of its plan of one task. */
    | { readonly start: string; readonly direct?: 'direct' }
    /** `followUp`: said to main, which continues with all that is known. */
    | { readonly resume: string; readonly followUp?: string }
    /** Shows a run that another process carries. */
    | { readonly attach: string }
    /** Shows a session that is over, with all its screens; nothing goes on. */
    | { readonly look: string }
    | { readonly show: ScreenName };
}

export type ScreenName = 'start' | 'plan' | 'run' | 'result';

export interface Binding<Ui> {
  /** Names as in `Input.key`; the first is the one that footer and help show. */
  readonly keys: readonly string[];
  /** Stable name for `keys:` of the user's configuration: `run.kill`. */
  readonly action: string;
  /** One or two words for the footer; empty keeps it out of the footer. */
  readonly hint: string;
  /** A sentence for the help. */
  readonly help: string;
  /** Null when it can be done now; else why not: shown when pressed, and the hint is left out of the footer. */
  whyNot(ui: Ui, context: Context): string | null;
  /** True while only time is missing: the hint keeps its place in the footer, greyed and without its key. Absent: never. */
  soon?(ui: Ui, context: Context): boolean;
  run(ui: Ui, context: Context, key: string): Effect<Ui>;
}

export interface Body {
  /** Exactly `height` lines of exactly `width` columns. */
  readonly lines: readonly Line[];
  readonly cursor?: Cursor | null;
  /** How many of the last lines are a field: questions that wait stand above it. Absent: none. */
  readonly field?: number;
}

export interface Screen<Ui> {
  readonly name: ScreenName;
  readonly first: Ui;
  /** In the order of the footer. Contexts beat the app's own keys. */
  readonly keys: readonly Binding<Ui>[];
  /** Spans after the MIMIR badge, and those at the right end. */
  header(ui: Ui, context: Context, width?: number): { readonly left: Line; readonly right: Line };
  /** Between header and footer. Where a line is kept for input, it is part of the body. */
  body(ui: Ui, context: Context, size: Size): Body;
  /** Makes `ui` fit what there is (selection, scrolling) before each painting and each key; the same object when it fits. */
  settle?(ui: Ui, context: Context, size: Size): Ui;
  /** It was put on the screen. Absent: it is the same to it. */
  painted?(ui: Ui, context: Context): Ui;
  /** True while time alone changes what is shown, without a run that goes on. */
  moving?(ui: Ui, context: Context): boolean;
  /** True when something was left to the next frame, so that this one was not late. Absent: never. */
  unfinished?(ui: Ui): boolean;
  /** What the right end of the footer says: `4/12`. */
  position?(ui: Ui, context: Context): string;
  /** Keys that are not in the table, pastes, the wheel and clicks (body coordinates); null when not used. */
  input?(ui: Ui, context: Context, input: Input, size: Size): Effect<Ui> | null;
  /** Opens one agent. Absent: it shows none. */
  opened?(ui: Ui, agent: AgentId): Ui;
  /** Takes an edit that one of its dialogs led to. Absent: it keeps no drafts. */
  drafted?(ui: Ui, context: Context, edit: PlanEdit): Effect<Ui>;
  /** True while typed letters belong to a field: the table's plain keys are then not looked at. */
  typing?(ui: Ui, context: Context): boolean;
}

// Boxes over a screen. Generic, so that a screen only says what it wants to know and what to do with the answer.

/** What a dialog leads to: an effect without a screen's own state. */
export type DialogEffect = Omit<Effect<never>, 'ui'>;

export interface Choice {
  readonly value: string;
  readonly label: string;
  /** Shown behind the label, dim: a price, a description. */
  readonly note: string;
  /** Why it can't be chosen, struck and shown; null when it can. */
  readonly whyNot: string | null;
}

export type Field =
  | {
      readonly is: 'text';
      readonly name: string;
      readonly label: string;
      readonly value: string;
      readonly lines: number;
      readonly hint: string;
    }
  | {
      readonly is: 'choice';
      readonly name: string;
      readonly label: string;
      readonly value: string;
      readonly choices: readonly Choice[];
    }
  | {
      readonly is: 'checks';
      readonly name: string;
      readonly label: string;
      readonly values: readonly string[];
      readonly choices: readonly Choice[];
    };

export type Dialog =
  /** One text; Enter takes it, Alt-Enter breaks the line where `lines` > 1. `check` says what is wrong with it, or null. */
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
  /** A list with a filter. */
  | {
      readonly is: 'pick';
      readonly title: string;
      readonly choices: readonly Choice[];
      readonly value: string;
      then(value: string): DialogEffect;
      /** Another one is selected, or the first one again after Esc: to see it before choosing. */
      seen?(value: string): DialogEffect;
    }
  /** Enter is the safe choice; `word` must be typed for the irreversible, when not empty. `instead` is a third way. */
  | {
      readonly is: 'confirm';
      readonly title: string;
      readonly lines: readonly Line[];
      readonly yes: string;
      readonly no: string;
      readonly word: string;
      readonly instead?: { readonly key: string; readonly hint: string; readonly leadsTo: DialogEffect };
      then(): DialogEffect;
    }
  /** Several fields: Tab moves, Space toggles, Ctrl-S saves, Esc asks when something was changed. */
  | {
      readonly is: 'form';
      readonly title: string;
      /** What Ctrl-S does, for the footer; saves when left out. */
      readonly yes?: string;
      /** Said above the fields, where there is room: how they came to be filled in. */
      readonly note?: string;
      readonly fields: readonly Field[];
      check(values: FormValues): string | null;
      then(values: FormValues): DialogEffect;
    }
  /** Ways to choose from, side by side; the first column is how it is now. */
  | {
      readonly is: 'compare';
      readonly title: string;
      /** The key that opened it: it goes on to the next one. */
      readonly next: string;
      /** What Enter does, for the footer. */
      readonly yes: string;
      /** Which column is selected at first. */
      readonly at: number;
      /** Names of the rows: what they come to, always in sight, and what differs. */
      readonly heads: readonly Line[];
      readonly rows: readonly Line[];
      readonly columns: readonly CompareColumn[];
      /** The index of the column that was chosen. */
      then(column: number): DialogEffect;
    }
  /** The mode of the whole hierarchy, or the pin of one agent. */
  | { readonly is: 'mode'; readonly agent: AgentId | null }
  /** Spend, activity and time of the run, as charts. */
  | { readonly is: 'charts' }
  /** Something to read and scroll. */
  | { readonly is: 'read'; readonly title: string; readonly lines: readonly Line[] };

export interface CompareColumn {
  readonly title: string;
  /** As many as the dialog's `heads` and `rows`. */
  readonly heads: readonly Line[];
  readonly rows: readonly Line[];
  /** Shown below while the column is selected: what it means, what is to be watched. */
  readonly notes: readonly Line[];
  /** Why it can't be chosen; null when it can. */
  readonly whyNot: string | null;
}

export interface FormValues {
  readonly texts: Readonly<Record<string, string>>;
  readonly checks: Readonly<Record<string, readonly string[]>>;
}
