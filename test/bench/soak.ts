/** The long run: 64 agents for ten minutes over a wire that breaks now and then. Figures, not a verdict of its own: the test has that. */
import type { Measurement } from './run.ts';
import { figure } from './run.ts';
import { differenceOf, soak, tokensOf } from './soak-core.ts';

const AGENTS = 64;

export const soaking: Measurement = {
  name: 'soak',
  about: `${AGENTS} agents for ten minutes at 50 tokens/s with 2 % faults`,
  async measure({ programs, quick }) {
    const times = quick ? { seconds: 20, replySeconds: 4 } : { seconds: 600, replySeconds: 12 };
    const soaked = await soak({ program: programs.mimir, agents: AGENTS, rate: 50, share: 0.02, ...times });
    const { ledger, bill, outcomes } = soaked;
    const of = (value: number) => ({ mimir: [value] });
    const same = (value: number) => value;
    const missing = tokensOf(bill.broken) - tokensOf(ledger.failed);
    return [
      figure('soak: agents that did not end well', '', same, of(AGENTS - (outcomes['completed'] ?? 0))),
      figure('soak: exit code', '', same, of(soaked.code ?? Number.NaN)),
      figure('soak: replies', '', same, of(bill.answered.calls)),
      figure('soak: faults (refused and broken off)', '', same, of(bill.refused + bill.broken.calls)),
      figure('soak: ledger and bill differ by', 'tokens', same, of(differenceOf(ledger.answered, bill.answered))),
      figure('soak: broken off, billed and not charged', 'tokens', same, of(Math.max(0, missing))),
      figure('soak: broken off, charged beyond the bill', 'tokens', same, of(Math.max(0, -missing))),
      figure('soak: requests without a cacheable prefix', '', same, of(soaked.prefixFaults)),
      figure('soak: wall', 'ms', same, of(soaked.wallMs)),
      figure('soak: CPU', '%', same, of((soaked.cpuMs * 100) / soaked.wallMs)),
      figure('soak: peak memory', 'MB', same, of(soaked.peakMb)),
    ];
  },
};
