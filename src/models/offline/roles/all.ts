/** Which part the analyst takes for which role. Roles that it doesn't know work like a finder. */
import type { Part } from '../step.ts';
import { finder } from './finder.ts';

const PARTS: ReadonlyMap<string, Part> = new Map([['finder', finder]]);

export const partFor = (role: string): Part => PARTS.get(role) ?? finder;
