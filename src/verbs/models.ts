/** `mimir models`: the catalogue with prices, what can be used here, and why the rest can't. */
import { openModels } from '../models/open.ts';
import type { ModelOption } from '../domain/plan.ts';
import { reasonText } from '../domain/reason.ts';
import { ALIASES } from '../policy/aliases.ts';
import { modelProblem } from '../policy/models.ts';
import { CWD, JSON_FLAG } from './common-flags.ts';
import { EXIT } from './exit.ts';
import { harmless } from './io.ts';
import { configOf, projectOf } from './project.ts';
import type { Verb } from './verb.ts';

export const modelsVerb: Verb = {
  usage: 'mimir models [--json]',
  summary: 'Lists models with prices (USD per million tokens) and whether they can be used here.',
  example: 'mimir models',
  words: 0,
  flags: { ...JSON_FLAG, ...CWD },
  run(args, io) {
    const { rules } = configOf(projectOf(args, io), io, {});
    const models = openModels({ aliases: ALIASES, pace: { is: 'none' } })
      .models()
      .map((model): ModelOption => {
        const problem = modelProblem(model.id, rules);
        return problem === null
          ? model
          : { ...model, usable: { yes: false, because: `denied by ${reasonText(problem)}` } };
      });
    if (args.has('json')) io.json(models);
    else for (const line of tableOf(models)) io.say(harmless(line));
    return Promise.resolve(EXIT.done);
  },
};

function tableOf(models: readonly ModelOption[]): readonly string[] {
  const rows = models.map((model) => ({
    name: model.label,
    id: model.id,
    price: model.price === null ? 'not known' : `${model.price.input} / ${model.price.output}`,
    use: model.usable.yes ? 'usable' : `not usable: ${model.usable.because}`,
  }));
  const width = (pick: (row: (typeof rows)[number]) => string): number =>
    Math.max(...rows.map((row) => pick(row).length));
  const [name, id, price] = [
    width((row) => row.name),
    width((row) => row.id),
    Math.max(
      8,
      width((row) => row.price),
    ),
  ];
  return [
    `${'model'.padEnd(name)}  ${'canonical id'.padEnd(id)}  ${'in / out'.padEnd(price)}`,
    ...rows.map((row) => `${row.name.padEnd(name)}  ${row.id.padEnd(id)}  ${row.price.padEnd(price)}  ${row.use}`),
  ];
}
