/** The entrance of `app/reports`: reports and plans as text and files. */
export { outlookLines, outlookOf, plainPlanLines, planFigures, planLines } from './plan-lines.ts';
export { callNotes, factLines, REPORT_PARTS, reportText, saveReport, tableOf } from './report.ts';
export { costText, runUsageText, spentBy, spentByAgent, problemsText, usageText } from './spend-text.ts';
