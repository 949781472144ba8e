/** The entrance of `app/workspace`: the place, configuration, trust, providers, secrets and stored sessions of a project. */
export { allowFrom, budgetFrom, configForRun, configOf, environmentOf, type ProjectConfig } from './config.ts';
export { projectConfigOf, preserveTrust, readConfig, modeFrom, roleModelsFrom, trustOf, trustLine } from './config.ts';
export { trustNow } from './config.ts';
export { authorsIn, changesIn, checksNow } from './changes.ts';
export { projectOf, type ProjectPlace } from './place.ts';
export { KEYS, openProviders, plannerModel, type Providers } from './providers.ts';
export { acceptedDamage, agentNamed, dayLedgerFor, eventsOf, newestStopped, newestResumable } from './sessions.ts';
export { openProjectLog, openReader, whyNotResume, pastRun, sessionOf, sharedSession, stateOf } from './sessions.ts';
export { storeOf } from './sessions.ts';
