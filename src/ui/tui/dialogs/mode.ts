/**
 * The mode of the whole hierarchy, or a stricter one that an agent and all below it are held to: what each would change is
 * said before it does. Enter only ever makes things stricter; a looser one has a key of its own.
 */
import type { AgentId } from '../../../domain/ids.ts';
import { isLooser, MODES, type Mode } from '../../../domain/mode.ts';
import type { Command, ModePreview } from '../../../ports/controls.ts';
import { counted } from '../../../app/views/text/format.ts';
import { type Hint, upDown } from '../frame/keymap.ts';
import type { Context } from '../frame/screen.ts';
import type { Input } from '../terminal/terminal.ts';
import { fit, span } from '../../../app/views/text/clip.ts';
import type { Line } from '../../../app/views/text/line.ts';
import { toLabel } from '../../../app/views/text/sanitise.ts';
import { wrap } from '../../../app/views/text/wrap.ts';
import {
  boxRows,
  boxWidth,
  closed,
  framed,
  keyLine,
  scrolled,
  stay,
  windowed,
  type Overlay,
  type Pressed,
} from '../frame/overlay.ts';

const WIDTH = 84;
/** Loosens: never the key that takes everything else. */
const LOOSEN = 'L';

/** A choice: a mode, or null for no pin. */
type Wish = Mode | null;

interface ModeState {
  /** Null: the mode of the run. */
  readonly agent: AgentId | null;
  readonly at: number;
  readonly top: number;
}

/** Of the whole run (`agent` null), or the pin of an agent. The present one is selected: Enter then changes nothing. */
export function modeOverlay(agent: AgentId | null, context: Context): Overlay {
  const at = wishes(agent).indexOf(present(agent, context));
  return open({ agent, at: Math.max(0, at), top: 0 });
}

const wishes = (agent: AgentId | null): readonly Wish[] => (agent === null ? MODES : [null, ...MODES]);

const present = (agent: AgentId | null, { state }: Context): Wish =>
  agent === null ? state.mode : (state.agents.get(agent)?.pin ?? null);

function open(of: ModeState): Overlay {
  return {
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
  };
}

function titleOf({ agent }: ModeState, { state }: Context): string {
  if (agent === null) return 'Mode of all agents';
  return `Hold ${toLabel(state.agents.get(agent)?.name ?? agent)} to a stricter mode`;
}

const inkOf = (of: ModeState, context: Context): 'err' | 'focus' =>
  previewOf(of, context).looser && wishOf(of) === 'yolo' ? 'err' : 'focus';

const wishOf = ({ agent, at }: ModeState): Wish => wishes(agent)[at] ?? null;

/** From which mode to which a choice leads. */
function change(of: ModeState, context: Context): { readonly from: Mode; readonly to: Mode } {
  const { mode } = context.state;
  return { from: present(of.agent, context) ?? mode, to: wishOf(of) ?? mode };
}

/** What the run says about the selected one; where no run can be asked, what the modes themselves say. */
function previewOf(of: ModeState, context: Context): ModePreview {
  const { from, to } = change(of, context);
  const known = { refused: null, looser: isLooser(to, from), changes: [], answers: 0 };
  const wish = wishOf(of);
  if (wish === present(of.agent, context)) return known;
  if (of.agent === null) return context.preview?.(to) ?? known;
  const { mode } = context.state;
  if (wish !== null && !isLooser(mode, wish)) return { ...known, refused: `the run itself is in mode ${mode}` };
  return context.preview?.(to, of.agent) ?? known;
}

interface Parts {
  readonly choices: readonly Line[];
  /** What scrolls where there is little room. */
  readonly words: readonly Line[];
  readonly keys: readonly Line[];
}

function parts(of: ModeState, context: Context, width: number): Parts {
  const now = present(of.agent, context);
  const choices = wishes(of.agent).map((wish, index) => choiceLine(wish, { of, index, now }, context, width));
  const words = [[], ...wordsOf(of, context)].flatMap((line) => wrap(line, Math.max(1, width), 2));
  const keys = wrap(
    keyLine(hintsOf(of, context).map(({ keys: key, hint }) => [key, hint] as const)),
    Math.max(1, width),
  );
  return { choices, words, keys };
}

const SHORT: Readonly<Record<Mode, string>> = {
  human: 'every turn and every act asks you',
  confirm: 'reading runs; changes, commands and new agents ask',
  yolo: 'everything within the rules runs without asking',
};

function choiceLine(
  wish: Wish,
  { of, index, now }: { readonly of: ModeState; readonly index: number; readonly now: Wish },
  { glyphs, state }: Context,
  width: number,
): Line {
  const on = index === of.at;
  const words = wish === null ? `as the run: ${state.mode}` : SHORT[wish];
  const line: Line = [
    span(on ? `${glyphs.selected} ` : '  ', { fg: 'focus' }),
    span((wish ?? 'no pin').padEnd(9), { fg: wish === 'yolo' ? 'err' : on ? 'title' : 'fg', bold: on }),
    span(wish === now ? 'now  ' : '     ', { fg: 'ok', bold: true }),
    span(words, { fg: 'muted' }),
  ];
  return fit(line, width, {}, glyphs.ellipsis).map(([text, style]) => [
    text,
    on ? { ...style, bg: 'selection' } : style,
  ]);
}

/** What runs without a question in a mode. */
const AUTOMATIC: Readonly<Record<Mode, readonly string[]>> = {
  human: [],
  confirm: ['model turns', 'reading, searching and looking at git in the project'],
  yolo: [
    'model turns',
    'reading, searching and looking at git in the project',
    'writing files',
    'commands, in the sandbox only',
    'changing the git repository',
    'starting more agents, within the caps',
  ],
};

function wordsOf(of: ModeState, context: Context): readonly Line[] {
  const { refused, changes, answers } = previewOf(of, context);
  const whom: Line = [span(affected(of, context), { fg: 'fg', bold: true })];
  if (refused !== null)
    return [whom, [span('Not possible: ', { fg: 'err', bold: true }), span(toLabel(refused), { fg: 'fg' })]];
  const { from, to } = change(of, context);
  const gained = AUTOMATIC[to].filter((what) => !AUTOMATIC[from].includes(what));
  const lost = AUTOMATIC[from].filter((what) => !AUTOMATIC[to].includes(what));
  const open =
    answers === 0
      ? []
      : [
          [
            span(`${counted(answers, 'open question')} would be answered with yes at once.`, { fg: 'err', bold: true }),
          ] as Line,
        ];
  return [
    whom,
    ...titled('Becomes automatic, without a question:', 'warn', gained, context),
    ...titled('Will ask you from now on:', 'info', lost, context),
    ...titled('That means now:', 'title', changes, context),
    ...open,
    [span('Denials, budgets and protected paths stay as they are.', { fg: 'muted' })],
  ];
}

const titled = (
  title: string,
  fg: 'warn' | 'info' | 'title',
  what: readonly string[],
  { glyphs }: Context,
): readonly Line[] =>
  what.length === 0
    ? []
    : [
        [span(title, { fg, bold: true })],
        ...what.map((one): Line => [span(`${glyphs.bullet} `, { fg: 'focus' }), span(toLabel(one), { fg: 'fg' })]),
      ];

/** A mode is never one agent's alone. */
function affected({ agent }: ModeState, { state }: Context): string {
  if (agent !== null) return 'This applies to this agent and to all below it, those to come as well.';
  const agents = Math.max(0, state.agents.size - 1);
  const others = agents === 0 ? '' : ` and its ${counted(agents, 'agent')}`;
  return `This applies to the whole hierarchy: main${others}, and those to come.`;
}

function press(of: ModeState, input: Input, context: Context, total: number): Pressed {
  const key = input.is === 'key' ? input.key : '';
  const move = (by: number): Pressed =>
    stay(open({ ...of, top: 0, at: (of.at + by + wishes(of.agent).length) % wishes(of.agent).length }));
  switch (key) {
    case 'esc':
    case 'q':
      return closed();
    case 'up':
    case 'k':
    case 'backtab':
      return move(-1);
    case 'down':
    case 'j':
    case 'tab':
      return move(1);
    case 'enter':
    case LOOSEN:
      return take(of, key, context);
    default: {
      const to = scrolled(input, of.top, total, 1);
      return stay(to === null ? open(of) : open({ ...of, top: to }));
    }
  }
}

function take(of: ModeState, key: string, context: Context): Pressed {
  const wish = wishOf(of);
  const warn = (text: string): Pressed => ({ overlay: open(of), effect: { toast: { level: 'warn', text } } });
  if (wish === present(of.agent, context)) return closed();
  const { refused, looser } = previewOf(of, context);
  if (refused !== null) return warn(`Not possible: ${toLabel(refused)}`);
  if (looser && key === 'enter') return warn(`Enter loosens nothing: ${LOOSEN} does.`);
  return closed({ commands: [commandOf(of.agent, wish)] });
}

function commandOf(agent: AgentId | null, wish: Wish): Command {
  if (agent !== null) return { do: 'pin mode', agent, mode: wish };
  return { do: 'set mode', mode: wish ?? 'confirm' };
}

function hintsOf(of: ModeState, context: Context): readonly Hint[] {
  const { glyphs } = context;
  const wish = wishOf(of);
  const { refused, looser } = previewOf(of, context);
  const words = of.agent === null ? `change to ${wish ?? ''}` : wish === null ? 'take the pin away' : `hold to ${wish}`;
  const same = wish === present(of.agent, context);
  const act = refused !== null || same ? [] : [{ keys: looser ? LOOSEN : glyphs.key.enter, hint: words }];
  return [...act, { keys: upDown(glyphs), hint: 'select' }, { keys: 'Esc', hint: 'leave it as it is' }];
}
