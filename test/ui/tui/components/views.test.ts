/** Screens as text: the same state, the same lines. */
import { describe, expect, it } from 'vitest';
import { ASCII } from '../../../../src/ui/tui/text/glyphs.ts';
import { pageOf } from '../../../../src/ui/tui/frame/page.ts';
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
        " MIMIR  Fix the token ref… ▢ confirm  ● 3 ○ 2 ✗ 1 ✓ 1/7  3m 11s  $0.3278 ▰····· ",
        "┌ ● main  opus-4.5 ─────────────────────────────── 3m 11s · $0.0912 · 22k tok ┐▐",
        "│  ✓ Start wave 1                                                             │▐",
        "│  ▸ Watch wave 2                                                             │▐",
        "│  ○ Merge results                                                ... +2 more │▐",
        "└─ ⟩ waiting for 4 agents ──────────────────────────────────────── ▰····  16% ┘▐",
        "┌ ✓ finder  haiku-4.5 ────────────────────────────── 21s · $0.0031 · 6.2k tok ┐▐",
        "│  Locate every caller of the refresh endpoint                                │▐",
        "│  3/3 todos                                                                  │▐",
        "│                                                                             │▐",
        "└─ 14 files found ────────────────────────────────────────────────────────────┘▐",
        "┌ ✗ librarian  sonnet-4.5 ─────────────────────────── 48s · $0.0418 · 15k tok ┐ ",
        "│  Summarise token rotation guidance                                          │ ",
        "│                                                                             │ ",
        "│                                                                             │ ",
        "└─ ! provider refused the request (400) ──────────────────────────────────────┘ ",
        "┏ ● oracle  o3 ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ 2m 13s · $0.1184 · 31k tok ┓ ",
        "┃  ✓ Reproduce the race                                                       ┃ ",
        "┃  ▸ Explain why two refreshes both win                                       ┃ ",
        "┃  ○ Propose a lock                                               ... +2 more ┃ ",
        "┗━ ⟩ Bash npm test -- refresh --repeat 50 ━━━━━━━━━━━━━━━━━━━━━━━━ ▰▰▰▰·  78% ┛ ",
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
        " MIMIR  run-7f3a › Fix the token refresh race boxed  confirm  ● 3 ◌ 0 ○ 2 ✓ 1 ✗ 1  3m 11s  $0.3278 / $2.00 ▰▰·········· ",
        "┌ ● main  opus-4.5 ────────── 3m 11s · $0.0912 · 22k ┐▐┌─ ● oracle ─────── Transcript │ Todos 1/5 │ Tools 2 │ Diffs ▸ ─┐",
        "│  ✓ Start wave 1                                    │▐│ id ROOT::S3   model o3   needs #1 finder                      │",
        "│  ▸ Watch wave 2                                    │▐│ turn 2/20   tools 2   spent $0.1184 of $0.15                  │",
        "│  ○ Merge results                       ... +2 more │▐│ ───────────────────────────────────────────────────────────── │",
        "└─ ⟩ waiting for 4 agents ─────────────── ▰····  16% ┘▐│   │ +  const n = await db.update(id, { token, gen: gen + 1 }… │",
        "┌ ✓ finder  haiku-4.5 ───────── 21s · $0.0031 · 6.2k ┐▐│   │ +  if (n === 0) throw new StaleTokenError(id)             │",
        "│  Locate every caller of the refresh endpoint       │▐│   ╰    return token                                           │",
        "│  3/3 todos                                         │▐│     … +3 lines  (o to open)                                   │",
        "│                                                    │▐│                                                               │",
        "└─ 14 files found ───────────────────────────────────┘▐│ Why both win                                                 ▐│",
        "┌ ✗ librarian  sonnet-4.5 ────── 48s · $0.0418 · 15k ┐▐│                                                              ▐│",
        "│  Summarise token rotation guidance                 │▐│ Both calls read generation 7 before either writes generation ▐│",
        "│                                                    │▐│ 8.                                                           ▐│",
        "│                                                    │▐│                                                              ▐│",
        "└─ ! provider refused the request (400) ─────────────┘▐│ • the UPDATE has no guard                                    ▐│",
        "┏ ● oracle  o3 ━━━━━━━━━━━━━━ 2m 13s · $0.1184 · 31k ┓▐│ • the first client keeps a revoked token                     ▐│",
        "┃  ✓ Reproduce the race                              ┃▐│                                                              ▐│",
        "┃  ▸ Explain why two refreshes both win              ┃▐│ ⚙ Bash npm test -- refresh --repeat 50                running▐│",
        "┃  ○ Propose a lock                      ... +2 more ┃▐│   │ PASS refresh 1                                           ▐│",
        "┗━ ⟩ Bash npm test -- refresh --repeat… ━ ▰▰▰▰·  78% ┛▐│   ╰ PASS refresh 2▌                                          ▐│",
        "┌ ● refactoring  sonnet-4.5 ─ 1m 36s · $0.0733 · 28k ┐▐└───────────────────────────────────────────────── following ▼ ─┘",
        "│  ✓ Move rotation into it                           │▐┌─ Activity ───────────────────┐┌─ Spend by agent ──────────────┐",
        "│  ▸ Update 14 call sites                            │▐│ ● main                 0 t/s ││ oracle       ━━━━━━━  $0.1184 │",
        "│  ○ Delete the old path                 ... +2 more │ │ ● oracle               0 t/s ││ main         ━━━━━╸─  $0.0912 │",
        "└─ ⟩ waiting for 1 agent ──────────────── ▰▰···  48% ┘ │ ● refactoring          0 t/s ││ refactoring  ━━━━╸──  $0.0733 │",
        "┌ ● ╰ finder 2  qwen-3 → offline ─ 12s · $0.0000 · 0 ┐ │ ● finder 2             0 t/s ││ librarian    ━━╸────  $0.0418 │",
        "│  Find imports of legacyRefresh                     │ │ ✓ finder           completed ││ finder       ╸──────  $0.0031 │",
        "│                                                    │ │ ✗ librarian           failed ││                               │",
        "│                                                    │ │ ○ tester              queued ││                               │",
        "└─ ⟩ Search legacyRefresh ─────────────── ·····   0% ┘ └──────────────────────────────┘└───────────────────────────────┘",
        "┌─ Log ─────────────────────────────────────────────────────────────────────────────────────────────────── 16 entries ─┐",
        "│ hh:mm:ss ! librarian     failed: provider refused the request (400)                                                  │",
        "│ hh:mm:ss · oracle        Edit src/auth/store.ts                                                                      │",
        "│ hh:mm:ss · oracle        Bash npm test -- refresh --repeat 50                                                        │",
        "│ hh:mm:ss · finder 2      created for: Find imports of legacyRefresh                                                  │",
        "│ hh:mm:ss · finder 2      Search legacyRefresh                                                                        │",
        "└──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────┘",
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
        " MIMIR  oracle             ▢ confirm  ● 3 ○ 2 ✗ 1 ✓ 1/7  3m 11s  $0.3278 ▰····· ",
        "┏━ ● oracle ━━━━ Transcript  Todos 1/5  Tools 2  Diffs  Messages  Costs  Info ━┓",
        "┃ id ROOT::S3   model o3   needs #1 finder                                     ┃",
        "┃ turn 2/20   tools 2   spent $0.1184 of $0.15                                 ┃",
        "┃ ──────────────────────────────────────────────────────────────────────────── ┃",
        "┃                                                                              ┃",
        "┃ ⚙ Edit src/auth/store.ts                                               +2 -1 ┃",
        "┃   │ @@ -1,3 +1,4 @@                                                         ▐┃",
        "┃   │ -  await db.update(id, { token, gen: gen + 1 })                         ▐┃",
        "┃   │ +  const n = await db.update(id, { token, gen: gen + 1 }, { gen });     ▐┃",
        "┃   │ +  if (n === 0) throw new StaleTokenError(id)                           ▐┃",
        "┃   ╰    return token                                                         ▐┃",
        "┃     … +3 lines  (o to open)                                                 ▐┃",
        "┃                                                                             ▐┃",
        "┃ Why both win                                                                ▐┃",
        "┃                                                                             ▐┃",
        "┃ Both calls read generation 7 before either writes generation 8.             ▐┃",
        "┃                                                                             ▐┃",
        "┃ • the UPDATE has no guard                                                    ┃",
        "┃ • the first client keeps a revoked token                                     ┃",
        "┗━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ paused at 18/20, G to follow ━┛",
        " hh:mm:ss · finder 2      Search legacyRefresh                                  ",
        " ❯ Message oracle (ROOT::S3)…                                         i to type ",
        " ↑↓ scroll  ←→ tab  Space block  o unfold  y copy  e editor … ? help        4/8 ",
      ]
    `);
    const more = says(midRun(), 150, 'ROOT::S3', 'One more thing.\n\nAnd another.', 1, 0);
    expect(look(page, contextOf(more.events), { width: 80, height: 24 }).join('\n')).toContain(
      'paused, 4 new — G to follow',
    );
    expect(look(page, contextOf(more.events), { width: 80, height: 24 }, ['G']).join('\n')).toContain('And another.');
  });

  it('has three densities', () => {
    const size = { width: 80, height: 12 };
    const page = pageOf(runScreen, {});
    const context = contextOf(midRun().events);
    expect(look(page, context, size, ['z', 'z'])[2]).toMatchInlineSnapshot(
      `"▌  ▸ Watch wave 2                                                1/5 ▰····  16%▐"`,
    );
    expect(look(page, context, size, ['z'])[2]).toMatchInlineSnapshot(
      `" ✓ finder           14 files found                          21s   $0.0031  6.2k "`,
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
        " MIMIR  result › Fix the token refresh race           boxed  confirm  ⏸ 1 ✓ 5 ✗ 1  3m 19s  $0.3278 / $2.00 ▰▰·········· ",
        " ✓ Completed: 5 of 7 agents completed, 1 failed, 1 killed                                                               ",
        "┌─ 1 Answer  2 Agents  3 Estimates  4 Costs  5 Files ──────────────────┐┌─ Agents ─────────────────────────────────────┐",
        "│ Token refresh                                                        ││ ● main                 3m 19s  $0.0912   22k │",
        "│                                                                      ││ ✓ finder                  21s  $0.0031  6.2k │",
        "│ The race is in src/auth/store.ts:41.                                 ││ ✗ librarian               48s  $0.0418   15k │",
        "│                                                                      ││ ✓ oracle               2m 11s  $0.1184   31k │",
        "│ 1. Agent 1: 14 files found                                           ││ ✓ refactoring          1m 34s  $0.0733   28k │",
        "│ 2. Agent 2: failed                                                   ││ ✓ finder 2                10s  $0.0000     0 │",
        "│                                                                      ││ ✓ tester                                     │",
        "│ │ No language model was used.                                        ││ ⏸ reviewer                                   │",
        "│                                                                      ││                                              │",
        "│ Still open                                                           ││                                              │",
        "│   #2 librarian: failed, provider refused the request (400)           ││                                              │",
        "│   #6 reviewer: killed by the person                                  ││                                              │",
        "│                                                                      ││                                              │",
        "│                                                                      ││                                              │",
        "│                                                                      ││                                              │",
        "│                                                                      │└──────────────────────────────────────────────┘",
        "│                                                                      │┌─ Totals ─────────────────────────────────────┐",
        "│                                                                      ││ Time    3m 19s                               │",
        "│                                                                      ││ Cost    $0.2878                              │",
        "│                                                                      ││ Tokens  102k                                 │",
        "│                                                                      ││ Agents  7                                    │",
        "│                                                                      │└──────────────────────────────────────────────┘",
        "│                                                                      │┌─ Next ───────────────────────────────────────┐",
        "│                                                                      ││ i    message main, which continues           │",
        "│                                                                      ││ c    have main commit the changes            │",
        "│                                                                      ││ x    write the report to a file              │",
        "│                                                                      ││ Esc  the cards, with every transcript        │",
        "│                                                                      ││ n    another task                            │",
        "│                                                                      ││ q    leave                                   │",
        "│                                                                      ││ mimir report run-7f3a shows it again         │",
        "└──────────────────────────────────────────────────────────────────────┘└──────────────────────────────────────────────┘",
        " ❯ Message main (ROOT)…                                                                                       i to type ",
        " ↑↓ scroll  Tab section  x export  y copy  Esc cards  i message  c commit  p plan  n new task  ? help  : all  q quit    ",
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
      'Cost    $0.2878',
      'mimir report run-7f3a',
    ]) {
      expect(text).toContain(words);
    }
  });
});
