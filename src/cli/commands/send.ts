/**
 * `mimir send`: a text for any session, by its id or name. An agent hands it to its run;
 * a person leaves a letter, which survives whatever happens to the run, and says that it lies there.
 */
import type { Delivery } from '../../ports/controls.ts';
import { CWD } from '../../app/process/flags/plain.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import type { Arguments, Flags } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { doneOrExit, seated } from '../../app/client/session-client.ts';
import { targetOf, BY_DELIVERY, sentWords } from '../sessions/target.ts';
import type { Verb } from '../verb.ts';

const DELIVERIES: Flags = {
  sequential: { value: '', help: 'when its work is done, or at once where it is idle (the default)' },
  important: { value: '', help: 'with its next turn' },
  urgent: { value: '', help: 'now: what it does is interrupted' },
};

export const sendVerb: Verb = {
  usage: 'mimir send ID "<text>" [--sequential|--important|--urgent]',
  summary: 'Sends a text to any session; one that has ended goes on with its whole conversation.',
  example: 'mimir send engineer-task1 "Status update?"',
  words: 2,
  flags: { ...DELIVERIES, ...CWD },
  run: (args, io) => send(args, io, deliveryOf(args)),
};

function deliveryOf(args: Arguments): Delivery {
  const said = (['sequential', 'important', 'urgent'] as const).filter((one) => args.has(one));
  if (said.length > 1)
    throw new Exit(EXIT.wrongUse, `${said.map((one) => `--${one}`).join(' and ')}\n  expected one of them`);
  return said[0] ?? 'sequential';
}

function send(args: Arguments, io: Io, delivery: Delivery): Promise<number> {
  const [word, text] = args.words;
  if (word === undefined || text === undefined || text.trim() === '') {
    throw new Exit(EXIT.wrongUse, 'to whom, and what?\n  mimir send ID "<text>"; `mimir all` lists the sessions');
  }
  return seated(args, io, async (seat) => {
    const target = await targetOf(seat, word);
    if (seat.as === null) {
      const { sendAsPerson } = await import('../sessions/post.ts');
      io.say(await sendAsPerson(target, { text, delivery }, { seat, args, io }));
      return EXIT.done;
    }
    const { run, agent } = target.record;
    const receipt = doneOrExit(await seat.submit(run, { do: 'message', to: agent, text, delivery }));
    io.say(sentWords(target, receipt.sent ?? BY_DELIVERY[delivery]));
    return EXIT.done;
  });
}
