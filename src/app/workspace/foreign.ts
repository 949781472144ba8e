/** The agents of other programs that a configuration names, as models. Runs start their programs (project/foreign-agents.ts). */
import type { ForeignSetup, Loaded } from '../../config/index.ts';
import { foreignSetups } from '../../config/index.ts';
import { FOREIGN_PROVIDERS, ModelId } from '../../domain/ids.ts';
import type { ModelOption } from '../../domain/plan/plan.ts';
import { reasonText } from '../../domain/reason.ts';
import { fail } from '../../domain/result.ts';
import type { ForeignModels } from '../../integrations/index.ts';
import { foreignFile, toolEnvironment } from '../../tools/index.ts';

export interface KnownAgent {
  readonly setup: ForeignSetup;
  readonly option: ModelOption;
}

/** The configured agents. Their windows and outputs are their own: Mimir sends prompts and gets answers. */
export function foreignAgents({ preferences, rules }: Pick<Loaded, 'preferences' | 'rules'>): readonly KnownAgent[] {
  const denied = rules.foreignAgents?.value === 'deny' ? reasonText(rules.foreignAgents.from) : null;
  const environment = toolEnvironment(process.cwd());
  return foreignSetups(preferences).map((setup) => {
    const { name, by, command } = setup;
    const [program = ''] = command;
    const needed = by === 'terminal' ? [program, 'tmux'] : [program];
    const missing = needed.find((one) => foreignFile(environment, one) === null);
    const because = denied ?? (missing === undefined ? null : `${missing} is not on the PATH`);
    return {
      setup,
      option: {
        id: ModelId.parse(`${FOREIGN_PROVIDERS[by]}/${name}`),
        label: name,
        aliases: [],
        window: 1_000_000,
        outputLimit: 8000,
        price: null,
        effort: false,
        speed: 50,
        usable: because === null ? { yes: true } : { yes: false, because },
      },
    };
  });
}

/** The same as models that nothing can be asked of, where no run is. */
export const listedAgents = (agents: readonly KnownAgent[]): Pick<ForeignModels, 'name' | 'models' | 'call'> => ({
  name: FOREIGN_PROVIDERS.protocol,
  models: () => agents.map(({ option }) => option),
  call: () => Promise.resolve(fail({ is: 'refused', message: 'an agent of another program works in a run only' })),
});
