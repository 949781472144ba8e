/** The foot of the start screen: project, provider, sandbox and mode, and what the person should know about them. */
import type { LobbyInfo } from '../../../../ports/project-service.ts';
import { isOffline, isUnboxed } from '../../../../app/views/agents/agent-lines.ts';
import type { Context } from '../../shell/screen.ts';
import { fitText, span } from '../../../../app/views/text/clip.ts';
import type { Line, Style } from '../../../../app/views/text/line.ts';
import { widthOf } from '../../../../app/views/text/width.ts';
import { wrap } from '../../../../app/views/text/wrap.ts';

/** How much of it is shown. */
export type StatusMeasure = 'full' | 'short' | 'line' | 'none';

const OFFLINE_WORDS =
  'No provider is connected, so no language model is used: the built-in analyst reads the project and reports, at no cost. For models set ANTHROPIC_API_KEY or OPENAI_API_KEY, or providers: in config.yml; `mimir models` lists what can be used.';
const OFFLINE_SHORT =
  'The built-in analyst reads and reports, free. Models: ANTHROPIC_API_KEY, OPENAI_API_KEY, or providers: in config.yml.';

const MORE_MODELS = '   `mimir models` lists what can be used';

/** Lines of at most `width` columns. */
export function statusLines({ lobby, glyphs }: Context, width: number, kind: StatusMeasure): readonly Line[] {
  if (kind === 'none') return [];
  const full = kind === 'full';
  const room = Math.max(1, width - 1);
  const noGit =
    lobby.repository?.isGit === false ? '   no git here: `git init` lets changes be compared and committed' : '';
  const project: Line = [
    span(lobby.project, { fg: 'fg', bold: true }),
    span(`  ${lobby.cwd}`, { fg: 'muted' }),
    span(noGit, { fg: 'warn' }),
  ];
  const place: Line = [
    ...sandboxWords(lobby),
    span('   mode ', { fg: 'faint' }),
    span(lobby.mode, modeStyle(lobby.mode)),
  ];
  const rule: Line = [span(` ${glyphs.light[4].repeat(Math.max(0, width - 2))}`, { fg: 'border' })];
  return [
    ...(full ? [rule, ...cut(labelled('Project', project, room), 2)] : []),
    ...cut(labelled('Provider', providerLine(lobby, kind, room), room), full ? 4 : kind === 'short' ? 2 : 1),
    ...(kind === 'line' ? [] : belowProvider(lobby, place, room, full)),
  ];
}

/** Sandbox and mode, who rules here, and what the configuration warns of. */
function belowProvider(lobby: LobbyInfo, place: Line, room: number, full: boolean): readonly Line[] {
  const notes = lobby.notes.slice(0, full ? 3 : 1).flatMap((note): readonly Line[] => {
    const words: Line = [span(' ! ', { fg: 'warn', bold: true }), span(note, { fg: 'warn' })];
    return cut(wrap(words, room, 2), 2);
  });
  return [
    ...cut(labelled('Sandbox', place, room), full ? 2 : 1),
    ...cut(ruleRows(lobby, room), full ? 4 : 2),
    ...notes,
  ];
}

/** Commands without a box are nothing to overlook. */
function sandboxWords({ sandbox }: LobbyInfo): Line {
  if (sandbox === '') return [span('being tried out', { fg: 'faint' })];
  if (!isUnboxed(sandbox)) return [span(sandbox, { fg: 'ok' })];
  return [
    span(' NONE: UNSANDBOXED ', { fg: 'surface', bg: 'err', bold: true }),
    span(sandbox.slice(4), { fg: 'muted' }),
  ];
}

/** Who rules here beside the person, and whether what the project says of itself counts. */
function ruleRows({ policy = '', trust }: LobbyInfo, room: number): readonly Line[] {
  const words = trust === undefined ? null : TRUST_WORDS[trust.state];
  return [
    ...(policy === '' ? [] : labelled('Policy', [span(policy, { fg: 'info' })], room)),
    ...(words === null ? [] : labelled('Trust', words, room)),
  ];
}

const ASK_TRUST = span('   ^T shows what it would bring', { fg: 'faint' });
const TRUST_WORDS: Readonly<Record<NonNullable<LobbyInfo['trust']>['state'], Line | null>> = {
  nothing: null,
  trusted: [span('trusted as it is now', { fg: 'ok' })],
  new: [span('not trusted: only its restrictions count', { fg: 'warn' }), ASK_TRUST],
  changed: [span('changed since it was trusted: only its restrictions count', { fg: 'warn' }), ASK_TRUST],
};

function providerLine({ provider }: LobbyInfo, kind: StatusMeasure, room: number): Line {
  if (!isOffline(provider)) {
    const fits = widthOf(provider + MORE_MODELS) + LABEL <= room;
    return [span(provider, { fg: 'ok', bold: true }), span(fits ? MORE_MODELS : '', { fg: 'faint' })];
  }
  const words = kind === 'full' ? OFFLINE_WORDS : kind === 'short' ? OFFLINE_SHORT : 'no language model is used';
  return [span('OFFLINE', { fg: 'warn', bold: true }), span(`  ${words}`, { fg: 'muted' })];
}

const modeStyle = (mode: LobbyInfo['mode']): Style => ({ fg: mode === 'yolo' ? 'err' : 'fg' });

const LABEL = 10;

function labelled(label: string, value: Line, width: number): readonly Line[] {
  if (width < 50) return wrap(value, width).map((line) => [span(' '), ...line]);
  return wrap(value, Math.max(1, width - LABEL)).map((line, index) => [
    span(` ${fitText(index === 0 ? label : '', LABEL - 1)}`, { fg: 'faint' }),
    ...line,
  ]);
}

/** The first `most` of them; the last says where there were more. */
function cut(lines: readonly Line[], most: number): readonly Line[] {
  if (lines.length <= most) return lines;
  const last = lines[most - 1] ?? [];
  const [text, style] = last.at(-1) ?? ['', {}];
  // A sign in the place of what would stand before the rest: a blank, a comma.
  return [
    ...lines.slice(0, most - 1),
    [...last.slice(0, -1), [text.replace(/[\s,;:.]+$/, ''), style], span(' …', style)],
  ];
}
