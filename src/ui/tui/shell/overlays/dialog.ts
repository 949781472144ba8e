/** Boxes over a screen. Generic, so that a screen only says what it wants to know and what to do with the answer. */
import type { AgentId } from '../../../../domain/ids.ts';
import type { Effect } from '../screen.ts';
import type { Line } from '../../../../app/views/text/line.ts';

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
