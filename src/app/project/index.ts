/** The entrance of an opened project: its configuration, log, models and run. */
export type { RunStart } from './begin-run.ts';
export { archiveFolder, archiveProblem } from './child-archive.ts';
export { asHosted, endCode, runHosted, sessionFrom } from './hosted.ts';
export { approvalOf, nobodyText, type OpenProject, openProject, refuseUnattendedHuman } from './open-project.ts';
export { chosenTheme, LocalProjectService, namesOfThemes } from './service.ts';
export { planFromTemplate, listTemplates } from './templates.ts';
