/**
 * A process of its own that promises calls against a day until one does not fit: `node day-child.ts STATE NAME COST LIMIT`.
 * Prints how many were promised. Every third is settled at half of its promise.
 */
import { CallId, ModelId, SessionId } from '../../src/domain/ids.ts';
import { openDayLedger } from '../../src/store/daily-budget.ts';

const [, , stateDir = '', name = '', cost = '0', limit = '0'] = process.argv;
const ledger = openDayLedger(stateDir, () => Date.UTC(2026, 0, 15, 12));
const session = SessionId.parse(name);
const model = ModelId.parse('scripted/fast');
const limits = [{ model: null, budget: { maxCost: Number(limit) } }];
let promised = 0;
for (;;) {
  const call = CallId.parse(`call-${promised}`);
  if (ledger.reserve({ session, call, model, tokens: 10, cost: Number(cost) }, limits) !== null) break;
  promised += 1;
  const { cost: used } = ledger.today();
  if (used > Number(limit)) throw new Error(`${used} of ${limit}`);
  if (promised % 3 === 0) ledger.settle({ session, call, tokens: 5, cost: Number(cost) / 2 });
}
console.log(promised);
ledger.close();
