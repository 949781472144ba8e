/**
 * The bars: those of NUMBERS ("Our bars"), by what they are about, and what a long run must come to. Nothing else in the table is
 * a number that was not measured.
 */

/** What a figure must reach. `floor`: so many times the floor of the same run (at most for costs, at least for ratios). */
export type Limit =
  | { readonly is: 'at most'; readonly value: number }
  | { readonly is: 'at least'; readonly value: number }
  | { readonly is: 'at most floor'; readonly times: number }
  | { readonly is: 'at least floor'; readonly times: number };

export interface Bar {
  readonly must: Limit;
  readonly stretch?: Limit;
}

const most = (value: number): Limit => ({ is: 'at most', value });
const least = (value: number): Limit => ({ is: 'at least', value });
const upTo = (must: number, stretch?: number): Bar => ({
  must: most(must),
  ...(stretch === undefined ? {} : { stretch: most(stretch) }),
});
const ratio = (must: number): Bar => ({ must: least(must), stretch: { is: 'at least floor', times: 0.97 } });
const nearFloor = (must: number): Bar => ({ must: most(must), stretch: { is: 'at most floor', times: 1.2 } });

export const BARS: Readonly<Record<string, Bar>> = {
  'start: first paint': upTo(200, 80),
  'start: key echo': upTo(220, 140),
  'idle: memory': upTo(100, 80),
  'idle: CPU': upTo(0.1),
  'idle: bytes to the terminal': upTo(0),
  'one reply: wall': upTo(300, 200),
  'a read call: wall': nearFloor(5),
  '16 agents: CPU per call': upTo(6, 4.5),
  '16 agents: ideal/span': ratio(0.88),
  '64 agents: ideal/span': ratio(0.75),
  '256 agents: ideal/span': ratio(0.52),
  '16 agents: peak memory': upTo(150, 120),
  '64 agents: peak memory': upTo(220, 180),
  '256 agents: peak memory': upTo(400, 330),
  'one stream of 500/s: echo p50': upTo(5, 3),
  'one stream of 500/s: echo p95': upTo(12, 8),
  'one stream of 500/s: echo max': upTo(20, 17),
  '8 agents at 50/s: echo p50': nearFloor(4),
  '8 agents at 50/s: echo p95': nearFloor(12),
  '8 agents at 50/s: echo max': nearFloor(30),
  '64 agents at 50/s: echo p50': nearFloor(6),
  '64 agents at 50/s: echo p95': nearFloor(16),
  '64 agents at 50/s: echo max': nearFloor(40),
  'one stream of 500/s: CPU': upTo(30, 20),
  '8 agents at 50/s: CPU': upTo(35, 25),
  'a frame at 120x40': upTo(2, 1),
  'installed size': upTo(60, 45),
  'soak: agents that did not end well': upTo(0),
  'soak: ledger and bill differ by': upTo(0),
  'soak: broken off, billed and not charged': upTo(0),
  'soak: requests without a cacheable prefix': upTo(0),
};
