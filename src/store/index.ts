/** The public interface of the stores: logs, messages, daily budgets, estimate history. */
export { openDayLedger } from './daily-budget.ts';
export { acceptDamage, type AuditFault, type Damage, damageOf, verifyLog } from './damage.ts';
export { databaseOf, folderOf, type Place } from './database.ts';
export { keepLessons, type Lesson, lessonsOf } from './estimate-history.ts';
export { type LogReader, openLog, openLogReadOnly } from './log.ts';
export { openMessageStore } from './message-store.ts';
