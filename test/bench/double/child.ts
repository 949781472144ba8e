/**
 * The provider double in a process of its own, so that its work is not counted as anybody else's. Beside its bill it says when
 * work was asked and answered. Spoken to over Node's own channel: one question, one answer.
 */
import type { Asked } from '../../support/double/asked.ts';
import { REAL } from '../../support/double/clock.ts';
import type { Clock } from '../../support/double/clock.ts';
import { openDouble } from '../../support/double/double.ts';
import { choiceOf } from '../../support/double/rules.ts';
import { isScript } from '../../support/double/script.ts';
import type { Report } from './open.ts';

const script: unknown = JSON.parse(process.argv[2] ?? 'null');
if (!isScript(script)) throw new Error('the double got no script');
const { rules, ...options } = script;
const choice = choiceOf({ rules });
const marks = { requests: 0, firstAt: 0, lastAskedAt: 0, lastAt: 0 };
/** The last two requests of each conversation: older ones are only numbers by now. */
const kept = new Map<string, Asked[]>();
let current: Asked | null = null;

/** Planner and merge have no tools: only what agents ask is work. */
const isWork = (asked: Asked): boolean => asked.tools.length > 0;

const clock: Clock = {
  now: () => REAL.now(),
  after(ms, then) {
    const asked = current;
    return REAL.after(ms, () => {
      then();
      if (asked !== null && isWork(asked)) marks.lastAt = performance.now();
    });
  },
};

const double = await openDouble(
  (asked) => {
    current = asked;
    // A stream's ticks come later and belong to no one request.
    setImmediate(() => (current = null));
    if (isWork(asked)) {
      marks.requests += 1;
      marks.lastAskedAt = performance.now();
      marks.lastAt = Math.max(marks.lastAt, marks.lastAskedAt);
      if (marks.firstAt === 0) marks.firstAt = marks.lastAskedAt;
    }
    forgetOld(asked);
    return choice.answer(asked) ?? { text: 'done', fault: { is: 'status', status: 400, body: 'no rule' } };
  },
  { ...options, clock },
);

/** Bodies of hours would fill the memory; the former one of a conversation is still compared with the next. */
function forgetOld(asked: Asked): void {
  const all = [...(kept.get(asked.conversation) ?? []), asked];
  for (const old of all.slice(0, -2)) Object.assign(old, { raw: '', body: null, parts: [] });
  kept.set(asked.conversation, all.slice(-2));
}

process.on('message', (question) => {
  if (question === 'forget') Object.assign(marks, { requests: 0, firstAt: 0, lastAskedAt: 0, lastAt: 0 });
  const report: Report = {
    url: double.url,
    marks: { ...marks },
    bill: double.bill(),
    // A call that failed so often that another model took over has no prefix to keep: each model has a cache of its own.
    prefixFaults: double.prefixFaults().filter((fault) => !/ in part \d+ \(model\): /.test(fault)).length,
  };
  process.send?.(report);
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
