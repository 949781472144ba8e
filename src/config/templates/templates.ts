/** Plan templates: plans with a name, a description and arguments that fill `{{slots}}` in texts. Finds, reads, fills and writes them; the callers
 * decide which count and what to do with the plan. */
import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { Document, isScalar, visit } from 'yaml';
import { z } from 'zod';
import { escaped } from '../../domain/lists.ts';
import { readDraft } from '../../domain/plan/check-plan.ts';
import type { PersonTask } from '../../domain/plan/plan-view.ts';
import { type DraftPlan, DraftTask } from '../../domain/plan/plan.ts';
import { fail, ok, type Result, tried } from '../../domain/result.ts';
import { ARGUMENT_NAME, suggestion, TEMPLATE_NAME } from '../../domain/text/text.ts';
import type { TemplateInfo, TemplateRequest } from '../../ports/project-service.ts';
import { issueFaults, nameOf } from '../files/layer.ts';
import { type ConfigFault, faultText, fileFault, readText } from '../files/read-text.ts';
import { faultAt, plainOf, readTree, type Tree } from '../files/tree.ts';
import type { Path } from '../schema/schema.ts';

/** The folder of templates in a project and in Mimir's own package. */
export const PLAN_FOLDER = '.mimir/plans';

const Argument = z.strictObject({
  description: z.string().trim().max(500).default(''),
  default: z.string().default(''),
});
const TemplateFile = z.strictObject({
  name: z.string().optional(),
  description: z.string().trim().max(1000).default(''),
  arguments: z.record(z.string(), Argument).default({}),
  reason: z.string().max(20_000).default(''),
  // The person who starts the template decides what agents may do without approval.
  tasks: z
    .array(DraftTask.omit({ permissions: true }))
    .min(1)
    .max(1000),
  // Printed plans have it; the rules determine it anew.
  forced: z.array(z.unknown()).max(100).optional(),
});
type TemplateFile = z.output<typeof TemplateFile>;

export interface Template {
  readonly info: TemplateInfo;
  readonly file: TemplateFile;
}

/** True if a plan file is a template: a plain plan has no name, description or arguments. */
export const isTemplate = (plan: unknown): boolean =>
  typeof plan === 'object' && plan !== null && ['name', 'description', 'arguments'].some((key) => key in plan);

export interface TemplateText {
  /** As people would name it. */
  readonly shown: string;
  /** The default name: the file's name without its extension. */
  readonly stem: string;
  readonly text: string;
}

/** The template in a text, or all its faults. */
export function readTemplate({ shown, stem, text }: TemplateText): Result<Template, readonly ConfigFault[]> {
  const tree = readTree(text, shown);
  if (!tree.ok) return fail([tree.fault]);
  const plain = plainOf(tree.value);
  const file = TemplateFile.safeParse(plain);
  if (!file.success) {
    const remedy = (at: Path, key: string): string => suggestion(key, Object.keys(shapeAt(at)));
    return fail(file.error.issues.flatMap((issue) => issueFaults(shown, tree.value, issue, remedy)));
  }
  const faults = slotFaults(shown, tree.value, file.data);
  if (faults.length > 0) return fail(faults);
  const { name = stem, description, tasks } = file.data;
  const wanted = Object.entries(file.data.arguments).map(([argument, one]) => ({ name: argument, ...one }));
  // For people who choose: `Review <target>`.
  const asked = filled(description, new Map(wanted.map((one) => [one.name, `<${one.name}>`])));
  const info = { name, description: asked, arguments: wanted, tasks: tasks.length, from: shown };
  return ok({ info, file: file.data });
}

const shapeAt = (at: Path): object =>
  at.length === 0 ? TemplateFile.shape : at[0] === 'tasks' ? DraftTask.shape : Argument.shape;

/** Faults of slots without an argument, arguments without a slot, and slots in fields that are not filled. */
function slotFaults(file: string, tree: Tree, { arguments: known }: TemplateFile): readonly ConfigFault[] {
  const names = Object.keys(known);
  const slots = textsIn(tree).flatMap(({ at, text }) => slotsIn(text).map((slot) => ({ at, slot })));
  const fault = (at: Path, problem: string, remedy: string): ConfigFault => faultAt(file, tree, at, problem, remedy);
  const misnamed = names.flatMap((name) => {
    if (ARGUMENT_NAME.test(name)) return [];
    const remedy = 'use lower-case letters, digits, "-" and "_"';
    return [fault(['arguments', name], `"${name}" is not a valid argument name`, remedy)];
  });
  const wrong = slots.flatMap(({ at, slot }) => {
    if (!isFilled(at)) return [fault(at, `{{${slot}}} is used in ${nameOf(at)}`, FILLED)];
    if (names.includes(slot)) return [];
    const remedy = names.length === 0 ? 'define it under arguments' : suggestion(slot, names);
    return [fault(at, `there is no argument "${slot}" for {{${slot}}}`, `${remedy}; a literal {{ is written {{"{{"}}`)];
  });
  const used = new Set(slots.map(({ slot }) => slot));
  const idle = names.flatMap((name) => {
    if (used.has(name)) return [];
    const remedy = `write {{${name}}} in a description, or remove it`;
    return [fault(['arguments', name], `the argument "${name}" is not used`, remedy)];
  });
  return [...misnamed, ...wrong, ...idle];
}

const FILLED = 'arguments can be used in reason, descriptions and writes only';

/** True for fields in which arguments are filled. Roles, models and tools never depend on values. */
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
  /** The task of the run: the description with its slots filled. */
  readonly task: string;
  readonly draft: DraftPlan;
}

/** Longer values belong in a file that a task mentions. */
const LONGEST_VALUE = 4000;
// Line ends and tabs are normal text; other control characters could disguise a value.
const CONTROL = /[[\p{Cc}\p{Cf}\p{Co}]--[\n\t\u200c\u200d]]/v;

/** The plan with these values, or which value is unknown, missing or invalid. Values are plain text, whatever they contain. */
export function fillTemplate(
  { info, file }: Template,
  values: Readonly<Record<string, string>>,
): Result<Filled, string> {
  const unknown = Object.keys(values).filter((name) => !info.arguments.some((known) => known.name === name));
  if (unknown.length > 0)
    return fail(
      `${info.name} has no argument ${unknown.map((name) => `"${name}"`).join(', ')}; ${argumentWords(info)}`,
    );
  // A map, because a typed name could be that of an inherited property.
  const given = new Map(Object.entries(values));
  const all = new Map(info.arguments.map((one) => [one.name, given.get(one.name) || one.default]));
  const missing = info.arguments.filter(({ name }) => all.get(name)?.trim() === '');
  if (missing.length > 0) return fail(`${info.name} needs ${missing.map(wantedWords).join(' and ')}`);
  for (const [name, value] of all) {
    if (value.length > LONGEST_VALUE) return fail(`${name} is longer than ${LONGEST_VALUE} characters`);
    if (CONTROL.test(value)) return fail(`${name} contains invisible characters: remove them`);
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
  if (broken !== undefined) return fail('a value used in writes must be one line');
  const draft = readDraft({ reason: filled(file.reason, values), tasks });
  if (!draft.ok)
    return fail(draft.fault.map(({ task, problem }) => (task === null ? problem : `${task}: ${problem}`)).join('; '));
  const task = filled(file.description, values).trim();
  return ok({ draft: draft.value, task: task === '' ? info.name : task });
}

/** `it has target (Where to look) and depth (How deep; "shallow" by default)`, or that it has none. */
const argumentWords = ({ arguments: known }: TemplateInfo): string =>
  known.length === 0 ? 'it takes none' : `it takes ${known.map(wantedWords).join(' and ')}`;

function wantedWords(one: TemplateInfo['arguments'][number]): string {
  const otherwise = one.default === '' ? '' : `default ${JSON.stringify(one.default)}`;
  const words = [one.description, otherwise].filter((part) => part !== '').join('; ');
  return words === '' ? one.name : `${one.name} (${words})`;
}

// Places in a text that are filled in each time a template is used: `{{target}}`. A literal `{{` is written `{{"{{"}}`. What is
// filled in is text and nothing else: it is never read again.

/** `{{name}}`, or the literal, which has no name. Slots cannot be nested, and matching takes linear time. */
const SLOT = /\{\{([^{}"]*)\}\}|\{\{"\{\{"\}\}/g;

const slotsIn = (text: string): readonly string[] =>
  [...text.matchAll(SLOT)].flatMap(([, name]) => (name === undefined ? [] : [name.trim()]));

/** The text with its slots filled; one whose name has no value stays as it is. */
export const filled = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replaceAll(SLOT, (whole: string, name: string | undefined) =>
    name === undefined ? '{{' : (values.get(name.trim()) ?? whole),
  );

/** The inverse: replaces each occurrence of a text by its slot, the longest text first, and escapes what looks like a slot. */
export function withSlots(text: string, slots: readonly { readonly name: string; readonly text: string }[]): string {
  const texts = slots.map((slot) => slot.text).filter((one) => one !== '');
  const longest = texts.toSorted((a, b) => b.length - a.length).map(escaped);
  return text.replaceAll(new RegExp([...longest, String.raw`\{\{`].join('|'), 'g'), (found) => {
    const slot = slots.find((one) => one.text === found);
    return slot === undefined ? '{{"{{"}}' : `{{${slot.name}}}`;
  });
}

// A plan as the text of a template: what was said, without what the roles give anyway, and slots where words are asked for anew.

/** A task in a template; omitted fields are chosen when the plan is used. */
export type TemplateTask = Pick<PersonTask, 'id' | 'description' | 'role'> & Partial<PersonTask>;

/** The template's text, sure to be read back as the same plan; or what is wrong with the wish. */
export function templateText(wish: TemplateRequest, tasks: readonly TemplateTask[]): Result<string, string> {
  const problem = wishProblem(wish, tasks);
  if (problem !== null) return fail(problem);
  const slotted = (text: string): string => withSlots(text, wish.arguments);
  const text = stringifyYaml({
    name: wish.name,
    // Who wrote slots into it meant them.
    description: wish.description.includes('{{') ? wish.description : slotted(wish.description),
    ...(wish.arguments.length === 0 ? {} : { arguments: argumentsOf(wish) }),
    reason: slotted(wish.plan.reason),
    tasks: tasks.map((task) => ({
      ...task,
      description: slotted(task.description),
      ...(task.writes === undefined ? {} : { writes: task.writes.map(slotted) }),
    })),
  });
  return readBack(wish, tasks, text);
}

const argumentsOf = ({ arguments: all }: TemplateRequest): object =>
  Object.fromEntries(all.map(({ name, text }) => [name, { description: '', default: text }]));

function wishProblem({ name, arguments: all }: TemplateRequest, tasks: readonly TemplateTask[]): string | null {
  if (!TEMPLATE_NAME.test(name))
    return `"${name}" is not a valid template name: use up to 40 lower-case letters, digits and "-", starting with a letter or digit`;
  const texts = tasks.flatMap(({ description, writes = [] }) => [description, ...writes]);
  for (const { name: argument, text } of all) {
    if (!ARGUMENT_NAME.test(argument))
      return `"${argument}" is not a valid argument name: use lower-case letters, digits, "-" and "_"`;
    if (text.trim() === '') return `the text to replace with {{${argument}}} is empty`;
    if (!texts.some((one) => one.includes(text)))
      return `no task contains "${text}", the text to replace with {{${argument}}}`;
  }
  const twice = all.find((one, index) => all.findIndex(({ name: same }) => same === one.name) !== index);
  return twice === undefined ? null : `the argument "${twice.name}" is given twice`;
}

/** Verifies the written text: filled with its defaults it must give the same plan. */
function readBack({ name }: TemplateRequest, tasks: readonly TemplateTask[], text: string): Result<string, string> {
  if (Buffer.byteLength(text) > LARGEST) return fail('the plan is too large for a template: over 64 KiB');
  const read = readTemplate({ shown: `${name}.yml`, stem: name, text });
  if (!read.ok) return fail(read.fault.map(faultText).join('; '));
  const again = fillTemplate(read.value, {});
  if (!again.ok) return again;
  const lost = tasks.findIndex((task, index) => {
    const back = again.value.draft.tasks[index];
    return back?.description !== task.description || back.writes?.join('\n') !== task.writes?.join('\n');
  });
  return lost === -1 ? ok(text) : fail(`the text of task ${lost + 1} cannot be written to a file`);
}
/** The size limit of configuration files. */
const LARGEST = 64 * 1024;

interface TemplateFolder {
  readonly path: string;
  /** How people would name it: `.mimir/plans`. */
  readonly shown: string;
  /** A project's folder: links are refused for the folder and its files. */
  readonly strict: boolean;
}

/** All templates of a folder by name, and the faults of the invalid ones. A missing folder has none. */
export function templatesIn(folder: TemplateFolder): {
  readonly templates: readonly Template[];
  readonly faults: readonly ConfigFault[];
} {
  const read = filesIn(folder).map((name) => oneOf(folder, name));
  return {
    templates: read.flatMap((one) => (one.ok ? [one.value] : [])),
    faults: read.flatMap((one) => (one.ok ? [] : one.fault)),
  };
}

function filesIn({ path: folder, strict }: TemplateFolder): readonly string[] {
  const isReal = (place: string): boolean => lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
  return tried(() => {
    if (strict && !(isReal(folder) && isReal(path.dirname(folder)))) return [];
    return readdirSync(folder)
      .filter((name) => name.endsWith('.yml'))
      .toSorted();
  }, []);
}

function oneOf(
  { path: folder, shown, strict }: TemplateFolder,
  name: string,
): Result<Template, readonly ConfigFault[]> {
  const [file, stem] = [`${shown}/${name}`, path.parse(name).name];
  if (!TEMPLATE_NAME.test(stem))
    return fail([fileFault(file, 'is not a valid template name', 'use lower-case letters, digits and "-"')]);
  const links = strict ? 'refuse' : 'follow';
  const text = readText({ path: path.join(folder, name), shown: file, links, owner: 'any' });
  if (!text.ok) return fail([text.fault]);
  const read = readTemplate({ shown: file, stem, text: text.value ?? '' });
  if (!read.ok || read.value.info.name === stem) return read;
  const remedy = `rename the file to ${read.value.info.name}.yml, or the template to ${stem}`;
  return fail([fileFault(file, `contains a template named "${read.value.info.name}"`, remedy)]);
}

/** The value of a YAML or JSON plan file, or its fault with file, line and column. As strict as for configuration. */
export function parsePlanText(text: string, file: string): Result<unknown, string> {
  const tree = readTree(text, file);
  return tree.ok ? ok(plainOf(tree.value)) : fail(faultText(tree.fault));
}

/** Quoted texts stay on one line, because the library writes some multi-line ones that it reads back differently. Characters that files may not
 * have are escaped. */
export function stringifyYaml(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_, node) {
      if (isScalar(node) && typeof node.value === 'string' && ODD.test(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  const text = document.toString({ lineWidth: 120, doubleQuotedMinMultiLineLength: LONGEST });
  return text.replaceAll(RAW, (odd) => `\\u${odd.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
const LONGEST = 1e9;
const ODD = /[\r\x7f-\x9f\u2028\u2029]/;
/** Those of them that the library does not escape in quotes. */
const RAW = /[\x7f-\x9f\u2028\u2029]/g;
