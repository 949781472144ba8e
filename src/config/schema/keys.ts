/**
 * The table of layers as data: of which kind each key is, and how several layers' values of it
 * become one. Restrictions meet (order can't matter), everything else goes by precedence.
 */

export type Path = readonly (string | number)[];

/** `restriction`: any layer may tighten. `preference`: the nearest layer's. `grant`: never a project's. */
export type Kind = 'restriction' | 'preference' | 'grant' | 'managed only';

/**
 * `each`: all lists are kept, something must be in every one. `highest`: of the layer that is furthest from the person. A
 * list: values from loose to strict.
 */
export type Merge = 'first' | 'highest' | 'min' | 'and' | 'or' | 'each' | 'union' | readonly string[];

export interface KeyRule {
  /** Segments; `*` stands for any one. A rule for a map holds for all below, unless a longer rule matches. */
  readonly path: readonly string[];
  readonly kind: Kind;
  readonly merge: Merge;
}

const rule = (path: string, kind: Kind, merge: Merge = 'first'): KeyRule => ({ path: path.split('.'), kind, merge });

const KEYS: readonly KeyRule[] = [
  rule('agentOrchestration.enabled', 'restriction', 'and'),
  rule('agentOrchestration.promptForApproval', 'restriction', 'or'),
  rule('agentOrchestration.maxNestingDepth', 'restriction', 'min'),
  rule('agentOrchestration.maxParallelAgents', 'restriction', 'min'),
  rule('agentOrchestration.roles.*.enabled', 'restriction', 'and'),
  rule('agentOrchestration.roles.*.tools', 'restriction', 'each'),
  rule('agentOrchestration', 'preference'),
  rule('enforcement.modelsDefault', 'managed only'),
  rule('enforcement.allowedModels', 'restriction', 'each'),
  rule('enforcement.deniedModels', 'restriction', 'union'),
  rule('enforcement.modelFallback', 'restriction', ['list', 'deny']),
  rule('enforcement.maxEffort', 'restriction', ['high', 'medium', 'low']),
  rule('enforcement.allowedEndpoints', 'restriction', 'each'),
  rule('enforcement.allowedSubAgents', 'restriction', 'each'),
  rule('enforcement.forcedSubAgents.*.enabled', 'restriction', 'or'),
  rule('enforcement.forcedSubAgents.*.onFailure', 'restriction', ['warn', 'block']),
  rule('enforcement.forcedSubAgents.*.trigger', 'restriction', 'union'),
  rule('enforcement.forcedSubAgents.*.model', 'restriction', 'highest'),
  rule('enforcement.forcedSubAgents', 'restriction'),
  rule('enforcement.permissions', 'restriction', ['allow', 'ask']),
  rule('permissions', 'grant'),
  rule('budgets.atLimit', 'restriction', ['finish', 'stop']),
  rule('budgets', 'restriction', 'min'),
  rule('approvals.answerWithin', 'restriction', 'min'),
  rule('limits', 'restriction', 'min'),
  rule('mode.max', 'restriction', ['yolo', 'confirm', 'human']),
  rule('mode.default', 'preference'),
  rule('commands.deny', 'restriction', 'union'),
  rule('commands.ask', 'restriction', 'union'),
  rule('commands.allow', 'grant', 'union'),
  rule('sandbox.required', 'restriction', 'or'),
  rule('sandbox.network.allowedDomains', 'restriction', 'each'),
  rule('sandbox.fs.denyRead', 'restriction', 'union'),
  rule('sandbox.fs.denyWrite', 'restriction', 'union'),
  rule('sandbox.fs.allowWrite', 'restriction', 'each'),
  rule('sandbox.fs.allowRead', 'grant', 'each'),
  rule('ui.theme', 'preference'),
  rule('ui', 'grant'),
  rule('providers', 'grant'),
  rule('trust', 'grant'),
  rule('env.passthrough', 'grant', 'each'),
  rule('keys', 'grant'),
  rule('notifications', 'grant'),
  rule('childAgents.mode', 'restriction', ['auto', 'supervised', 'manual']),
  rule('childAgents.messages', 'restriction', ['run', 'family']),
  rule('childAgents.maxPerParent', 'restriction', 'min'),
  rule('childAgents.inheritEnvironment', 'grant', 'each'),
  // What an organisation says of children binds the person, who would otherwise go before it.
  rule('childAgents', 'grant', 'highest'),
  rule('audit', 'grant'),
  rule('retention', 'grant'),
  rule('minVersion', 'managed only'),
];

/** The rule of a key, by its longest match. Keys that nobody named are grants: the safest kind. */
export function ruleOf(path: readonly string[]): KeyRule {
  const matching = KEYS.filter((rule) => rule.path.every((part, index) => part === '*' || part === path[index]));
  return matching.sort((a, b) => b.path.length - a.path.length)[0] ?? { path, kind: 'grant', merge: 'first' };
}

/** Spellings of other programs and the keys they stand for. */
export const OTHER_SPELLINGS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'claude.command': 'childAgents.command',
    'claude.args': 'childAgents.args',
    'claude.default_model': 'childAgents.defaultModel',
    'child_agents.mode': 'childAgents.mode',
    'child_agents.auto_complete.enabled': 'childAgents.autoComplete.enabled',
    'child_agents.auto_complete.idle_timeout': 'childAgents.autoComplete.idleTimeout',
    'child_agents.auto_complete.detect_completion_phrases': 'childAgents.autoComplete.detectCompletionPhrases',
    'child_agents.auto_complete.completion_patterns': 'childAgents.autoComplete.completionPatterns',
    'child_agents.cleanup.auto_kill_on_complete': 'childAgents.cleanup.autoKillOnComplete',
    'child_agents.cleanup.auto_archive_transcript': 'childAgents.cleanup.autoArchiveTranscript',
    'child_agents.cleanup.archive_path': 'childAgents.cleanup.archivePath',
    'child_agents.cleanup.close_tmux_session': 'childAgents.cleanup.closeTmuxSession',
    'child_agents.notifications.notify_parent_on_complete': 'childAgents.notifications.notifyParentOnComplete',
    'child_agents.notifications.notify_parent_on_error': 'childAgents.notifications.notifyParentOnError',
    'child_agents.notifications.notify_parent_on_idle': 'childAgents.notifications.notifyParentOnIdle',
    'child_agents.progress.enable_token_tracking': 'childAgents.progress.enableTokenTracking',
    'child_agents.progress.enable_tool_tracking': 'childAgents.progress.enableToolTracking',
    'child_agents.progress.snapshot_interval': 'childAgents.progress.snapshotInterval',
    'sessions.default_working_dir_behavior': 'childAgents.workingDir',
    'sessions.inherit_environment_vars': 'childAgents.inheritEnvironment',
    'sessions.naming.pattern': 'childAgents.naming.pattern',
    'sessions.naming.fallback': 'childAgents.naming.fallback',
  }),
);
