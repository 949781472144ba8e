/** `mimir sessions`: what was run in this project, newest first. */
import { fitText } from '../../app/views/text/clip.ts';
import { toLabel } from '../../app/views/text/sanitise.ts';
import { CWD, JSON_FLAG } from '../../app/process/flags/common.ts';
import { EXIT } from '../../app/process/exit.ts';
import { openReader, orExit } from '../../app/client/log-of.ts';
import { projectOf } from '../../app/project/project.ts';
import type { Verb } from '../verb.ts';

export const sessionsVerb: Verb = {
  usage: 'mimir sessions [--json]',
  summary: 'Lists the sessions of this project, newest first.',
  example: 'mimir sessions --json',
  words: 0,
  flags: { ...JSON_FLAG, ...CWD },
  run(args, io) {
    const all = orExit(() => openReader(projectOf(args, io)).sessions());
    if (args.has('json')) io.json(all);
    else if (all.length === 0) io.say('No session of this project yet. `mimir` starts one.');
    else {
      for (const { session, state, startedAt, task, asked } of all) {
        const head = `${session}  ${localMinute(startedAt)}  ${state.padEnd(8)}  `;
        io.say(head + fitText(toLabel(asked ?? task), Math.max(20, io.width - head.length - 1)).trimEnd());
      }
      const running = all.find(({ state }) => state === 'running');
      if (running !== undefined && io.terminal) io.say(`\`mimir attach ${running.session}\` shows what runs now.`);
    }
    return Promise.resolve(EXIT.done);
  },
};

/** `2026-11-22 14:03` on this machine's clock, as all times that a person reads without a zone. */
function localMinute(iso: string): string {
  const time = new Date(iso);
  const [month, day, hour, minute] = [time.getMonth() + 1, time.getDate(), time.getHours(), time.getMinutes()].map(
    (part) => String(part).padStart(2, '0'),
  );
  return `${time.getFullYear()}-${month}-${day} ${hour}:${minute}`;
}
