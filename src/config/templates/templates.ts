/**
 * Plan templates: plans in the person's form with a name, a description and arguments that fill `{{slots}}` in texts. Reads and
 * fills them; where they lie is template-folders.ts's, whether they count and what becomes of the plan for others.
 */
import { z } from 'zod';
import { readDraft } from '../../domain/plan/check-plan.ts';
import { type DraftPlan, DraftTask } from '../../domain/plan/plan.ts';
import { fail, ok, type Result } from '../../domain/result.ts';
import { suggestion } from '../../domain/text/nearest.ts';
import type { TemplateInfo } from '../../ports/project-service.ts';
import type { ConfigFault } from '../files/fault.ts';
import { nameOf, valueAt, wordsFor } from '../files/issues.ts';
import { placeOf, plainOf } from '../files/tree-walk.ts';
import { type Path } from '../schema/keys.ts';
import { readTree, type Tree } from '../files/tree.ts';

/** Where a project, and Mimir's own package, has them. */
export const PLAN_FOLDER = '.mimir/plans';

/** What a template, and its file, may be called. */
export const TEMPLATE_NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;

const Argument = z.strictObject({
  description: z.string().trim().max(500).default(''),
  default: z.string().default(''),
});
const TemplateFile = z.strictObject({
  name: z.string().optional(),
  description: z.string().trim().max(1000).default(''),
  arguments: z.record(z.string(), Argument).default({}),
  reason: z.string().max(20_000).default(''),
  // What agents may do without asking is decided by the person who starts it, not by a template.
  tasks: z
    .array(DraftTask.omit({ permissions: true }))
    .min(1)
    .max(1000),
  // As a printed plan has it; made anew from the rules.
  forced: z.array(z.unknown()).max(100).optional(),
});
type TemplateFile = z.output<typeof TemplateFile>;

export interface Template {
  readonly info: TemplateInfo;
  readonly file: TemplateFile;
}

/** Is it a template that this text of a plan file holds? A plain plan has neither description nor arguments, and no slots. */
export function isTemplate(plan: unknown): boolean {
  return typeof plan === 'object' && plan !== null && ['name', 'description', 'arguments'].some((key) => key in plan);
}

export interface TemplateText {
  /** As people would name it. */
  readonly shown: string;
  /** What it is called where it doesn't say: the file's name without its extension. */
  readonly stem: string;
  readonly text: string;
}

/** The template in a text, or all that is wrong with it. */
export function readTemplate({ shown, stem, text }: TemplateText): Result<Template, readonly ConfigFault[]> {
  const tree = readTree(text, shown);
  if (!tree.ok) return fail([tree.fault]);
  const plain = plainOf(tree.value);
  const file = TemplateFile.safeParse(plain);
  if (!file.success) return fail(file.error.issues.flatMap((issue) => faultsOf(shown, tree.value, issue)));
  const faults = slotFaults(shown, tree.value, file.data);
  if (faults.length > 0) return fail(faults);
  const { name = stem, description, tasks } = file.data;
  const wanted = Object.entries(file.data.arguments).map(([argument, one]) => ({ name: argument, ...one }));
  // For people who choose: `Review <target>`.
  const asked = filled(description, new Map(wanted.map((one) => [one.name, `<${one.name}>`])));
  const info = { name, description: asked, arguments: wanted, tasks: tasks.length, from: shown };
  return ok({ info, file: file.data });
}

function faultsOf(file: string, tree: Tree, issue: z.core.$ZodIssue): readonly ConfigFault[] {
  const at = issue.path.filter((part) => typeof part !== 'symbol');
  const value = valueAt(plainOf(tree), at);
  if (issue.code !== 'unrecognized_keys') return [{ file, ...placeOf(tree, at), ...wordsFor(issue, value) }];
  const known = at.length === 0 ? TemplateFile.shape : at[0] === 'tasks' ? DraftTask.shape : Argument.shape;
  return issue.keys.map((key) => ({
    file,
    ...placeOf(tree, [...at, key]),
    problem: `unknown key ${nameOf([...at, key])}`,
    remedy: suggestion(key, Object.keys(known)),
  }));
}

/** Slots without an argument, arguments without a slot, and slots where none is filled. */
function slotFaults(file: string, tree: Tree, { arguments: known }: TemplateFile): readonly ConfigFault[] {
  const names = Object.keys(known);
  const slots = textsIn(tree).flatMap(({ at, text }) => slotsIn(text).map((slot) => ({ at, slot })));
  const fault = (at: Path, problem: string, remedy: string): ConfigFault => ({
    file,
    ...placeOf(tree, at),
    problem,
    remedy,
  });
  const misnamed = names
    .filter((name) => !ARGUMENT.test(name))
    .map((name) =>
      fault(['arguments', name], `"${name}" can't be an argument`, 'use lower-case letters, digits, "-" and "_"'),
    );
  const wrong = slots.flatMap(({ at, slot }) => {
    if (!isFilled(at)) return [fault(at, `{{${slot}}} stands in ${nameOf(at)}`, FILLED)];
    if (names.includes(slot)) return [];
    const remedy = names.length === 0 ? 'describe it under arguments' : suggestion(slot, names);
    return [fault(at, `there is no argument "${slot}" for {{${slot}}}`, `${remedy}; a literal {{ is written {{"{{"}}`)];
  });
  const used = new Set(slots.map(({ slot }) => slot));
  const idle = names
    .filter((name) => !used.has(name))
    .map((name) =>
      fault(
        ['arguments', name],
        `nothing uses the argument "${name}"`,
        `write {{${name}}} in a description, or take it out`,
      ),
    );
  return [...misnamed, ...wrong, ...idle];
}

const FILLED = 'arguments are filled into reason, descriptions and writes only';

/** Texts in which arguments are filled in. Roles, models and tools never depend on what somebody types. */
function isFilled([first, , field]: Path): boolean {
  if (first === 'description' || first === 'reason') return true;
  return first === 'tasks' && (field === 'description' || field === 'writes');
}

function textsIn(tree: Tree, at: Path = []): readonly { readonly at: Path; readonly text: string }[] {
  if (at[0] === 'arguments' || at[0] === 'forced') return [];
  if (tree.is === 'map') return tree.entries.flatMap(({ key, value }) => textsIn(value, [...at, key]));
  if (tree.is === 'list') return tree.items.flatMap((item, index) => textsIn(item, [...at, index]));
  return typeof tree.value === 'string' ? [{ at, text: tree.value }] : [];
}

export interface Filled {
  /** What the run is about: the description with its slots filled. */
  readonly task: string;
  readonly draft: DraftPlan;
}

/** Longer values belong in a file that a task names. */
const LONGEST_VALUE = 4000;
// Line ends and tabs are text; other control characters could hide what they say.
const CONTROL = /[[\p{Cc}\p{Cf}\p{Co}]--[\n\t\u200c\u200d]]/v;

/** The plan with these values, or which one is unknown, missing or unfit. Values are plain text, whatever stands in them. */
export function fillTemplate(
  { info, file }: Template,
  values: Readonly<Record<string, string>>,
): Result<Filled, string> {
  const unknown = Object.keys(values).filter((name) => !info.arguments.some((known) => known.name === name));
  if (unknown.length > 0) {
    return fail(
      `${info.name} has no argument ${unknown.map((name) => `"${name}"`).join(', ')}; ${argumentWords(info)}`,
    );
  }
  // Own properties only: a name is what somebody typed.
  const given = new Map(Object.entries(values));
  const all = new Map(info.arguments.map((one) => [one.name, given.get(one.name) || one.default]));
  const missing = info.arguments.filter(({ name }) => all.get(name)?.trim() === '');
  if (missing.length > 0) return fail(`${info.name} needs ${missing.map(wantedWords).join(' and ')}`);
  for (const [name, value] of all) {
    if (value.length > LONGEST_VALUE) return fail(`${name} is longer than ${LONGEST_VALUE} characters`);
    if (CONTROL.test(value)) return fail(`${name} has characters that can't be seen: leave them out`);
  }
  return draftOf(file, all, info);
}

function draftOf(file: TemplateFile, values: ReadonlyMap<string, string>, info: TemplateInfo): Result<Filled, string> {
  const tasks = file.tasks.map((task) => ({
    ...task,
    description: filled(task.description, values),
    ...(task.writes === undefined ? {} : { writes: task.writes.map((glob) => filled(glob, values)) }),
  }));
  const broken = tasks.flatMap(({ writes = [] }) => writes).find((glob) => /[\n\t]/.test(glob));
  if (broken !== undefined) return fail('a value that goes into writes must be one line');
  const draft = readDraft({ reason: filled(file.reason, values), tasks });
  if (!draft.ok) {
    return fail(draft.fault.map(({ task, problem }) => (task === null ? problem : `${task}: ${problem}`)).join('; '));
  }
  const task = filled(file.description, values).trim();
  return ok({ draft: draft.value, task: task === '' ? info.name : task });
}

/** `it has target (Where to look) and depth (How deep; "shallow" where it isn't said)`, or that it has none. */
const argumentWords = ({ arguments: known }: TemplateInfo): string =>
  known.length === 0 ? 'it has none' : `it has ${known.map(wantedWords).join(' and ')}`;

function wantedWords(one: TemplateInfo['arguments'][number]): string {
  const otherwise = one.default === '' ? '' : `${JSON.stringify(one.default)} where it isn't said`;
  const words = [one.description, otherwise].filter((part) => part !== '').join('; ');
  return words === '' ? one.name : `${one.name} (${words})`;
}

// Places in a text that are filled in each time a template is used: `{{target}}`. A literal `{{` is written `{{"{{"}}`. What is
// filled in is text and nothing else: it is never read again.

/** `{{name}}`, or the literal, which has no name. Nothing nests, and no text makes it slow. */
const SLOT = /\{\{([^{}"]*)\}\}|\{\{"\{\{"\}\}/g;

/** Names of arguments: what a person types behind `--set`. */
export const ARGUMENT = /^[a-z][a-z0-9_-]{0,39}$/;

/** What stands in the slots of a text, in order, names or not. */
const slotsIn = (text: string): readonly string[] =>
  [...text.matchAll(SLOT)].flatMap(([, name]) => (name === undefined ? [] : [name.trim()]));

/** The text with its slots filled; one whose name has no value stays as it is. */
export const filled = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replaceAll(SLOT, (whole: string, name: string | undefined) =>
    name === undefined ? '{{' : (values.get(name.trim()) ?? whole),
  );

/** The other way: each occurrence of a text becomes its slot, the longest text first, and what looks like a slot a literal. */
export function withSlots(text: string, slots: readonly { readonly name: string; readonly text: string }[]): string {
  const longest = slots.toSorted((a, b) => b.text.length - a.text.length);
  let made = '';
  let plain = '';
  for (let at = 0; at < text.length; ) {
    const slot = longest.find((one) => one.text !== '' && text.startsWith(one.text, at));
    if (slot === undefined) {
      plain += text[at] ?? '';
      at += 1;
    } else {
      made += `${literal(plain)}{{${slot.name}}}`;
      plain = '';
      at += slot.text.length;
    }
  }
  return made + literal(plain);
}

const literal = (text: string): string => text.replaceAll('{{', '{{"{{"}}');
