/** Is the model that answered the one that was asked (SECURITY A08)? By name alone: what it really is nobody can see. */
import type { ModelId } from '../domain/ids.ts';
import { entryMatches, foldName } from './models.ts';

/**
 * Equal, or one of them is the other's dated release (`…-20251001`, `-latest`). Servers of one's own may add a tag
 * (`qwen3` -> `qwen3:latest`). Two different dates are two models.
 */
export function isSameModel(asked: ModelId, answered: ModelId): boolean {
  const [ours, theirs] = [foldName(asked), foldName(answered)];
  if (ours === theirs || isRelease(ours, theirs) || isRelease(theirs, ours)) return true;
  return theirs.startsWith(`${ours}:`) && /^[\w.-]+$/.test(theirs.slice(ours.length + 1));
}

const isRelease = (family: string, id: string): boolean => entryMatches({ pattern: `${family}@*` }, id);
