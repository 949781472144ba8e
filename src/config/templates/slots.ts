/**
 * Places in a text that are filled in each time a template is used: `{{target}}`. A literal `{{` is written `{{"{{"}}`. What is
 * filled in is text and nothing else: it is never read again.
 */

/** `{{name}}`, or the literal, which has no name. Nothing nests, and no text makes it slow. */
const SLOT = /\{\{([^{}"]*)\}\}|\{\{"\{\{"\}\}/g;

/** Names of arguments: what a person types behind `--set`. */
export const ARGUMENT = /^[a-z][a-z0-9_-]{0,39}$/;

/** What stands in the slots of a text, in order, names or not. */
export const slotsIn = (text: string): readonly string[] =>
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
