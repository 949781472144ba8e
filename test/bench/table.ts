/** The report of a bench run: figures beside the floor of the same run and the bars, as a Markdown table that can be pasted. */
import type { Bar, Limit } from './bars.ts';
import { BARS } from './bars.ts';
import type { Spread } from './statistics.ts';

export interface Figure {
  /** Names its bar where there is one. */
  readonly what: string;
  readonly unit: 'ms' | 'MB' | '%' | 'bytes' | 'bytes/s' | 'tokens' | '';
  readonly mimir: Spread;
  /** Of how many, where the figure is a count of what must not be. */
  readonly of?: number;
  /** Null where there is none: a floor keeps no log, and installs nothing. */
  readonly floor: Spread | null;
}

/** How a figure stands to its bar; `none` where it has no bar. */
export type Verdict = 'stretch' | 'must' | 'missed' | 'none';

const HEAD = ['', 'Mimir', 'floor', 'ratio', 'must', 'stretch', 'verdict'];

/** One row a figure, under a head. */
export const tableOf = (figures: readonly Figure[]): string =>
  [HEAD, HEAD.map(() => '---'), ...figures.map(rowOf)].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const barOf = ({ what }: Figure): Bar | undefined => BARS[what];

/** Medians are judged: one bad moment of a busy machine is no verdict. */
export function verdictOf(figure: Figure): Verdict {
  const bar = barOf(figure);
  if (bar === undefined) return 'none';
  if (!holds(bar.must, figure)) return 'missed';
  return bar.stretch !== undefined && holds(bar.stretch, figure) ? 'stretch' : 'must';
}

function rowOf(figure: Figure): readonly string[] {
  const { what, unit, mimir, floor, of } = figure;
  const bar = barOf(figure);
  return [
    unit === '' ? what : `${what}, ${unit}`,
    `${spreadText(mimir)}${of === undefined ? '' : ` of ${of}`}`,
    floor === null ? '' : spreadText(floor),
    floor === null || floor.median === 0 ? '' : `${(mimir.median / floor.median).toFixed(2)}x`,
    bar === undefined ? '' : limitText(bar.must),
    bar?.stretch === undefined ? '' : limitText(bar.stretch),
    verdictText(figure),
  ];
}

function verdictText(figure: Figure): string {
  const verdict = verdictOf(figure);
  if (verdict !== 'missed') return verdict === 'none' ? '' : verdict;
  const bar = barOf(figure);
  const limit = bar === undefined ? Number.NaN : valueOf(bar.must, figure);
  const off = Math.abs(figure.mimir.median / limit - 1) * 100;
  return Number.isFinite(off) ? `**missed by ${off.toFixed(0)} %**` : '**missed**';
}

function holds(limit: Limit, figure: Figure): boolean {
  const value = valueOf(limit, figure);
  return limit.is.startsWith('at most') ? figure.mimir.median <= value : figure.mimir.median >= value;
}

const valueOf = (limit: Limit, { floor }: Figure): number =>
  'value' in limit ? limit.value : (floor?.median ?? Number.NaN) * limit.times;

function limitText(limit: Limit): string {
  const sign = limit.is.startsWith('at most') ? '≤' : '≥';
  return 'value' in limit ? `${sign} ${limit.value}` : `${sign} ${limit.times} x floor`;
}

/** `12.3 (11.9-14.0)`; one figure alone where there was one repetition. */
const spreadText = ({ min, median, max, count }: Spread): string =>
  count === 1 ? numberText(median) : `${numberText(median)} (${numberText(min)}-${numberText(max)})`;

function numberText(value: number): string {
  if (Number.isInteger(value)) return String(value);
  if (Math.abs(value) < 1) return value.toFixed(2);
  return Math.abs(value) < 100 ? value.toFixed(1) : value.toFixed(0);
}
