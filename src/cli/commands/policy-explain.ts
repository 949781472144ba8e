/** `mimir policy explain`: asks the functions that decide in a run, and prints the decision, the rules and what would change it. */
import { suggestion } from '../../domain/text/nearest.ts';
import { modelNames } from '../../config/settings/model-lists.ts';
import { reasonText } from '../../domain/reason.ts';
import type { Explanation } from '../../policy/explain/explain.ts';
import { explainModel } from '../../policy/explain/model.ts';
import { explainRole } from '../../policy/explain/role.ts';
import { wordsOf } from '../../policy/models.ts';
import { modelsOfRole } from '../../policy/role-models.ts';
import { roleNamed } from '../../policy/roles.ts';
import { visible } from '../../app/views/text/sanitise.ts';
import { EXIT, Exit } from '../../app/process/exit.ts';
import type { Arguments } from '../../app/process/flags/flags.ts';
import type { Io } from '../../app/process/io.ts';
import { explainCommand, explainPath, explainTool } from '../policy/explain-tools.ts';
import { type Asker, askerOf } from '../policy/explain-who.ts';
import { portOf } from '../../app/project/model-port.ts';

const QUESTIONS = ['model', 'tool', 'path', 'command', 'role'] as const;

/** Ends with 0 whatever the decision is: it was explained. */
export async function explainPolicy(args: Arguments, io: Io): Promise<number> {
  const asked = QUESTIONS.filter((name) => args.has(name));
  const [question, ...more] = asked.length > 1 ? asked.filter((name) => name !== 'role') : asked;
  if (question === undefined || more.length > 0) {
    throw new Exit(EXIT.wrongUse, `one question at a time: ${QUESTIONS.map((name) => `--${name}`).join(', ')}`);
  }
  const asker = askerOf(args, io, question !== 'role');
  const explained = await explain(question, args.get(question) ?? '', asker);
  for (const one of explained) {
    if (args.has('json')) io.json({ ...one, as: asWords(question, asker) });
    else for (const line of linesOf(one, asWords(question, asker), io)) io.say(line);
  }
  return EXIT.done;
}

async function explain(
  question: (typeof QUESTIONS)[number],
  subject: string,
  asker: Asker,
): Promise<readonly Explanation[]> {
  if (question === 'model') return [model(subject, asker)];
  if (question === 'role') return [role(subject, asker)];
  if (question === 'tool') return explainTool(subject, asker);
  return question === 'path' ? explainPath(subject, asker) : [await explainCommand(subject, asker)];
}

function role(asked: string, { config: { rules, roles } }: Asker): Explanation {
  const explained = explainRole(asked, rules, roles);
  if (roleNamed(asked, roles) !== null) return explained;
  const known = roles.map(({ name }) => name);
  return { ...explained, change: [suggestion(asked, known)] };
}

function model(asked: string, { config, role }: Asker): Explanation {
  const models = portOf(config, new Map(), 'none').models();
  const here = { rules: config.rules, models, offlineOnly: !config.providers.some(({ configured }) => configured) };
  const explained = explainModel({
    asked,
    role: role.name,
    fallbacks: modelsOfRole(role, here),
    ...here,
    words: wordsOf(role),
  });
  if (explained.resolved.some(({ written }) => written === asked)) return explained;
  return { ...explained, change: [suggestion(asked, modelNames(config.models))] };
}

function asWords(question: string, { role, mode, agent }: Asker): string | null {
  if (question === 'role') return null;
  const who = agent === null ? `role ${role.name}` : `agent ${agent}, role ${role.name}`;
  return question === 'model' ? who : `${who}, mode ${mode}`;
}

function linesOf(
  { subject, decision, rules, change, resolved, used }: Explanation,
  as: string | null,
  { paint }: Io,
): readonly string[] {
  const words = {
    allow: paint.green('allow'),
    ask: paint.yellow('ask'),
    deny: paint.red('deny'),
    substitute: paint.yellow('substitute'),
  };
  const line = (name: string, text: string): string => `  ${name.padEnd(15)} ${visible(text)}`;
  return [
    `${words[decision]}  ${paint.bold(visible(subject))}`,
    ...(as === null ? [] : [line('as', as)]),
    ...rules.map(({ reason, says, decides }) => line(decides ? 'decided by' : `also ${says}`, reasonText(reason))),
    ...(used === null ? [] : [line('used', used)]),
    ...[...new Set(resolved.map(({ written, id }) => `${written} is ${id}`))].map((text) => line('means', text)),
    ...change.map((text) => line('to change', text)),
  ];
}
