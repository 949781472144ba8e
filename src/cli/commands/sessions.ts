/** `mimir sessions`: lists the sessions of this project, newest first. */
import { fitText, formatCost, toLabel } from '../../app/views/index.ts';
import { exitOnFault } from '../../app/process/index.ts';
import { openReader, projectOf } from '../../app/workspace/index.ts';
import type { SessionSummary } from '../../ports/log.ts';
import { command } from '../verb.ts';

export const sessionsVerb = command('sessions', (args, io) => {
  const all = exitOnFault(() => openReader(projectOf(args, io)).sessions());
  if (args.has('json')) io.json(all);
  else if (all.length === 0) io.say('This project has no sessions yet. `mimir` starts one.');
  else {
    const costs = all.some((one) => spentBy(one) > 0);
    for (const one of all) io.say(sessionLine(one, io.width, costs));
    const running = all.find(({ state }) => state === 'running');
    if (running !== undefined && io.terminal) io.say(`\`mimir attach ${running.session}\` shows the active run.`);
  }
});

/** Id, time, cost (if any session has one), state, and as much of the task as fits. */
function sessionLine(one: SessionSummary, width: number, costs: boolean): string {
  const { session, state, startedAt, task, asked } = one;
  const spent = spentBy(one);
  const amount = costs ? `${(spent === 0 ? '' : formatCost(spent)).padStart(8)}  ` : '';
  const head = `${session}  ${localMinute(startedAt)}  ${amount}${state.padEnd(8)}  `;
  return head + fitText(toLabel(asked ?? task), Math.max(20, width - head.length - 1)).trimEnd();
}

/** In US dollars, even if the process of the run was killed. */
const spentBy = ({ ended, cost = 0 }: SessionSummary): number => ended?.cost ?? cost;

function localMinute(iso: string): string {
  const time = new Date(iso);
  const [month, day, hour, minute] = [time.getMonth() + 1, time.getDate(), time.getHours(), time.getMinutes()].map(
    (part) => String(part).padStart(2, '0'),
  );
  return `${time.getFullYear()}-${month}-${day} ${hour}:${minute}`;
}
