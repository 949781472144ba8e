/** Keeps a plan as a template of the project: a new file in `.mimir/plans`, and the trust that the project had before. */
import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Loaded } from '../config/load.ts';
import { type KeptTask, templateText } from '../config/template-text.ts';
import { PLAN_FOLDER } from '../config/templates.ts';
import { digestOf, trustFiles } from '../config/trust-files.ts';
import { defaultBudget } from '../domain/estimate.ts';
import { toPersonForm } from '../domain/plan-view.ts';
import type { PersonTask } from '../domain/plan-view.ts';
import { type Result, fail, ok } from '../domain/result.ts';
import { agentBudget } from '../policy/budgets.ts';
import type { Receipt, Refusal } from '../ports/controls.ts';
import type { TemplateWish } from '../ports/lobby.ts';
import { fileWords } from './file-words.ts';
import { OWN, templatesHere } from './lobby-templates.ts';
import type { ProjectPlace } from './project-trust.ts';
import { trustHere, trustNow } from './project-trust.ts';

/**
 * Keeps a plan in the project's `.mimir/plans`, 0644, whole or not at all. Never overwrites; what was trusted before stays trusted
 * with it. `config` says what the roles give anyway: that is left out, so that a later configuration counts.
 */
export function keepTemplate(
  project: ProjectPlace,
  config: Pick<Loaded, 'rules' | 'roles' | 'preferences'>,
  wish: TemplateWish,
): Result<Receipt, Refusal> {
  const taken = templatesHere(project, true).templates.find(({ name, from }) => name === wish.name && from !== OWN);
  if (taken !== undefined)
    return refused(`there is a template ${wish.name} already (${taken.from}); choose another name`);
  const text = templateText(
    wish,
    toPersonForm(wish.plan).tasks.map((task) => kept(task, config)),
  );
  if (!text.ok) return refused(text.fault);
  const file = `${PLAN_FOLDER}/${wish.name}.yml`;
  const trusted = keepingTrust(project, config.preferences.trust ?? [], file);
  const written = writeNew(project.root, file, text.value);
  if (!written.ok) return refused(written.fault);
  return ok({ text: `Kept as ${file}${trusted() ? '' : '; it is listed when the project is trusted as it is now'}.` });
}

/** To be asked once `file` is written: then what the person had written is trusted as well, and nothing else that changed. */
function keepingTrust(project: ProjectPlace, listed: readonly string[], file: string): () => boolean {
  const { problem, state } = trustHere(project, listed);
  const others = othersThan(file, project);
  const settled = problem === null && others !== null && (state === 'nothing' || state === 'trusted');
  return () =>
    settled && othersThan(file, project) === others && trustNow(project, trustHere(project, listed).digest).ok;
}

const refused = (text: string): Result<never, Refusal> => fail({ text: `Not kept: ${text}` });

/** Without what the role gives anyway. */
function kept(task: PersonTask, { rules, roles }: Pick<Loaded, 'rules' | 'roles'>): KeptTask {
  const role = roles.find(({ name }) => name === task.role);
  const { id, description, estimatedTokens, model, tools, budget, dependsOn, writes, maySpawn } = task;
  const own = { id, description, role: task.role, estimatedTokens };
  const said = {
    ...(dependsOn.length > 0 && { dependsOn }),
    ...(writes.length > 0 && { writes }),
    ...(maySpawn && { maySpawn }),
  };
  if (role === undefined) return { ...own, model, tools, budget, ...said };
  const basic = defaultBudget(estimatedTokens, role, agentBudget(role.name, rules));
  return {
    ...own,
    ...(role.models[0] !== model && { model }),
    ...(!isSame(tools, role.tools) && { tools }),
    ...(!isSame(sortedKeys(budget), sortedKeys(basic)) && { budget }),
    ...said,
  };
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
const sortedKeys = (budget: object): unknown => Object.entries(budget).toSorted(([a], [b]) => (a < b ? -1 : 1));

/** One fingerprint of all else that is trusted; null where it can't be told. */
function othersThan(file: string, { root }: ProjectPlace): string | null {
  const files = trustFiles(root, false);
  return files.ok ? digestOf(files.value.filter((one) => one.file !== file)) : null;
}

/** A new file of the project: through no link, complete as soon as it has its name, never in place of another. */
function writeNew(root: string, file: string, text: string): Result<void, string> {
  const folder = join(root, PLAN_FOLDER);
  const fresh = join(folder, `.${process.pid}.new`);
  try {
    for (const part of ['.mimir', PLAN_FOLDER]) {
      const found = lstatSync(join(root, part), { throwIfNoEntry: false });
      if (found === undefined) mkdirSync(join(root, part));
      else if (!found.isDirectory()) return fail(`${part} is a link or a file: put the folder itself there`);
    }
    rmSync(fresh, { force: true });
    const flags = constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW | constants.O_WRONLY;
    const descriptor = openSync(fresh, flags, 0o644);
    try {
      writeFileSync(descriptor, text);
      // Others of the team read it, whatever is usual on this machine.
      fchmodSync(descriptor, 0o644);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    linkSync(fresh, join(root, file));
    return ok(undefined);
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    return fail(
      isThere ? `${file} is there already; choose another name` : `${file} can't be written: ${fileWords(error)}`,
    );
  } finally {
    rmSync(fresh, { force: true });
  }
}
