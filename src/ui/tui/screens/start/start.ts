/**
 * The first screen: one field to say what should be done in, suggestions and former sessions to pick from. Letters belong to
 * the field unless something in the lists is chosen. How it looks is view.ts, what it leads to begin.ts.
 */
import { span } from '../../../../app/views/text/clip.ts';
import { counted } from '../../../../app/views/text/format.ts';
import { isOpen } from '../../../../app/views/trust-question.ts';
import type { LobbyInfo, TemplateInfo } from '../../../../ports/project-service.ts';
import { agentsTyped } from '../../dialogs/forms/agents.ts';
import { completeKey, NOT_COMPLETING, offerOf } from '../../components/text/complete.ts';
import type { Dialog, DialogEffect, Field, Binding, Context, Effect, Screen } from '../../frame/screen.ts';
import type { Input, Size } from '../../terminal/terminal.ts';
import { edit, editorText, isEmpty } from '../../text/editor.ts';
import { NEW_SEARCH, searchKey } from './search.ts';
import { type StartUi, FIELD, FIRST, formerTasks, leap, nextGroup, stops, vertical, withTask } from './state.ts';
import { startBody, targetAt } from './view.ts';

export type { StartUi } from './state.ts';

type Key = Binding<StartUi>;
const always = (): null => null;
const inList = (ui: StartUi): string | null => (ui.chosen.is === 'field' ? 'first leave the field with Tab' : null);

/** Keys of the field's boxes come before what the key does else: paths that are offered, former tasks that are looked for. */
const behindBoxes =
  (run: Key['run']): Key['run'] =>
  (ui, context, key) => {
    const inBox = boxKey(ui, context, key);
    return inBox === null ? run(ui, context, key) : { ui: inBox };
  };

function boxKey(ui: StartUi, context: Context, key: string): StartUi | null {
  if (ui.search !== null) return searchKey(ui, ui.search, context.lobby, { is: 'key', key });
  const done = ui.chosen.is === 'field' ? completeKey(ui.editor, ui.completing, key, context) : null;
  return done === null ? null : { ...ui, ...done, former: null };
}

/** Are paths offered behind an `@`? */
const isOffered = ({ chosen, editor, completing }: StartUi, context: Context): boolean =>
  chosen.is === 'field' && offerOf(editor, completing, context) !== null;

const KEYS: readonly Key[] = [
  {
    keys: ['enter'],
    action: 'start.go',
    hint: 'plan it',
    help: 'Make a plan for the task in the field; in a list, take what is chosen: a running session is shown, a stopped or finished one is opened as it is; r resumes it there.',
    whyNot: always,
    run: behindBoxes(begin),
  },
  {
    keys: ['ctrl-x'],
    action: 'start.direct',
    hint: 'ask main',
    help: 'Ask main directly: one task without a planner, which this key approves. Where a rule wants each plan to be looked at, it is shown first.',
    whyNot: ({ editor }) => (editorText(editor).trim() === '' ? 'Say first what main should do.' : null),
    run: behindBoxes((ui) => ({ app: { start: editorText(ui.editor).trim(), direct: 'direct' } })),
  },
  {
    keys: ['tab'],
    action: 'start.next',
    hint: 'lists',
    help: 'On to the suggestions, the former sessions, and back to the field. Behind an @, takes the chosen path.',
    whyNot: (ui, context) =>
      stops(context.lobby).length > 1 || isOffered(ui, context) ? null : 'there is nothing to pick from',
    run: behindBoxes((ui, { lobby }) => ({ ui: { ...ui, chosen: nextGroup(ui.chosen, lobby) } })),
  },
  {
    keys: ['up', 'down'],
    action: 'start.move',
    hint: 'pick',
    help: 'Through the lists; in the empty field, up brings back former tasks.',
    whyNot: always,
    run: behindBoxes((ui, { lobby }, key) => ({ ui: vertical(ui, lobby, key === 'up' ? -1 : 1) })),
  },
  {
    keys: ['pageup', 'pagedown'],
    action: 'start.page',
    hint: '',
    help: 'Five rows at once through the list of sessions.',
    whyNot: always,
    run: behindBoxes((ui, { lobby }, key) => ({ ui: leap(ui, lobby, key === 'pageup' ? -5 : 5) })),
  },
  {
    keys: ['ctrl-o'],
    action: 'start.templates',
    hint: 'templates',
    help: 'Begin from a plan that was kept as a template; what it asks for is filled in first.',
    whyNot: (_, { lobby }) =>
      (lobby.templates ?? []).length > 0 ? null : 'No plan is kept here yet: w in a plan keeps it as a template.',
    run: (_, { lobby }) => ({ dialog: templatePick(lobby) }),
  },
  {
    keys: ['f4'],
    action: 'start.agents',
    hint: '',
    help: 'The agents that there are: look at one, make one from a sentence or delete it; /agents in the field does the same.',
    whyNot: (_, { lobby }) => (lobby.agents === undefined ? 'The agents are not known here.' : null),
    run: (_, { lobby }) => agentsTyped('/agents', lobby) ?? {},
  },
  {
    keys: ['ctrl-r'],
    action: 'start.history',
    hint: 'history',
    help: 'Search the former tasks of this project; the one that is taken stands in the field.',
    whyNot: (_, { lobby }) => (formerTasks(lobby).length > 0 ? null : 'There is no former task of this project yet.'),
    run: behindBoxes((ui) => ({ ui: { ...ui, chosen: FIELD, search: NEW_SEARCH } })),
  },
  {
    keys: ['ctrl-g'],
    action: 'start.editor',
    hint: 'editor',
    help: 'Write the task in your own editor ($VISUAL or $EDITOR).',
    whyNot: always,
    run: (ui) => ({ ui: { ...ui, chosen: FIELD }, app: { field: editorText(ui.editor) } }),
  },
  {
    keys: ['esc'],
    action: 'start.back',
    hint: '',
    help: 'Back to the field; closes what is offered there.',
    whyNot: always,
    run: behindBoxes((ui) => ({ ui: { ...ui, chosen: FIELD } })),
  },
  {
    keys: ['ctrl-c'],
    action: 'start.clear',
    hint: 'clear',
    help: 'Throw away what stands in the field; Ctrl-_ brings it back.',
    // Nothing to throw away: then it is about leaving.
    whyNot: ({ editor, search }) => (isEmpty(editor) && search === null ? '' : null),
    run: behindBoxes((ui) => ({ ui: withTask(ui, '') })),
  },
  {
    keys: ['ctrl-t'],
    action: 'start.trust',
    hint: '',
    help: 'What this project would bring, and whether you trust it.',
    whyNot: (_, { lobby }) => (isOpen(lobby.trust) ? null : 'there is nothing to trust here'),
    run: () => ({ app: 'trust' }),
  },
  {
    keys: ['q'],
    action: 'start.quit',
    hint: 'quit',
    help: 'Quit, while the field does not have the keys (Ctrl-C does so from everywhere).',
    whyNot: inList,
    run: () => ({ app: 'quit' }),
  },
];

export const startScreen: Screen<StartUi> = {
  name: 'start',
  first: FIRST,
  keys: KEYS,
  header: (_, { lobby }) => ({
    left: [span(lobby.project, { fg: 'title', bold: true })],
    right: [span(lobby.version, { fg: 'muted' })],
  }),
  body: startBody,
  settle,
  position: ({ chosen }, { lobby }) => (chosen.is === 'session' ? `${chosen.index + 1}/${lobby.sessions.length}` : ''),
  input,
  typing: (ui) => ui.chosen.is === 'field',
};

/** Lists change while one looks at them. */
function settle(ui: StartUi, { lobby }: Context): StartUi {
  const { chosen } = ui;
  if (chosen.is === 'field') return ui;
  const many = chosen.is === 'session' ? lobby.sessions.length : lobby.suggestions.length;
  return chosen.index < many ? ui : { ...ui, chosen: FIELD };
}

function input(ui: StartUi, context: Context, event: Input, size: Size): Effect<StartUi> | null {
  if (event.is === 'click') {
    const target = targetAt(ui, context, size, event.y);
    return target === null ? null : { ui: { ...ui, chosen: target, search: null } };
  }
  if (event.is === 'wheel') return wheel(ui, context, event.by);
  if (ui.search !== null) {
    const searched = searchKey(ui, ui.search, context.lobby, event);
    return searched === null ? null : { ui: searched };
  }
  const suggestion = numbered(ui, context, event);
  return suggestion === undefined ? typed(ui, event) : { ui: withTask(ui, suggestion) };
}

/** A number alone takes a suggestion, where no text stands in the field that it could belong to. */
function numbered(ui: StartUi, { lobby }: Context, event: Input): string | undefined {
  if (event.is !== 'key' || !/^[1-9]$/.test(event.key)) return undefined;
  return isEmpty(ui.editor) || ui.chosen.is !== 'field' ? lobby.suggestions[Number(event.key) - 1] : undefined;
}

/** Letters typed over a list go where they are meant to. */
function typed(ui: StartUi, event: Input): Effect<StartUi> | null {
  const editor = edit(ui.editor, event);
  if (editor === null) return null;
  // An @ that was closed counts for that text alone.
  const completing = isEmpty(editor) ? NOT_COMPLETING : ui.completing;
  return { ui: { ...ui, editor, completing, chosen: FIELD, former: null } };
}

const wheel = (ui: StartUi, { lobby }: Context, by: 1 | -1): Effect<StartUi> | null =>
  ui.chosen.is === 'session' ? { ui: leap(ui, lobby, by) } : null;

// What is begun from the start screen: a task, a former session in the way it ended, a kept plan with what it asks for.

/** Enter: the task in the field, or what is chosen in a list. */
function begin(ui: StartUi, { lobby }: Context): Effect<StartUi> {
  const { chosen } = ui;
  if (chosen.is === 'suggestion') return { ui: withTask(ui, lobby.suggestions[chosen.index] ?? '') };
  if (chosen.is === 'session') {
    const session = lobby.sessions[chosen.index];
    return session === undefined ? {} : again(ui, session);
  }
  const task = editorText(ui.editor).trim();
  const agents = agentsTyped(task, lobby);
  if (agents !== null) return { ui: withTask(ui, ''), ...agents };
  // Typed before the suggestions were there: it is one of these, to be read before it is sent.
  if (/^[1-9]$/.test(task)) return byNumber(ui, lobby, Number(task));
  if (task !== '') return { app: { start: task } };
  return { toast: { level: 'info', text: 'Say what should be done, or take a suggestion with Tab.' } };
}

function byNumber(ui: StartUi, { suggestions }: LobbyInfo, number: number): Effect<StartUi> {
  const suggestion = suggestions[number - 1];
  if (suggestion !== undefined) return { ui: withTask(ui, suggestion) };
  const text = `${number} alone is no task, and there is no suggestion ${number}${suggestions.length === 0 ? ' yet' : ''}.`;
  return { toast: { level: 'info', text } };
}

type Session = LobbyInfo['sessions'][number];

/** What another process carries is shown; what was stopped or is over is looked at, and resumed from there; what failed may do either. */
function again(ui: StartUi, { id, task, state, ended }: Session): Effect<StartUi> {
  if (state === 'running') return { app: { attach: id } };
  if (ended?.status === 'rejected') {
    const text = 'That plan was not approved, and nothing ran: here is its task again.';
    return { ui: withTask(ui, task), toast: { level: 'info', text } };
  }
  if (ended?.status !== 'failed') return { app: { look: id } };
  const choices = [
    { value: 'look', label: 'look at what it did', note: 'cards, transcripts, result', whyNot: null },
    { value: 'resume', label: 'go on with it', note: 'agents that failed try once more', whyNot: null },
  ];
  const then = (value: string): DialogEffect => ({ app: value === 'resume' ? { resume: id } : { look: id } });
  return { dialog: { is: 'pick', title: 'This run failed', choices, value: 'look', then } };
}

/** The kept plans to choose from; behind one with arguments comes the form that asks for them. */
function templatePick({ templates = [] }: LobbyInfo): Dialog {
  return {
    is: 'pick',
    title: 'Begin from a kept plan',
    choices: templates.map((one) => ({ value: one.name, label: one.name, note: noteOf(one), whyNot: null })),
    value: templates[0]?.name ?? '',
    then: (name) => {
      const template = templates.find((one) => one.name === name);
      if (template === undefined) return {};
      return template.arguments.length === 0
        ? { app: { template: name, values: {} } }
        : { dialog: templateForm(template) };
    },
  };
}

const noteOf = ({ description, tasks, arguments: asked, from }: TemplateInfo): string =>
  [
    ...(description === '' ? [] : [description]),
    counted(tasks, 'task'),
    ...(asked.length === 0 ? [] : [`asks for ${asked.map(({ name }) => name).join(', ')}`]),
    from,
  ].join(', ');

function templateForm(template: TemplateInfo): Dialog {
  return {
    is: 'form',
    title: template.name,
    fields: template.arguments.map(
      ({ name, description, default: value }): Field => ({
        is: 'text',
        name,
        label: name,
        value,
        lines: 1,
        hint: value === '' ? `${description || name} (needed)` : description,
      }),
    ),
    check: ({ texts }) => {
      const missing = template.arguments.filter(
        ({ name, default: value }) => value === '' && (texts[name] ?? '').trim() === '',
      );
      return missing.length === 0 ? null : `${missing.map(({ name }) => name).join(', ')} must be given`;
    },
    then: ({ texts }) => ({ app: { template: template.name, values: texts } }),
  };
}
