/** Changes the mode of the run, or pins an agent, with a preview. Enter only tightens; loosening has its own key. */
import { modeReach, pinMode, setMode } from '../../../app/actions/index.ts';
import type { AgentId } from '../../../domain/ids.ts';
import { isLooser, MODES, type Mode } from '../../../domain/reason.ts';
import type { Command, ModePreview } from '../../../ports/controls.ts';
import { plural, fit, type Line, restyle, span, toLabel, wrap } from '../../../app/views/index.ts';
import { cycled, type Hint, upDown } from '../frame/keymap.ts';
import type { Context } from '../frame/screen.ts';
import type { Input } from '../terminal/terminal.ts';
import type { Overlay, Pressed } from '../frame/overlay.ts';
import { boxRows, boxWidth, closed, framed, keyLine, scrolled, stay, windowed } from '../frame/overlay.ts';
import { strong, tint } from '../text/blocks.ts';
import AUTOMATIC_ACTS from './automatic-acts.json' with { type: 'json' };

const WIDTH = 84;
/** The key that loosens; never the one that confirms everything else. */
const LOOSEN_KEY = 'L';

type ModeChoice = Mode | null;

interface ModeState {
  readonly agent: AgentId | null;
  readonly wish: ModeChoice;
  /** The first visible row of the effects. */
  readonly top: number;
}

/** The dialog for the run (`agent` null) or for the pin of an agent. The present mode is preselected. */
export const modeOverlay = (agent: AgentId | null, context: Context): Overlay =>
  open({ agent, wish: present(agent, context), top: 0 });

const modeChoices = (agent: AgentId | null): readonly ModeChoice[] => (agent === null ? MODES : [null, ...MODES]);

const present = (agent: AgentId | null, { state }: Context): ModeChoice =>
  agent === null ? state.mode : (state.agents.get(agent)?.pin ?? null);

const open = (of: ModeState): Overlay => ({
  title: 'Mode',
  kind: 'dialog',
  view(context, size) {
    const width = boxWidth(size, WIDTH);
    const inner = Math.max(1, width - 4);
    const { choices, words, keys } = parts(of, context, inner);
    const room = boxRows(size);
    const tail: readonly Line[] = choices.length + 4 + keys.length <= room ? [[], ...keys] : [];
    const { shown } = windowed(words, of.top, Math.max(1, room - choices.length - tail.length));
    const body = [...choices, ...shown, ...tail];
    return {
      lines: framed({ title: titleOf(of, context), width, body, ink: inkOf(of, context) }, context),
      cursor: null,
    };
  },
  press: (input, context, size) =>
    press(of, input, context, parts(of, context, boxWidth(size, WIDTH) - 4).words.length),
  hints: (context) => hintsOf(of, context),
});

function titleOf({ agent }: ModeState, { state }: Context): string {
  if (agent === null) return 'Mode of all agents';
  return `Pin ${toLabel(state.agents.get(agent)?.name ?? agent)} to a stricter mode`;
}

const inkOf = (of: ModeState, context: Context): 'err' | 'focus' =>
  previewOf(of, context)?.looser === true && of.wish === 'yolo' ? 'err' : 'focus';

function change(of: ModeState, context: Context): { readonly from: Mode; readonly to: Mode } {
  const { mode } = context.state;
  return { from: present(of.agent, context) ?? mode, to: of.wish ?? mode };
}

/** The run's preview of the selected mode, null until it has answered. Without a running run, a preview from the modes alone. */
function previewOf(of: ModeState, context: Context): ModePreview | null {
  const { from, to } = change(of, context);
  const known = { refused: null, looser: isLooser(to, from), changes: [], answers: 0 };
  const { wish } = of;
  if (wish === present(of.agent, context) || context.preview === undefined) return known;
  if (of.agent === null) return context.preview(to);
  const { mode } = context.state;
  if (wish !== null && !isLooser(mode, wish)) return { ...known, refused: `the run is in mode ${mode}` };
  return context.preview(to, of.agent);
}

function parts(of: ModeState, context: Context, width: number) {
  const now = present(of.agent, context);
  const choices = modeChoices(of.agent).map((choice) =>
    choiceLine(choice, choice === of.wish, choice === now, context, width),
  );
  const words = [[], ...wordsOf(of, context)].flatMap((line) => wrap(line, Math.max(1, width), 2));
  const hints = hintsOf(of, context).map(({ keys: key, hint }) => [key, hint] as const);
  return { choices, words, keys: wrap(keyLine(hints), Math.max(1, width)) };
}

const MODE_NOTES: Readonly<Record<Mode, string>> = {
  human: 'ask before everything',
  confirm: 'ask before changes and commands',
  yolo: 'ask only before destructive commands',
};

function choiceLine(wish: ModeChoice, on: boolean, isNow: boolean, { glyphs, state }: Context, width: number): Line {
  const words = wish === null ? `same as the run (${state.mode})` : MODE_NOTES[wish];
  const line: Line = [
    tint(on ? `${glyphs.selected} ` : '  ', 'focus'),
    span((wish ?? 'no pin').padEnd(9), { fg: wish === 'yolo' ? 'err' : on ? 'title' : 'fg', bold: on }),
    strong(isNow ? 'now  ' : '     ', 'ok'),
    tint(words, 'muted'),
  ];
  return restyle(fit(line, width), on ? { bg: 'selection' } : {});
}

const AUTOMATIC: Readonly<Record<Mode, readonly string[]>> = AUTOMATIC_ACTS;

function wordsOf(of: ModeState, context: Context): readonly Line[] {
  const preview = previewOf(of, context);
  const { refused, changes, answers } = preview ?? {
    refused: null,
    changes: [`checking ${context.glyphs.ellipsis}`],
    answers: 0,
  };
  const whom: Line = [strong(modeReach(of.agent), 'fg')];
  if (refused !== null) return [whom, [strong('Not possible: ', 'err'), tint(toLabel(refused), 'fg')]];
  const { from, to } = change(of, context);
  const gained = AUTOMATIC[to].filter((what) => !AUTOMATIC[from].includes(what));
  const lost = AUTOMATIC[from].filter((what) => !AUTOMATIC[to].includes(what));
  const open =
    answers === 0 ? [] : [[strong(`${plural(answers, 'open question')} will be approved now.`, 'err')] as Line];
  return [
    whom,
    ...bulletList('No longer asks before:', 'warn', gained, context),
    ...bulletList('Asks again before:', 'info', lost, context),
    ...bulletList('Changes now:', 'title', changes, context),
    ...open,
    [tint('Denials, budgets and protected paths still apply.', 'muted')],
  ];
}

const bulletList = (
  title: string,
  fg: 'warn' | 'info' | 'title',
  what: readonly string[],
  { glyphs }: Context,
): readonly Line[] =>
  what.length === 0
    ? []
    : [
        [span(title, { fg, bold: true })],
        ...what.map((one): Line => [tint(`${glyphs.bullet} `, 'focus'), tint(toLabel(one), 'fg')]),
      ];

function press(of: ModeState, input: Input, context: Context, total: number): Pressed {
  const key = input.is === 'key' ? input.key : '';
  const by = MOVES[key];
  if (by !== undefined) return stay(open({ ...of, top: 0, wish: cycled(modeChoices(of.agent), of.wish, by) }));
  if (key === 'esc' || key === 'q') return closed();
  if (key === 'enter' || key === LOOSEN_KEY) return take(of, key, context);
  return stay(open({ ...of, top: scrolled(input, of.top, total, 1) ?? of.top }));
}

const MOVES: Readonly<Record<string, number | undefined>> = { up: -1, k: -1, backtab: -1, down: 1, j: 1, tab: 1 };

function take(of: ModeState, key: string, context: Context): Pressed {
  const { wish } = of;
  const warn = (text: string): Pressed => ({ overlay: open(of), effect: { toast: { level: 'warn', text } } });
  if (wish === present(of.agent, context)) return closed();
  const preview = previewOf(of, context);
  if (preview === null) return { overlay: open(of), effect: { checking: true } };
  const { refused, looser } = preview;
  if (refused !== null) return warn(`Not possible: ${toLabel(refused)}`);
  if (looser && key === 'enter') return warn(`Press ${LOOSEN_KEY} to switch to a less strict mode.`);
  return closed({ commands: [commandOf(of.agent, wish, context)] });
}

const commandOf = (agent: AgentId | null, wish: ModeChoice, { state }: Context): Command =>
  agent === null ? setMode.command(state, { mode: wish ?? 'confirm' }) : pinMode.command(state, { agent, mode: wish });

function hintsOf(of: ModeState, context: Context): readonly Hint[] {
  const { glyphs } = context;
  const { wish } = of;
  const preview = previewOf(of, context);
  const words = of.agent === null ? `change to ${wish ?? ''}` : wish === null ? 'remove pin' : `pin ${wish}`;
  const same = wish === present(of.agent, context);
  const act =
    preview === null || preview.refused !== null || same
      ? []
      : [{ keys: preview.looser ? LOOSEN_KEY : glyphs.key.enter, hint: words }];
  return [...act, { keys: upDown(glyphs), hint: 'select' }, { keys: 'Esc', hint: 'cancel' }];
}
