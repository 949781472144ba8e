/**
 * The bars: by what they are about, and what a long run must come to. Nothing
 * else in the table is a number that was not measured.
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
  'spawn: above the model p95': upTo(150),
  'spawn: by the verb': upTo(2000),
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
  'a frame with 512 agents, CPU': upTo(5, 2),
  'installed size': upTo(60, 45),
  'trees: ready, times git worktree add': upTo(2),
  'replay: ended before their own end': upTo(4),
  'soak: agents that did not end well': upTo(0),
  'soak: ledger and bill differ by': upTo(0),
  'soak: broken off, billed and not charged': upTo(0),
  'soak: requests without a cacheable prefix': upTo(0),
  'a log of 541 MB: resumed, MB above a plain run': upTo(200),
  'a log of 541 MB: resumed': upTo(15_000),
  // Of policy, the sandbox and the gate.
  'a decision, p99': upTo(0.2),
  'a configuration file of up to 64 KiB': upTo(250),
  'wrong managed policies, accepted': upTo(0),
  'plans judged wrongly': upTo(0),
  'a plan of 50 tasks, p95': upTo(5),
  'a plan of 10,000 tasks, refused': upTo(200),
  'strings with foreign control bytes': upTo(0),
  'text cleaned, MB/s': { must: least(20) },
  'a line of 2 MB, cleaned': upTo(50),
  '100,000 colours, cleaned': upTo(50),
  'a line of 2 MB, on the screen': upTo(50),
  '100,000 colours, on the screen': upTo(50),
  'an action of 2 MB, asked about': upTo(50),
  'an explanation': upTo(100),
  'random sets of layers, in another order or looser': upTo(0),
  'random storms of calls, above a limit': upTo(0),
  'a decision on the disk, p95': upTo(5),
  // 100,000 in three seconds.
  '1000 records of a log, checked': upTo(30),
  'faults found in a log that is whole': upTo(0),
  'changed bits of a log, not found': upTo(0),
  'the box adds': upTo(15),
  'the box adds, p95': upTo(40),
  'keys seen in the box': upTo(0),
  'trees of processes ended, survivors': upTo(0),
  'the end of a tree that obeys, worst': upTo(2500),
  'the end of a tree that does not, worst': upTo(2500),
  'kills of Mimir, survivors': upTo(0),
  'Mimir killed, until nothing is left, worst': upTo(500),
  'memory taken by an endless output': upTo(20),
};
