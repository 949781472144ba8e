/** Can prompt caching work? A request must begin with every byte of the one that it goes on from: model, tools, system, earlier turns. */
import type { Asked } from './asked.ts';

/** What is wrong with `asked` after `former`, in words; null when its prefix is the former request. */
export function prefixFault(asked: Asked, former: Asked | null): string | null {
  if (former === null) return null;
  const index = former.parts.findIndex(({ json }, index) => asked.parts[index]?.json !== json);
  if (index === -1) return null;
  const [was, is] = [former.parts[index], asked.parts[index]];
  return (
    `${asked.wire}: request ${asked.nth} of conversation ${asked.conversation} differs from request ${former.nth} ` +
    `in part ${index} (${was?.of ?? 'nothing'}): ${around(was?.json ?? '', is?.json ?? '')}`
  );
}

/** Both texts where they first differ. */
function around(was: string, is: string): string {
  let at = 0;
  while (at < was.length && was[at] === is[at]) at += 1;
  const from = Math.max(0, at - 20);
  return `was ${JSON.stringify(was.slice(from, at + 40))}, is ${JSON.stringify(is.slice(from, at + 40))}`;
}
