/** What is begun from the start screen: a task, a former session in the way it ended, a kept plan with what it asks for. */
import type { LobbyInfo, TemplateInfo } from '../../../../ports/project-service.ts';
import { counted } from '../../../../app/views/text/format.ts';
import { agentsTyped } from '../../dialogs/forms/agents.ts';
import type { Dialog, DialogEffect, Field } from '../../shell/overlays/dialog.ts';
import type { Context, Effect } from '../../shell/screen.ts';
import { editorText } from '../../text/editor.ts';
import type { StartUi } from './state.ts';
import { withTask } from './state.ts';

/** Enter: the task in the field, or what is chosen in a list. */
export function begin(ui: StartUi, { lobby }: Context): Effect<StartUi> {
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
export function templatePick({ templates = [] }: LobbyInfo): Dialog {
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
