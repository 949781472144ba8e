/** The public interface of the configuration: reads and checks the files of the project, the person and the organisation. */
export type { Flags } from './files/layer.ts';
export type { Effective } from './files/merge.ts';
export { type ConfigFault, type Environment, faultText, type Places, placesOf, shownPath } from './files/read-text.ts';
export { MANAGED_ROOT, passedOver } from './managed/managed.ts';
export type { Secret } from './providers/faults.ts';
export type { ConfiguredProvider } from './providers/providers.ts';
export {
  type AgentFile,
  agentFiles,
  type AgentFolder,
  agentFolder,
  agentNameProblem,
  newAgent,
  type Others,
} from './roles/agent-files.ts';
export { foreignSetups, type ForeignSetup } from './roles/foreign.ts';
export { promptText } from './roles/instructions.ts';
export { isItself } from './roles/roles.ts';
export { configSchemaJson, durationMs, ruleOf } from './schema/schema.ts';
export { capabilitiesOf, isToolName, TOOL_NAMES } from './schema/tool-names.ts';
export { type CheckedFile, checkFile } from './settings/check-file.ts';
export { loadConfig, type Loaded, type Preferences, showConfig } from './settings/load.ts';
export { modelNames } from './settings/model-lists.ts';
export { oncePerTurn, openPolicyWatcher, rememberManaged, vanished } from './settings/policy-watcher.ts';
export {
  fillTemplate,
  isTemplate,
  type TemplateTask,
  parsePlanText,
  PLAN_FOLDER,
  readTemplate,
  stringifyYaml,
  type Template,
  TEMPLATE_NAME,
  templatesIn,
  templateText,
} from './templates/templates.ts';
export { DEFAULT_THEME, loadTheme, themeNames } from './themes.ts';
export { digestOf, trustFiles } from './trust/files.ts';
export { findProject, nestedFolders } from './trust/project.ts';
export { type Differ, giveTrust, type ProjectTrust, takeTrust, trustQuestion } from './trust/record.ts';
