/** Commands about questions of agents: which there are, one whole, answer it by a word that is a command, put it off. */
import { withdrawGrant } from '../../../app/actions/index.ts';
import { grantText } from '../../../app/views/questions/answers.ts';
import { numbered } from '../words/agents.ts';
import type { LineCommand, LineDesk, Place } from '../command.ts';
import { visible } from '../../../app/views/text/sanitise.ts';

const ANY_RUN: readonly Place[] = ['plan', 'run'];

export const QUESTION_COMMANDS: readonly LineCommand[] = [
  {
    name: 'questions',
    short: ['inbox'],
    arguments: '',
    help: 'Lists the questions that wait for you, by number.',
    where: ANY_RUN,
    actions: ['app.answer', 'run.answer'],
    run: sayQuestions,
  },
  {
    name: 'question',
    short: ['ask'],
    arguments: '[N]',
    help: 'Says question N whole, or the next, to be answered.',
    where: ANY_RUN,
    actions: ['app.answer'],
    run(typed, desk) {
      const all = desk.questions.waiting(desk.state);
      const chosen = typed === '' ? all[0] : all.find(({ number }) => String(number) === typed);
      if (chosen === undefined)
        return desk.refuse(all.length === 0 ? 'nobody asks you anything' : `there is no question ${typed}`);
      desk.questions.turnTo(chosen);
    },
  },
  {
    name: 'answer',
    short: [],
    arguments: 'TEXT',
    help: 'Answers the question that was said last, also with words that would be a command.',
    where: ANY_RUN,
    actions: [],
    run: (text, desk) => desk.answer(text),
  },
  {
    name: withdrawGrant.word,
    short: [],
    arguments: '[withdraw N]',
    help: 'Lists what your answers allow for this session, or withdraws number N.',
    where: ANY_RUN,
    actions: ['run.grants'],
    run: grants,
  },
  {
    name: 'later',
    short: [],
    arguments: '',
    help: 'Puts the question off; its agent waits, the others go on. question says it again.',
    where: ANY_RUN,
    actions: [],
    run(_, desk) {
      if (desk.questions.current(desk.state) === null) return desk.refuse('no question was said');
      desk.questions.later();
      desk.say('Put off. questions lists what waits.');
    },
  },
];

/** `grants`, `grants withdraw 2`. */
async function grants(typed: string, desk: LineDesk): Promise<void> {
  const [what = '', number = '', ...more] = typed.split(/\s+/).filter((word) => word !== '');
  const { state } = desk;
  if (what === '') return sayGrants(desk);
  if (what !== 'withdraw' || more.length > 0) return desk.refuse('expected grants, or grants withdraw and a number');
  const why = withdrawGrant.whyNot(state, { grant: '' });
  if (why !== null) return desk.refuse(why);
  const grant = state.grants[Number(number) - 1];
  if (grant === undefined)
    return desk.refuse(`there is no grant ${number}: they are numbered 1 to ${state.grants.length}`);
  await desk.submit(withdrawGrant.command(state, { grant: grant.id }));
}

function sayGrants(desk: LineDesk): void {
  const { state } = desk;
  if (state.grants.length === 0) return desk.say('Nothing is allowed for this session.');
  desk.say(
    ...state.grants.map(
      (grant, at) =>
        `${at + 1}. ${visible(grantText(grant))} (answered to ${visible(state.agents.get(grant.agent)?.name ?? grant.agent)})`,
    ),
    'grants withdraw N takes one back.',
  );
}

function sayQuestions(_: string, desk: LineDesk): void {
  const { state } = desk;
  const all = desk.questions.waiting(state);
  if (all.length === 0) return desk.say('Nobody asks you anything.');
  desk.say(
    ...all.map(({ number, question: { first, all: askers } }) => {
      const agent = state.agents.get(first.agent);
      const who = askers.length > 1 ? `${askers.length} agents` : agent === undefined ? first.agent : numbered(agent);
      return `${number}. ${who}, ${first.request.action}: ${visible(first.request.title).split('\n')[0] ?? ''}`;
    }),
    'question N says one whole.',
  );
}
