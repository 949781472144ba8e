/** `mimir acp`: Mimir as an agent of an editor that speaks the Agent Client Protocol. The editor starts it; a person does not. */
import * as cli from '../../app/process/index.ts';
import { LocalProjectService, openProject } from '../../app/project/index.ts';
import { projectOf } from '../../app/workspace/index.ts';
import { command } from '../verb.ts';

export const acpVerb = command('acp', async (args, io) => {
  if (io.terminal)
    throw cli.wrongUse('an editor starts this and talks to it on standard input\n  see docs/guide.md for its settings');
  const { serveAcp } = await import('../../ui/acp/index.ts');
  await serveAcp({
    input: inputStream(),
    output: outputStream(),
    version: cli.packageVersion(),
    newSession: cli.newSession,
    async open(cwd) {
      const there = { ...args, get: (flag: string) => (flag === 'cwd' ? cwd : args.get(flag)) };
      return new LocalProjectService(there, io, await openProject(there, io, projectOf(there, io)), 'none');
    },
  });
  return cli.EXIT.done;
});

const inputStream = (): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      process.stdin.on('data', (chunk: Buffer) => controller.enqueue(new Uint8Array(chunk)));
      process.stdin.once('end', () => controller.close());
    },
  });

const outputStream = (): WritableStream<Uint8Array> =>
  new WritableStream({
    write: (chunk) => new Promise((resolve) => void process.stdout.write(chunk, () => resolve())),
  });
