/** The start screen: a field, suggestions, sessions and their keys. Letters go to the field unless a row is selected. */
import { bind } from '../../frame/keymap.ts';
import { plural, isOpen, TRUST_WORDS } from '../../../../app/views/index.ts';
import type { ProjectInfo, TemplateInfo } from '../../../../ports/project-service.ts';
import { agentsDialog, typedAgentsCommand } from '../../dialogs/agents.ts';
import { completeKey, offerOf } from '../../components/text/complete.ts';
import type { Binding, Context, Dialog, DialogEffect, Effect, Screen } from '../../frame/screen.ts';
import { choice, pickFrom, textField, textIn } from '../../frame/screen.ts';
import type { Input, Size } from '../../terminal/terminal.ts';
import { editorText, isEmpty } from '../../text/editor.ts';
import { typeInto } from '../composer.ts';
import { type StartUi, FIELD, FIRST, formerTasks, leap, nextGroup, stops, vertical, withTask } from './lists.ts';
import { startBody, targetAt } from './view.ts';
import { strong, tint } from '../../text/blocks.ts';

export type { StartUi } from './lists.ts';

type Key = Binding<StartUi>;
const inList = (ui: StartUi): string | null => (ui.chosen.is === 'field' ? 'Leave the field first (Tab).' : null);

/** A key that acts on the offered file paths first. */
const behindOffer = (of: Parameters<typeof bind>[0], run: Key['run'], whyNot?: Key['whyNot']): Key =>
  bind(
    of,
    (ui, context, key) => {
      const done = ui.chosen.is === 'field' ? completeKey(ui.editor, ui.completing, key, context) : null;
      return done === null ? run(ui, context, key) : { ui: { ...ui, ...done, former: null } };
    },
    whyNot,
  );

/** True while file paths are offered behind an `@`. */
const isOffered = ({ chosen, editor, completing }: StartUi, context: Context): boolean =>
  chosen.is === 'field' && offerOf(editor, completing, context) !== null;

const KEYS: readonly Key[] = [
  behindOffer('start.go', begin),
  behindOffer(
    'start.direct',
    (ui) => ({ app: { start: editorText(ui.editor).trim(), direct: 'direct' } }),
    ({ editor }) => (editorText(editor).trim() === '' ? 'Type a task first.' : null),
  ),
  behindOffer(
    'start.next',
    (ui, { projectService }) => ({ ui: { ...ui, chosen: nextGroup(ui.chosen, projectService) } }),
    (ui, context) =>
      stops(context.projectService).length > 1 || isOffered(ui, context) ? null : 'No suggestions and no sessions yet.',
  ),
  behindOffer('start.move', (ui, { projectService }, key) => ({
    ui: vertical(ui, projectService, key === 'up' ? -1 : 1),
  })),
  behindOffer('start.page', (ui, { projectService }, key) => ({
    ui: leap(ui, projectService, key === 'pageup' ? -5 : 5),
  })),
  bind(
    'start.templates',
    (_, { projectService }) => ({ dialog: templatePick(projectService) }),
    (_, { projectService }) =>
      projectService.templates.length > 0 ? null : 'No templates yet. Press w in a plan to save it as a template.',
  ),
  bind('start.agents', (_, { projectService }) => ({ dialog: agentsDialog(projectService) })),
  behindOffer(
    'start.history',
    (ui, { projectService }) => ({ ui: { ...ui, chosen: FIELD }, dialog: formerPick(projectService) }),
    (_, { projectService }) => (formerTasks(projectService).length > 0 ? null : 'No earlier tasks in this project.'),
  ),
  bind('start.editor', (ui) => ({ ui: { ...ui, chosen: FIELD }, app: { field: editorText(ui.editor) } })),
  behindOffer('start.back', (ui) => ({ ui: { ...ui, chosen: FIELD } })),
  behindOffer(
    'start.clear',
    (ui) => ({ ui: withTask(ui, '') }),
    // In an empty field the key quits.
    ({ editor }) => (isEmpty(editor) ? '' : null),
  ),
  bind('start.trust', { app: 'trust' }, (_, { projectService }) =>
    isOpen(projectService.trust) ? null : TRUST_WORDS.nothing,
  ),
  bind('start.quit', { app: 'quit' }, inList),
];

export const startScreen: Screen<StartUi> = {
  name: 'start',
  first: FIRST,
  keys: KEYS,
  header: (_, { projectService }) => ({
    left: [strong(projectService.project, 'title')],
    right: [tint(projectService.version, 'muted')],
  }),
  body: startBody,
  settle,
  position: ({ chosen }, { projectService }) =>
    chosen.is === 'session' ? `${chosen.index + 1}/${projectService.sessions.length}` : '',
  input,
  typing: (ui) => ui.chosen.is === 'field',
};

/** With a task in its field. */
export const startScreenWith = (task: string): Screen<StartUi> => ({ ...startScreen, first: withTask(FIRST, task) });

function settle(ui: StartUi, { projectService }: Context): StartUi {
  const { chosen } = ui;
  if (chosen.is === 'field') return ui;
  const many = chosen.is === 'session' ? projectService.sessions.length : projectService.suggestions.length;
  return chosen.index < many ? ui : { ...ui, chosen: FIELD };
}

function input(ui: StartUi, context: Context, event: Input, size: Size): Effect<StartUi> | null {
  if (event.is === 'click') {
    const target = targetAt(ui, context, size, event.y);
    return target === null ? null : { ui: { ...ui, chosen: target } };
  }
  if (event.is === 'wheel') return wheel(ui, context, event.by);
  const suggestion = numbered(ui, context, event);
  return suggestion === undefined ? typed(ui, event) : { ui: withTask(ui, suggestion) };
}

/** The suggestion of a typed digit; undefined while the field has a text. */
function numbered(ui: StartUi, { projectService }: Context, event: Input): string | undefined {
  if (event.is !== 'key' || !/^[1-9]$/.test(event.key)) return undefined;
  return isEmpty(ui.editor) || ui.chosen.is !== 'field' ? projectService.suggestions[Number(event.key) - 1] : undefined;
}

/** Types into the field, also while a list is selected. */
function typed(ui: StartUi, event: Input): Effect<StartUi> | null {
  const next = typeInto(ui, event);
  return next === null ? null : { ui: { ...next, chosen: FIELD } };
}

const wheel = (ui: StartUi, { projectService }: Context, by: 1 | -1): Effect<StartUi> | null =>
  ui.chosen.is === 'session' ? { ui: leap(ui, projectService, by) } : null;

/** Enter: starts the task in the field, or uses the selected row of a list. */
function begin(ui: StartUi, { projectService }: Context): Effect<StartUi> {
  const { chosen } = ui;
  if (chosen.is === 'suggestion') return { ui: withTask(ui, projectService.suggestions[chosen.index] ?? '') };
  if (chosen.is === 'session') {
    const session = projectService.sessions[chosen.index];
    return session === undefined ? {} : again(ui, session);
  }
  const task = editorText(ui.editor).trim();
  const agents = typedAgentsCommand(task, projectService);
  if (agents !== null) return { ui: withTask(ui, ''), ...agents };
  // A digit typed before the suggestions were loaded means one of them, which the person reads before sending it.
  if (/^[1-9]$/.test(task)) return byNumber(ui, projectService, Number(task));
  if (task !== '') return { app: { start: task } };
  return { toast: { level: 'info', text: 'Type a task or pick a suggestion (Tab).' } };
}

function byNumber(ui: StartUi, { suggestions }: ProjectInfo, number: number): Effect<StartUi> {
  const suggestion = suggestions[number - 1];
  if (suggestion !== undefined) return { ui: withTask(ui, suggestion) };
  const text = `There is no suggestion ${number}${suggestions.length === 0 ? ' yet' : ''}. Type a task.`;
  return { toast: { level: 'info', text } };
}

type Session = ProjectInfo['sessions'][number];

/** Attaches to a running session, opens a stopped or finished one, and asks for a failed one whether to resume it. */
function again(ui: StartUi, { id, task, state, ended }: Session): Effect<StartUi> {
  if (state === 'running') return { app: { attach: id } };
  if (ended?.status === 'rejected') {
    const text = 'This plan was discarded. Its task is in the field again.';
    return { ui: withTask(ui, task), toast: { level: 'info', text } };
  }
  if (ended?.status !== 'failed') return { app: { look: id } };
  const choices = [
    choice('look', 'agents, transcripts, result', 'Open'),
    choice('resume', 'failed tasks run again', 'Resume'),
  ];
  const then = (value: string): DialogEffect => ({ app: value === 'resume' ? { resume: id } : { look: id } });
  return { dialog: { is: 'pick', title: 'Failed run', choices, value: 'look', then } };
}

/** A list of earlier tasks to search; Ctrl-R again selects the next older one, as in a shell. */
const formerPick = (projectService: ProjectInfo): Dialog => ({
  is: 'pick',
  title: 'Earlier tasks',
  choices: formerTasks(projectService).map((task) => choice(task, '', task.replaceAll('\n', ' '))),
  value: '',
  next: 'ctrl-r',
  then: (task) => ({ app: { fill: task } }),
});

/** A list of templates; a template with variables is followed by a form for them. */
const templatePick = ({ templates }: ProjectInfo): Dialog =>
  pickFrom(
    'New from template',
    templates,
    (one) => choice(one.name, noteOf(one)),
    (one) => (one.arguments.length === 0 ? { app: { template: one.name, values: {} } } : { dialog: templateForm(one) }),
    templates[0]?.name,
  );

const noteOf = ({ description, tasks, arguments: asked, from }: TemplateInfo): string =>
  [
    ...(description === '' ? [] : [description]),
    plural(tasks, 'task'),
    ...(asked.length === 0 ? [] : [`variables: ${asked.map(({ name }) => name).join(', ')}`]),
    from,
  ].join(', ');

const templateForm = (template: TemplateInfo): Dialog => ({
  is: 'form',
  title: template.name,
  fields: template.arguments.map(({ name, description, default: value }) =>
    textField(name, name, value, value === '' ? `${description || name} (required)` : description),
  ),
  check: (values) => {
    const missing = template.arguments.filter(
      ({ name, default: value }) => value === '' && textIn(values, name) === '',
    );
    return missing.length === 0 ? null : `${missing.map(({ name }) => name).join(', ')} is missing`;
  },
  then: ({ texts }) => ({ app: { template: template.name, values: texts } }),
});
