/** `mimir complete`: an agent says that it is done, or that it can't go on. */
import { readChoice, wrongUse } from '../../app/process/index.ts';
import { doneOrExit } from '../../app/client/index.ts';
import { selfOf, sessionVerb } from '../sessions/target.ts';

export const completeVerb = sessionVerb('complete', (args, io) => {
  const status = readChoice(args, 'status', ['completed', 'error']) ?? 'completed';
  return async (client) => {
    if (client.as === null)
      throw wrongUse('only agents use this command\n  `mimir kill ID` ends a session, `mimir kill RUN` a run');
    const { record } = await selfOf(client);
    const message = args.words[0] ?? '';
    doneOrExit(await client.submit(record.run, { do: 'complete', agent: client.as, status, message }));
    io.say(`Session ${record.session_id} marked as ${status}`);
  };
});
