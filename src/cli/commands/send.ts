/** `mimir send`: sends a message to any session by its id or name. An agent passes it to its run;
 * a person's message is stored first, so it survives whatever happens to the run, and the run is notified. */
import type { Delivery } from '../../ports/controls.ts';
import { type Arguments, wrongUse } from '../../app/process/index.ts';
import { doneOrExit } from '../../app/client/index.ts';
import { BY_DELIVERY, sentWords, sessionVerb, targetOf } from '../sessions/target.ts';

export const sendVerb = sessionVerb('send', (args, io) => {
  const delivery = deliveryOf(args);
  const [word, text] = args.words;
  if (word === undefined || text === undefined || text.trim() === '')
    throw wrongUse('send needs an ID and a text\n  mimir send ID "<text>"; `mimir all` lists the sessions');
  return async (client) => {
    const target = await targetOf(client, word);
    if (client.as === null) {
      const { sendAsPerson } = await import('../sessions/post.ts');
      return io.say(await sendAsPerson(target, { text, delivery }, { client, args, io }));
    }
    const { run, agent } = target.record;
    const receipt = doneOrExit(await client.submit(run, { do: 'message', to: agent, text, delivery }));
    io.say(sentWords(target, receipt.sent ?? BY_DELIVERY[delivery]));
  };
});

function deliveryOf(args: Arguments): Delivery {
  const said = (['sequential', 'important', 'urgent'] as const).filter((one) => args.has(one));
  if (said.length > 1)
    throw wrongUse(`${said.map((one) => `--${one}`).join(' and ')} cannot be combined\n  use one of them`);
  return said[0] ?? 'sequential';
}
