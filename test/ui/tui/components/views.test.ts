/** Screens as text: the same state, the same lines. */
import { describe, expect, it } from 'vitest';
import { ASCII } from '../../../../src/ui/tui/text/glyphs.ts';
import { pageOf } from '../../../../src/ui/tui/frame/keymap.ts';
import { resultScreen } from '../../../../src/ui/tui/screens/result/result.ts';
import { runScreen } from '../../../../src/ui/tui/screens/run/run.ts';
import { contextOf, look } from '../../../support/look.ts';
import { finished, midRun, says } from '../../../support/recorded-run.ts';

/** Clocks depend on the machine's zone: the log's times are left out. */
const timeless = (rows: readonly string[]): readonly string[] =>
  rows.map((row) => row.replace(/\d\d:\d\d:\d\d/, 'hh:mm:ss'));

describe('the run screen', () => {
  it('shows cards in one column at 80x24 (O006, O114, O116, O117, O120)', () => {
    const rows = look(pageOf(runScreen, {}), contextOf(midRun().events), { width: 80, height: 24 }, ['j', 'j', 'j']);
    expect(timeless(rows)).toMatchInlineSnapshot(`
      [
        " MIMIR  Fix the token r… confirm  ● 3 ○ 2 ✗ 1  ✓ 1/6   3m 11s    $0.33 of $2.00 ",
        "   agent            activity                          budget      cost     time ",
        " ● main             waiting for 4 agents                         $0.09   3m 11s ",
        " ✓ finder           14 files found                             $0.0031      21s ",
        " ✗ librarian        ! provider refused the reque…                $0.04      48s ",
        "▌● oracle           Bash npm test -- refresh --r… ▰▰▰▰·  78%     $0.12   2m 13s ",
        " ● refactoring      waiting for 1 agent           ▰▰···  48%     $0.07   1m 36s ",
        " ● ╰ finder 2       Search legacyRefresh          ·····   0%     $0.00      12s ",
        " ○ tester           waiting for #3 oracle                                       ",
        " ○ reviewer         waiting for #4 refactoring                                  ",
        "┌─ ● oracle ──── Transcript  Todos 1/5  Tools 2  Diffs  Messages  Costs  Info ─┐",
        "│ model o3   depends on #1 finder                                              │",
        "│ turn 2 of 20   tools 2   spent $0.12 of $0.15                                │",
        "│ ──────────────────────────────────────────────────────────────────────────── │",
        "│ Both calls read generation 7 before either writes generation 8.              │",
        "│                                                                              │",
        "│ • the UPDATE has no guard                                                    │",
        "│ • the first client keeps a revoked token                                     │",
        "│                                                                             ▐│",
        "│ ⚙ Bash npm test -- refresh --repeat 50                               running▐│",
        "└──────────────────────────────────────────────────────────────── following ▼ ─┘",
        " hh:mm:ss · finder 2      Search legacyRefresh                                  ",
        " ❯ Message oracle (ROOT::S3)…                                         i to type ",
        " ↑↓ select  ⏎ open  Tab pane  i message  s interrupt  x kill … ? help       4/8 ",
      ]
    `);
  });

  it('shows cards, the opened agent, spend and log at 120x40', () => {
    const live = new Map([['ROOT::S3', 'PASS refresh 1\nPASS refresh 2']]);
    const rows = look(pageOf(runScreen, {}), contextOf(midRun().events, { live }), { width: 120, height: 40 }, [
      'j',
      'j',
      'j',
    ]);
    expect(timeless(rows)).toMatchInlineSnapshot(`
      [
        " MIMIR  Fix the token refresh race    sandboxed  confirm  ● 3 ○ 2 ✗ 1  1 of 6 done   3m 11s / ~1m 30s    $0.33 of $2.00 ",
        "   agent        activity        budget    cost    time ┌─ ● oracle ─────── Transcript │ Todos 1/5 │ Tools 2 │ Diffs ▸ ─┐",
        " ● main         waiting for 4 a…         $0.09  3m 11s │ model o3   depends on #1 finder                               │",
        " ✓ finder       14 files found         $0.0031     21s │ turn 2 of 20   tools 2   spent $0.12 of $0.15                 │",
        " ✗ librarian    ! provider refu…         $0.04     48s │ ───────────────────────────────────────────────────────────── │",
        "▌● oracle       Bash npm test -…   78%   $0.12  2m 13s │ ▌ Explain the race: why do two refreshes both win?            │",
        " ● refactoring  waiting for 1 a…   48%   $0.07  1m 36s │                                                               │",
        " ● ╰ finder 2   Search legacyRe…    0%   $0.00     12s │ I look at the TokenStore first.                               │",
        " ○ tester       waiting for #3 oracle                  │                                                               │",
        " ○ reviewer     waiting for #4 refactoring             │ ⚙ Edit src/auth/store.ts                                +2 -1 │",
        "┌─ Log ────────────────────────────────── 16 entries ─┐│   │ @@ -1,3 +1,4 @@                                           │",
        "│ hh:mm:ss · run           session started in /home/… ││   │ -  await db.update(id, { token, gen: gen + 1 })           │",
        "│ hh:mm:ss · run           plan of 6 tasks by opus-4… ││   │ +  const n = await db.update(id, { token, gen: gen + 1 }… │",
        "│ hh:mm:ss · run           plan approved by person    ││   │ +  if (n === 0) throw new StaleTokenError(id)             │",
        "│ hh:mm:ss · finder        queued: Locate every call… ││   ╰    return token                                           │",
        "│ hh:mm:ss · librarian     queued: Summarise token r… ││     … +3 lines  (o unfolds)                                   │",
        "│ hh:mm:ss · oracle        queued: Explain the race:… ││                                                               │",
        "│ hh:mm:ss · refactoring   queued: Move rotation int… ││ Why both win                                                  │",
        "│ hh:mm:ss · tester        queued: Write race, repla… ││                                                               │",
        "│ hh:mm:ss · reviewer      queued: Security review o… ││ Both calls read generation 7 before either writes generation  │",
        "│ hh:mm:ss · finder        Search refreshToken        ││ 8.                                                            │",
        "│ hh:mm:ss · finder        completed                  ││                                                               │",
        "│ hh:mm:ss ! librarian     failed: provider refused … ││ • the UPDATE has no guard                                     │",
        "│ hh:mm:ss · oracle        Edit src/auth/store.ts     ││ • the first client keeps a revoked token                      │",
        "│ hh:mm:ss · oracle        Bash npm test -- refresh … ││                                                               │",
        "│ hh:mm:ss · finder 2      queued: Find imports of l… ││ ⚙ Bash npm test -- refresh --repeat 50                running │",
        "│ hh:mm:ss · finder 2      Search legacyRefresh       ││   │ PASS refresh 1                                            │",
        "│                                                     ││   ╰ PASS refresh 2▌                                           │",
        "│                                                     │└───────────────────────────────────────────────── following ▼ ─┘",
        "│                                                     │┌─ Spend by agent ──────────────────────────────────────────────┐",
        "│                                                     ││ oracle       ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━    $0.12 │",
        "│                                                     ││ main         ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━─────────    $0.09 │",
        "│                                                     ││ refactoring  ━━━━━━━━━━━━━━━━━━━━━━━━───────────────    $0.07 │",
        "│                                                     ││ librarian    ━━━━━━━━━━━━━━─────────────────────────    $0.04 │",
        "│                                                     ││ finder       ━──────────────────────────────────────  $0.0031 │",
        "│                                                     ││                                                               │",
        "│                                                     ││                                                               │",
        "└─────────────────────────────────────────────────────┘└───────────────────────────────────────────────────────────────┘",
        " ❯ Message oracle (ROOT::S3)…                                                                                 i to type ",
        " ↑↓ select  ⏎ open  Tab pane  i message  s interrupt  x kill  / filter  T graph  d detach  z density … ? help       4/8 ",
      ]
    `);
  });

  it('opens an agent in the place of the cards at 80x24, and says that it no longer follows (O121)', () => {
    const page = pageOf(runScreen, {});
    const rows = look(page, contextOf(midRun().events), { width: 80, height: 24 }, ['j', 'j', 'j', 'enter', 'k', 'k']);
    expect(timeless(rows)).toMatchInlineSnapshot(`
      [
        " MIMIR  oracle           confirm  ● 3 ○ 2 ✗ 1  ✓ 1/6   3m 11s    $0.33 of $2.00 ",
        "┏━ ● oracle ━━━━ Transcript  Todos 1/5  Tools 2  Diffs  Messages  Costs  Info ━┓",
        "┃ model o3   depends on #1 finder                                              ┃",
        "┃ turn 2 of 20   tools 2   spent $0.12 of $0.15                                ┃",
        "┃ ──────────────────────────────────────────────────────────────────────────── ┃",
        "┃                                                                              ┃",
        "┃ ⚙ Edit src/auth/store.ts                                               +2 -1 ┃",
        "┃   │ @@ -1,3 +1,4 @@                                                         ▐┃",
        "┃   │ -  await db.update(id, { token, gen: gen + 1 })                         ▐┃",
        "┃   │ +  const n = await db.update(id, { token, gen: gen + 1 }, { gen });     ▐┃",
        "┃   │ +  if (n === 0) throw new StaleTokenError(id)                           ▐┃",
        "┃   ╰    return token                                                         ▐┃",
        "┃     … +3 lines  (o unfolds)                                                 ▐┃",
        "┃                                                                             ▐┃",
        "┃ Why both win                                                                ▐┃",
        "┃                                                                             ▐┃",
        "┃ Both calls read generation 7 before either writes generation 8.             ▐┃",
        "┃                                                                             ▐┃",
        "┃ • the UPDATE has no guard                                                    ┃",
        "┃ • the first client keeps a revoked token                                     ┃",
        "┗━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ scrolled at 18/20, G to follow ━┛",
        " hh:mm:ss · finder 2      Search legacyRefresh                                  ",
        " ❯ Message oracle (ROOT::S3)…                                         i to type ",
        " ↑↓ scroll  ←→ tab  Space block  o unfold  y copy  e editor … ? help        4/8 ",
      ]
    `);
    const more = says(midRun(), 150, 'ROOT::S3', 'One more thing.\n\nAnd another.', 1, 0);
    expect(look(page, contextOf(more.events), { width: 80, height: 24 }).join('\n')).toContain(
      'scrolled, 4 new — G to follow',
    );
    expect(look(page, contextOf(more.events), { width: 80, height: 24 }, ['G']).join('\n')).toContain('And another.');
  });

  it('has three densities', () => {
    const size = { width: 80, height: 12 };
    const page = pageOf(runScreen, {});
    const context = contextOf(midRun().events);
    expect(look(page, context, size, ['z', 'z'])[2]).toMatchInlineSnapshot(
      `"▌● main             waiting for 4 agents                         $0.09   3m 11s "`,
    );
    expect(look(page, context, size, ['z'])[2]).toMatchInlineSnapshot(
      `"▌● main             waiting for 4 agents                         $0.09   3m 11s "`,
    );
  });

  it('asks for nothing but ASCII where nothing else can be shown', () => {
    const rows = look(pageOf(runScreen, {}), contextOf(midRun().events, { glyphs: ASCII }), { width: 120, height: 40 });
    expect(rows.filter((row) => /[^\x20-\x7e]/.test(row))).toEqual([]);
  });

  it('marks a sub-agent and a model that was put in the place of another', () => {
    const rows = look(pageOf(runScreen, {}), contextOf(midRun().events), { width: 120, height: 60 });
    expect(rows.find((row) => row.includes('finder 2'))).toContain('● ╰ finder 2  qwen-3 → offline');
  });
});

describe('the result', () => {
  it('says how it went, the report, what each agent did, and what to do next', () => {
    const rows = look(pageOf(resultScreen, {}), contextOf(finished().events), { width: 120, height: 36 });
    expect(rows).toMatchInlineSnapshot(`
      [
        " MIMIR  Result › Fix the token refresh r… sandboxed  confirm  ⏸ 1 ✗ 1  4 of 6 done   3m 19s / ~1m 30s    $0.33 of $2.00 ",
        " ✓ Completed: 5 of 7 agents completed, 1 failed, 1 killed                                                               ",
        "┌─ 1 Answer  2 Agents  3 Estimates  4 Costs  5 Files ──────────────────┐┌─ Agents ─────────────────────────────────────┐",
        "│ Token refresh                                                        ││ ● main                 3m 19s    $0.09   22k │",
        "│                                                                      ││   running                                    │",
        "│ The race is in src/auth/store.ts:41.                                 ││ ✓ finder                  21s  $0.0031  6.2k │",
        "│                                                                      ││ ✗ librarian               48s    $0.04   15k │",
        "│ 1. Agent 1: 14 files found                                           ││   failed: provider refused the request (400) │",
        "│ 2. Agent 2: failed                                                   ││ ✓ oracle               2m 11s    $0.12   31k │",
        "│                                                                      ││ ✓ refactoring          1m 34s    $0.07   28k │",
        "│ │ No language model was used.                                        ││ ✓ finder 2                10s    $0.00     0 │",
        "│                                                                      ││ ✓ tester                                     │",
        "│ Unfinished                                                           ││ ⏸ reviewer                                   │",
        "│   #2 librarian: failed, provider refused the request (400)           ││   killed by the person                       │",
        "│   #6 reviewer: killed by the person                                  ││                                              │",
        "│                                                                      ││                                              │",
        "│                                                                      ││                                              │",
        "│                                                                      ││                                              │",
        "│                                                                      │└──────────────────────────────────────────────┘",
        "│                                                                      │┌─ Totals ─────────────────────────────────────┐",
        "│                                                                      ││ Time    3m 19s                               │",
        "│                                                                      ││ Cost    $0.29                                │",
        "│                                                                      ││ Tokens  102k                                 │",
        "│                                                                      ││ Agents  7                                    │",
        "│                                                                      │└──────────────────────────────────────────────┘",
        "│                                                                      │┌─ Next ───────────────────────────────────────┐",
        "│                                                                      ││ i    message main                            │",
        "│                                                                      ││ c    commit changes                          │",
        "│                                                                      ││ x    export report                           │",
        "│                                                                      ││ Esc  agents                                  │",
        "│                                                                      ││ n    new task                                │",
        "│                                                                      ││ q    quit                                    │",
        "│                                                                      ││ mimir report run-7f3a prints it              │",
        "└──────────────────────────────────────────────────────────────────────┘└──────────────────────────────────────────────┘",
        " ❯ Message main (ROOT)…                                                                                       i to type ",
        " ↑↓ scroll  Tab section  x export  y copy  Esc agents  i message  c commit  p plan  n new task  : commands … ? help     ",
      ]
    `);
  });

  it('has everything in one column at 80x24', () => {
    const page = pageOf(resultScreen, {});
    const size = { width: 80, height: 24 };
    const text = ['g', 'pagedown', 'pagedown']
      .flatMap((key) => look(page, contextOf(finished().events), size, [key]))
      .join('\n');
    for (const words of [
      'The race is in src/auth/store.ts:41.',
      'provider refused',
      'killed',
      'Cost    $0.29',
      'mimir report run-7f3a',
    ]) {
      expect(text).toContain(words);
    }
  });
});
