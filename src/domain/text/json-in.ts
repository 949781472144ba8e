/** The one JSON object that a model's answer is meant to be: bare, or with a fence, prose or thoughts around it. */

/** Longer answers are none. */
const LONGEST = 1_000_000;
/** Openings of an object that are tried. */
const TRIES = 50;

/** Of several objects that which has `key`. Undefined when there is none, or more than one. */
export function objectIn(answer: string, key: string): object | undefined {
  if (answer.length > LONGEST) return undefined;
  const whole = parsed(answer);
  if (isObject(whole)) return whole;
  const objects = objectsIn(withoutThoughts(answer));
  const meant = objects.filter((one) => Object.hasOwn(one, key));
  return meant.length > 1 ? undefined : (meant[0] ?? objects[0]);
}

export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Some servers leave the thoughts in the text, some of them without the opening tag. */
function withoutThoughts(answer: string): string {
  const end = /^[\s\S]*<\/think(?:ing)?>/i.exec(answer)?.[0].length ?? 0;
  return answer.slice(end).replace(/<think(?:ing)?>[\s\S]*$/i, ' ');
}

function parsed(text: string): unknown {
  try {
    const json: unknown = JSON.parse(text);
    return json;
  } catch {
    return undefined;
  }
}

/** The JSON objects that stand in a text one after the other. */
function objectsIn(text: string): readonly object[] {
  const found: object[] = [];
  let at = text.indexOf('{');
  for (let tries = 0; at !== -1 && tries < TRIES; tries += 1) {
    const end = endOfObject(text, at);
    const json = end === -1 ? undefined : parsed(text.slice(at, end));
    if (isObject(json)) found.push(json);
    at = text.indexOf('{', isObject(json) ? end : at + 1);
  }
  return found;
}

/** Behind the brace that closes the one at `start`; -1 when none does. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at += 1) {
    const sign = text[at];
    if (quoted) {
      if (sign === '\\') at += 1;
      else if (sign === '"') quoted = false;
    } else if (sign === '"') quoted = true;
    else if (sign === '{') depth += 1;
    else if (sign === '}') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}
